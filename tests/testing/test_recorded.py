"""Runs that failed are done first the next time, and forgotten when they fail no more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from hacheck.testing import BadRun, Disagreement, Event, Undecided, do, failing_runs, replay
from hacheck.testing import hypothesis_machine as machine_module
from hacheck.testing.failing_runs import FOLDER, Recorded, kept_in, steps_from, tries_from
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.stimuli import Step
from tests.testing.services import FEW, Counting

COUNT = do("count", s="Server-1")


class Mending(Counting):
    """Has a mistake, or has it no more."""

    wrong: ClassVar[bool] = True

    def count(self, s: str) -> object:
        """Counts, at two wrongly."""
        if self.number == 2:
            return False
        super().count(s)
        if self.number == 2 and self.wrong:
            self._show("even")
        return None


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where runs are kept."""
    folder = tmp_path / "some" / "runs"
    token = OPTIONS.set(Options(runs=folder))
    monkeypatch.setattr(Mending, "wrong", True)
    Mending.log.clear()
    yield folder
    OPTIONS.reset(token)


def test_a_failing_run_is_done_first_the_next_time(runs: Path) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    (kept,) = runs.iterdir()
    assert kept.name == "test_recorded.Mending.json"
    steps = [["count", {"s": "Server-1"}]] * 2
    content = json.loads(kept.read_text())
    assert (content["hacheck.run"], content["steps"]) == (1, steps)
    assert (content["tries"]["tried"], content["tries"]["failed"]) == (5, 5)
    Mending.log.clear()
    with pytest.raises(Disagreement) as found:
        run_state_machine(Mending, FEW)
    assert found.value.__notes__ == [f"It is the run that failed the last time: {kept}"]
    assert Mending.log == ["start", "count Server-1", "count Server-1", "stop", "finish", "finish"]


