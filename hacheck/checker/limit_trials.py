"""What becomes of "holds" when a limit is one higher: the trials of a check, and what one of them finds.

A check explores a system within limits. A trial explores it with one of them raised by one (or with several), and asks
again what held. A claim is refuted where the trial's run, which the interpreter has replayed, violates the property, or
reaches what was unreachable. `reachable` properties that were reached are no claims: a witness remains one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hacheck.checker.described_run import fault_count
from hacheck.checker.engine import Engine, Limits, Report
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, run_check
from hacheck.model.interpreter import replay
from hacheck.model.language.raised_limits import Fixed, Raise, raised, raises

if TYPE_CHECKING:
    from hacheck.checker.verify import Question
    from hacheck.model.language import Specification

Claim = Literal["holds", "refuted", "open"]

GROWTH = {"assumption": 2, "setting": 3, "bound": 3, "granularity": 5, "fault budget": 6, "size": 12}
"""By how much a raise of each kind is expected to multiply the states: what decides the order of trials only."""


CALLS = "two calls of one caller to one callee are never under way together"
"""Why a bound of the tool's own cannot be raised."""


class Trial(Struct, frozen=True):
    """A check with limits raised. `settings`: the user's, on top of the check's. `claims`: the properties checked
    again. `weight`: how expensive it is expected to be, compared with other trials."""

    question: Question
    settings: tuple[tuple[str, str], ...]
    raises: tuple[Raise, ...]
    claims: tuple[str, ...]
    weight: float

    @property
    def words(self) -> str:
        """The raised limits."""
        return ", ".join(one.words for one in self.raises)


class Explored(Struct, frozen=True):
    """What was found within the limits as they stand. `values`: the settings; `claims`: the properties that a larger
    exploration could refute; `bounds_reached`: the bounds that it met; `endless`: the counters that every claim holds
    for any value of."""

    question: Question
    values: tuple[tuple[str, str], ...]
    claims: tuple[str, ...]
    states: int
    bounds_reached: tuple[str, ...]
    endless: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """The trials of one check, cheap ones first; `fixed`: limits that cannot be raised."""

    trials: tuple[Trial, ...]
    fixed: tuple[Fixed, ...]


class ClaimResult(Struct, frozen=True):
    """What became of one property. `steps`, `faults`: of the run that refutes it."""

    name: str
    claim: Claim
    steps: int = 0
    faults: int = 0


class TrialResult(Struct, frozen=True):
    """What one trial found. `stopped`: why it did not explore everything, or could not begin; empty where it did.
    `limited`: whether a limit stopped it, so that more time, states or memory could decide more. `seconds_max`,
    `states_max`: the limits that it had."""

    claims: tuple[ClaimResult, ...]
    stopped: str
    limited: bool
    states: int
    depth: int
    seconds: float
    seconds_max: float | None = None
    states_max: int | None = None

    @property
    def refuted(self) -> tuple[ClaimResult, ...]:
        """The claims that the trial refutes."""
        return tuple(one for one in self.claims if one.claim == "refuted")

    @property
    def held(self) -> bool:
        """Whether every claim still holds."""
        return all(one.claim == "holds" for one in self.claims)

    def suffices(self, limits: Limits) -> bool:
        """Whether a trial with these limits would find no more."""
        return not self.limited or (
            _at_least(self.seconds_max, limits.wall_seconds_max) and _at_least(self.states_max, limits.states_max)
        )


def explored_of(result: CheckResult) -> Explored:
    """What the trials of a check start from. Lemmas, which nobody asks for, are no claims."""
    coverage = result.answer.coverage
    claimed = () if result.has_error else tuple(found for found in result.reported if is_claim(found))
    bounds_reached = tuple(name for name, _ in coverage.bounds_reached)
    # A claim that was explored again up to the counter's bound says so in its scope.
    scopes = [found.answer.scope for found in claimed]
    endless = tuple(one for one in result.answer.endless if not any(f"{one} up to" in scope for scope in scopes))
    names = tuple(found.prop.name for found in claimed)
    return Explored(result.check, result.system.settings, names, coverage.states, bounds_reached, endless)


def is_claim(found: PropertyResult) -> bool:
    """Whether the verdict speaks of every state explored."""
    verdict = found.answer.verdict
    if found.prop.kind == "reachable":
        return verdict == "violated"
    return verdict == "holds" and found.prop.kind != "lemma"


