"""Z3 finds in the shipped specs what exploring them finds, by runs as short; and never shows what is violated."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from hacheck.checker.engine import AS_ASKED, Limits, Report
from hacheck.checker.symbolic.bounded import BoundedEngine
from hacheck.checker.symbolic.induction import InductionEngine
from hacheck.checker.symbolic.lassos import LIVE
from hacheck.model.semantics import replay
from tests.mutants.pinning import check_of
from tests.mutants.table import Found
from tests.mutants.test_pinned import TABLES
from tests.nightly import by_night
from tests.seeds.driving import specification
from tests.symbolic.infinite_runs import assert_violates

LENGTH_MAX = 10
"""Longer runs are looked for by who has hours."""
CPU_SECONDS_MAX = 20.0
"""For each case. What is not decided by then is left open, which is no verdict."""
FINDING_EVERY = 5
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


def for_some_time() -> Report:
    """Lets an engine go on for so long, whatever else the machine is busy with."""
    until = time.process_time() + CPU_SECONDS_MAX
    return lambda _: time.process_time() < until


BROKEN = [(table.spec, name, found) for table in TABLES for name, found in table.pinned.items() if found.violated]
SHORT = [case for case in BROKEN if shortest(case[2]) <= LENGTH_MAX]


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(SHORT, lambda case: case[:2] in EVERYDAY))
def test_violations_are_found_by_runs_as_short(
    spec: str, name: str, pinned: Found, record_property: Callable[[str, object], None]
) -> None:
    """Of loops only that there is one: those pinned are not the shortest, and those found are of what matters."""
    depth = shortest(pinned)
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    answer = BoundedEngine(depth).check(system, check_of(spec, name).only, Limits(), for_some_time())
    asked = {one.name: one for one in system.properties}
    known = {**pinned.violated, **pinned.reached}
    is_done = answer.coverage.stopped in (None, AS_ASKED)
    record_property("decided" if is_done else "open", 1)
    assert answer.fault is None
    for found in answer.properties:
        steps = known.get(found.name)
        if found.run is None and (not is_done or steps is None or steps > depth):
            assert found.verdict == "unknown" or answer.coverage.complete, f"{found.name}: {found.scope}"
            continue
        if asked[found.name].kind in LIVE:
            assert found.verdict == "violated", f"{found.name}: {found.scope}"
            assert found.name in pinned.violated
            assert found.run is not None
            assert_violates(system, asked[found.name], found.run)
            continue
        assert found.verdict == ("violated" if found.name in pinned.violated else "holds"), found.scope
        assert found.run is not None
        assert len(found.run.steps) == steps, found.name
        assert replay(system, found.run) is None


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(BROKEN, lambda case: case[:2] in EVERYDAY))
def test_nothing_violated_is_shown_by_induction(
    spec: str, name: str, pinned: Found, record_property: Callable[[str, object], None]
) -> None:
    """Neither with the lemmas of the spec nor, which is tried of some, with such as are found."""
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    finding = BROKEN.index((spec, name, pinned)) % FINDING_EVERY == 0
    engine = InductionEngine(1, reachability=False, finding=finding)
    answer = engine.check(system, check_of(spec, name).only, Limits(), for_some_time())
    shown = {found.name for found in answer.properties if found.verdict == "holds" and found.run is None}
    assert not shown & pinned.violated.keys()
    broken = [found.verdict for found in answer.properties if found.name in pinned.violated]
    record_property("decided", sum(verdict != "unknown" for verdict in broken))
    record_property("open", sum(verdict == "unknown" for verdict in broken))
