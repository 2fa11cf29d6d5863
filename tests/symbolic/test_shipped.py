"""Z3 finds in the shipped specs what exploring them finds, by runs as short; and never shows what is violated."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.symbolic.bounded import BoundedEngine
from hacheck.checker.symbolic.induction import InductionEngine
from hacheck.model.semantics import replay
from tests.mutants.pinning import check_of
from tests.mutants.table import Found
from tests.mutants.test_pinned import TABLES
from tests.nightly import by_night
from tests.seeds.driving import specification

LENGTH_MAX = 10
"""Longer runs are looked for by who has hours."""

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


BROKEN = [(table.spec, name, found) for table in TABLES for name, found in table.pinned.items() if found.violated]
SHORT = [case for case in BROKEN if shortest(case[2]) <= LENGTH_MAX]


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(SHORT, lambda case: case[:2] in EVERYDAY))
def test_violations_are_found_by_runs_as_short(spec: str, name: str, pinned: Found) -> None:
    depth = shortest(pinned)
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    answer = BoundedEngine(depth).check(system, check_of(spec, name).only, Limits(), lambda _: True)
    kinds = {asked.name: asked.kind for asked in system.properties}
    known = {**pinned.violated, **pinned.reached}
    assert answer.fault is None
    for found in answer.properties:
        steps = known.get(found.name)
        if kinds[found.name] in ("eventually", "leads_to") or steps is None or steps > depth:
            assert found.run is None, f"{found.name}: {found.scope}"
            continue
        assert found.verdict == ("violated" if found.name in pinned.violated else "holds"), found.scope
        assert found.run is not None
        assert len(found.run.steps) == steps, found.name
        assert replay(system, found.run) is None


@pytest.mark.parametrize(("spec", "name", "pinned"), by_night(BROKEN, lambda case: case[:2] in EVERYDAY))
def test_nothing_violated_is_shown_by_induction(spec: str, name: str, pinned: Found) -> None:
    system = specification(spec).instantiate({}, name).system
    assert system is not None
    limits = Limits(wall_seconds_max=600)
    answer = InductionEngine(1, reachability=False).check(system, check_of(spec, name).only, limits, lambda _: True)
    shown = {found.name for found in answer.properties if found.verdict == "holds" and found.run is None}
    assert not shown & pinned.violated.keys()
