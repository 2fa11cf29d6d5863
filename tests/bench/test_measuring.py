"""Runs alternate, the middle one counts, failures are loud, and what is not the same graph is not compared."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import exploring
import pytest
import versus
from exploring import Task, explored
from measuring import in_turn, middle, spent
from versus import Rival, Row

from hacheck.checker.engine import Limits
from tests.models.quorum_election import REFERENCE

SPEC = Path(__file__).resolve().parents[2] / "bench" / "quorum_election.ha"
TASK = Task(SPEC, settings=(("replicas", "2"),), engine="portable")


def test_finished_process_is_counted() -> None:
    code = "import time\nwhile time.process_time() < 0.2: pass\nprint('done', bytearray(50_000_000)[0])"
    found = spent((sys.executable, "-c", code))
    assert 0.2 <= found.cpu_seconds < 20
    assert found.memory_bytes > 50_000_000
    assert found.output == "done 0\n"


def test_failing_command_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match=r"ended with 3:\nno such luck"):
        spent((sys.executable, "-c", "print('no such luck'); exit(3)"))


def test_rivals_alternate() -> None:
    order: list[str] = []

    def rival(name: str) -> str:
        order.append(name)
        return f"{name}{len(order)}"

    assert in_turn([lambda: rival("a"), lambda: rival("b")], 3) == [["a1", "a3", "a5"], ["b2", "b4", "b6"]]
    assert order == ["a", "b"] * 3


@pytest.mark.parametrize(("costs", "expected"), [([3, 1, 2], 2), ([7], 7), ([4, 1, 3, 2], 2)])
def test_middle_is_the_median(costs: list[int], expected: int) -> None:
    assert middle(costs, float) == expected


def test_exploration_in_a_process_of_its_own_has_the_reference_counts() -> None:
    found = explored(TASK)
    assert (found.states, found.steps, found.depth) == REFERENCE[2, 2, 1][:3]
    assert found.stopped is None
    assert 0 < found.seconds["exploring"] < found.cost.cpu_seconds


def test_task_says_the_same_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    task = Task(SPEC, "broken", (("replicas", "2"),), (), "safety", "portable", 1, False, Limits(3.5, 60, 10**9))
    exploring.main((*task.arguments, "--clock=wall"))
    told = json.loads(capsys.readouterr().out)
    assert (told["states"], told["stopped"]) == (explored(task, clock="wall").states, None)


def test_kind_of_which_there_is_no_property_is_refused() -> None:
    with pytest.raises(SystemExit, match="no properties of the kind asked for: liveness"):
        exploring.main((*Task(SPEC, kinds="liveness", engine="portable").arguments,))


def test_rivals_that_find_different_states_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row("one", 10, 20, 1.0, 0.1, 8.0, 2.0), Row("other", 11, 20, 1.0, 0.1, 8.0, 2.0)]
    monkeypatch.setattr(versus, "rivals", lambda *_: [Rival(row.name, lambda row=row: row) for row in rows])
    with pytest.raises(RuntimeError, match="the states or steps differ"):
        versus.compare("title", TASK, runs=1)


def test_ratio_is_states_a_second_to_those_of_the_rival() -> None:
    own, other = Row("own", 100, 0, 0.5, 0.1, 7.0, 2.0), Row("other", 100, 0, 4.0, 0.1, 7.0, 2.0)
    assert other.text(own).split()[-4] == "8.0"
    assert own.text(own).split()[-4] == "1.0"
