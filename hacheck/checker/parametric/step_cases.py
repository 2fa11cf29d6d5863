"""A step with branches as several steps without: what a prover would have to find out is said at once.

Where a body branches on a condition that no loop is around, one case takes the one way and another case the other.
What is left are conditions and updates in which nothing of the branch remains, and quantifiers in conditions stand
where they are cheap, at the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import World
from hacheck.checker.parametric.first_order_logic import (
    FALSE,
    Apply,
    Term,
    Truth,
    apply,
    conjunction,
    mapped,
    negation,
    symbols_of,
)
from hacheck.checker.parametric.theory import Transition, Update

CASES_MAX = 64
"""A step with more cases than this keeps its later branches."""


def cases(transition: Transition, world: World) -> Iterator[Transition]:
    """The step's cases, one after the other; the step itself where it does not branch."""
    found = list(_decided(world, transition))
    for number, one in enumerate(found, start=1):
        yield one if len(found) == 1 else replace(one, name=f"{one.name}, case {number}")


def _decided(world: World, transition: Transition) -> Iterator[Transition]:
    splits: list[dict[str, Term]] = [{}]
    for named, path, _ in world.branches:
        longer: list[dict[str, Term]] = []
        for decisions in splits:
            reached = conjunction(*(_given(one, decisions, world) for one in path))
            if reached == FALSE:
                longer.append(decisions)
            elif len(splits) + len(longer) >= CASES_MAX:
                longer.append({**decisions, named.symbol: named})
            else:
                longer += [{**decisions, named.symbol: Truth(decided)} for decided in (True, False)]
        splits = longer
    for decisions in splits:
        yield from _case(transition, decisions, world)


def _given(term: Term, decisions: Mapping[str, Term], world: World) -> Term:
    """A term where branches go one way; those not decided are what they mean."""
    meanings = {named.symbol: meaning for named, _, meaning in world.branches}

    def change(one: Term) -> Term | None:
        if not isinstance(one, Apply) or one.symbol not in meanings:
            return None
        decided = decisions.get(one.symbol, FALSE)
        return _given(meanings[one.symbol], decisions, world) if decided == one else decided

    return mapped(term, change, frozenset(world.signature.distinct))


def _case(transition: Transition, decisions: Mapping[str, Term], world: World) -> Iterator[Transition]:
    conditions = [_given(one, decisions, world) for one in transition.conditions]
    for named, _, meaning in world.branches:
        decided = decisions.get(named.symbol)
        if isinstance(decided, Truth):
            said = _given(meaning, decisions, world)
            conditions.append(said if decided.value else negation(said))
    whole = conjunction(*conditions)
    if whole == FALSE:
        return
    updates = []
    for update in transition.updates:
        value = _given(update.value, decisions, world)
        if value != apply(update.symbol, update.formals):
            updates.append(Update(update.symbol, update.formals, value))
    defined = tuple(_given(one, decisions, world) for one in transition.defined)
    terms = (*conditions, *(update.value for update in updates))
    fresh = frozenset(one.name for one in transition.symbols)
    used = _reached(frozenset().union(*map(symbols_of, terms)) & fresh, defined, fresh)
    own = frozenset(one.name for _, _, made in transition.parameters for one in made)
    yield replace(
        transition,
        conditions=tuple(one for one in conditions if one != Truth(True)),
        updates=tuple(updates),
        symbols=tuple(one for one in transition.symbols if one.name in used | own),
        defined=tuple(one for one in defined if symbols_of(one) & fresh <= used | own),
    )


def _reached(used: frozenset[str], defined: tuple[Term, ...], fresh: frozenset[str]) -> frozenset[str]:
    """The fresh symbols in use, and those that what is known of them speaks of."""
    while True:
        more = used.union(*(symbols_of(one) & fresh for one in defined if symbols_of(one) & used))
        if more == used:
            return used
        used = more


def undivided(transition: Transition, world: World) -> Transition:
    """The step as one, with what its branches mean."""
    found = tuple(_case(transition, {named.symbol: named for named, _, _ in world.branches}, world))
    return found[0] if found else replace(transition, conditions=(FALSE,), updates=())
