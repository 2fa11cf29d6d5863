"""Runs of small sizes that violate what could not be proved: exploring decides at once what no proof can.

A claim that cannot be shown may lack a lemma, or be false. The model at hand is explored for a few seconds, and the
model with two and three nodes of each kind that may have any number: a violation there speaks against every size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from hacheck.checker.engine import Engine, Limits, Progress
from hacheck.checker.parametric.proof import Proof, Wanted
from hacheck.checker.parametric.size_independence import at_size
from hacheck.model import ir
from hacheck.model.runs import Run

NODES = (2, 3)
"""How many nodes of each kind are tried besides the model at hand."""
MEMORY_BYTES_MAX = 1 << 31


class Violation(Struct, frozen=True):
    """A shortest run of `system` that violates a property."""

    property: ir.Property
    system: ir.System
    run: Run


def violations(
    wanted: Wanted, proof: Proof, engine: Engine, until: float, go_on: Callable[[], bool]
) -> tuple[Violation, ...]:
    """Violations of properties that were not proved, one for each, as far as small sizes have them. `until`: on the
    monotonic clock, when to come to an end."""
    left = [prop.name for prop, verdict in proof.verdicts if verdict != "proved"]
    found: list[Violation] = []
    for system in _systems(wanted, proof):
        seconds = (until - time.monotonic()) / 2
        if not left or seconds <= 0 or not go_on():
            break
        for one in _violated(system, left, engine, seconds, go_on):
            found.append(Violation(one[0], system, one[1]))
            left.remove(one[0].name)
    return tuple(found)


def _systems(wanted: Wanted, proof: Proof) -> Iterator[ir.System]:
    at_hand = wanted.specification.instantiate(wanted.settings, wanted.check).system
    if at_hand is not None:
        yield at_hand
    least = max((size for _, size in proof.made.kinds), default=1)
    for nodes in NODES:
        system = at_size(wanted.specification, wanted.settings, wanted.check, proof.made, max(nodes, least), nodes)
        if system is not None:
            yield system


def _violated(
    system: ir.System, names: Sequence[str], engine: Engine, seconds: float, go_on: Callable[[], bool]
) -> Iterator[tuple[ir.Property, Run]]:
    def report(_: Progress) -> bool:
        return go_on()

    known = {one.name: one for one in system.properties}
    known_names = tuple(name for name in names if name in known)
    if not known_names:
        return
    limits = Limits(wall_seconds_max=seconds, memory_bytes_max=MEMORY_BYTES_MAX)
    for answer in engine.check(system, known_names, limits, report).properties:
        if answer.verdict == "violated" and answer.run is not None:
            yield known[answer.name], answer.run
