"""The generated program: Python source that expands states, asks conditions of them, and lists successors.

States are handled in batches by functions that hold the whole loop, so that nothing is called for a transition and
two things for a new state. Several functions share the instances where one would be large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, assert_never

from msgspec import Struct

from hacheck.checker.explicit.guard_index import Alternatives, Guarded, Tree, decide
from hacheck.checker.explicit.portable.python_blocks import Lines, Outcomes, indented, print_block
from hacheck.checker.explicit.portable.python_expressions import Speller, condition, conjunction
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, Stopped
from hacheck.compile.lowering.control_path import branch
from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test
from hacheck.compile.lowering.substitution import replaced
from hacheck.compile.lowering.system import block_size
from hacheck.supervise.recursion_limit import room_for_nesting

_CHUNK_STATEMENTS = 1_500  # of one generated function


class Wanted(Struct, frozen=True):
    """What an expansion has to note besides new states: the first step of which each of `steps` holds (conditions
    over the slots before and after), and which states have an outcome of an action in `unblocking` (cut and faulty ones
    count: the system would go on)."""

    steps: tuple[Node, ...] = ()
    unblocking: frozenset[int] | None = None


def tree_lines(lowered: Lowered, tree: Tree, outcomes: Callable[[int], Outcomes]) -> Lines:
    """The lines that run every instance of a tree in the state `s`."""
    speller = Speller(lowered.layout)
    lines: Lines = []
    for item in tree:
        match item:
            case Guarded(index, instance, tests):
                lines += _instance_lines(lowered, index, instance, tests, outcomes, speller)
            case Alternatives(cases):
                opposite = lowered.graph.not_(cases[0][0])
                for number, (test, inner) in enumerate(cases):
                    head = f"{'elif' if number else 'if'} {conjunction((test,), speller)}:"
                    inside = tree_lines(lowered, inner, outcomes)
                    lines += ["else:" if number and test is opposite else head, *indented(inside)]
            case _:
                assert_never(item)
    return lines


def _instance_lines(
    lowered: Lowered,
    index: int,
    instance: Instance,
    tests: tuple[Node, ...],
    outcomes: Callable[[int], Outcomes],
    speller: Speller,
) -> Lines:
    cheap = tuple(test for test in tests if is_leaf(test) or is_test(test))
    block = instance.block
    rest = tuple(test for test in tests if test not in cheap)
    if rest:
        block = (Branch(lowered.graph.all_of(rest), block, ()),)
    lines = print_block(block, lowered.layout, outcomes(index))
    return [f"if {conjunction(cheap, speller)}:", *indented(lines)] if cheap else lines


def chunks(lowered: Lowered) -> list[list[Guarded]]:
    """The instances, in groups small enough for one function each."""
    groups: list[list[Guarded]] = [[]]
    size = 0
    for index, instance in enumerate(lowered.instances):
        more = block_size(instance.block)
        if groups[-1] and size + more > _CHUNK_STATEMENTS:
            groups.append([])
            size = 0
        size += more
        groups[-1].append(Guarded(index, instance, instance.guard))
    return groups


def expansion_source(lowered: Lowered, wanted: Wanted, bounds: dict[str, int]) -> str:
    """Functions `expand0`, `expand1`, …: each runs its share of the instances on a batch of states.

    They add new states to the set behind `seen` and to the list behind `push`, and count steps by action and cuts by
    bound. `errors` gets the first (state, instance) whose step is an error of the spec, `hits[i]` the first
    (before, after) of which step condition i holds; `unblocking[k]` is set when the k-th state has a step
    of the listed actions that changes it.
    """
    parts: Lines = []
    for number, group in enumerate(chunks(lowered)):
        body = tree_lines(lowered, decide(group), lambda index: _searching(lowered, index, wanted, bounds))
        actions = sorted({guarded.instance.action for guarded in group})
        counters = [f"c{action}" for action in actions] + [f"q{place}" for place in bounds.values()]
        parts += [
            f"def expand{number}(states, seen, add, push, counts, cuts, faults, hits, unblocking):",
            *([f" {' = '.join(counters)} = 0"] if counters else []),
            " for k, s in enumerate(states):" if wanted.unblocking is not None else " for s in states:",
            *indented(body or ["pass"], 2),
            *(f" counts[{action}] += c{action}" for action in actions),
            *(f" cuts[{place}] += q{place}" for place in bounds.values()),
            "",
        ]
    return "\n".join(parts)


def _searching(lowered: Lowered, index: int, wanted: Wanted, bounds: dict[str, int]) -> Outcomes:
    action = lowered.instances[index].action
    alive = ["unblocking[k] = 1"] if action in (wanted.unblocking or ()) else []

    def step(emit: Emit) -> Lines:
        return [
            f"c{action} += 1",
            *(f"if n != s: {line}" for line in alive),
            *watched(lowered, wanted, emit),
            "if n not in seen:",
            " add(n)",
            " push(n)",
        ]

    def stopped(statement: Stopped) -> Lines:
        if statement.kind == "bound":
            return [f"q{bounds[statement.text]} += 1", *alive]
        return [f"if not faults: faults.append((s, {index}))", *alive]

    return Outcomes(step, stopped)


def watched(lowered: Lowered, wanted: Wanted, emit: Emit) -> Lines:
    """The lines that ask the step invariants of a step: nothing where what it writes cannot violate them."""
    graph, layout = lowered.graph, lowered.layout
    written = {update.slot: update.value for update in emit.updates}
    speller = Speller(layout)

    def after(leaf: Node) -> Node:
        if leaf.operator != "after":
            return leaf
        if leaf.number not in written:
            return graph.slot(leaf.number, layout.slots[leaf.number].high)
        return written[leaf.number] if written[leaf.number].is_const else leaf

    lines: Lines = []
    for number, prop in enumerate(wanted.steps):
        test = replaced(graph, prop, after)
        if test is not graph.zero:
            hit = f"hits[{number}].append((s, n))"
            lines.append(f"if not hits[{number}] and ({condition(test, speller)}): {hit}")
    return lines


def finding_source(lowered: Lowered, wanted: Node, on_steps: bool = False) -> str:
    """A function `find(states)`: the first state in which the condition holds, or `None`. `on_steps`: it is given
    pairs of the states before and after."""
    block = branch(wanted, (Stopped("bound", ""),), ())
    item = "(s, n)" if on_steps else "s"
    outcomes = Outcomes(lambda _: [], lambda _: [f"return {item}"])
    body = print_block(block, lowered.layout, outcomes)
    head = ["def find(states):", f" for {item} in states:"]
    return "\n".join([*head, *indented(body or ["pass"], 2), " return None", ""])


def marking_source(lowered: Lowered, wanted: Node) -> str:
    """A function `mark(states)`: 1 for each state in which the condition holds, 0 for the others."""
    block = branch(wanted, (Stopped("bound", ""),), ())
    outcomes = Outcomes(lambda _: [], lambda _: ["marks[k] = 1"])
    body = print_block(block, lowered.layout, outcomes)
    head = ["def mark(states):", " marks = bytearray(len(states))", " for k, s in enumerate(states):"]
    return "\n".join([*head, *indented(body or ["pass"], 2), " return marks", ""])


def listing_source(lowered: Lowered) -> str:
    """Functions `list0(s, found, by, cut, failed)`, …: append every successor of a state, the instance that leads to
    it, and the instances that have an outcome which is no step: a bound reached or an error of the spec."""

    def outcomes(index: int) -> Outcomes:
        def stopped(statement: Stopped) -> Lines:
            return [f"cut({index})" if statement.kind == "bound" else f"failed({index})"]

        return Outcomes(lambda _: ["found(n)", f"by({index})"], stopped)

    parts: Lines = []
    for number, group in enumerate(chunks(lowered)):
        body = tree_lines(lowered, decide(group), outcomes)
        parts += [f"def list{number}(s, found, by, cut, failed):", *indented(body or ["pass"]), ""]
    return "\n".join(parts)


def compiled(source: str, name: str) -> dict[str, Callable[..., Any]]:
    """The functions of generated source."""
    space: dict[str, Any] = {}
    exec(compile(source, f"<generated {name}>", "exec"), space)
    return {key: item for key, item in space.items() if callable(item) and not key.startswith("_")}


class Code(Struct, frozen=True):
    """The compiled program of a system: see `expansion_source` and `listing_source` for what the functions do. Those
    that list are compiled when first used; a search without violations needs none."""

    lowered: Lowered
    expand: tuple[Callable[..., None], ...]
    listing: Callable[[], tuple[Callable[..., None], ...]]
    bounds: tuple[str, ...]
    actions: int
    watches: int
    unblocking: bool


def generate(lowered: Lowered, wanted: Wanted) -> Code:
    """The program of a lowered system. Cost: linear in the size of the lowered form."""
    bounds = bounds_of(lowered)
    with room_for_nesting():
        expanding = compiled(expansion_source(lowered, wanted, bounds), f"expansion of {lowered.system.name}")

    @cache
    def listing() -> tuple[Callable[..., None], ...]:
        with room_for_nesting():
            return tuple(compiled(listing_source(lowered), f"successors of {lowered.system.name}").values())

    return Code(
        lowered,
        tuple(expanding.values()),
        listing,
        tuple(bounds),
        len(lowered.system.actions),
        len(wanted.steps),
        wanted.unblocking is not None,
    )


def bounds_of(lowered: Lowered) -> dict[str, int]:
    """The bounds at which the instances can cut a step, each with its place."""
    with room_for_nesting():
        names = dict.fromkeys(text for instance in lowered.instances for text in bound_names(instance.block))
    return {name: place for place, name in enumerate(names)}


def bound_names(block: Block) -> Iterator[str]:
    """The bounds at which a block can cut a step."""
    for statement in block:
        if isinstance(statement, Branch):
            yield from bound_names(statement.then)
            yield from bound_names(statement.otherwise)
        elif isinstance(statement, Stopped) and statement.kind == "bound":
            yield statement.text


def _ignored(_: int) -> None:
    return None


def successors(code: Code, state: int, failed: Callable[[int], None] = _ignored) -> list[tuple[int, int]]:
    """Every step from a state: where it leads, and the instance. `failed` gets the instances of which one is an error
    of the spec."""
    found: list[int] = []
    by: list[int] = []
    for function in code.listing():
        function(state, found.append, by.append, _ignored, failed)
    return list(zip(found, by, strict=True))
