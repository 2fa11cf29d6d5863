"""A run of a model, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hacheck.api.run_document import run_object, simulate_document
from hacheck.api.view import Row, Shown, Tone, View
from hacheck.checker.described_run import run_title, step_views
from hacheck.documents.document import Json
from hacheck.documents.run import RunStep
from hacheck.model.itf import run_to_itf
from hacheck.model.run_json import state_to_json

if TYPE_CHECKING:
    from hacheck.api.specification import Spec
    from hacheck.checker.step_effects import StepEffect
    from hacheck.model import runs
    from hacheck.model.ir import System


class Run(Shown, frozen=True):
    """A run of a model, replayed by the reference interpreter: a first state, and steps.

    `system`, `run`: hacheck's own form, which is no part of the public face.
    """

    system: System
    run: runs.Run

    @property
    def initial(self) -> dict[str, Json]:
        """The first state: each variable with its value as plain data."""
        return state_to_json(self.system, self.run.initial)

    @property
    def steps(self) -> list[RunStep]:
        """The steps, each with `action`, `arguments`, `choices`, `node`, `changes` and the `state` that it leads to."""
        return run_object(self.system, self.run).steps

    @property
    def states(self) -> list[dict[str, Json]]:
        """The states, from the first to the last."""
        return [self.initial, *(step.state for step in self.steps)]

    @property
    def loop(self) -> int | None:
        """Of a lasso, the number of steps before the part that repeats."""
        return self.run.loop

    @property
    def error(self) -> str:
        """What is wrong with the spec, where the run ends in an error of it; else nothing."""
        return "" if self.run.error is None else self.run.error.message

    def __len__(self) -> int:
        return len(self.run.steps)

    def to_dict(self) -> dict[str, Json]:
        """The run as plain data: `initial`, `steps`, `loop`, and `fault` where it ends in an error of the spec."""
        import msgspec

        built: dict[str, Json] = msgspec.to_builtins(run_object(self.system, self.run))
        return built

    def to_itf(self) -> dict[str, Any]:
        """The run in the Informal Trace Format, which viewers of other tools read."""
        return run_to_itf(self.system, self.run)

    def view(self) -> View:
        """A row for each step, with what it changed below."""
        rows = []
        for step in step_views(self.system, self.run):
            tone: Tone = "bad" if step.kind == "fault" else "plain"
            changes = "; ".join(f"{change.owner} {change.what}".strip() + _arrow(change) for change in step.changes)
            rows.append(Row(tone, (str(step.number), step.node, step.call), changes))
        lines = [f"cannot be completed: {self.error}"] if self.error else []
        return View(f"{type(self).__name__} of {self.system.name}: {self.title}", tuple(rows), tuple(lines))

    @property
    def title(self) -> str:
        """Its length in words: `7 steps, 2 faults`."""
        return run_title(self.system, self.run)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.system.name}: {self.title}>"


def _arrow(change: StepEffect) -> str:
    return f" {change.before} → {change.after}" if change.before or change.after else ""


class Counterexample(Run, frozen=True):
    """A run that violates a property; a shortest one where states were explored breadth first."""

    property: str

    __repr__ = Run.__repr__


class Witness(Run, frozen=True):
    """A run that shows that a `reachable` property can be reached."""

    property: str

    __repr__ = Run.__repr__


class SimulatedRun(Run, frozen=True):
    """A random run, which the same seed gives again."""

    spec: Spec
    seed: int

    __repr__ = Run.__repr__

    def to_dict(self) -> dict[str, Json]:
        """The document that `hacheck simulate --json` writes."""
        return simulate_document(self.spec.specification, self.spec.called, self.system, self.seed, self.run).to_dict()
