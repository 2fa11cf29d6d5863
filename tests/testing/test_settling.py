"""At the end of a run all that is wrong ends, and a system that does not serve then has failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.testing import BadRun, Disagreement, do, replay
from hacheck.testing.failing_runs import FOLDER, Recorded, kept_in
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.simulated_adapter import adapter_for
from tests.testing.services import FEW, Counting


@pytest.fixture(autouse=True)
def runs(tmp_path: Path) -> Iterator[Path]:
    """Where runs are kept."""
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield tmp_path / "runs"
    OPTIONS.reset(token)


class Hanging(Counting):
    """Serves no more once it has counted to two."""

    def count(self, s: str) -> object:
        """It counts to two."""
        if self.number == 2:
            return False
        return super().count(s)

    def settle(self) -> str:
        """Nobody counts."""
        self.log.append("settle")
        return "nobody counts" if self.number == 2 else ""


class Chatty(Counting):
    """Shows a line of its own while it settles that the model does not have."""

    def count(self, s: str) -> object:
        """It counts to two."""
        if self.number == 2:
            return False
        return super().count(s)

    def settle(self) -> str:
        """It says once more that it has counted."""
        if self.number == 2:
            self._show("even")
        return ""


class Patient(Hanging):
    """Has nothing to be said of it."""

    def settle(self) -> str:
        """All is well."""
        self.log.append("settle")
        return ""


class Plain(Counting):
    """Owes nothing that anybody said."""


def test_a_system_that_does_not_serve_at_the_end_of_a_run_has_failed(runs: Path) -> None:
    with pytest.raises(Disagreement) as found:
        run_state_machine(Hanging, FEW)
    assert found.value.owed == found.value.what == "nobody counts"
    assert [step.method for step in found.value.steps] == ["count", "count", "settle"]
    told = str(found.value)
    assert told.startswith("Hanging does not serve though nothing is wrong any more: nobody counts")
    assert "> settle()" in told
    assert 'do("settle"),' in told
    with pytest.raises(Disagreement):
        replay(Hanging, found.value.steps)
    with pytest.raises(Disagreement):
        Recorded(Hanging).replay()
    replay(Hanging, found.value.steps[1:])  # that is no failure


def test_lines_of_a_system_that_settles_are_compared() -> None:
    with pytest.raises(Disagreement) as found:
        run_state_machine(Chatty, FEW)
    assert found.value.what == "Server-1: even(n: 2)"
    assert [step.method for step in found.value.steps] == ["count", "count", "settle"]


def test_each_run_is_settled_once_and_last() -> None:
    run_state_machine(Patient, FEW)
    runs = " ".join(Patient.log).split("start ")[1:]
    assert runs
    assert all(run.split()[-2:] == ["settle", "stop"] for run in runs[:-1])


def test_a_system_of_which_nobody_said_what_it_owes_cannot_be_settled() -> None:
    with pytest.raises(BadRun, match="cannot do `settle"):
        replay(Plain, [do("settle")])


def test_a_cluster_in_the_simulator_serves_again_after_all_faults() -> None:
    pair = adapter_for("fiorano-shared")()
    pair.start()
    pair.wait(2.0)
    for member in ("primary", "backup"):
        pair.act("fault_crash", {"member": member, "seconds": 10_000.0})
    pair.wait(60.0)
    assert pair._owed() == ""  # as long as somebody is down nothing is owed
    assert pair.settle() == ""
    assert any(event.name == "state_change" for event in pair.events())


def test_a_cluster_in_the_simulator_that_nobody_serves_in_owes_something() -> None:
    pair = adapter_for("fiorano-shared")()
    pair.start()
    pair._quiet_us = 1  # nobody can serve as soon as that
    assert "nobody serves" in pair.settle()


def test_runs_of_a_protocol_are_kept_beside_the_test_that_has_it() -> None:
    OPTIONS.set(Options())
    assert kept_in(adapter_for("icestorm")) == Path(__file__).parent / FOLDER
