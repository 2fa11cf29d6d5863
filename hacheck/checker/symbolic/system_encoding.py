"""A system as SMT-LIB 2: its states, initial states, steps and properties, as definitions over constants.

A state is a constant for each slot: `|Server.mode[1]|` before a step and `|Server.mode[1]'|` after it. Slots that never
change are numbers. A step takes exactly one outcome, which is a constant of its own, true for the one taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from hacheck.checker.explicit.premises import PREMISE
from hacheck.checker.explicit.property_conditions import NO_VALUE, Questions
from hacheck.checker.symbolic.action_outcomes import Behaviour, Outcome, behaviour, reads
from hacheck.checker.symbolic.bit_vector_terms import Terms, junction, negation, number, sort_of
from hacheck.compile.lowering.blocks import Lowered, SearchTarget
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Layout, Place, Series, contents, slots_of
from hacheck.compile.lowering.operations import less
from hacheck.compile.lowering.symbolic_values import Items, read
from hacheck.model.interpreter import call
from hacheck.model.runs import State
from hacheck.model.types import Bag

_PAIRWISE_MAX = 100  # above, that no two outcomes are taken is said by a number for each
MARK = "'"

INIT, DOMAIN, ONE, CAN, ERROR = ".init", ".domain", ".one", ".can", ".error"
"""The names of formulas that every encoding has; no property has such a name."""


def next_of(slot: int) -> str:
    """The name of the formula that says what a slot holds after a step."""
    return f".next {slot}"


class Symbol(Struct, frozen=True):
    """A constant of the encoding: its name, as SMT-LIB writes it, and its sort."""

    name: str
    sort: str

    @property
    def declaration(self) -> str:
        """The line that declares it."""
        return f"(declare-const {self.name} {self.sort})"


class Encoding(Struct, frozen=True):
    """A system as formulas.

    `slots`: the slots that are constants, by index, before a step and (`after`) after it. `takes`: for each step of
    `behaviour.steps` the constant that is true when it is taken; `helpers`: further constants of a step.

    `formulas`, by name, over what `lines` define: `INIT`; `DOMAIN`, that contents of slots are a state; of a step
    `ONE`, that one outcome is taken, `CAN`, that it can be, and `next_of` a slot, what it holds after it; `ERROR`, that
    some step from here is an error of the spec; what is sought, by key; and what else the caller of `encode` wanted. Of
    states they speak as before a step.
    `single`: the same of outcomes alone: when each can come about (with -1), and what it makes of each slot it writes.
    `sought`: what is sought, by key; nothing that can never be met. `reads`: the slots each of these (and `ERROR`)
    depends on.
    """

    behaviour: Behaviour
    before: Mapping[int, Symbol]
    after: Mapping[int, Symbol]
    takes: tuple[Symbol, ...]
    helpers: tuple[Symbol, ...]
    lines: tuple[str, ...]
    formulas: Mapping[str, str]
    single: Mapping[tuple[int, int], str]
    sought: Mapping[str, SearchTarget]
    reads: Mapping[str, frozenset[int]]

    @property
    def lowered(self) -> Lowered:
        """The lowered form it encodes."""
        return self.behaviour.lowered

    def keys_of(self, name: str) -> list[str]:
        """Under which keys a property is broken: where it fails, and where it has no value."""
        return [key for key in (name, NO_VALUE + name) if key in self.sought]

    @property
    def symbols(self) -> Iterator[Symbol]:
        """Every constant."""
        yield from self.before.values()
        yield from self.after.values()
        yield from self.takes
        yield from self.helpers


def nothing_more(_: Behaviour) -> Mapping[str, Node]:
    """No conditions besides those of properties."""
    return {}


def encode(
    lowered: Lowered,
    questions: Questions,
    initial: Sequence[State],
    more: Callable[[Behaviour], Mapping[str, Node]] = nothing_more,
) -> Encoding:
    """The encoding of a lowered system with its initial states and properties. `more`: further conditions of
    states, by the names their formulas are to have. Cost: proportional to the lowered form."""
    found = behaviour(lowered)
    graph, slots = lowered.graph, lowered.layout.slots
    before, after = _constants(lowered)
    names = {"slot": before, "after": after}
    terms = Terms(lambda node: names[node.operator][node.number].name, found.definitions)
    sought = {item.key: item for item in questions.sought if not item.key.startswith(("mode:", PREMISE))}
    dead = graph.not_(alive(found, questions.unblocking or frozenset()))
    wanted = {
        key: graph.and_(item.wanted, dead) if item.kind == "dead" else item.wanted for key, item in sought.items()
    }
    error = graph.any_of(outcome.condition for outcome in found.outcomes if outcome.ended == "error")
    domain = graph.all_of(well_formed(lowered))
    conditions = [outcome.condition for outcome in found.steps]
    values = [value for outcome in found.steps for _, value in outcome.updates]
    extra = more(found)
    terms.prepare([*wanted.values(), error, domain, *conditions, *values, *extra.values()])
    takes = tuple(Symbol(f"|{name}|", "Bool") for name in _outcome_names(found))
    width = max(1, (len(takes) - 1).bit_length())
    helpers = () if len(takes) <= _PAIRWISE_MAX else (Symbol("|number of the step|", f"(_ BitVec {width})"),)
    formulas = {
        INIT: junction("or", [_state(lowered, before, state) for state in initial]),
        DOMAIN: terms.truth(domain),
        ERROR: terms.truth(error),
        **{key: terms.truth(node) for key, node in (*wanted.items(), *extra.items())},
    }
    formulas[ONE] = junction("and", _exactly_one(takes, helpers, width))
    formulas[CAN] = junction(
        "and", [f"(=> {take.name} {terms.truth(test)})" for take, test in zip(takes, conditions, strict=True)]
    )
    highs = {slot: slots[slot].high for slot in before}
    for slot, text in _next_slots(terms, found.steps, takes, before, after, highs):
        formulas[next_of(slot)] = text
    single = {(place, -1): terms.truth(condition) for place, condition in enumerate(conditions)}
    for place, outcome in enumerate(found.steps):
        for slot, value in outcome.updates:
            single[place, slot] = f"(= {after[slot].name} {_content(terms, value, highs[slot])})"
    needed = {key: reads([node], found.definitions) for key, node in (*wanted.items(), (ERROR, error))}
    return Encoding(found, before, after, takes, helpers, tuple(terms.lines), formulas, single, sought, needed)


def _constants(lowered: Lowered) -> tuple[dict[int, Symbol], dict[int, Symbol]]:
    """A constant for each slot that may change, before and after a step."""
    before, after = {}, {}
    seen: dict[str, int] = {}
    for index, slot in enumerate(lowered.layout.slots):
        if slot.fixed is not None:
            continue
        times = seen[slot.name] = seen.get(slot.name, 0) + 1
        name = slot.name if times == 1 else f"{slot.name} {times}"
        before[index] = Symbol(f"|{name}|", sort_of(0, slot.high))
        after[index] = Symbol(f"|{name}{MARK}|", sort_of(0, slot.high))
    return before, after


def _outcome_names(found: Behaviour) -> Iterator[str]:
    """`1: vote(v: Voter 1, c: Candidate 2)`; the number makes it unique."""
    for place, outcome in enumerate(found.steps, start=1):
        instance = found.lowered.instances[outcome.instance]
        yield f"{place}: {call(found.lowered.system, instance.action, instance.arguments)}"


def alive(found: Behaviour, unblocking: frozenset[int]) -> Node:
    """Whether some action among these can change something, or ends in what is no step."""
    graph, slots = found.lowered.graph, found.lowered.layout.slots
    conditions = []
    for outcome in found.outcomes:
        if found.lowered.instances[outcome.instance].action not in unblocking:
            continue
        if outcome.ended != "step":
            conditions.append(outcome.condition)
            continue
        changes = [graph.ne(value, graph.slot(slot, slots[slot].high)) for slot, value in outcome.updates]
        conditions.append(graph.and_(outcome.condition, graph.any_of(changes)))
    return graph.any_of(conditions)


def _state(lowered: Lowered, symbols: Mapping[int, Symbol], state: State) -> str:
    """That the state is this one."""
    held, slots = contents(lowered.layout, state), lowered.layout.slots
    return junction("and", [_holds(symbol, held[slot], slots[slot].width) for slot, symbol in symbols.items()])


def _holds(symbol: Symbol, content: int, width: int) -> str:
    if symbol.sort == "Bool":
        return symbol.name if content else negation(symbol.name)
    return f"(= {symbol.name} {number(content, width)})"


def _exactly_one(takes: Sequence[Symbol], helpers: Sequence[Symbol], width: int) -> Iterator[str]:
    """Exactly one outcome is taken."""
    yield junction("or", [take.name for take in takes])
    if helpers:
        for place, take in enumerate(takes):
            yield f"(=> {take.name} (= {helpers[0].name} {number(place, width)}))"
        return
    for place, take in enumerate(takes):
        yield from (f"(not (and {take.name} {other.name}))" for other in takes[:place])


def _content(terms: Terms, value: Node, high: int) -> str:
    """A value as a slot with this highest content holds it."""
    width = max(1, high.bit_length())
    if high > 1:
        return terms.sized(value, width)
    return terms.text(value) if value.is_truth else f"(= {terms.sized(value, width)} {number(1, width)})"


def _next_slots(
    terms: Terms,
    steps: Sequence[Outcome],
    takes: Sequence[Symbol],
    before: Mapping[int, Symbol],
    after: Mapping[int, Symbol],
    highs: Mapping[int, int],
) -> Iterator[tuple[int, str]]:
    """What each slot holds after the step: what the outcome taken gives it, else what it held."""
    written: dict[int, dict[str, list[str]]] = {slot: {} for slot in before}
    for outcome, take in zip(steps, takes, strict=True):
        for slot, value in outcome.updates:
            written[slot].setdefault(_content(terms, value, highs[slot]), []).append(take.name)
    for slot, by_value in written.items():
        chain = before[slot].name
        for text, names in by_value.items():
            chain = f"(ite {junction('or', names)} {text} {chain})"
        yield slot, f"(= {after[slot].name} {chain})"


def well_formed(lowered: Lowered) -> Iterator[Node]:
    """Conditions that hold of slots which hold a state, and of no others: each holds a number up to its highest,
    what is behind a length or under a flag that is off holds 0, and bags are sorted."""
    graph, layout = lowered.graph, lowered.layout
    for index, slot in enumerate(layout.slots):
        if slot.fixed is None and slot.high & (slot.high + 1):
            # The interval of the slot says this much already, so the comparison must not be folded.
            yield graph.make("le", (_slot_content(graph, layout, index), graph.const(slot.high)), 0, 1)
    for place in layout.places:
        yield from _well_formed_place(graph, layout, place)


def _slot_content(graph: Graph, layout: Layout, index: int) -> Node:
    slot = layout.slots[index]
    return graph.slot(index, slot.high) if slot.fixed is None else graph.const(slot.fixed)


def _well_formed_place(graph: Graph, layout: Layout, place: Place) -> Iterator[Node]:
    match place:
        case Cell():
            return
        case Flagged(_, flag, inner):
            on = _slot_content(graph, layout, flag)
            yield graph.or_(on, _blank(graph, layout, inner))
            yield from _well_formed_place(graph, layout, inner)
        case Group(_, items):
            for item in items:
                yield from _well_formed_place(graph, layout, item)
        case Series(kind, length, items):
            count = graph.zero if length is None else _slot_content(graph, layout, length)
            for number, item in enumerate(items):
                yield graph.or_(graph.lt(graph.const(number), count), _blank(graph, layout, item))
                yield from _well_formed_place(graph, layout, item)
            if isinstance(kind, Bag):
                held = read(graph, place, lambda slot: _slot_content(graph, layout, slot))
                assert isinstance(held, Items), f"{kind} holds items"
                for number, (first, second) in enumerate(pairwise(held.items), start=1):
                    there = graph.lt(graph.const(number), count)
                    yield graph.implies(there, graph.not_(less(graph, second, first)))


def _blank(graph: Graph, layout: Layout, place: Place) -> Node:
    return graph.all_of(graph.eq(_slot_content(graph, layout, slot), graph.zero) for slot in slots_of(place))
