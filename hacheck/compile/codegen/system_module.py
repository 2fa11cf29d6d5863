"""The lowered form of a system, and its properties, as one LLVM module.

The functions it exports, with every argument and result a 64-bit number or address (`W`: words of a state):

- `expand(states, n, out, tags, notes) -> k`: every successor of `n` states. Successor `j` is at `out[j * W]`, and
  `tags[j]` is `place << 32 | instance`, `place` being that of its state, from 0. Successors are in no particular order.
  Steps, and steps beyond bounds, are counted; the first error of the spec, deadlock and wanted step is noted. Where
  outcomes that are no step are listed, such a one is the state itself, with `STOP_BIT` set in its tag.
- `inspect(states, n, by, notes)`: asks the pending state conditions of `n` new states; `by[j]` (32 bits) is the
  instance that made state `j`, or the number of instances for an initial one.
- `mark_0(states, n, bytes)`, `mark_1`, …: for each of `n` states 1 if a condition holds, else 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile.codegen.batch_function import expand_function
from hacheck.compile.codegen.condition_functions import (
    ANYTHING,
    finding_function,
    inspect_function,
    marking_functions,
    step_function,
)
from hacheck.compile.codegen.enabled_function import guards_of
from hacheck.compile.codegen.generated_program import Program
from hacheck.compile.codegen.module import Module, new_module
from hacheck.compile.codegen.step_conditions import Watches
from hacheck.compile.codegen.successor_functions import Plan, chunk_function, chunks, declared_chunk, size_of
from hacheck.compile.codegen.word_layout import arranged_in_words, word_count
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Lowered, SearchTarget, Stopped
from hacheck.compile.lowering.expression_nodes import Node, reachable
from hacheck.supervise.recursion_limit import room_for_nesting


class Mark(Struct, frozen=True):
    """A condition that is to have a function of its own."""

    key: str
    wanted: Node


class Emitted(Struct, frozen=True):
    """A module as text, and what it is about."""

    ir: str
    program: Program


def emit(
    lowered: Lowered,
    sought: Sequence[SearchTarget] = (),
    unblocking: frozenset[int] | None = None,
    marks: Sequence[Mark] = (),
    lists_stops: bool = False,
    apart: Sequence[Collection[int]] = (),
) -> Emitted:
    """The module of a lowered system.

    `unblocking`: the actions whose outcomes keep a state from being a deadlock, where one is sought. `marks` get their
    functions in order. `lists_stops`: `expand` lists outcomes that are no step. `apart`: groups of slots that have
    words of their own, see `arranged_in_words`. Cost: linear in the size of the lowered form, some 50 microseconds a
    statement.
    """
    with room_for_nesting():
        lowered = arranged_in_words(lowered, apart)
        program = _program(lowered, sought, marks, lists_stops)
        (module,) = _modules(_Wanted(lowered, program, sought, unblocking, marks), False)
        return Emitted(module.text(), program)


class Parts(Struct, frozen=True):
    """Modules that are linked with each other, as texts. `count`: how many there are. `texts`: each is printed when the
    caller takes it, so that one can be compiled while the next is printed. How good the code gets, and how long that
    takes, is left to the level at which they are compiled."""

    program: Program
    count: int
    texts: Iterator[str]


def emit_in_parts(
    lowered: Lowered,
    sought: Sequence[SearchTarget] = (),
    unblocking: frozenset[int] | None = None,
    marks: Sequence[Mark] = (),
    lists_stops: bool = False,
) -> Parts:
    """As `emit`, a module for each large function, the smaller ones first, and one for all others: a single one where
    there is no large function beside another."""
    with room_for_nesting():
        lowered = arranged_in_words(lowered)
        program = _program(lowered, sought, marks, lists_stops)
    count = len(list(chunks(lowered)))
    modules = _modules(_Wanted(lowered, program, sought, unblocking, marks), count > 1)

    def texts() -> Iterator[str]:
        while True:
            with room_for_nesting():
                module = next(modules, None)
                text = None if module is None else module.text(unhurried=True)
            if text is None:
                return
            yield text

    return Parts(program, count + 1 if count > 1 else 1, texts())


class _Wanted(Struct, frozen=True):
    """What the functions are to do."""

    lowered: Lowered
    program: Program
    sought: Sequence[SearchTarget]
    unblocking: frozenset[int] | None
    marks: Sequence[Mark]

    def conditions(self, kind: str) -> list[Node]:
        """Those of a kind, in order."""
        return [item.wanted for item in self.sought if item.kind == kind]


def _modules(wanted: _Wanted, apart: bool) -> Iterator[Module]:
    """All functions; where chunks are apart, each has a module of its own, the smaller ones first."""
    lowered, program = wanted.lowered, wanted.program
    module = new_module(lowered)
    finders = _condition_finders(module, wanted)
    bounds = {name: place for place, name in enumerate(program.bounds)}
    watches = Watches(lowered, wanted.conditions("step"))
    plan = Plan(
        lowered,
        module,
        program.notes,
        guards_of(module, lowered),
        bounds,
        watches,
        wanted.unblocking,
        program.lists_stops,
    )
    watched = [f"step_{number}" for number in range(len(wanted.conditions("step")))]
    module.parts += map(step_function, [module] * len(watched), watched, wanted.conditions("step"))
    groups = {f"chunk_{number}": group for number, group in enumerate(chunks(lowered))}
    if apart:
        for name in sorted(groups, key=lambda name: size_of(lowered, groups[name])):
            own = new_module(lowered)
            own.parts.append(chunk_function(replace(plan, module=own), name, groups[name], linkage=""))
            yield own
            module.parts.append(declared_chunk(name))
    else:
        module.parts += (chunk_function(plan, name, group) for name, group in groups.items())
    module.parts += expand_function(plan, list(groups), watched, [finders[node] for node in wanted.conditions("dead")])
    yield module


def _condition_finders(module: Module, wanted: _Wanted) -> dict[Node, str]:
    """Adds the functions that evaluate conditions of states; returns the name of each condition's."""
    program, states = wanted.program, wanted.conditions("state")
    count = len(wanted.lowered.instances)
    module.parts.append(f"{ANYTHING} = private unnamed_addr constant [1 x i32] [i32 {count}]")
    finders: dict[Node, str] = {}
    for number, node in enumerate(states):
        affecting = [bool(mask >> number & 1) for mask in program.affected]
        module.parts.append(finding_function(module, f"find_{number}", node, affecting))
        finders.setdefault(node, f"find_{number}")
    for node in (*wanted.conditions("dead"), *(mark.wanted for mark in wanted.marks)):
        if node not in finders:
            finders[node] = f"seek_{len(finders)}"
            module.parts.append(finding_function(module, finders[node], node, (True,) * (count + 1)))
    module.parts.append(inspect_function(module, program.notes, [f"find_{n}" for n in range(len(states))]))
    module.parts += marking_functions(module, [finders[mark.wanted] for mark in wanted.marks])
    return finders


