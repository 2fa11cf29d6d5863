"""A search over reduced states, written to be obviously right: every successor of a state by the portable engine's
code, replaced by its representative by the canonicaliser run as Python, and every condition evaluated as it is read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hacheck.checker.explicit.portable.python_program import Wanted, generate
from hacheck.checker.explicit.property_conditions import Questions, pose
from hacheck.checker.explicit.reductions import Reductions, reduced
from hacheck.checker.explicit.symmetry.canonical_states import canonicaliser
from hacheck.compile.codegen.word_layout import arranged_in_words, from_words, to_words, word_count
from hacheck.compile.kernels.to_python import as_python_of_source
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.runs import State


@dataclass(frozen=True)
class Reduced:
    """A system with what is asked of it and how its states are reduced. `functions`: of the canonicaliser, by name."""

    system: System
    lowered: Lowered
    questions: Questions
    reductions: Reductions
    initial: tuple[State, ...]
    functions: dict[str, Callable[..., int]]

    def packed(self, states: Sequence[State]) -> list[int]:
        """The representatives of states."""
        return self.canonical([pack(self.lowered.layout, state) for state in states])

    def canonical(self, packed: Sequence[int]) -> list[int]:
        """The representatives of packed states."""
        return representatives(self.functions["canonical"], word_count(self.lowered.layout), packed)

    def orbits(self, packed: Sequence[int]) -> int:
        """How many states these representatives stand for."""
        return counted(self.functions["count_orbits"], word_count(self.lowered.layout), packed)


def representatives(function: Callable[..., int], count: int, packed: Sequence[int]) -> list[int]:
    """What a canonicaliser makes of packed states of so many words."""
    memory = _in_memory(count, packed)
    function(ctypes.addressof(memory), len(packed))
    return [from_words(memory[place : place + count]) for place in range(0, count * len(packed), count)]


def counted(function: Callable[..., int], count: int, packed: Sequence[int]) -> int:
    """How many states some representatives of so many words stand for."""
    memory = _in_memory(count, packed)
    return function(ctypes.addressof(memory), len(packed))


def _in_memory(count: int, packed: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    words = [word for state in packed for word in to_words(state, count)]
    return (ctypes.c_uint64 * max(len(words), 1))(*words)


def reduce_system(
    system: System, names: tuple[str, ...] = (), symmetry: bool = True, relevance: bool = True
) -> Reduced:
    """The system reduced for what is asked of it. Errors: `EvaluationError` where it has no initial states."""
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial)
    questions = pose(lowered, names)
    lowered, reductions = reduced(lowered, questions, initial, symmetry, relevance)
    lowered = arranged_in_words(lowered)
    made = canonicaliser(system, lowered.layout, reductions.symmetric)
    functions = as_python_of_source(made.canonical, {}) | as_python_of_source(made.counting, {})
    return Reduced(system, lowered, questions, reductions, initial, functions)


@dataclass
class Seen:
    """What the search saw: for each reduced state the steps to it; for each key of what is sought the steps to the
    first hit; the bounds that cut; the steps to the first error of the spec."""

    depths: dict[int, int] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    bounds_reached: set[str] = field(default_factory=set)
    error: int | None = None
    taken: set[int] = field(default_factory=set)


def search(reduced: Reduced, states_max: int) -> Seen:
    """Everything within so many states. Cost: slow."""
    return _Search(reduced).run(states_max)


class _Search:
    def __init__(self, reduced: Reduced) -> None:
        self.reduced, self.lowered = reduced, reduced.lowered
        self.code = generate(self.lowered, Wanted())
        self.seen = Seen()

    def run(self, states_max: int) -> Seen:
        level = list(dict.fromkeys(self.reduced.packed(self.reduced.initial)))
        depth = 0
        while level and len(self.seen.depths) <= states_max:
            self.seen.depths |= dict.fromkeys(level, depth)
            for state in level:
                self.ask(state, "state", depth)
            found = [successor for state in level for successor in self.expand(state, depth)]
            fresh = dict.fromkeys(self.reduced.canonical(found))
            level = [state for state in fresh if state not in self.seen.depths]
            depth += 1
        return self.seen

    def expand(self, state: int, depth: int) -> list[int]:
        """The successors, as they are."""
        found: list[int] = []
        by: list[int] = []
        stopped: list[int] = []
        for function in self.code.listing():
            function(state, found.append, by.append, stopped.append, stopped.append)
        self.note_stops(state, depth)
        unblocking, actions = self.reduced.questions.unblocking, self.lowered.instances
        alive = any(actions[one].action in (unblocking or ()) for one in stopped)
        for after, one in zip(found, by, strict=True):
            self.ask(state, "step", depth + 1, after)
            self.seen.taken.add(actions[one].action)
            alive = alive or (after != state and actions[one].action in (unblocking or ()))
        if not alive:
            self.ask(state, "dead", depth)
        return found

    def note_stops(self, state: int, depth: int) -> None:
        counts, cuts = [0] * self.code.actions, [0] * len(self.code.bounds)
        faults: list[tuple[int, int]] = []
        for function in self.code.expand:
            function([state], set(), lambda _: None, lambda _: None, counts, cuts, faults, [], None)
        self.seen.bounds_reached |= {name for name, cut in zip(self.code.bounds, cuts, strict=True) if cut}
        if faults and self.seen.error is None:
            self.seen.error = depth

    def ask(self, state: int, kind: str, depth: int, after: int | None = None) -> None:
        for item in self.reduced.questions.sought:
            raw = self.raw(state), self.raw(state if after is None else after)
            if item.kind == kind and item.key not in self.seen.hits and value_of(item.wanted, *raw):
                self.seen.hits[item.key] = depth

    def raw(self, state: int) -> list[int]:
        return [
            state >> slot.offset & (1 << slot.width) - 1 if slot.fixed is None else slot.fixed
            for slot in self.lowered.layout.slots
        ]


def value_of(node: Node, before: Sequence[int], after: Sequence[int]) -> int:
    """What an expression of the lowered form is worth, read off its definition."""
    if node.operator == "const":
        return node.number
    if node.operator in ("slot", "after"):
        return (before if node.operator == "slot" else after)[node.number]
    a, *rest = (value_of(operand, before, after) for operand in node.operands)
    match node.operator:
        case "and":
            return int(all((a, *rest)))
        case "or":
            return int(any((a, *rest)))
        case "not":
            return int(not a)
        case "select":
            return rest[0] if a else rest[1]
        case "pick":
            return rest[min(max(a, 0), len(rest) - 1)]
        case "natural":
            return max(a, 0)
        case "popcount":
            return a.bit_count()
        case "lowest":
            return max((a & -a).bit_length() - 1, 0)
        case _:
            b = rest[0]
            simple = {
                "add": a + b,
                "sub": a - b,
                "mul": a * b,
                "eq": int(a == b),
                "ne": int(a != b),
                "lt": int(a < b),
                "le": int(a <= b),
                "bitand": a & b,
                "bitor": a | b,
                "bitminus": a & ~b,
            }
            if node.operator in simple:
                return simple[node.operator]
            return {"shl": a << max(b, 0), "shr": a >> max(b, 0), "bit": a >> max(b, 0) & 1 if b >= 0 else 0}[
                node.operator
            ]
