"""State machines do to a system what its model allows, and notice what it does not."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, BadModel, Disagreement, Event, Undecided, replay, state_machine
from hacheck.testing.hypothesis_machine import FLAKY, run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from tests.nightly import nightly
from tests.testing.services import FEW, Counting

EXAMPLES = Path(__file__).parents[2] / "examples"
MISTAKE, MENDED = "if number < 0:", "if number < self.number:"


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(copytree(EXAMPLES / "lease", tmp_path / "lease", ignore=lambda *_: [".hacheck-runs", "__pycache__"]))


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path) -> Iterator[None]:
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield
    OPTIONS.reset(token)


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The test of the example."""
    monkeypatch.syspath_prepend(folder)
    for name in ("service", "test_lease"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # so that it is forgotten afterwards
        del sys.modules[name]
    return importlib.import_module("test_lease")


def mend(folder: Path) -> None:
    """Mends the example's mistake."""
    text = (folder / "service.py").read_text()
    assert text.count(MISTAKE) == 1
    (folder / "service.py").write_text(text.replace(MISTAKE, MENDED))


def failing(adapter: type[Adapter], how: settings = FEW) -> Disagreement:
    """How the test of a system fails."""
    with pytest.raises(Disagreement) as found:
        run_state_machine(adapter, how)
    return found.value


# ---- the example ----


def test_the_mistake_of_the_example_is_found_and_told(lease: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded(lease, monkeypatch)
    with pytest.raises(Disagreement) as found:
        module.TestLease().runTest()
    disagreement = found.value
    assert disagreement.broken is not None
    assert disagreement.broken.event.name == "written"
    methods = [step.method for step in disagreement.steps]
    assert len(methods) <= 8
    assert methods.count("pause") == methods.count("resume") == 1
    change = "The smallest change that the model accepts: wrong field: `number` of `written`."
    assert change in " ".join(str(disagreement).split())
    assert max(map(len, str(disagreement).splitlines())) <= 80
    with pytest.raises(Disagreement):
        replay(module.LeaseService, disagreement.steps)


def test_nothing_is_reported_of_the_example_without_its_mistake(lease: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mend(lease)
    module = loaded(lease, monkeypatch)
    run_state_machine(module.LeaseService, settings(SETTINGS, max_examples=25))


@nightly
def test_nothing_is_reported_in_a_thousand_runs(lease: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mend(lease)
    module = loaded(lease, monkeypatch)
    run_state_machine(module.LeaseService, settings(SETTINGS, max_examples=1_000))


# ---- what is done, and noticed ----


class Right(Counting):
    """Does what the model says."""

    def count(self, s: str) -> object:
        """It counts to two, and cannot be made to count further."""
        if self.number == 2:
            return False
        return super().count(s)


def test_a_right_system_is_done_everything_to(tmp_path: Path) -> None:
    run_state_machine(Right, FEW)
    assert {"start", "stop", "count Server-1", "wait"} <= set(Right.log)
    assert Right.log.count("start") == Right.log.count("stop") >= 20
    assert Right.log.count("finish") == 1
    assert Right.log[-1] == "finish"
    assert not (tmp_path / "runs").exists()


def test_the_test_has_the_name_of_the_adapter_and_the_settings_it_is_given() -> None:
    made: Any = state_machine(Right, FEW)
    assert (made.__name__, made.__module__, made.settings) == ("TestRight", __name__, FEW)
    made().runTest()


class Skipping(Counting):
    """Forgets that four is even, and says three."""

    def count(self, s: str) -> None:
        """Counts wrongly."""
        self.number += 1
        self._show("counted")
        if self.number == 2:
            self._show("counted")


def test_a_wrong_line_is_found_by_the_shortest_way() -> None:
    found = failing(Skipping)
    assert [step.text for step in found.steps] == ["count(s='Server-1')"] * 2
    assert found.broken is not None
    assert found.broken.event == Event("Server-1", "counted", {"n": 2})


class Large(Counting):
    """Asks for what the model does not promise."""

    invariants = ("small",)


def test_a_violated_invariant_is_found() -> None:
    found = failing(Large)
    assert found.violated == ("small",)
    assert [step.method for step in found.steps] == ["count"] * 3
    assert str(found).startswith("Large violates `small` of Counter\n")


class Chancy(Counting):
    """Throws dice of its own."""

    dice = random.Random(7)

    def count(self, s: str) -> None:
        """Counts wrongly now and then."""
        super().count(s)
        if self.dice.random() < 0.1:
            self._show("even")


def test_what_a_system_does_by_chance_is_reported_and_said_to_be_chance() -> None:
    found = failing(Chancy, settings(FEW, max_examples=100))
    assert found.broken is not None
    assert found.broken.event.name == "even"
    notes = getattr(found, "__notes__", [])
    assert len(found.steps) <= 4 or FLAKY in notes


class Sleepy(Counting):
    """Time passes by itself, and nobody can do anything."""

    waits = ()
    count = None  # type: ignore[assignment]

    def events(self) -> Iterator[Event]:
        """It counts whenever one looks, and wrongly the third time."""
        self.number += 1
        yield Event("Server-1", "counted", {"n": self.number})
        if self.number == 2:
            yield Event("Server-1", "even", {"n": 3})


def test_where_nothing_can_be_done_one_looks() -> None:
    found = failing(Sleepy)
    assert found.steps == ()
    assert found.broken is not None
    assert found.broken.event.fields == {"n": 3}


class Failing(Counting):
    """Has a mistake that is none of the protocol."""

    def count(self, s: str) -> None:
        """Counts, and fails."""
        super().count(s)
        if self.number == 2:
            raise KeyError("oh")


def test_an_error_of_the_system_is_told_with_what_was_done() -> None:
    with pytest.raises(KeyError, match="oh") as found:
        run_state_machine(Failing, FEW)
    (note,) = found.value.__notes__
    assert note.startswith("It happened in this run:")
    assert '        do("count", s="Server-1"),' in note


class FailingByChance(Counting):
    """Fails once, and never again."""

    failed = False

    def count(self, s: str) -> None:
        """Counts, and fails."""
        super().count(s)
        if not FailingByChance.failed:
            FailingByChance.failed = True
            raise KeyError("once")


def test_an_error_that_does_not_come_again_is_told_too() -> None:
    with pytest.raises(KeyError, match="once") as found:
        run_state_machine(FailingByChance, FEW)
    assert found.value.__notes__[1:] == [FLAKY]


class NotStarting(Counting):
    """Cannot even start."""

    def start(self) -> None:
        """Fails."""
        raise OSError("no port is free")

    def stop(self) -> None:
        """Fails, too."""
        raise AttributeError("nothing was started")


def test_what_is_told_of_a_system_that_does_not_start_is_why() -> None:
    with pytest.raises(OSError, match="no port is free") as found:
        run_state_machine(NotStarting, FEW)
    assert not hasattr(found.value, "__notes__") or found.value.__notes__ == [], "nothing was done yet"
    assert NotStarting.log == ["finish"]


# ---- what cannot be told ----


class Beyond(Counting):
    """Begins beyond the bounds of the model."""

    def start(self) -> None:
        """Starts."""
        super().start()
        self.number = 8
        self._show("counted")


def test_a_system_larger_than_the_model_is_undecided() -> None:
    with pytest.raises(Undecided, match=r"of 20 runs of Beyond became larger than the model .* enlarge .* `settings`"):
        run_state_machine(Beyond, FEW)


class Growing(Counting):
    """Counts further than the model, by itself."""

    def wait(self, seconds: float) -> None:
        """When it has come so far."""
        if self.number >= 2:
            self.number += 4
            self._show("counted")


def test_runs_that_became_larger_than_the_model_are_counted() -> None:
    with pytest.warns(UserWarning, match=r"\d+ of \d+ runs of Growing became larger than .* the last at Server"):
        run_state_machine(Growing, FEW)


class Narrow(Counting):
    """Allows for one state."""

    capacity = 1
    count = None  # type: ignore[assignment]

    def wait(self, seconds: float) -> None:
        """It counts by itself."""
        Counting.count(self, "Server-1")


def test_too_many_explanations_are_undecided() -> None:
    with pytest.raises(Undecided, match=r"more than 1 states .* raise `capacity` in Narrow"):
        run_state_machine(Narrow, FEW)


class Foreign(Counting):
    """Calls its server otherwise."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        super()._show(name, "Server-9")


def test_an_unknown_node_is_undecided() -> None:
    with pytest.raises(Undecided, match=r"Server-9.* say how the model calls it with `called` in Foreign"):
        run_state_machine(Foreign, FEW)


# ---- seeds ----


def test_the_seed_of_a_failing_run_is_told_and_finds_it_again(tmp_path: Path) -> None:
    by_chance = settings(FEW, derandomize=False)
    first = failing(Skipping, by_chance)
    (note,) = first.__notes__
    seed = int(note.removeprefix("Found with pytest --hacheck-seed "))
    OPTIONS.set(Options(seed, tmp_path / "again"))
    again = failing(Skipping, by_chance)
    assert again.__notes__ == [note]
    assert again.entries == first.entries


def test_a_given_seed_decides_what_is_done() -> None:
    done = []
    for seed in (1, 1, 2):
        OPTIONS.set(Options(seed))
        Right.log.clear()
        run_state_machine(Right, FEW)
        done.append(tuple(Right.log))
    assert done[0] == done[1] != done[2]


class Misspelt(Counting):
    """Its lines have other names than the model's."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        super()._show(f"{name}_", node)


class HalfMisspelt(Counting):
    """Calls one of two lines otherwise."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        super()._show("evn" if name == "even" else name, node)


class Slow(Counting):
    """Shows a line only when it has been given some time."""

    waits = (0.1, 1.0)

    def start(self) -> None:
        """Starts."""
        super().start()
        self.late: list[Event] = []

    def wait(self, seconds: float) -> None:
        """It shows what it has kept back."""
        if seconds == 1.0:
            self.shown, self.late = [*self.shown, *self.late], []

    def _show(self, name: str, node: str = "Server-1") -> None:
        self.late.append(Event(node, name, {"n": self.number}))


class Silent(Counting):
    """Shows nothing."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        pass


def test_that_no_line_was_compared_is_told() -> None:
    told = r"^no line was compared in 20 runs of {0}: it showed {1}, and Counter knows counted, even$"
    with pytest.warns(UserWarning, match=told.format("Misspelt", "only counted_.*")):
        run_state_machine(Misspelt, FEW)
    with pytest.warns(UserWarning, match=told.format("Silent", "nothing")):
        run_state_machine(Silent, FEW)


def test_that_runs_stood_still_for_want_of_a_line_is_told() -> None:
    told = (
        r"^\d+ of \d+ runs of HalfMisspelt stood still, the last after `counted`: its line `Server 1: even\(n: [24]\)` "
        r"never came; it showed `evn`, which Counter does not know$"
    )
    with pytest.warns(UserWarning, match=told):
        run_state_machine(HalfMisspelt, FEW)


def test_runs_that_end_before_a_line_may_have_come_do_not_stand_still() -> None:
    run_state_machine(Slow, FEW)  # warnings are errors


# ---- what was covered ----


def test_a_test_that_passes_says_what_it_covered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OPTIONS.set(Options(runs=tmp_path / "runs", coverage=tmp_path / "covered"))
    run_state_machine(Right, FEW)
    content = json.loads((tmp_path / "covered" / "Right.json").read_text())
    assert content["runs"] >= 20
    assert content["actions"]["count"] == sum(number for name, number in content["lines"].items() if name == "counted")
    assert content["refused"]["count"] > 0, "it cannot be made to count further than two"
    assert 0 < content["lines"]["even"] < content["lines"]["counted"]
    text = capsys.readouterr().out
    assert text.startswith(f"coverage: Right beside Counter, {content['runs']} runs\n  actions  count ")
    assert f"  refused  count {content['refused']['count']}\n" in text


class Idle(Counting):
    """Never does what it is asked to."""

    def count(self, s: str) -> bool:
        """Refuses."""
        return False


def test_what_never_came_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="no line was compared"):
        run_state_machine(Idle, FEW)
    out = capsys.readouterr().out
    assert "  never    actions: count\n" in out
    assert "  never    lines: counted, even\n" in out


class Begun(Adapter):
    """Of somebody who has just begun."""

    spec = "counter.ha"

    def start(self) -> None:
        """Starts it."""


def test_an_adapter_without_a_method_that_all_have_is_refused_before_the_first_run() -> None:
    with pytest.raises(BadModel, match=r"Begun has no `events`: write `def events\(self\): …`, which returns"):
        run_state_machine(Begun, FEW)
    Begun.events = lambda self: []  # type: ignore[method-assign]
    with pytest.raises(BadModel, match=r"Begun has no `wait`: write `def wait\(self, seconds\): …`, which lets"):
        run_state_machine(Begun, FEW)
    del Begun.start
    with pytest.raises(BadModel, match=r"Begun has no `start`: write `def start\(self\): …`, which starts"):
        run_state_machine(Begun, FEW)


class Small(Counting):
    """Counts to two at most, which the model does not."""

    invariants = ("small",)

    def count(self, s: str) -> bool | None:
        """It counts, or refuses."""
        if self.number == 2:
            return False
        super().count(s)
        return None


def test_a_violation_that_the_check_expects_and_no_run_showed_is_said() -> None:
    said = r'check default expects small violated, .* `directed = \(Counterexample\("default", "small"\),\)`'
    with pytest.warns(UserWarning, match=said):
        run_state_machine(Small, FEW)