# ---- what the functions are about ----


def _program(lowered: Lowered, sought: Sequence[SearchTarget], marks: Sequence[Mark], lists_stops: bool) -> Program:
    bounds = dict.fromkeys(
        statement.text
        for instance in lowered.instances
        for statement in _ends(instance.block)
        if isinstance(statement, Stopped) and statement.kind == "bound"
    )
    keys = {kind: tuple(item.key for item in sought if item.kind == kind) for kind in ("state", "dead", "step")}
    return Program(
        lowered.layout,
        word_count(lowered.layout),
        len(lowered.system.actions),
        tuple((instance.action, instance.arguments) for instance in lowered.instances),
        tuple(bounds),
        keys["state"],
        keys["dead"],
        keys["step"],
        tuple(mark.key for mark in marks),
        _affected(lowered, [item.wanted for item in sought if item.kind == "state"]),
        sum(_outcomes_max(instance.block, lists_stops) for instance in lowered.instances),
        lists_stops,
    )


def _affected(lowered: Lowered, conditions: Sequence[Node]) -> tuple[int, ...]:
    """For each instance, and for none, which conditions read a slot that it writes."""
    readers: dict[int, int] = {}
    for number, condition in enumerate(conditions):
        for node in reachable([condition]):
            if node.operator == "slot":
                readers[node.number] = readers.get(node.number, 0) | 1 << number
    masks = []
    for instance in lowered.instances:
        mask = 0
        for statement in _ends(instance.block):
            if isinstance(statement, Emit):
                for update in statement.updates:
                    mask |= readers.get(update.slot, 0)
        masks.append(mask)
    return (*masks, (1 << len(conditions)) - 1)


def _ends(block: Block) -> Iterator[Emit | Stopped]:
    """The outcomes in a block."""
    waiting = [block]
    while waiting:
        for statement in waiting.pop():
            if isinstance(statement, Branch):
                waiting += (statement.then, statement.otherwise)
            elif isinstance(statement, Emit | Stopped):
                yield statement


def _outcomes_max(block: Block, stops: bool) -> int:
    """How many outcomes a block can have at most, with those that are no step, if the caller wants that."""
    total = 0
    for statement in block:
        if isinstance(statement, Branch):
            total += max(_outcomes_max(statement.then, stops), _outcomes_max(statement.otherwise, stops))
        else:
            total += isinstance(statement, Emit) or (stops and isinstance(statement, Stopped))
    return total
