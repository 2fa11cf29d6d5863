"""Settings of a counterexample that are tried in a process of their own: the same results, whatever becomes of it."""

from __future__ import annotations

import os
import signal
from contextlib import AbstractContextManager

import pytest
from msgspec.structs import replace

from hacheck.checker.blame.trials import Blame, Elsewhere, Subject, Trial, blame, variants_of
from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.sent_specification import sent
from hacheck.cli.checking import blaming
from hacheck.cli.checking.blamed_settings import Task, other_systems, tried_elsewhere
from hacheck.cli.console import error_console
from hacheck.model.language import Specification, load
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import ProcessPool
from tests.blame.test_blame import PAIR

TEXT = PAIR.replace(
    "node Server[2]",
    "switch slow = off\nswitch idle = on\nparam servers = 2 in 1..3\nnode Server[servers]",
).replace("mode == standby and leader == none do", "mode == standby and leader == none and (idle or slow) do")


def counterexample() -> tuple[Specification, Subject]:
    """The two active servers, with every setting to try."""
    specification = load(TEXT, "pair.ha").specification
    assert specification is not None
    system = specification.instantiate().system
    assert system is not None
    prop = next(one for one in system.properties if one.name == "one")
    run = PortableEngine().check(system, ("one",), Limits(), lambda _: True).properties[0].run
    assert run is not None
    variants = variants_of(specification.parameters, dict(system.settings))
    other = other_systems(specification, {}, None, specification.known_handlers())
    return specification, Subject(system, prop, run, variants, other)


def task_of(specification: Specification, subject: Subject, limits: Limits | None = None) -> Task:
    """Every second setting."""
    variants = subject.variants[1::2]
    return Task(sent(specification), {}, None, subject.prop, subject.run, variants, limits or Limits(), 1)


def outcomes(found: Blame) -> list[tuple[Trial, str, int, str]]:
    """What came of each trial, in order."""
    return [(one.trial, one.outcome, one.length, one.stopped) for one in found.results]


def test_results_are_those_of_one_process_in_the_same_order() -> None:
    specification, subject = counterexample()
    assert len(subject.variants) == 5
    with tried_elsewhere(task_of(specification, subject), Interruption()) as elsewhere:
        found = blame(subject, Limits(), lambda _: True, elsewhere=elsewhere)
    assert outcomes(found) == outcomes(blame(subject, Limits(), lambda _: True))
    prevented = [one.trial.words for one in found.results if one.outcome == "prevents" and one.trial.kind == "setting"]
    assert prevented == ["with the setting `idle = off`", "with the setting `servers = 1`"]


def test_command_tries_them_elsewhere_where_the_spec_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    specification, subject = counterexample()
    given: list[Task] = []

    def noted(task: Task, interruption: Interruption) -> AbstractContextManager[Elsewhere]:
        given.append(task)
        return tried_elsewhere(task, interruption)

    def blamed() -> Blame:
        errors = error_console(no_color=True)
        prop, run, idle = subject.prop, subject.run, Interruption()
        found = blaming.blame_run(errors, specification, {}, None, prop, run, Limits(), idle, quiet=True)
        assert found is not None
        return found.blame

    monkeypatch.setattr(blaming, "tried_elsewhere", noted)
    monkeypatch.setattr(blaming, "usable_cores", lambda: 2)
    alone = blamed()
    assert not given
    monkeypatch.setattr(blaming, "ALONE_ACTIONS_MAX", 10)
    shared = blamed()
    assert [one.variants for one in given] == [subject.variants[1::2]]
    here = outcomes(blame(subject, Limits(), lambda _: True))
    assert outcomes(alone) == outcomes(shared) == here


def test_end_of_the_process_leaves_its_settings_open(monkeypatch: pytest.MonkeyPatch) -> None:
    specification, subject = counterexample()
    task = task_of(specification, subject)

    def begin(self: ProcessPool[str], key: str, task: Task) -> None:
        begun(self, key, task)
        os.kill(self.pids[0], signal.SIGKILL)

    begun = ProcessPool.begin
    monkeypatch.setattr(ProcessPool, "begin", begin)
    with tried_elsewhere(task, Interruption()) as elsewhere:
        found = blame(subject, Limits(), lambda _: True, elsewhere=elsewhere)
    open_ones = {one.trial: one.words for one in found.results if one.outcome == "open"}
    ended = "not tried: the process that tried it was ended by SIGKILL"
    assert open_ones == {one.trial: ended for one in task.variants}


def test_interrupted_settings_are_open() -> None:
    specification, subject = counterexample()
    interruption = Interruption()
    interruption.requested = True
    task = task_of(specification, subject)
    with tried_elsewhere(task, interruption) as elsewhere:
        results = elsewhere.results()
    assert set(results) <= set(task.variants)
    assert results
    assert {one.outcome for one in results.values()} <= {"open", "prevents", "violated"}


def test_time_is_over_there_as_well() -> None:
    specification, subject = counterexample()
    task = task_of(specification, subject, Limits(wall_seconds_max=0.0))
    with tried_elsewhere(task, Interruption()) as elsewhere:
        results = elsewhere.results()
    assert {one.words for one in results.values()} == {"not tried: the time is over"}


def test_mistake_of_ours_is_an_error_with_its_place() -> None:
    specification, subject = counterexample()
    task = replace(task_of(specification, subject), check="no_such_check", settings={"no_such_setting": "1"})
    with (
        tried_elsewhere(task, Interruption()) as elsewhere,
        pytest.raises(AssertionError, match="AssertionError") as it,
    ):
        elsewhere.results()
    assert "in tried" in it.value.__notes__[0]
