"""The document of `hacheck verify`: everything that the screen shows, and every run in full."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from hacheck.documents.document import Document, Part
from hacheck.documents.run import RunRow

Outcome: TypeAlias = Literal["expected", "unexpected", "undecided"]


class RaisedLimit(Part, frozen=True, kw_only=True):
    """A limit of a spec, with its value before and after it was raised. `set`: the setting that does so, if any."""

    kind: Literal["bound", "size", "fault budget", "setting", "granularity", "assumption"]
    name: str
    before: str = msgspec.field(name="from")
    after: str = msgspec.field(name="to")
    set: str | None
    place: str | None


class RaisedTrial(Part, frozen=True, kw_only=True):
    """An exploration with raised limits. `claims`: what it says of each property: holds, refuted or open."""

    limits: list[RaisedLimit]
    complete: bool
    stopped: str | None
    states: int
    depth: int
    seconds: float
    claims: dict[str, str]


class FixedLimit(Part, frozen=True, kw_only=True):
    """A limit that is not raised, and why."""

    name: str
    reason: str


class RaisedLimits(Part, frozen=True, kw_only=True):
    """What raising the limits of a check found, now or, of the same spec, earlier. Each list of limits is one trial."""

    trials: list[RaisedTrial]
    not_tried: list[list[RaisedLimit]]
    not_raised: list[FixedLimit]


class Refutation(Part, frozen=True, kw_only=True):
    """Raised limits under which a property is violated, and the length of the shortest counterexample."""

    limits: list[RaisedLimit]
    steps: int
    faults: int


class OpenTrial(Part, frozen=True, kw_only=True):
    """Raised limits under which a property is not decided, and why."""

    limits: list[RaisedLimit]
    stopped: str | None


class RaisedProperty(Part, frozen=True, kw_only=True):
    """How far a property holds beyond the limits of its check."""

    holds_with: list[list[RaisedLimit]]
    refuted_by: list[Refutation]
    not_decided: list[OpenTrial]


class Difference(Part, frozen=True, kw_only=True):
    """A state about which the two interpreters disagree: a bug of hacheck. `path`: the steps that lead to it."""

    where: str
    path: list[str]
    state: list[str]
    explored: str
    second: str


class RecheckResult(Part, frozen=True, kw_only=True):
    """States computed again by a second interpreter. `of_states`: how many there were to choose from."""

    states: int
    steps: int
    of_states: int
    seconds: float
    everything: bool
    not_supported: str | None
    differences: list[Difference]


class Bound(Part, frozen=True, kw_only=True):
    """A bound of the spec that cut steps, and how many."""

    name: str
    meaning: str
    cut_steps: int


class UnreachedBound(Part, frozen=True, kw_only=True):
    """A bound of the spec that cut no step of a complete exploration."""

    name: str
    meaning: str


class SpecificationFault(Part, frozen=True, kw_only=True):
    """A run into an error of the spec. `place`: file and line of the action that failed, or nothing."""

    run: list[RunRow]
    message: str
    place: str


class BlameTrial(Part, frozen=True, kw_only=True):
    """A counterexample tried without a part of it, within the bounds of the check.

    `steps`: the numbers of the steps concerned. `outcome`: `prevents` where a complete search finds no violation,
    `violated` where there still is one, of `length` steps with `faults` faults, `open` where the search did not end:
    `stopped`. `states`: explored. `same_run`: the counterexample itself is a run then, too. `implied`: nothing was
    explored, since another trial that forbids less prevents the violation. `result`: the outcome in words.
    """

    kind: Literal["fault", "assumption", "setting", "guard", "branch", "step"]
    words: str
    steps: list[int]
    outcome: Literal["prevents", "violated", "open"]
    result: str
    states: int
    length: int
    faults: int
    same_run: bool
    implied: bool
    stopped: str | None


class BlameResult(Part, frozen=True, kw_only=True):
    """What a counterexample needs: every trial."""

    seconds: float
    trials: list[BlameTrial]


class RunDifference(Part, frozen=True, kw_only=True):
    """A step of the nearest good run after the shared ones, or one of the counterexample that it leaves out. `number`:
    in the counterexample, `place`: in the good run, null where it is not there."""

    mark: Literal["same", "added", "left out"]
    number: int | None
    place: int | None
    words: str


class NearestGoodRun(Part, frozen=True, kw_only=True):
    """The run most like a counterexample in which the property holds. `shared`: so many first steps are the same."""

    shared: int
    length: int
    differences: list[RunDifference]
    run: list[RunRow]


class OtherCounterexample(Part, frozen=True, kw_only=True):
    """A counterexample besides `run`. `differs`: from that one, in words. `loop`: as of `run`."""

    differs: str
    run: list[RunRow]
    loop: int | None


class OtherCounterexamples(Part, frozen=True, kw_only=True):
    """Counterexamples that differ in what breaks, in faults or in actions, shortest first. `wanted`: how many the user
    wanted besides `run`. `exhausted`: every other one has at least the actions and faults of one of these or of `run`.
    `stopped`: why the search ended early."""

    wanted: int
    exhausted: bool
    stopped: str | None
    seconds: float
    runs: list[OtherCounterexample]


class PropertyVerdict(Part, frozen=True, kw_only=True):
    """What was found of one property.

    `kind`: invariant, lemma, step, reachable, eventually, leads_to or deadlock. `place`: file and line. `scope`: how
    far the verdict reaches. `never_exercised`: the condition that was never true, where the property holds only because
    it says nothing of any state explored. `run`: a shortest counterexample, or the witness of a `reachable`. `loop`: of
    a lasso, the number of steps before the part that repeats. `gap`: a counterexample to induction: states that no
    lemma excludes, and a step from them that violates the property. `blame`, `good_run`: with `--blame` only.
    `others`: with `--counterexamples` only.
    """

    name: str
    kind: str
    description: str
    source: str
    place: str
    verdict: Literal["holds", "violated", "unknown", "not-inductive"]
    scope: str
    expected_verdict: Literal["holds", "violated"]
    outcome: Outcome
    never_exercised: str | None
    run: list[RunRow] | None
    loop: int | None
    gap: list[RunRow] | None
    raised: RaisedProperty | None
    blame: BlameResult | msgspec.UnsetType = msgspec.UNSET
    good_run: NearestGoodRun | msgspec.UnsetType | None = msgspec.UNSET
    others: OtherCounterexamples | msgspec.UnsetType = msgspec.UNSET


class CheckVerdict(Part, frozen=True, kw_only=True):
    """What was found of one check.

    `expected`: whether all came out as the spec says, null where that is undecided. `phases`: seconds by what was done.
    `depth`: of the breadth-first search. `complete`: every reachable state was explored; `stopped`: else why not, and
    then all numbers are of the part that was explored; "every property is decided" where nothing is left to find.
    `omission_probability`: at most how likely it is that a state was taken for another one and left out. `reach`: what
    was covered by an engine that counts no states. `never_reached`: members of modes that no state has. `actions`: how
    often each action happened.
    """

    name: str
    description: str
    expected: bool | None
    outcome: Outcome
    settings: dict[str, str]
    faults: list[str]
    assumptions: dict[str, str]
    engine: str
    threads: int
    phases: dict[str, float]
    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    stopped: str | None
    bytes_per_state: float | None
    omission_probability: float
    recheck: RecheckResult | None
    notes: list[str]
    reach: str | None
    lemmas_found: list[str]
    bounds: list[Bound]
    bounds_not_reached: list[UnreachedBound]
    reductions: list[str]
    no_step_possible: bool
    never_happened: list[str]
    never_reached: dict[str, list[str]]
    actions: dict[str, int]
    fault: SpecificationFault | None
    raised: RaisedLimits | None
    properties: list[PropertyVerdict]


class VerifyDocument(Document, tag="verify", frozen=True, kw_only=True):
    """What `hacheck verify SPEC` found. `spec`: as the user named it; `path`: its file; `not_run`: checks."""

    spec: str
    path: str
    system: str
    exit_code: int
    not_run: list[str]
    checks: list[CheckVerdict]


class VerifyAllDocument(Document, tag="verify-all", frozen=True, kw_only=True):
    """What `hacheck verify --all` found: an object for each shipped spec; `not_run`: specs that were not begun."""

    exit_code: int
    not_run: list[str]
    specs: list[VerifyDocument]
