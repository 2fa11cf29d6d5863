"""A run of a model as a replay uses it: steps by action and arguments, states as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hacheck.checker.described_run import variables_in
from hacheck.model.ir import Property, System
from hacheck.model.run_json import run_to_json
from hacheck.model.runs import Run
from hacheck.model.types import Identity, Map, Option, Sequence, Set, Type

# A state as `run_json` writes it: by variable, maps by their keys as words.
Json = Any


class ModelStep(Struct, frozen=True):
    """A step: its number from 1, its action and arguments, what it changes in words, and the state that it leads to.
    `node`: where it happens, in words. `kind`: protocol, network, fault, repair or environment."""

    number: int
    action: str
    arguments: Mapping[str, Json]
    node: str | None
    kind: str
    changes: tuple[str, ...]
    state: Mapping[str, Json]

    @property
    def title(self) -> str:
        """The step in words: `merge(2)`, `cut Replica - Replica(1, 3)`."""
        values = ", ".join(str(value) for value in self.arguments.values())
        return f"{self.action}({values})" if values else self.action


class ModelRun(Struct, frozen=True):
    """A run, and what it shows. `claim`: the property that it shows, if any; `reads`: the variables which that reads.
    `identities`: variables whose values are names, compared up to renaming. `loop`: of an infinite run, the number of
    steps before the part that repeats."""

    spec: str
    check: str
    claim: str
    claim_kind: str
    settings: Mapping[str, str]
    initial: Mapping[str, Json]
    steps: tuple[ModelStep, ...]
    loop: int | None
    reads: frozenset[str]
    identities: frozenset[str]

    def state(self, number: int) -> Mapping[str, Json]:
        """The state after so many steps."""
        return self.initial if number == 0 else self.steps[number - 1].state

    @property
    def title(self) -> str:
        """Which run it is: `icestorm --check default --property one_view`."""
        return f"{self.spec} --check {self.check}" + (f" --property {self.claim}" if self.claim else "")


def model_run(system: System, run: Run, spec: str, check: str, about: Property | None) -> ModelRun:
    """The run of a system as data for a replay. `about`: the property that it shows, if any. Cost: its states."""
    encoded = run_to_json(system, run)
    steps = tuple(
        ModelStep(
            number,
            re.sub(r"#\d+$", "", row["action"]),
            row["arguments"],
            row["node"],
            str(system.actions[step.action].kind),
            tuple(row["changes"]),
            row["state"],
        )
        for number, (row, step) in enumerate(zip(encoded["steps"], run.steps, strict=True), 1)
    )
    reads: set[str] = set()
    if about is not None:
        for part in (about.goal, about.premise):
            reads.update(variables_in(part) if part is not None else ())
    return ModelRun(
        spec,
        check,
        "" if about is None else about.name,
        "" if about is None else about.kind,
        dict(system.settings),
        encoded["initial"],
        steps,
        run.loop,
        frozenset(reads),
        frozenset(variable.name for variable in system.variables if _holds_names(variable.type)),
    )


def _holds_names(kind: Type) -> bool:
    match kind:
        case Identity():
            return True
        case Option(element) | Set(element):
            return _holds_names(element)
        case Sequence(element, _):
            return _holds_names(element)
        case Map(_, element):
            return _holds_names(element)
        case _:
            return False