def test_a_run_that_fails_no_more_is_removed_when_the_code_has_changed(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    monkeypatch.setattr(Mending, "wrong", False)
    with pytest.warns(
        UserWarning, match=r"with the same code: something is left to chance; it failed in 5 of 10 tries"
    ):
        run_state_machine(Mending, FEW)
    assert len(list(runs.iterdir())) == 1, "nothing but chance can have made it pass"
    monkeypatch.setattr(failing_runs, "code_digest", lambda _: "changed")
    with pytest.warns(UserWarning, match=r"passed 5 times since the code changed, 7 are needed; it failed in 5 of 10"):
        run_state_machine(Mending, FEW)
    run_state_machine(Mending, FEW)
    assert list(runs.iterdir()) == []


def test_a_run_that_always_failed_is_removed_by_the_first_test_of_changed_code(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    monkeypatch.setattr(Mending, "wrong", False)
    monkeypatch.setattr(failing_runs, "code_digest", lambda _: "changed")
    run_state_machine(Mending, FEW)
    assert list(runs.iterdir()) == []


class Rarely(Mending):
    """Counts wrongly every third time."""

    runs: ClassVar[int] = 0

    def start(self) -> None:
        """Starts."""
        super().start()
        Rarely.runs += 1

    def _show(self, name: str, node: str = "Server-1") -> None:
        if name != "even" or self.number % 2 == 0 or Rarely.runs % 3 == 0:
            super()._show(name, node)

    def count(self, s: str) -> object:
        """Counts, at two wrongly, in every third run."""
        return super().count(s) if Rarely.runs % 3 == 0 or self.number < 1 else False


def test_a_run_that_fails_by_chance_is_tried_several_times_and_kept(runs: Path) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Rarely, FEW)
    for _ in range(4):
        with pytest.raises(Disagreement) as found:
            Recorded(Rarely).replay()
        assert re.search(r"failed the last time, in \d+ of \d+ tries: ", found.value.__notes__[-1])
    (kept,) = runs.iterdir()
    tries = tries_from(kept.read_text())
    assert 0.2 < tries.failed / tries.tried < 0.6
    assert tries.enough >= 6, "so few runs that pass would be chance"


def test_runs_are_kept_beside_the_adapter_if_nothing_else_is_said() -> None:
    OPTIONS.set(Options())
    assert kept_in(Mending) == Path(__file__).parent / FOLDER
    made_by_hand = type("MadeByHand", (Counting,), {"__module__": "nowhere"})
    assert kept_in(made_by_hand) == Path(FOLDER)


def test_git_ignores_the_folder_beside_a_test(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    OPTIONS.set(Options(runs=folder))
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    assert {path.name for path in folder.iterdir()} == {".gitignore", "test_recorded.Mending.json"}
    assert (folder / ".gitignore").read_text() == "*\n"


def test_where_nothing_can_be_written_the_failure_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    OPTIONS.set(Options(runs=tmp_path / "file" / "below"))
    with pytest.raises(Disagreement) as found:
        run_state_machine(Mending, FEW)
    assert found.value.__notes__[-1].startswith("The run could not be written down as ")


class Besides(Mending):
    """Fails behind a step that no file can hold."""

    besides = (do("poke", with_=frozenset({1})),)

    def act(self, action: str, arguments: object) -> None:
        """It says what no model knows."""
        self._show("even")


def test_a_run_that_no_file_can_hold_is_told_all_the_same(runs: Path) -> None:
    with pytest.raises(Disagreement) as found:
        run_state_machine(Besides, FEW)
    assert found.value.steps == Besides.besides
    assert "not JSON serializable" in found.value.__notes__[-1]
    assert not runs.exists()


def test_a_failing_run_is_written_down_before_it_is_reduced(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(machine_module, "reduced", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_state_machine(Mending, FEW)
    (kept,) = runs.iterdir()
    with pytest.raises(Disagreement):
        replay(Mending, steps_from(kept.read_text(), str(kept)))


class FailsWhenReduced(Mending):
    """Its machine is gone after the first run that failed."""

    gone: ClassVar[bool] = False

    def start(self) -> None:
        """Starts, once."""
        if self.gone:
            raise OSError("no machine")
        super().start()

    def events(self) -> Iterator[Event]:
        """What it has shown."""
        FailsWhenReduced.gone = any(one.name == "even" for one in self.shown)
        return super().events()


def test_a_system_that_fails_while_a_run_is_reduced_loses_nothing(runs: Path) -> None:
    with pytest.raises(Disagreement) as found:
        run_state_machine(FailsWhenReduced, FEW)
    assert found.value.broken is not None
    assert len(list(runs.iterdir())) == 1


class Unstoppable(Mending):
    """Cannot be ended after it went wrong, and has nothing to say."""

    def stop(self) -> None:
        """Fails."""
        super().stop()
        if self.number == 2:
            raise OSError("gone already")

    def story(self) -> str:
        """Fails, too."""
        raise KeyError("no log")


def test_neither_story_nor_stop_hides_a_failure() -> None:
    for wrong in (lambda: run_state_machine(Unstoppable, FEW), lambda: replay(Unstoppable, [COUNT, COUNT])):
        with pytest.raises(Disagreement) as found:
            wrong()
        assert "`story` of Unstoppable failed: KeyError: 'no log'" in str(found.value)
        assert "> count(s='Server-1')" in str(found.value)
        assert "Then `stop` of Unstoppable failed: OSError: gone already" in found.value.__notes__


class Tidy(Mending):
    """Its story is a file that is gone when it has ended."""

    def stop(self) -> None:
        """Tidies up."""
        super().stop()
        self.number = -1

    def story(self) -> str:
        """What the file says."""
        return f"It had counted to {self.number}."


def test_the_story_is_asked_for_before_the_system_is_ended() -> None:
    with pytest.raises(Disagreement) as found:
        replay(Tidy, [COUNT, COUNT])
    assert "It had counted to 2." in str(found.value)


def test_a_replayed_run_tells_its_story() -> None:
    with pytest.raises(Disagreement) as found:
        replay(Mending, [do("wait", seconds=1), do("count", s="Server-1"), do("count", s="Server-1")])
    assert "> count(s='Server-1')" in str(found.value)
    assert Mending.log[-2:] == ["stop", "finish"]


IMPOSSIBLE = [do("count", s="Server-2"), do("count", s="Server-1")]


def test_a_run_that_the_model_does_not_allow_any_more_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mending, "count", lambda self, s: self.log.append("counted"))
    told = r"^step 1 of 2, `count\(s='Server-2'\)`, was not done: Counter does not allow it there$"
    with pytest.raises(Undecided, match=told):
        replay(Mending, IMPOSSIBLE)
    assert "counted" not in Mending.log
    assert Mending.log[-2:] == ["stop", "finish"]


@pytest.mark.parametrize("steps", [IMPOSSIBLE, [do("countdown", s="Server-1")]])
def test_a_kept_run_that_is_no_longer_possible_is_kept(runs: Path, steps: list[Step]) -> None:
    runs.mkdir(parents=True)
    kept = Recorded(Mending).path
    text = json.dumps({"hacheck.run": 1, "steps": [[one.method, dict(one.arguments)] for one in steps]})
    kept.write_text(text)
    with pytest.warns(
        UserWarning, match=r"^the run that failed the last time is kept, .*(it has count, wait|step 1 of 2)"
    ):
        Recorded(Mending).replay()
    assert kept.read_text() == text
    with pytest.warns(UserWarning, match="delete "), pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    before = kept.with_suffix(".before.json")
    assert before.read_text() == text, "the new run takes its place, and it is not lost"
    assert {one.name for one in runs.iterdir()} == {kept.name, before.name}
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)


def test_an_error_of_the_system_in_a_kept_run_says_that_it_is_one(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    (kept,) = runs.iterdir()

    def broken(*_: object, **__: object) -> None:
        raise OSError("no machine")

    monkeypatch.setattr(Mending, "start", broken)
    with pytest.raises(OSError, match="no machine") as found:
        run_state_machine(Mending, FEW)
    assert found.value.__notes__ == [f"It is the run that failed the last time: {kept}"]
    assert kept.exists()


class Misspelt(Counting):
    """Calls a line otherwise, the second time."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        super()._show("evn" if name == "even" else name, node)


def test_a_run_that_stands_still_is_undecided() -> None:
    with pytest.raises(Undecided) as found:
        replay(Misspelt, [COUNT, COUNT, do("wait", seconds=1), COUNT])
    assert str(found.value) == (
        "step 4 of 4, `count(s='Server-1')`, was not done: Counter does not allow it there: the run stands still after "
        "`counted`: its line `Server 1: even(n: 2)` never came; it showed `evn`, which Counter does not know"
    )


def test_a_run_that_stands_still_at_its_end_is_told() -> None:
    told = (
        r"^a run of Misspelt stood still at its end, after `counted`: its line `Server 1: even\(n: 2\)` never came; .*"
    )
    with pytest.warns(UserWarning, match=told) as caught:
        replay(Misspelt, [COUNT, COUNT])
    assert caught[0].filename == __file__
    replay(Misspelt, [COUNT])  # owes nothing


class Growing(Counting):
    """Counts beyond the bounds of the model."""

    def start(self) -> None:
        """Starts."""
        super().start()
        self.number = 8
        self._show("counted")


def test_a_run_that_becomes_larger_than_the_model_is_undecided() -> None:
    with pytest.raises(
        Undecided, match=r"^the run of Growing became larger than the model at .*; enlarge the model by"
    ):
        replay(Growing, [do("wait", seconds=1)])


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (do("crash", n="Server-1"), r"Mending cannot do `crash\(n='Server-1'\)`: it has count, wait"),
        (do("wait", minutes=1), r"`wait\(minutes=1\)`: `wait` needs `seconds`, a number"),
        (do("wait", seconds="1"), r"needs `seconds`, a number"),
        (do("wait", seconds=-1), r"needs `seconds`, a number"),
        (do("wait", seconds=True), r"needs `seconds`, a number"),
    ],
)
def test_a_step_that_is_none_is_refused(step: object, text: str) -> None:
    with pytest.raises(BadRun, match=text):
        replay(Mending, [step])  # type: ignore[list-item]
    assert Mending.log[-2:] == ["stop", "finish"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not a run that was written down; delete it"),
        ("[]", "not a run that was written down; delete it"),
        ("{}", "not a run that was written down; delete it"),
        ('{"hacheck.run": 1, "steps": [["wait"]]}', "not a run that was written down; delete it"),
        ('{"hacheck.run": 2, "steps": []}', "written by a later hacheck; delete it, or update"),
    ],
)
def test_a_file_that_is_no_run_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadRun, match=f"here.json: {why}"):
        steps_from(text, "here.json")


def test_a_file_that_cannot_be_read_is_refused(runs: Path) -> None:
    Recorded(Mending).path.mkdir(parents=True)
    with pytest.raises(BadRun, match=r"Mending\.json: cannot be read"):
        run_state_machine(Mending, FEW)
