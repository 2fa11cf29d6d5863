"""Lines of random systems: what is shown are random expressions over the state."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.observing.line_writers import logged
from hacheck.model.observing.record_layout import ObservingError
from hacheck.model.types import Identity, Option, Set, is_scalar
from hacheck.model.typing import type_of
from hacheck.traces.simulation.plan import Plan
from hacheck.traces.simulation.trace_maker import Maker
from hacheck.traces.simulation.walk_program import NoStart
from tests.strategies.systems import seeded_system
from tests.traces.simulation.reference import is_run
from tests.traces.simulation.test_records import rows_of


def as_shown(one: ir.Shown) -> ir.Shown | None:
    """What the language makes of a random field: identities are shown by name, and some types not at all."""
    kind: Any = type_of(one.value)
    inner = kind.element if isinstance(kind, Option | Set) else kind
    if not is_scalar(kind) and (not isinstance(kind, Set) or isinstance(inner, Identity)):
        return None
    return replace(one, by_name=isinstance(inner, Identity))


def random_logged(seed: int) -> ir.System | None:
    """A random system whose steps write lines, if the seed gives one."""
    system = seeded_system(seed)
    seen = []
    for one in system.observations:
        fields = [field for field in map(as_shown, one.fields) if field is not None]
        seen.append(replace(one, fields=tuple(fields)))
    return logged(replace(system, observations=tuple(seen))) if seen else None


@pytest.mark.parametrize("part", range(5))
def test_random_lines_are_those_of_the_run(part: int) -> None:
    written = 0
    for seed in range(2000 + 30 * part, 2030 + 30 * part):
        system = random_logged(seed)
        if system is None:
            continue
        try:
            made = Maker(Plan(system, "x", 4, 10, seed)).make(0, 4)
        except (NoStart, ObservingError):  # it has no state to begin in, or no step of it can write a line
            continue
        records = rows_of(made.records)
        for trace, steps in rows_of(made.steps).items():
            assert is_run(system, steps, records.get(trace, [])), f"seed {seed}"
        written += made.records.num_rows
    assert written, "some of thirty systems write lines"
