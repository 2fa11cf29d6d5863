"""Bugs that were put into the reference implementation are found, and code without them is let alone."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from hacheck.testing.reference_protocols import FOLLOWED
from tests.nightly import by_night, nightly
from tests.quality.bugs import Bug, bugs, changed
from tests.quality.directed import DIRECTED, Directed, broken
from tests.quality.methods import METHODS
from tests.quality.running import Job, results

FOUND_BY_EACH = ("passive_before_the_lock_answers", "activation_skipped", "previous_state_overwritten")
"""Found by each method within a few seconds."""

NIGHT_SECONDS = 60.0

RUNS, RUNS_SECONDS = 10_000, 120.0
"""Of the machine, of all protocols together; CPU seconds of so many of them as one process has."""


def source(bug: Bug) -> str:
    """What its module says."""
    found = find_spec(bug.full_module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", bugs())
def test_a_bug_fits_exactly_once_and_changes_what_its_module_means(name: str) -> None:
    bug = bugs()[name]
    before = source(bug)
    assert ast.dump(ast.parse(changed(bug, before))) != ast.dump(ast.parse(before))
    assert bug.why


def test_there_are_enough_bugs_of_each_protocol() -> None:
    protocols = [bug.protocol for bug in bugs().values()]
    assert len(protocols) >= 45
    assert protocols.count("icestorm") >= 14
    assert protocols.count("fiorano-shared") >= 6
    assert all(protocols.count(name) >= 3 for name in {followed.code for followed in FOLLOWED.values()})


def test_each_method_finds_three_bugs() -> None:
    jobs = [Job(method, name, 20.0) for name in FOUND_BY_EACH for method in METHODS]
    missed = [(job.method, job.name) for job, result in results(jobs) if not result.found]
    assert not missed


def test_code_without_bugs_is_let_alone() -> None:
    for job, result in results([Job(method, "fiorano-shared", 1.0) for method in METHODS]):
        assert not result.found, (job, result)
        assert result.runs > 0


@nightly
def test_all_methods_together_find_the_bugs_and_the_machine_most() -> None:
    """Within a minute of the CPU each."""
    jobs = [Job(method, name, NIGHT_SECONDS) for name in bugs() for method in METHODS]
    by_machine: dict[str, bool] = {}
    by_any: dict[str, bool] = {}
    for job, result in results(jobs):
        by_any[job.name] = by_any.get(job.name, False) or result.found
        if job.method == "machine":
            by_machine[job.name] = result.found
    assert {name for name, found in by_any.items() if not found} == set()
    missed = {name for name, found in by_machine.items() if not found}
    assert len(missed) <= len(by_machine) / 10, missed


@nightly
@pytest.mark.parametrize("protocol", FOLLOWED)
def test_ten_thousand_runs_of_code_without_bugs_are_let_alone(protocol: str) -> None:
    """By the machine."""
    runs = first = 0
    while runs < RUNS / len(FOLLOWED):
        ((_, result),) = results([Job("machine", protocol, RUNS_SECONDS, first=first)])
        assert not result.found, (first, result)
        runs += result.runs
        first += 1_000_000


@pytest.mark.parametrize("one", by_night(DIRECTED, lambda one: one.clients == 2))
def test_a_bug_that_only_one_run_shows_breaks_its_promise_there_and_nothing_else_does(one: Directed) -> None:
    assert ast.dump(ast.parse(changed(one.bug, source(one.bug)))) != ast.dump(ast.parse(source(one.bug)))
    assert broken(one, changed=False)[0] == []
    assert broken(one, changed=True)[0] == [one.promise] * bool(one.promise)
