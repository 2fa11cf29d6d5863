"""What a search found becomes an answer, also where somebody stops it before every run is traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.checker.engine import Answer, Limits, Progress
from hacheck.checker.explicit.answers import Explored, answer_of
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.property_conditions import select
from hacheck.checker.explicit.search import shortest_paths, state_log
from hacheck.checker.explicit.search_result import SPEC_ERROR, Lasso, LivenessVerdict, StatePath, Subject, Undecided
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.model.ir import FALSE, Property, System
from hacheck.model.language import load
from hacheck.model.runs import State
from hacheck.supervise.task import Cancelled
from tests.models.quorum_election import quorum_election

SPEC = """
system Ring "A token goes round."
node Server[3] ranked { has: bool = false }
initially do for s: Server where s == Server(1) do s.has := true
environment action pass_on(s: Server) when s.has do
  s.has := false
  for t: Server where (s == Server(1) and t == Server(2)) or (s == Server(2) and t == Server(3))
    or (s == Server(3) and t == Server(1)) do t.has := true
invariant never_third: not Server(3).has
eventually third: Server(3).has
"""


def ring() -> System:
    """The system of three states."""
    loaded = load(SPEC, "ring.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}).system
    assert system is not None
    return system


class Found(Struct):
    """Findings that are said, not made. `gives_up`: nothing is traced."""

    size: int = 3
    depth: int = 2
    stopped: str | None = None
    counts: Sequence[int] = (3,)
    bounds_reached: Sequence[int] = ()
    found: Mapping[str, int] = field(default_factory=dict)
    hits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    errors: Sequence[tuple[int, int]] = ()
    bytes_per_state: float | None = None
    traced: Mapping[str, StatePath] = field(default_factory=dict)
    gives_up: bool = False

    def closest(self, key: str) -> Sequence[int]:
        """The states of a key."""
        return [self.errors[0][0]] if key == SPEC_ERROR else [self.found[key]]

    def path_to(self, targets: Sequence[int]) -> StatePath:
        """The way round the ring."""
        if self.gives_up:
            raise Cancelled("interrupted")
        return StatePath(list(range(targets[0] + 1)))


def holder(state: State) -> int:
    """A state, packed: the place of the token."""
    place: int = state[0].index(True)
    return place


def answered(findings: Found, check_liveness: Callable[[tuple[Property, ...]], Sequence[LivenessVerdict]]) -> Answer:
    """The answer about the ring."""
    system = ring()
    instances = tuple((0, (server,)) for server in (1, 2, 3))
    explored = Explored(Subject(system, instances, (), holder), select(system, ()), findings, check_liveness)
    return answer_of(explored, Stopwatch(Limits(), lambda _: True))


def test_a_run_is_told_by_the_interpreter() -> None:
    answer = answered(Found(found={"never_third": 2}), lambda asked: [None])
    violated, holds = answer.properties
    assert (violated.verdict, holds.verdict) == ("violated", "holds")
    assert violated.run is not None
    assert [holder(state) for state in violated.run.states] == [0, 1, 2]


def test_a_violation_of_which_no_run_is_known_is_no_violation_yet() -> None:
    answer = answered(Found(found={"never_third": 2}, gives_up=True), lambda asked: [None])
    assert (answer.properties[0].verdict, answer.properties[0].run) == ("unknown", None)
    told = "a violation was found, but the run to it was not reconstructed; stopped because interrupted"
    assert told in answer.properties[0].scope


def test_an_error_of_the_spec_of_which_no_run_is_known_leaves_everything_open() -> None:
    answer = answered(Found(errors=[(1, 1)], gives_up=True), lambda asked: [None])
    assert answer.error is None
    assert {item.verdict for item in answer.properties} == {"unknown"}
    assert "an error of the spec was found" in answer.properties[1].scope


def test_why_liveness_was_not_judged_is_told() -> None:
    answer = answered(Found(), lambda asked: [Undecided("not checked; stopped because interrupted")])
    assert answer.properties[1].verdict == "unknown"
    assert answer.properties[1].scope == "not checked; stopped because interrupted; every reachable state"


def test_a_lasso_goes_round_until_the_very_state_comes_back() -> None:
    """All three states are one, as if the servers were alike: a loop of one step is one of three."""
    system = ring()
    instances = tuple((0, (server,)) for server in (1, 2, 3))
    subject = Subject(system, instances, (), lambda state: 0)
    lasso = Lasso(StatePath([0, 0], (0,)), 0)
    explored = Explored(subject, select(system, ("third",)), Found(), lambda asked: [lasso])
    (answer,) = answer_of(explored, Stopwatch(Limits(), lambda _: True)).properties
    assert answer.run is not None
    assert (len(answer.run.steps), answer.run.loop) == (3, 0)
    assert answer.scope == "after 0 steps a loop of 3 steps may repeat for ever"


def test_a_way_that_the_interpreter_cannot_go_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="a run that the model does not have"):
        answered(Found(found={"never_third": 2}), lambda asked: [Lasso(StatePath([0, 2]), 0)])


@pytest.mark.parametrize("phase", ["lowering", "compiling", "exploring", "checking liveness", "reconstructing the run"])
def test_the_native_engine_stops_in_every_phase(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says no in a phase, and from then on, gets an answer in which nothing is claimed that was not shown."""
    for module in (state_log, shortest_paths):  # a run that can be traced back at once is, else
        monkeypatch.setattr(module, "GRACE_SECONDS", 0.0)
    system = quorum_election(3, 2, 1, broken=True)
    never = Property("comes", "eventually", FALSE, None, (), "", "", 0)
    system = replace(system, properties=(*system.properties, never))
    seen: list[str] = []

    def report(progress: Progress) -> bool:
        seen.append(progress.phase)
        return phase not in seen

    answer = NativeEngine(reductions=False).check(system, (), Limits(), report)
    if phase in seen:
        assert any(item.verdict == "unknown" for item in answer.properties)
    for item in answer.properties:
        assert item.verdict == "unknown" or item.run is not None or item.scope.startswith("every reachable state")
