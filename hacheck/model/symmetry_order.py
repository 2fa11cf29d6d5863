"""Where the order of a kind's members shows in what an action does or a property says.

Members are compared with `<`; `max` and `min` take the first of several; a domain is gone through in the order of its
type. The last matters in two places only: where the first value that decides ends the search (`some`, `every`,
`none`), so that a later one cannot fail; and in a loop one of whose turns sees or undoes what another has done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hacheck.model.ir import (
    Binary,
    Choose,
    Constant,
    Domain,
    Extreme,
    ForEach,
    Fresh,
    MapOf,
    Quantified,
    SetOf,
)
from hacheck.model.rewrite import Tree, walk
from hacheck.model.symmetry_loops import turns_commute
from hacheck.model.symmetry_stops import SPEC_ERROR, may_fail
from hacheck.model.symmetry_types import Kind, mentions
from hacheck.model.types import Sequence as SequenceType
from hacheck.model.typing import type_of


def order_dependent(kind: Kind, trees: Sequence[Tree], stops: Callable[[], frozenset[str]]) -> Iterator[str]:
    """What in these trees may depend on the order of the kind's members, in words that go on from the name of what
    they are part of. `stops`: what can end their evaluation,
    called only where it matters. Cost: their size, times the depth of loops."""
    for tree in trees:
        for part in walk(tree):
            yield from _of_part(kind, part, stops)


def _of_part(kind: Kind, part: Tree, stops: Callable[[], frozenset[str]]) -> Iterator[str]:
    match part:
        case Binary("<" | "<=", left, _) if mentions(kind, type_of(left)):
            yield f"compares {kind.name}s by their order"
        case Extreme(_, _, _, by) if mentions(kind, type_of(by)):
            yield f"compares {kind.name}s by their order"
        case Extreme(_, _, Domain(_, None, Binary("!=", _, _)) as domain, Constant()) if in_order(kind, domain):
            yield "uses `other`"  # the one that is another, by a constant
        case Extreme(word, _, domain, _) if in_order(kind, domain):
            yield f"takes the first {kind.name} where `{word}` finds several"
        case Quantified("some" | "every" | "none", _, domain, body) if in_order(kind, domain):
            if (may_fail(body) or (domain.where is not None and may_fail(domain.where))) and SPEC_ERROR in stops():
                yield f"may be an error or not, as the order of {kind.name}s decides"
        case ForEach(variable, domain, body) if in_order(kind, domain):
            problem = turns_commute(variable, body, stops())
            if problem is not None:
                yield f"goes over {kind.name}s in their order: {problem}"
        case _:
            pass
    yield from _draws_in_turn(kind, part)


def _draws_in_turn(kind: Kind, part: Tree) -> Iterator[str]:
    """Identities drawn one after the other while something is gone through. (Members of the kind that are still to
    come may be held by nothing, so they may be drawn, whatever order they come in.)"""
    match part:
        case Quantified(_, _, domain, body):
            inside: tuple[Tree, ...] = (body,)
        case SetOf(_, domain, item, _):
            inside = (item,)
        case Extreme(_, _, domain, by):
            inside = (by,)
        case ForEach(_, domain, body):
            inside = body
        case MapOf(_, key, item, _):
            domain, inside = Domain(key, None, None), (item,)
        case Choose(_, domain):
            inside = ()
        case _:
            return
    if domain.where is not None:
        inside = (*inside, domain.where)
    for found in (found for tree in inside for found in walk(tree)):
        if isinstance(found, Fresh) and (
            in_order(kind, domain) or (found.type == kind and mentions(kind, domain.type))
        ):
            yield f"draws {found.type.name}s while it goes over {kind.name}s"


def in_order(kind: Kind, domain: Domain) -> bool:
    """Whether a domain's values come in an order that the kind's members have a part in. A sequence has an order of
    its own, which is permuted with it."""
    if not mentions(kind, domain.type):
        return False
    return domain.within is None or not isinstance(type_of(domain.within), SequenceType)
