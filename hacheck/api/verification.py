"""`verify`: what holds of a protocol, what does not, and by which run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hacheck.api.engines import EngineName, engine_named
from hacheck.api.errors import InputError, require_known
from hacheck.api.run import Counterexample, Run, Witness
from hacheck.api.specification import Settings, Spec, load
from hacheck.api.verify_document import verify_document
from hacheck.api.view import Row, Shown, Tone, View
from hacheck.checker.engine import Limits, Progress, Refused, VerdictKind
from hacheck.checker.verify import CheckResult, Expectation, Outcome, Prepared, PropertyResult, run_check
from hacheck.model.interpreter import replay
from hacheck.model.property_names import expanded, nameable
from hacheck.supervise.resources import memory_default

if TYPE_CHECKING:
    from hacheck.documents.document import Json
    from hacheck.model.ir import PropertyKind, System

EXIT_CODES = {"expected": 0, "unexpected": 1, "undecided": 3}
"""What the command returns for each outcome, where the spec has no error."""


class Verdict(Shown, frozen=True):
    """What was found of one property under one check, and whether the spec expects it.

    `result`, `system`: hacheck's own form, which is no part of the public face.
    """

    check: str
    result: PropertyResult
    system: System

    @property
    def name(self) -> str:
        """The name of the property."""
        return self.result.prop.name

    @property
    def kind(self) -> PropertyKind:
        """Its kind: invariant, lemma, step, reachable, eventually, leads_to or deadlock."""
        return self.result.prop.kind

    @property
    def description(self) -> str:
        """What the spec says of it."""
        return self.result.prop.description

    @property
    def verdict(self) -> VerdictKind:
        """`holds`, `violated`, `unknown` or `not-inductive`. A `reachable` property that holds is reached."""
        return self.result.answer.verdict

    @property
    def scope(self) -> str:
        """How far the verdict reaches, or why there is none."""
        return self.result.answer.scope

    @property
    def expected(self) -> Expectation:
        """The verdict that the check expects."""
        return self.result.expected

    @property
    def outcome(self) -> Outcome:
        """`expected`, `unexpected`, or `undecided`."""
        return self.result.outcome

    @property
    def counterexample(self) -> Counterexample | None:
        """A shortest run that violates the property; `None` where it is not violated, or is not reached."""
        run = self.result.answer.run
        if self.verdict != "violated" or run is None:
            return None
        return Counterexample(self.system, run, self.name)

    @property
    def witness(self) -> Witness | None:
        """Of a `reachable` property that holds, a shortest run to where it does."""
        run = self.result.answer.run
        return Witness(self.system, run, self.name) if self.verdict == "holds" and run is not None else None

    @property
    def induction_counterexample(self) -> Run | None:
        """Of a property that is not inductive: states that no lemma excludes, and a step that violates it. Its first
        state need not be reachable."""
        found = self.result.answer.cti
        return None if found is None else Run(self.system, found)

    def view(self) -> View:
        """One row."""
        return View(f"{self.name} under check {self.check}", (self.row(),))

    def row(self) -> Row:
        """The row that a table has for it."""
        tones: dict[Outcome, Tone] = {"expected": "good", "unexpected": "bad", "undecided": "open"}
        word = "reached" if self.kind == "reachable" and self.verdict == "holds" else self.verdict
        run = self.counterexample or self.witness
        length = "" if run is None else f"in {run.title}"
        expectation = "as expected" if self.expected == "violated" and self.outcome == "expected" else ""
        if self.outcome == "unexpected":
            expectation = f"expected: {self.expected}"
        said = ", ".join(part for part in (length, expectation) if part)
        return Row(tones[self.outcome], (self.name, word, self.kind, said), self.description)

    def __repr__(self) -> str:
        return f"<Verdict {self.check}.{self.name}: {self.verdict}, {self.outcome}>"


class CheckVerdicts(Shown, frozen=True):
    """What was found of one check. `result`: hacheck's own form, which is no part of the public face."""

    result: CheckResult

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.result.check.name

    @property
    def settings(self) -> dict[str, str]:
        """All settings as they were."""
        return dict(self.result.system.settings)

    @property
    def outcome(self) -> Outcome:
        """`unexpected` where a property is, or the spec has an error; else `undecided` where one is."""
        return self.result.outcome

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The properties in the order of the spec."""
        return tuple(Verdict(self.name, found, self.result.system) for found in self.result.properties)

    @property
    def states(self) -> int:
        """Distinct states found."""
        return self.result.answer.coverage.states

    @property
    def transitions(self) -> int:
        """Steps taken."""
        return self.result.answer.coverage.transitions

    @property
    def depth(self) -> int:
        """Levels of the breadth-first search."""
        return self.result.answer.coverage.depth

    @property
    def seconds(self) -> float:
        """Wall time of the exploration."""
        return self.result.answer.coverage.wall_seconds

    @property
    def complete(self) -> bool:
        """Whether every reachable state was explored; else all numbers are of the part that was."""
        return self.result.answer.coverage.complete

    @property
    def stopped(self) -> str | None:
        """Why not every state was explored."""
        return self.result.answer.coverage.stopped

    @property
    def error(self) -> Run | None:
        """A run into an error of the spec, such as a division by zero."""
        found = self.result.answer.error
        return None if found is None else Run(self.result.system, found)

    def view(self) -> View:
        """A row for each property, and what was explored."""
        coverage = f"{self.states:,} states, {self.transitions:,} steps, depth {self.depth}"
        reach = "every reachable state" if self.complete else f"stopped: {self.stopped}"
        lines = [f"{coverage}; {reach}"]
        if self.error is not None:
            lines.append(f"the spec has an error: {self.error.error}")
        return View(f"check {self.name}: {self.outcome}", tuple(one.row() for one in self.verdicts), tuple(lines))

    def __repr__(self) -> str:
        return f"<CheckVerdicts {self.name}: {self.outcome}, {self.states:,} states>"


class Verification(Shown, frozen=True):
    """What `verify` found: the verdicts of the checks that were run."""

    spec: Spec
    checks: tuple[CheckVerdicts, ...]

    @property
    def outcome(self) -> Outcome:
        """`expected` where all came out as the spec expects; `unexpected` where anything did not; else `undecided`."""
        outcomes = {one.outcome for one in self.checks}
        return "unexpected" if "unexpected" in outcomes else "undecided" if "undecided" in outcomes else "expected"

    @property
    def as_expected(self) -> bool:
        """Whether all came out as the spec expects."""
        return self.outcome == "expected"

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts, check by check."""
        return tuple(verdict for one in self.checks for verdict in one.verdicts)

    def __getitem__(self, name: str) -> CheckVerdicts:
        """The check of a name. Errors: `KeyError`."""
        for one in self.checks:
            if one.name == name:
                return one
        raise KeyError(name)

    def verdict(self, property: str, check: str | None = None) -> Verdict:
        """The verdict on a property, under a check where several were run.

        Errors: `InputError` where there is none, or the check has to be named.
        """
        found = [one for one in self.verdicts if one.name == property and check in (None, one.check)]
        require_known("property", (property,), dict.fromkeys(one.name for one in self.verdicts))
        if len(found) != 1:
            names = ", ".join(one.name for one in self.checks)
            raise InputError(f"{property} has {len(found)} verdicts", f"name the check: {names}")
        return found[0]

    def to_dict(self) -> dict[str, Json]:
        """The document that `hacheck verify --json` writes."""
        code = 2 if any(one.result.has_error for one in self.checks) else EXIT_CODES[self.outcome]
        run = {one.name for one in self.checks}
        left = [one.name for one in self.spec.checks if one.name not in run]
        results = [one.result for one in self.checks]
        return verify_document(self.spec.specification, self.spec.called, results, left, code).to_dict()

    def view(self) -> View:
        """The rows of all checks."""
        rows: list[Row] = []
        for one in self.checks:
            rows.append(Row("plain", (f"check {one.name}", one.outcome)))
            rows += one.view().rows
        return View(f"{self.spec.name}: {self.outcome}", tuple(rows))

    def __repr__(self) -> str:
        return f"<Verification of {self.spec.name}: {self.outcome}>"


