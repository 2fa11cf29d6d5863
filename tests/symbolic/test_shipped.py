"""Z3 finds in the shipped specs what exploring them finds, by runs as short; and never shows what is violated."""

from __future__ import annotations

import time

import pytest

from hacheck.checker.engine import DEPTH_REACHED, Limits, Report
from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine
from hacheck.checker.symbolic.k_induction import NOT_ANSWERED, InductionEngine
from hacheck.checker.symbolic.lassos import LIVE
from hacheck.model.interpreter import replay
from tests.mutants.pinning import check_of
from tests.mutants.table import Found
from tests.mutants.test_pinned import TABLES
from tests.nightly import by_night
from tests.seeds.driving import specification
from tests.symbolic.counting import COUNTED, Count
from tests.symbolic.infinite_runs import assert_violates

LENGTH_MAX = 10
"""Longer runs are looked for by who has hours."""
RUN_SECONDS_MAX = 25.0
"""Of the processor, for each run; nearly all are found in five."""
PROOF_SECONDS_MAX = 10.0
"""Of the processor, for each proof. What is not decided by then is left open; how much that is is told at the end."""
FINDING_EVERY = 10
"""Of one in so many broken variants lemmas are looked for."""

EVERYDAY = {
    ("fiorano_shared", "no_lock_file"),
    ("fiorano_shared", "lock_expires"),
    ("artemis_replication", "serves_unpaired"),
    ("artemis_replication", "no_duplicate_ids"),
    ("artemis_scale_down", "prepared_stay"),
    ("artemis_shared_store", "passive_accepts"),
    ("qpid_ha", "backup_accepts"),
    ("fiorano_replicated", "no_lock_file"),
}


def shortest(found: Found) -> int:
    """The steps of the shortest run to a violation; very many where there is none."""
    return min((steps for steps in found.violated.values() if steps), default=99)


def for_some_time(seconds: float) -> Report:
    """Lets an engine go on for so long, whatever else the machine is busy with."""
    until = time.process_time() + seconds
    return lambda _: time.process_time() < until


BROKEN = [(table.spec, name, found) for table in TABLES for name, found in table.pinned.items() if found.violated]
SHORT = [case for case in BROKEN if shortest(case[2]) <= LENGTH_MAX]
SHORTEST = [case for case in BROKEN if shortest(case[2]) <= LENGTH_MAX // 2]


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(SHORT, lambda case: case[:2] in EVERYDAY))
def test_violations_are_found_by_runs_as_short(spec: str, name: str, pinned: Found, record_property: Count) -> None:
    """Nothing is found by fewer steps than are pinned, and with so many what is violated first. Of a run with a loop no
    more steps are needed than are pinned: those are of a shortest way to a loop, not of a shortest run."""
    depth = shortest(pinned)
    first = tuple(one for one, steps in pinned.violated.items() if steps == depth)
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    answer = BoundedEngine(depth).check(system, first, Limits(), for_some_time(RUN_SECONDS_MAX))
    asked = {one.name: one for one in system.properties}
    is_over = answer.coverage.stopped in (None, DEPTH_REACHED) and not answer.notes
    assert answer.error is None
    assert [found.name for found in answer.properties] == [one for one in asked if one in first]
    for found in answer.properties:
        record_property(COUNTED, "open" if found.run is None or not is_over else "decided")
        if found.run is None:
            assert (found.verdict, is_over) == ("unknown", False), f"{found.name}: {found.scope}"
            continue
        assert found.verdict == "violated", f"{found.name}: {found.scope}"
        assert replay(system, found.run) is None
        if asked[found.name].kind in LIVE:
            assert_violates(system, asked[found.name], found.run)
            assert len(found.run.steps) <= depth or not is_over, found.name
        else:
            assert len(found.run.steps) == depth, found.name


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(SHORTEST, lambda case: case[:2] in EVERYDAY))
def test_whatever_else_is_asked_is_answered_as_pinned(spec: str, name: str, pinned: Found) -> None:
    """All that a check asks at once: what is violated or reached later than at this depth is not known yet."""
    depth = shortest(pinned)
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    only = check_of(spec, name).only
    answer = BoundedEngine(depth).check(system, only, Limits(), for_some_time(RUN_SECONDS_MAX))
    is_over = answer.coverage.stopped in (None, DEPTH_REACHED)
    steps = {**pinned.violated, **pinned.reached}
    kinds = {one.name: one.kind for one in system.properties}
    for found in answer.properties:
        if found.run is None:
            is_due = kinds[found.name] not in LIVE and (steps.get(found.name) or 99) <= depth
            assert not (is_over and is_due), f"{found.name}: {found.scope}"
            assert found.verdict == "unknown" or answer.coverage.complete, f"{found.name}: {found.scope}"
            continue
        assert found.verdict == ("violated" if found.name in pinned.violated else "holds"), found.scope
        if kinds[found.name] not in LIVE:
            assert len(found.run.steps) == steps[found.name], found.name
            assert replay(system, found.run) is None


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(BROKEN, lambda case: case[:2] in EVERYDAY))
def test_nothing_violated_is_shown_by_induction(spec: str, name: str, pinned: Found, record_property: Count) -> None:
    """Neither with the lemmas of the spec nor, which is tried of some, with such as are found."""
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    finding = BROKEN.index((spec, name, pinned)) % FINDING_EVERY == 0
    engine = InductionEngine(1, reachability=False, finding=finding)
    answer = engine.check(system, check_of(spec, name).only, Limits(), for_some_time(PROOF_SECONDS_MAX))
    broken = {found.name: found for found in answer.properties if found.name in pinned.violated}
    assert broken.keys() == pinned.violated.keys()
    shown = [one for one, found in broken.items() if found.verdict == "holds" and found.run is None]
    assert shown == []
    for found in broken.values():
        is_open = "of infinite runs" if found.scope == NOT_ANSWERED else "open"
        record_property(COUNTED, is_open if found.verdict == "unknown" else "decided")
