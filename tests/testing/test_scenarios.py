"""Scenarios that runs are to come to, and steps that they are directed by."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import settings

from hacheck.testing import Adapter, BadModel, Counterexample, Disagreement, Event, Undecided, do, replay
from hacheck.testing.directed_runs import Awaited, Direction, Plan, directions
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.scenarios import Scenario
from hacheck.testing.stimuli import Step
from tests.testing.services import FEW, Counting

COUNTED, WAITED = Event("Server-1", "counted", {"n": 1}), do("wait", seconds=1.0)
NOTHING: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def with_two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of the counters, with a state that has a name."""
    text = (Path(__file__).parent / "counter.ha").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("specs") / "counter.ha"
    path.write_text(text + "reachable two: some s: Server where s.n == 2\n", encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path) -> Iterator[None]:
    token = OPTIONS.set(Options(runs=tmp_path / "runs", coverage=tmp_path))
    yield
    OPTIONS.reset(token)


@pytest.mark.parametrize(
    ("parts", "reached"),
    [
        (("counted", "wait"), 2),
        (("wait", "counted"), 1),
        ((do("count", s="Server-1"), Event("Server-1", "counted")), 2),
        ((do("count", s="Server-2"), "counted"), 0),
        ((Event("Server-1", "counted", {"n": 2}), "wait"), 0),
        (("calm", "counted", "counted"), 2),
        (("counted", "calm"), 1),
        (("counted", "busy", "busy", "wait"), 4),
    ],
)
def test_parts_come_in_their_order(parts: tuple[str | Step | Event, ...], reached: int) -> None:
    calm, busy = frozenset({"calm"}), frozenset({"busy"})
    sights = [(None, calm), (do("count", s="Server-1"), calm), (COUNTED, busy), (WAITED, busy)]
    assert Scenario("s", parts).reached(sights) == reached


def test_what_was_refused_is_no_part_of_a_scenario() -> None:
    class Refusing(Counting):
        besides = (do("break_disk"),)
        scenarios: ClassVar = {"breaks": ("counted", "break_disk")}

        def act(self, action: str, arguments: Mapping[str, Any]) -> object:
            return False

    missing = "scenario breaks: in no run; the best one came to `counted`, part 1 of 2, and then lacked `break_disk`"
    with pytest.warns(UserWarning, match=missing):
        run_state_machine(Refusing, FEW)


def test_coverage_says_in_how_many_runs_each_was_met(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, with_two: str
) -> None:
    class Wanting(Counting):
        spec = with_two
        scenarios: ClassVar = {
            "counts_to_two": ("counted", "two", "even"),
            "two_before_one": ("two", Event("Server-1", "counted", {"n": 1})),
        }

    with pytest.warns(
        UserWarning, match="two_before_one: in no run; the best one came to `two`, part 1 of 2"
    ) as warned:
        run_state_machine(Wanting, FEW)
    assert len(warned) == 1
    content = json.loads((tmp_path / "Wanting.json").read_text(encoding="utf-8"))
    first, second = content["scenarios"]
    assert first["name"] == "counts_to_two"
    assert 0 < first["met"] <= content["runs"]
    assert (first["best"], first["missing"]) == (3, None)
    assert (second["met"], second["best"], second["missing"]) == (0, 1, "Server-1: counted(n: 1)")
    shown = capsys.readouterr().out
    assert f"scenario counts_to_two: in {first['met']} of {content['runs']} runs" in shown
    assert "scenario two_before_one: in no run" in shown


@pytest.mark.parametrize(
    ("scenarios", "reason"),
    [
        ({"s": ("cuonted",)}, "`cuonted` is no line, action, fault or `reachable`"),
        ({"s": ()}, "scenario s .* is empty"),
    ],
)
def test_what_there_is_not_cannot_be_wanted(scenarios: dict[str, tuple[str, ...]], reason: str) -> None:
    wrong = type("Wrong", (Counting,), {"scenarios": scenarios})
    with pytest.raises(BadModel, match=reason):
        run_state_machine(wrong, FEW)


def test_a_counterexample_of_the_spec_gives_the_steps_that_the_adapter_drives(with_two: str) -> None:
    class Directed(Counting):
        spec = with_two
        directed: ClassVar = (Counterexample("default", "two"), (do("count", s="Server-1"),))

    count = do("count", s="Server-1")
    assert [one.items for one in directions(Directed)] == [(count, count), (count,)]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Counterexample("nonesuch", "two"), "has no check `nonesuch`; it has default"),
        (Counterexample("default", "nonesuch"), "has no property `nonesuch`; it has "),
        (Counterexample("lower", "small"), "no run shows small in check lower"),
    ],
)
def test_a_counterexample_that_there_is_not_is_an_error(wanted: Counterexample, reason: str) -> None:
    wrong = type("Wrong", (Counting,), {"directed": (wanted,)})
    with pytest.raises(BadModel, match=reason):
        run_state_machine(wrong, FEW)