def plan(specification: Specification, explored: Explored, settings: tuple[tuple[str, str], ...] = ()) -> Plan:
    """The trials of a check that was run: each limit raised, one at a time. None where nothing is claimed."""
    if not explored.claims:
        return Plan((), ())
    found, fixed = raises(specification, dict(explored.values), bool(explored.bounds_reached), explored.endless)
    size = explored.states + 1000
    trials = tuple(
        Trial(explored.question, settings, (one,), explored.claims, float(size * GROWTH[one.kind])) for one in found
    )
    calls = tuple(Fixed(name, CALLS) for name in explored.bounds_reached if name.startswith("calls of "))
    return Plan(tuple(sorted(trials, key=lambda one: one.weight)), (*fixed, *calls))


def together(found: Sequence[tuple[Trial, TrialResult]]) -> Trial | None:
    """The trial of all limits at once that held one at a time, of what no trial refuted; `None` where there are not two
    such limits. Assumptions are no limits of size, and stay on."""
    held = [(trial, result) for trial, result in found if result.held and trial.raises[0].kind != "assumption"]
    refuted = {one.name for _, result in found for one in result.refuted}
    claims = tuple(name for name in (found[0][0].claims if found else ()) if name not in refuted)
    if len(held) < 2 or not claims:
        return None
    first = held[0][0]
    return Trial(
        first.question,
        first.settings,
        tuple(one for trial, _ in held for one in trial.raises),
        claims,
        float(sum(result.states for _, result in held)),
    )


def fewer(trial: Trial, found: Iterable[tuple[Trial, TrialResult]]) -> Trial | None:
    """The trial without that half of its limits that cost the most states one at a time; `None` where none is left to
    combine."""
    states = {one.raises[0]: result.states for one, result in found if len(one.raises) == 1}
    kept = sorted(trial.raises, key=lambda one: states[one])[: len(trial.raises) // 2]
    if len(kept) < 2:
        return None
    chosen = tuple(one for one in trial.raises if one in kept)
    return Trial(trial.question, trial.settings, chosen, trial.claims, float(sum(states[one] for one in kept)))


def run_trial(
    specification: Specification, trial: Trial, engine: Engine, limits: Limits, report: Report
) -> TrialResult:
    """Explores the system of a trial, and says what became of each claim.

    Errors: as `run_check`.
    """
    changed, settings = raised(specification, trial.raises)
    made = changed.instantiate({**dict(trial.settings), **settings}, trial.question.name)
    if made.system is None:
        why = next((one.message for one in made.diagnostics if one.severity == "error"), "the spec has an error")
        return ended(trial, f"not possible: {why}", limits)
    if missing := set(trial.claims) - {one.name for one in made.system.properties}:
        return ended(trial, f"not possible: there is no {', '.join(sorted(missing))}", limits)
    prepared = Prepared(trial.question, made.system, trial.claims)
    result = run_check(prepared, engine, limits, report, replay)
    coverage, answer = result.answer.coverage, result.answer
    is_done = coverage.complete or coverage.ended_early
    stopped = "" if is_done else coverage.stopped or "not every state was visited"
    limited = not is_done and not result.has_error
    if answer.error is not None:
        failed = answer.error.error
        stopped = f"the spec has an error under it: {'' if failed is None else failed.message}".rstrip(": ")
    elif answer.unstartable:
        stopped = "there is no initial state"
    claims = tuple(_claim(result, found) for found in result.properties)
    return TrialResult(
        claims, stopped, limited, coverage.states, coverage.depth, round(coverage.wall_seconds, 3),
        limits.wall_seconds_max, limits.states_max,
    )  # fmt: skip


def _at_least(had: float | None, wanted: float | None) -> bool:
    return had is None or (wanted is not None and had >= wanted)


def _claim(result: CheckResult, found: PropertyResult) -> ClaimResult:
    answer = found.answer
    positive = "violated" if found.prop.kind == "reachable" else "holds"
    if answer.verdict not in ("holds", "violated"):
        return ClaimResult(found.prop.name, "open")
    if answer.verdict == positive:
        return ClaimResult(found.prop.name, "holds")
    assert answer.run is not None, "what refutes a claim is a run"
    return ClaimResult(found.prop.name, "refuted", len(answer.run.steps), fault_count(result.system, answer.run))


def ended(trial: Trial, why: str, limits: Limits, *, limited: bool = False) -> TrialResult:
    """What is known of a trial that explored nothing. `limited`: for want of memory, say."""
    claims = tuple(ClaimResult(name, "open") for name in trial.claims)
    return TrialResult(claims, why, limited, 0, 0, 0.0, limits.wall_seconds_max, limits.states_max)