def verify(
    spec: str | os.PathLike[str] | Spec,
    *,
    check: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    properties: Sequence[str] = (),
    limits: Limits | None = None,
    engine: EngineName = "native",
    threads: int | None = None,
    exhaustive: bool = False,
    report: Callable[[Progress], bool] | None = None,
) -> Verification:
    """Decides the properties of a protocol.

    - `check`: one check or several; by default all but those that the spec runs by request only.
    - `settings`: values that go before those of the check.
    - `properties`: only these; by default those that the check names, or all.
    - `limits`: where each exploration ends as undecided; by default at half of the memory that is free.
    - `exhaustive`: explore every state, also where every property is decided before; then all numbers are of the whole
      graph.
    - `report`: called several times a second; `False` ends the exploration, which keeps what it has found.

    Errors: `InputError` for what the caller gave; `SpecError` for errors of the spec's text. An error that a run of the
    spec meets is no exception: see `CheckVerdicts.error`.
    """
    loaded = load(spec)
    names = (check,) if isinstance(check, str) else check
    if names is None:
        names = [one.name for one in loaded.checks if not one.by_request]
        if not names:
            raise InputError("every check of this spec runs by request only", f"name one: {loaded.checks[0].name}")
    prepared = [_prepared(loaded, name, settings, tuple(properties)) for name in names]
    bounds = Limits(memory_bytes_max=memory_default()) if limits is None else limits
    found = []
    for one in prepared:
        try:
            found.append(
                run_check(one, engine_named(engine, threads, exhaustive=exhaustive), bounds, report or _go_on, replay)
            )
        except Refused as refused:
            raise InputError(str(refused)) from None
    return Verification(loaded, tuple(CheckVerdicts(result) for result in found))


def _prepared(spec: Spec, check: str, settings: Settings | None, properties: tuple[str, ...]) -> Prepared:
    system, question = spec.system(check, settings)
    known = [one.name for one in system.properties]
    require_known("property", properties, nameable(known))
    return Prepared(question, system, expanded(properties or question.only, known))


def _go_on(progress: Progress) -> bool:
    return True
