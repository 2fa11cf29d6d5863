"""Runs that failed are done first the next time, and forgotten when they fail no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from hacheck.testing import BadRun, Disagreement, Undecided, do, replay
from hacheck.testing.machine import run_state_machine
from hacheck.testing.options import OPTIONS, Options
from hacheck.testing.recorded import FOLDER, Recorded, kept_in, steps_from
from tests.testing.services import FEW, Counting


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
    assert json.loads(kept.read_text()) == {"hacheck.run": 1, "steps": steps}
    Mending.log.clear()
    with pytest.raises(Disagreement) as found:
        run_state_machine(Mending, FEW)
    assert found.value.__notes__ == [f"It is the run that failed the last time: {kept}"]
    assert Mending.log == ["start", "count Server-1", "count Server-1", "stop", "finish", "finish"]


def test_a_run_that_fails_no_more_is_forgotten(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)
    monkeypatch.setattr(Mending, "wrong", False)
    run_state_machine(Mending, FEW)
    assert list(runs.iterdir()) == []


def test_runs_are_kept_beside_the_adapter_if_nothing_else_is_said() -> None:
    OPTIONS.set(Options())
    assert kept_in(Mending) == Path(__file__).parent / FOLDER
    made_by_hand = type("MadeByHand", (Counting,), {"__module__": "nowhere"})
    assert kept_in(made_by_hand) == Path(FOLDER)


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    OPTIONS.set(Options(runs=tmp_path / "file" / "below"))
    with pytest.raises(Disagreement):
        run_state_machine(Mending, FEW)


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


def test_a_kept_run_that_the_model_does_not_allow_any_more_is_forgotten(runs: Path) -> None:
    runs.mkdir(parents=True)
    kept = Recorded(Mending).path
    steps = [[one.method, dict(one.arguments)] for one in IMPOSSIBLE]
    kept.write_text(json.dumps({"hacheck.run": 1, "steps": steps}))
    Recorded(Mending).replay()
    assert not kept.exists()


class Misspelt(Counting):
    """Calls a line otherwise, the second time."""

    def _show(self, name: str, node: str = "Server-1") -> None:
        super()._show("evn" if name == "even" else name, node)


COUNT = do("count", s="Server-1")


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