def test_a_plan_is_followed_in_a_third_of_runs_and_waits_for_what_is_not_possible() -> None:
    steps = [do("count", s=f"Server-{number}") for number in range(5)]
    plans = [Plan([Direction("steps 1", tuple(steps))], Random(number)) for number in range(300)]
    begun = [plan for plan in plans if plan.next(lambda step: False, [WAITED]) == WAITED]
    assert 70 < len(begun) < 130
    followed = []
    for plan in begun:
        taken = []
        for _ in range(100):  # one in eight steps is chance's
            step = plan.next(lambda step: True, [WAITED])
            taken += [] if step is None else [step]
        followed.append(taken)
    assert steps in followed
    assert all(taken == [step for step in steps if step in taken] for taken in followed)
    assert any(len(taken) < len(steps) for taken in followed)


def test_a_step_that_never_becomes_possible_is_left_out() -> None:
    never, later = do("count", s="Server-8"), do("count", s="Server-1")
    for number in range(100):
        plan = Plan([Direction("steps 1", (never, later))], Random(number))
        taken = [plan.next(lambda step: step == later, [WAITED]) for _ in range(100)]
        assert never not in taken
        assert taken.count(WAITED) <= 3


class Particular(Counting):
    """Wrong only behind four waits of certain lengths, each before a count."""

    waits = (1.0, 2.0, 3.0)

    def start(self) -> None:
        """Starts it."""
        super().start()
        self.past: list[float] = []

    def count(self, s: str) -> None:
        """It counts."""
        super().count(s)
        self.past.append(0.0)
        if self.past == [3.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0]:
            self._show("counted")

    def wait(self, seconds: float) -> None:
        """Something happens."""
        self.past.append(seconds)


def test_a_mistake_that_chance_misses_is_found_behind_a_directed_run() -> None:
    how = settings(FEW, max_examples=60, stateful_step_count=10, derandomize=True)
    run_state_machine(type("Undirected", (Particular,), {}), how)
    count = do("count", s="Server-1")
    steps = tuple(step for seconds in (3.0, 1.0, 2.0, 3.0) for step in (do("wait", seconds=seconds), count))
    with pytest.raises(Disagreement, match="counted"):
        run_state_machine(type("Directed", (Particular,), {"directed": (steps,)}), how)


def test_a_test_goes_on_until_scenarios_were_met_often_enough(tmp_path: Path) -> None:
    class Aiming(Counting):
        scenarios: ClassVar = {"four": ("counted",) * 4}
        aims: ClassVar = {"four": 12}

    run_state_machine(Aiming, FEW)
    content = json.loads((tmp_path / "Aiming.json").read_text(encoding="utf-8"))
    assert content["scenarios"][0]["met"] >= 12
    assert 20 < content["runs"] < 200, "twenty were not enough, and there were no more than needed"


def test_an_aim_that_is_missed_is_said_after_ten_times_as_many_runs() -> None:
    class Missing(Counting):
        scenarios: ClassVar = {"four": ("counted",) * 4}
        aims: ClassVar = {"four": 1_000}

    few = settings(FEW, max_examples=3)
    with pytest.warns(UserWarning, match=r"scenario four: in \d+ runs, and 1,000 were wanted"):
        run_state_machine(Missing, few)
    assert Missing.log.count("start") >= 30
    wrong = type("Wrong", (Counting,), {"aims": {"nonesuch": 1}})
    with pytest.raises(BadModel, match="there is no scenario `nonesuch`"):
        run_state_machine(wrong, FEW)


# ---- roles ----


@pytest.fixture
def two(tmp_path: Path) -> type[Counting]:
    """Two servers, of which the one that counted last leads, after a wait."""
    text = (Path(__file__).parent / "counter.ha").read_text(encoding="utf-8")
    (tmp_path / "two.ha").write_text(text.replace("node Server {", "node Server[2] {"), encoding="utf-8")

    class Two(Counting):
        spec = tmp_path / "two.ha"

        def start(self) -> None:
            super().start()
            self.last, self.leader, self.numbers = "", "", {"Server-1": 0, "Server-2": 0}

        def count(self, s: str) -> None:
            self.numbers[s] += 1
            self.last, self.number = s, self.numbers[s]
            self._show("counted", s)
            if self.number in (2, 4):
                self._show("even", s)

        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            self.leader = self.last

        def roles(self) -> dict[str, str]:
            return {"leader": self.leader} if self.leader else {}

    return Two


