"""Random layouts full of nodes and identities, and random states of them, reachable or not."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import factorial, prod

from hacheck.checker.explicit.reductions import too_costly
from hacheck.compile.codegen.word_layout import arranged_in_words
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.layout import lay_out
from hacheck.model.ir import System, Variable
from hacheck.model.runs import State
from hacheck.model.symmetry_types import Kind, SymmetryClass, has_places_for, mentions, renamed
from hacheck.model.types import Bag, Enum, Identity, Map, Node, Option, Range, Record, Sequence, Set, Type
from tests.models.small import system
from tests.strategies.choosing import Seeded, chance, pick
from tests.strategies.kinds import Vocabulary, random_scalar, random_type, random_value


@dataclass(frozen=True)
class Case:
    """A system of variables only, its slots in words, the members that are alike, and some of its states."""

    system: System
    lowered: Lowered
    classes: tuple[SymmetryClass, ...]
    states: tuple[State, ...]

    @property
    def types(self) -> list[Type]:
        """Of the variables."""
        return [variable.type for variable in self.system.variables]

    @property
    def group_size(self) -> int:
        """The number of permutations within the classes."""
        return prod(factorial(len(one.members)) for one in self.classes)

    def permuted(self, state: State, one: SymmetryClass, order: tuple[int, ...]) -> State:
        """The state with the members of a class put in another order."""
        new = dict(zip(one.members, order, strict=True))
        pairs = zip(self.types, state, strict=True)
        return tuple(renamed(one.kind, kind, value, lambda member: new.get(member, member)) for kind, value in pairs)

    def shuffled(self, state: State, chance: random.Random) -> State:
        """The state with all classes put in some order."""
        for one in self.classes:
            state = self.permuted(state, one, tuple(chance.sample(one.members, len(one.members))))
        return state

    def orbit(self, state: State) -> set[State]:
        """Every state that is symmetric to it."""
        found = {state}
        for one in self.classes:
            orders = list(itertools.permutations(one.members))
            found = {self.permuted(other, one, order) for other in found for order in orders}
        return found


def cases(first: int, count: int) -> Iterator[Case]:
    """The cases of some seeds in which something is alike."""
    for seed in range(first, first + count):
        case = _case(Seeded(seed))
        if case.classes:
            yield case


def _case(chooser: Seeded) -> Case:
    nodes = (Node("Replica", chooser.integer(2, 5), False), Node("Witness", chooser.integer(2, 3), False))
    pools = (Identity("Group", chooser.integer(2, 6)), Identity("Session", chooser.integer(2, 20)))
    stamp = Record("Stamp", (("by", nodes[0]), ("group", pools[0])))
    words = Vocabulary(nodes, (Enum("Mode", ("idle", "busy", "dead")),), pools, (stamp,), (Range(0, 5, "terms"),))
    types = [_type(chooser, words) for _ in range(chooser.integer(1, 4))]
    initial = {Variable(f"v{place}", kind): random_value(chooser, kind) for place, kind in enumerate(types)}
    made = system(initial, nodes=nodes)
    lowered = arranged_in_words(Lowered(made, lay_out(made), Graph(), ()))
    classes = tuple(one for kind in (*nodes, *pools) for one in _alike(chooser, lowered, types, kind))
    states = tuple(tuple(random_value(chooser, kind) for kind in types) for _ in range(6))
    return Case(made, lowered, classes, states)


def _alike(chooser: Seeded, lowered: Lowered, types: list[Type], kind: Kind) -> Iterator[SymmetryClass]:
    """All members of a kind, all but one, or two halves."""
    members = tuple(range(1, kind.size + 1))
    if isinstance(kind, Node) and kind.size > 2 and chance(chooser, 25):
        members = tuple(sorted(chooser.random.sample(members, kind.size - 1)))
    needless = not any(mentions(kind, part) for part in types)
    if isinstance(kind, Identity) and any(has_places_for(kind, part) for part in types):
        return
    if not needless and chance(chooser, 85) and not list(too_costly(lowered, kind, [members])):
        if isinstance(kind, Node) and len(members) > 3 and chance(chooser, 30):
            yield SymmetryClass(kind, members[::2])
            yield SymmetryClass(kind, members[1::2])
        else:
            yield SymmetryClass(kind, members)


def _type(chooser: Seeded, words: Vocabulary) -> Type:
    if chance(chooser, 30):
        return random_type(chooser, words, 10**12)
    node, held = words.nodes[0], pick(chooser, (*words.nodes, *words.identities, *words.identities))
    fields = ("first", "second", "third")[: chooser.integer(1, 3)]
    record = Record("Note", tuple((field, random_scalar(chooser, words)) for field in fields))
    forms: tuple[Callable[[], Type], ...] = (
        lambda: Map(node, Map(node, Bag(record, chooser.integer(1, 3)))),
        lambda: Set(held),
        lambda: Set(Option(held)),
        lambda: Bag(record, chooser.integer(1, 4)),
        lambda: Bag(held, chooser.integer(1, 4)),
        lambda: Map(node, Set(held)),
        lambda: Map(node, Bag(held, 2)),
        lambda: Map(node, Option(record)),
        lambda: Map(Option(node), Option(held)),
        lambda: Sequence(record, 2),
        lambda: Map(node, Set(Range(0, 69))),
    )
    return pick(chooser, forms)()
