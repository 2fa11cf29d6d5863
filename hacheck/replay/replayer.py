"""Carries out a run on a product: one step after the other, each compared, and at the end what the run shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from hacheck.replay.model_run import ModelRun, ModelStep
from hacheck.replay.outcomes import (
    Awaited,
    EnvironmentLacks,
    Masked,
    NotCarriedOut,
    Outcome,
    Refuted,
    ReplayResult,
    StepResult,
)
from hacheck.replay.product import Position, Product, Session
from hacheck.replay.recording import Recording
from hacheck.replay.state_comparison import differences

EVIDENCE_LINES_MAX = 12
TRIES_MIN = 2
"""So often a state is read at least before it counts as different."""

OWN_DOING = ("cut.*", "*.up", "*.paused")
"""The variables that a replay itself makes so: links, processes."""


class Patience(Struct, frozen=True):
    """How long is waited. `settle_seconds`: for the product's state to become the model's after a step, unless its
    plug-in says otherwise; `linger_seconds`: how long a run without end is watched; `rounds`: how often a part that
    repeats otherwise is taken."""

    settle_seconds: float = 4.0
    linger_seconds: float = 20.0
    rounds: int = 2


def carry_out(
    run: ModelRun,
    product: Product,
    folder: Path,
    report: Callable[[StepResult], None],
    patience: Patience | None = None,
) -> ReplayResult:
    """Carries out a run. `folder`: for the recording, must not be there yet. `report`: is given what was seen after
    each step. Errors: `OSError`; whatever the product does is a result."""
    began = time.monotonic()
    with Recording(folder) as recording:
        replay = _Replay(run, product, recording, report, patience or Patience())
        verdict = replay.verdict()
    return ReplayResult(
        verdict.outcome,
        verdict.reason,
        product.name,
        run.title,
        verdict.at_step,
        "" if not verdict.at_step else run.steps[verdict.at_step - 1].title,
        tuple(replay.results),
        tuple(verdict.evidence),
        str(folder),
        time.monotonic() - began,
        len(run.steps),
    )


class _Verdict(Struct, frozen=True):
    outcome: Outcome
    reason: str
    at_step: int | None
    evidence: Sequence[str]


class _Replay:
    def __init__(
        self,
        run: ModelRun,
        product: Product,
        recording: Recording,
        report: Callable[[StepResult], None],
        patience: Patience,
    ) -> None:
        self.run, self.product, self.recording, self.report, self.patience = run, product, recording, report, patience
        self.results: list[StepResult] = []
        self.position = Position(run, 0, run.initial, run.initial)
        self._seen: Mapping[int, int] = {}

    def verdict(self) -> _Verdict:
        unfit = self.product.unfit(self.run)
        if unfit is not None:
            return _Verdict("not_carried_out", unfit, None, ())
        try:
            with self.product.session(self.position, self.recording) as session:
                return self._verdict_on(session)
        except EnvironmentLacks as reason:  # before anything was started
            self.recording.note(f"==== environment: {reason}")
            return _Verdict("environment", str(reason), None, ())

    def _verdict_on(self, session: Session) -> _Verdict:
        try:
            return self._carried_out(session)
        except Awaited as awaited:
            return self._did_not_come(session, awaited)
        except Refuted as refuted:
            return self._ended("refuted", str(refuted), session)
        except NotCarriedOut as reason:
            return self._ended("not_carried_out", str(reason), session)
        except EnvironmentLacks as reason:
            return self._ended("environment", str(reason), session)
        except Masked as reason:
            return self._ended("masked", str(reason), session)

    def _ended(self, outcome: Outcome, reason: str, session: Session) -> _Verdict:
        self.recording.note(f"==== {outcome}: {reason}")
        return _Verdict(outcome, reason, self.position.number or None, self._new_lines(session))

    def _did_not_come(self, session: Session, awaited: Awaited) -> _Verdict:
        """What a step must lead to did not come: where the product did something else instead, that refutes the step;
        where it stands as before, nobody brought it to take it."""
        evidence = self._new_lines(session)
        run, number = self.run, self.position.number
        stands = differences(run.state(max(number - 1, 0)), session.observe(), run.identities)
        if not number or (not stands and not evidence):
            return self._ended("not_carried_out", f"{awaited}, and the product did nothing else instead", session)
        instead = "; ".join(stands) if stands else evidence[-1]
        return self._ended("refuted", f"{awaited}; the product did this instead: {instead}", session)

    # ---- steps ----

    def _carried_out(self, session: Session) -> _Verdict:
        run = self.run
        self._mark(session)
        session.begin()
        self._compare(session, 0, "start", ())
        for step in run.steps:
            self._mark(session)
            self._take(session, step)
        return self._end(session)

    def _take(self, session: Session, step: ModelStep) -> None:
        self.position.move_to(step.number)
        self.recording.note(f"==== step {step.number}: {step.title}")
        row = session.steps.get(step.action)
        if row is None:
            raise NotCarriedOut(f"the plug-in {self.product.name} has no row for the action `{step.action}`")
        row(**step.arguments)
        self.position.done()
        self._compare(session, step.number, step.title, step.changes)

    def _compare(self, session: Session, number: int, title: str, changes: tuple[str, ...]) -> None:
        seconds = getattr(self.product, "settle_seconds", self.patience.settle_seconds)
        end, tries = time.monotonic() + seconds, 0
        while True:
            observed = session.observe()
            tries += 1
            found = differences(self.run.state(number), observed, self.run.identities)
            if not found or (tries >= TRIES_MIN and time.monotonic() >= end):
                break
            time.sleep(0.1)
        self.recording.note(f"     {'as the model says' if not found else 'DIFFERS: ' + '; '.join(found)}")
        result = StepResult(number, title, changes, found, observed, self.recording.passed)
        self.results.append(result)
        self.report(result)
        if found:
            raise Refuted("; ".join(found))

    # ---- the end ----

    def _end(self, session: Session) -> _Verdict:
        run, product = self.run, self.product
        if run.loop is not None:
            self._go_round(session, run.loop)
        evidence = list(session.conclude())
        for line in evidence:
            self.recording.note(f"     {line}")
        patterns = (*product.observed, *OWN_DOING)
        never = product.not_compared(run) if hasattr(product, "not_compared") else frozenset()
        shown = {name for name in run.reads - never if any(fnmatchcase(name, one) for one in patterns)}
        hidden = sorted(run.reads - shown)
        if hidden:
            reason = f"every step came out as the model says, and {product.name} does not show {', '.join(hidden)}"
            return _Verdict("not_carried_out", f"{reason}, which {run.claim} reads", None, evidence)
        words = f"{run.claim} is {'reached' if run.claim_kind == 'reachable' else 'violated'} on the product, too"
        reason = f"all {len(run.steps)} steps came out as the model says" + (f"; {words}" if run.claim else "")
        self.recording.note(f"==== confirmed: {reason}")
        return _Verdict("confirmed", reason, None, evidence)

    def _go_round(self, session: Session, loop: int) -> None:
        """Lets the part that repeats go on: watched where nothing but idle steps repeats, else taken again."""
        part = self.run.steps[loop:]
        if all(step.action in self.product.idle_actions for step in part):
            self.recording.note(f"==== the loop goes on for {self.patience.linger_seconds:g} s")
            session.linger(self.patience.linger_seconds)
            self._compare(session, len(self.run.steps), "the loop", ())
            return
        for number in range(self.patience.rounds):
            self.recording.note(f"==== round {number + 2} of the loop")
            for step in part:
                self._mark(session)
                self._take(session, step)

    # ---- evidence ----

    def _mark(self, session: Session) -> None:
        self._seen = {member: len(lines) for member, lines in session.lines().items()}

    def _new_lines(self, session: Session) -> list[str]:
        """The lines of logs since the step that is due began."""
        return [
            f"log {member}: {text}"
            for member, lines in sorted(session.lines().items())
            for text in lines[self._seen.get(member, 0) :]
        ][-EVIDENCE_LINES_MAX:]