def test_a_step_by_role_waits_until_somebody_plays_it(two: type[Counting]) -> None:
    leads = do("count", s="leader")
    replay(two, [do("count", s="Server-2"), leads, do("count", s="Server-1"), leads])
    with pytest.raises(Undecided, match=r"count\(s='leader'\)`, was not done"):
        replay(two, [leads])


def test_what_is_drawn_about_somebody_who_plays_a_role_is_named_by_it(two: type[Counting]) -> None:
    class Wrong(two):  # type: ignore[misc, valid-type]
        def count(self, s: str) -> None:
            super().count(s)
            if self.leader == s and self.number == 2:
                self._show("even", s)  # twice

    with pytest.raises(Disagreement) as found:
        run_state_machine(Wrong, settings(FEW, max_examples=200))
    assert [step for step in found.value.steps if step.method == "count"][-1] == do("count", s="leader")
    with pytest.raises(Disagreement):
        replay(Wrong, found.value.steps)


FALLING_BACK = """
system FallingBack "One of two servers serves; the other one takes over, and the first one serves again when it may."
switch asks = on "a server that comes back asks whether the other one serves"
node Server[2] symmetric { serves: bool = false }
shared first: Server? = none
environment action begin(s: Server) "whoever is quicker"
  when first == none and up(s)
do
  first := s
  s.serves := true
  log serves() at s
environment action take_over(s: Server) when up(s) and not s.serves and first == other(s) and not up(other(s))
do
  s.serves := true
  log serves() at s
environment action fall_back(s: Server)
  when up(s) and not s.serves and first == s and (not asks or not other(s).serves)
do
  s.serves := true
  log serves() at s
faults { crash Server up to 1 }
invariant one_serves: at most one s: Server where s.serves
check default expect all hold
check falls_back with asks = off expect one_serves violated
"""


class FallingBack(Adapter):
    """Takes over after 18 seconds; falls back a second after its start, and asks nobody. Server 2 is quicker."""

    waits = (1.0, 2.0, 4.0)
    asks = False

    def start(self) -> None:
        """Starts both."""
        self.now, self.down_since, self.up_since = 0.0, -1.0, 0.0
        self.serving: set[str] = set()
        self.shown: list[Event] = []

    def crash(self, n: str) -> bool:
        """Of one server at a time."""
        if self.down_since >= 0 or n != "Server-2":
            return False
        self.down_since = self.now
        self.serving.discard(n)
        return True

    def restart(self, n: str) -> None:
        """It starts again."""
        self.down_since, self.up_since = -1.0, self.now

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds
        if self.down_since < 0 and self.now - self.up_since >= 1.0 and not (self.asks and self.serving):
            self._serve("Server-2")
        if self.down_since >= 0 and self.now - self.down_since >= 18.0:
            self._serve("Server-1")

    def _serve(self, server: str) -> None:
        if server not in self.serving:
            self.serving.add(server)
            self.shown.append(Event(server, "serves"))

    def events(self) -> list[Event]:
        """Who serves since the last time."""
        shown, self.shown = self.shown, []
        return shown


def falling_back(tmp_path: Path, **body: Any) -> type[Adapter]:
    path = tmp_path / "falling_back.ha"
    path.write_text(FALLING_BACK, encoding="utf-8")
    return type("Falling", (FallingBack,), {"spec": str(path), **body})


BROKEN = (Counterexample("falls_back", "one_serves"),)


def test_a_counterexample_waits_for_what_the_service_does_by_itself(tmp_path: Path) -> None:
    (direction,) = directions(falling_back(tmp_path, directed=BROKEN))
    methods = [one.method if isinstance(one, Step) else one.text.partition("(")[0] for one in direction.items]
    assert methods == ["begin", "crash", "take_over", "restart", "fall_back"]
    assert next(one.lines for one in direction.items if isinstance(one, Awaited))[0][0] == "serves"
    OPTIONS.set(Options(runs=tmp_path / "runs", seed=1))
    few = settings(FEW, max_examples=30, stateful_step_count=16, derandomize=False)
    run_state_machine(falling_back(tmp_path), few)
    with pytest.raises(Disagreement, match="Server-2: serves"):
        run_state_machine(falling_back(tmp_path, directed=BROKEN), few)


def test_coverage_says_what_a_counterexample_lacked(tmp_path: Path) -> None:
    few = settings(FEW, max_examples=60, stateful_step_count=20, derandomize=True)
    run_state_machine(falling_back(tmp_path, directed=BROKEN, asks=True), few)
    (found,) = json.loads((tmp_path / "Falling.json").read_text(encoding="utf-8"))["directed"]
    assert (found["name"], found["came_about"]) == ("falls_back/one_serves", 0)
    assert found["runs"] > 2
    assert found["lacked"].startswith("the service's own `fall_back(s: Server-")
    assert found["lacked"].endswith(": serves`")
