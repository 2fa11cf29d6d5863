"""Documents about code: what `hacheck simulate-impl` and `hacheck check-impl` write."""

from __future__ import annotations

from msgspec import field

from hacheck.documents.document import Document, Json, Part


class RunCounts(Part, frozen=True, kw_only=True):
    """Simulated runs: how many were requested, how many were done, in how many every promise was kept."""

    requested: int = field(name="asked")
    done: int
    kept: int


class MessageCounts(Part, frozen=True, kw_only=True):
    """Messages of all runs."""

    delivered: int
    lost: int


class BrokenPromise(Part, frozen=True, kw_only=True):
    """A promise of the protocol that a run broke, when, and what happened."""

    promise: str
    story: str
    at_us: int


class StoryEntry(Part, frozen=True, kw_only=True):
    """A line of a run for people, with its virtual time in microseconds. `mark`: its kind."""

    at_us: int
    mark: str
    text: str
    member: str
    other: str


class FailedRun(Part, frozen=True, kw_only=True):
    """A run that failed. `attempts`: runs made to reduce it; `faults_before`: its faults before that. `defect`: what
    the code did that it must not; `exhausted`: it had too many events. `plan`: what `--replay` runs again."""

    failure: str
    seed: int
    attempts: int
    faults_before: int
    broken: list[BrokenPromise]
    defect: dict[str, Json] | None
    exhausted: bool
    plan: dict[str, Json]
    story: list[StoryEntry]


class SimulateImplDocument(Document, tag="simulate-impl", frozen=True, kw_only=True):
    """What came of simulated runs of the reference implementation.

    `faults`: the profile. `seconds`: of virtual time in which faults happen. `ended_themselves`: members that stopped.
    `faults_happened`: how many of each kind made a difference; `faults_without_effect`: how many made none. `failures`:
    the seeds of the runs that failed, by how. The last list: one run for each way to fail, reduced.
    """

    protocol: str
    faults: str
    replicas: int
    clients: int
    settings: dict[str, str]
    seconds: float
    stretch: int
    seed: int
    runs: RunCounts
    messages: MessageCounts
    events: int
    virtual_seconds: float
    wall_seconds: float
    ended_themselves: int
    faults_happened: dict[str, int]
    faults_without_effect: int
    faults_possible: list[str]
    failures: dict[str, list[int]]
    runs_shown: list[FailedRun] = field(name="told")
    exit_code: int


class ScheduleStep(Part, frozen=True, kw_only=True):
    """A step of a schedule: the choice, in words, and the lines that the code wrote."""

    step: list[Json]
    about: str
    shown: list[str]


class Disagreement(Part, frozen=True, kw_only=True):
    """A schedule in which the code does what the model does not. `expected`: what the model would have allowed at the
    end; `expected_before_step`: what it would have allowed earlier."""

    why: str
    expected: list[str]
    expected_before_step: list[str]
    steps: list[ScheduleStep]


class ActionCoverage(Part, frozen=True, kw_only=True):
    """An action of the model: with how many combinations of nodes and other arguments the model has it, and how many of
    these were possible in some state that explains a schedule."""

    possible: int
    instances: int


class ScheduleCoverage(Part, frozen=True, kw_only=True):
    """What schedules covered of the model: its actions; `faults`, how many of each kind came; `lines`, how often each
    event was written; `states` of the model that explain some schedule, and `transitions` from them, fewer than there
    are if not the `whole` was looked at; `lacks`: which conditions fail together, in the nearest of these states, of an
    action that never was possible; none where only its lines never came."""

    model: str
    actions: dict[str, ActionCoverage]
    faults: dict[str, int]
    lines: dict[str, int]
    states: int
    transitions: int
    whole: bool
    lacks: dict[str, list[str]]


class CheckImplDocument(Document, tag="check-impl", frozen=True, kw_only=True):
    """What `hacheck check-impl` found. `deviations_explored`: all schedules with up to so many deviations from the
    quiet one were explored, -1 where not even that one was. `actions_never_possible`: null where that is not known."""

    code: str
    schedules: int
    steps: int
    states: int
    deviations_explored: int
    not_compared_to_the_end: int
    lines_never_written: list[str]
    actions_never_possible: list[str] | None
    coverage: ScheduleCoverage
    seconds: float
    disagreements: list[Disagreement]
    exit_code: int
