"""The reachable states of one setting as columns of numbers, and conditions evaluated on all of them at once.

Slots keep the numbers that they have in the lowered form before it is reduced; a slot that never changes has a column
of one number for all states.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.native_program import Builder, Unavailable
from hacheck.checker.explicit.search.breadth_first_search import Options, Search
from hacheck.checker.explicit.search.exploration import explore
from hacheck.checker.explicit.search.kernel_groups import Kernels
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.explicit.tier_up import functions_of
from hacheck.compile.lowering.expression_nodes import Node, reachable
from hacheck.compile.lowering.layout import Layout
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.ir import System
from hacheck.supervise.task import Cancelled

Column: TypeAlias = Any
"""An array of int64, one number for each state, or one number for all."""

STATES_MAX = 300_000


class Reached(Struct, frozen=True):
    """States that are reachable. `columns`: by slot what it holds in each."""

    columns: Mapping[int, Column]
    count: int


def reached(system: System, limits: Limits, report: Report, watch: Stopwatch) -> Reached | None:
    """The states that an explicit search finds, `STATES_MAX` at most; `None` where there is no machine code. Errors:
    `Cancelled`."""
    builder = Builder(replace(system, properties=()), (), False, ObjectCache(None), watch)
    try:
        built = builder.for_search()
    except Unavailable:
        return None
    kernels = Kernels(built.program.words, False, True, ObjectCache(None))
    states_max = min(STATES_MAX, limits.states_max or STATES_MAX)
    within = replace(limits, states_max=states_max, depth_max=None)
    search = Search(functions_of(built), kernels, Options(1), Bounds(within, report, watch.started))
    log = explore(search, system, built.initial)
    try:
        if log.stopped is not None and log.size < states_max:
            raise Cancelled(log.stopped)
        return Reached(_columns(log, built.program.layout), log.size)
    finally:
        log.close()


def _columns(log: Log, layout: Layout) -> dict[int, Column]:
    parts = []
    for first, end in log.spans:
        size = (end - first) * log.words
        block: Any = (ctypes.c_uint64 * size).from_address(log.address + first * log.words * 8)
        parts.append(np.frombuffer(block, dtype=np.uint64).reshape(-1, log.words).copy())
    words = np.concatenate(parts)
    found: dict[int, Column] = {}
    for number, slot in enumerate(layout.slots):
        if slot.fixed is not None:
            found[number] = np.int64(slot.fixed)
            continue
        place, bit = divmod(slot.offset, 64)
        value = words[:, place] >> np.uint64(bit)
        if bit + slot.width > 64:
            value = value | (words[:, place + 1] << np.uint64(64 - bit))
        found[number] = (value & np.uint64((1 << slot.width) - 1)).astype(np.int64)
    return found


def evaluated(roots: Sequence[Node], columns: Mapping[int, Column]) -> list[Column]:
    """What conditions are in each state. Cost: one pass over the states for each node."""
    known: dict[Node, Column] = {}
    for node in reachable(roots):
        known[node] = _value(node, [known[operand] for operand in node.operands], columns)
    return [known[root] for root in roots]


def _value(node: Node, operands: list[Column], columns: Mapping[int, Column]) -> Column:
    match node.operator:
        case "const":
            return np.int64(node.number)
        case "slot":
            return columns[node.number]
        case "and":
            return _joined(np.logical_and, operands)
        case "or":
            return _joined(np.logical_or, operands)
        case "not":
            return (operands[0] == 0).astype(np.int64)
        case "eq" | "ne" | "lt" | "le":
            compare = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}[node.operator]
            return compare(operands[0], operands[1]).astype(np.int64)
        case "select":
            return np.where(operands[0] != 0, operands[1], operands[2])
        case "pick":
            choices = np.broadcast_arrays(*operands)
            index = np.clip(choices[0], 0, len(operands) - 2)
            return np.take_along_axis(np.stack(choices[1:]), index[None, ...], 0)[0]
        case _:
            return _calculated(node, operands)


def _joined(how: Any, operands: Iterable[Column]) -> Column:
    found, *rest = [one != 0 for one in operands]
    for one in rest:
        found = how(found, one)
    return found.astype(np.int64)


def _calculated(node: Node, operands: list[Column]) -> Column:
    match node.operator:
        case "add":
            return operands[0] + operands[1]
        case "sub":
            return operands[0] - operands[1]
        case "mul":
            return operands[0] * operands[1]
        case "natural":
            return np.maximum(operands[0], 0)
        case "bitand":
            return operands[0] & operands[1]
        case "bitor":
            return operands[0] | operands[1]
        case "bitminus":
            return operands[0] & ~operands[1]
        case "shl":
            return operands[0] << np.clip(operands[1], 0, 62)
        case "shr":
            return operands[0] >> np.clip(operands[1], 0, 62)
        case "bit":
            return (operands[0] >> np.clip(operands[1], 0, 62)) & 1
        case "popcount":
            return np.bitwise_count(operands[0]).astype(np.int64)
        case "lowest":
            return np.where(operands[0] == 0, 0, np.bitwise_count((operands[0] & -operands[0]) - 1)).astype(np.int64)
        case _:
            raise AssertionError(f"{node.operator} cannot be evaluated on columns")
