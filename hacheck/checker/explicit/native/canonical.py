"""A function that replaces states by representatives of those they are symmetric to, as text of the kernel language.

Members of a kind that are alike are sorted by their signatures, neighbours exchanged until none is out of order. Where
signatures are equal, every order of those members is tried; the least state is the representative. Exchanging does
not change which states come into question, so symmetric states have one representative.

Identities are numbered in the order in which slots hold them. Those that only sets and bags hold are then sorted as
members of a kind are. All this is done for each order of nodes that is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, prod

from hacheck.checker.explicit.native.canonical_numbering import Numbering
from hacheck.checker.explicit.native.canonical_signature import SCATTERED, Signature, signature_of
from hacheck.checker.explicit.native.canonical_slots import Lines, Words, exchange_lines, indented
from hacheck.model.data import dataclass
from hacheck.model.ir import System
from hacheck.model.lowering.canonical import exchange_in
from hacheck.model.lowering.layout import Layout
from hacheck.model.symmetry_types import Alike
from hacheck.model.types import Identity, Node


@dataclass(frozen=True, slots=True)
class Canonicaliser:
    """Texts of the kernel language, whose functions work on `n` states of `W` words at an address.

    `canonical` has `canonical(states, n)`: each state is replaced by its representative. `counting` has
    `count_orbits(states, n) -> k`: how many states `n` distinct representatives stand for, by exchanges of nodes.
    """

    canonical: str
    counting: str


def canonicaliser(system: System, layout: Layout, classes: Sequence[Alike]) -> Canonicaliser:
    """The representatives under all permutations within classes. Every exchange of two members of a class must be
    possible on the layout (see `exchange_in`), whose slots must be arranged in words. Cost: the slots of the layout,
    times the members, times the length of the chains of exchanges that bring one to the front."""
    words = Words(layout)
    nodes = [one for one in classes if isinstance(one.kind, Node)]
    pools = [one for one in classes if not isinstance(one.kind, Node)]
    numberings = [
        Numbering(words, one.kind, number) for number, one in enumerate(pools) if isinstance(one.kind, Identity)
    ]
    loose = {one: numbering for one, numbering in zip(pools, numberings, strict=True) if numbering.loose}
    parts = [SCATTERED, _keep(words)]
    inner = _Sorting(system, words, "b", list(loose), pools, "keep", list(loose.values()))
    parts += inner.functions()
    parts.append(_settle(words, numberings, inner))
    outer = _Sorting(system, words, "a", nodes, classes, "settle")
    parts += [*outer.functions(), _canonical(words, numberings, inner, outer)]
    return Canonicaliser("\n".join(parts), "\n".join([SCATTERED, _counting(words, outer)]))


class _Sorting:
    """The sorting of the members of some classes, and the trying of orders where they cannot be told apart; then
    `rest` goes on with each order. `masked`: the members that signatures may not tell apart."""

    def __init__(
        self,
        system: System,
        words: Words,
        prefix: str,
        classes: Sequence[Alike],
        masked: Sequence[Alike],
        rest: str,
        numberings: Sequence[Numbering] = (),
    ) -> None:
        self.words, self.prefix, self.classes, self.rest = words, prefix, classes, rest
        self.signatures = [signature_of(system, words, one, masked) for one in classes]
        self.numberings = numberings
        self.first_bit = [sum(len(one.members) - 1 for one in classes[:place]) for place in range(len(classes))]
        self.lines = [[self.exchange(one, place) for place in range(len(one.members) - 1)] for one in classes]

    def exchange(self, one: Alike, place: int) -> Lines:
        taken = exchange_in(self.words.layout, one.kind, one.members[place], one.members[place + 1])
        assert taken is not None, f"{one.kind.name} {one.members[place]} and {one.members[place + 1]} are not alike"
        return exchange_lines(self.words, taken)

    def sorted(self) -> Lines:
        """The lines that sort the members and leave in `ties` a bit for each pair of neighbours that are equal."""
        lines: Lines = ["ties = 0"]
        for number, (one, signature) in enumerate(zip(self.classes, self.signatures, strict=True)):
            lines += self.sorted_class(number, one, signature)
        return lines

    def sorted_class(self, number: int, one: Alike, signature: Signature) -> Lines:
        """The lines for one class. What lies between members is looked at only where their own fields are equal."""
        count = len(one.members)
        own = signature.own
        if self.numberings:
            own = tuple(self.numberings[number].rank(place, text) for place, text in enumerate(own))
        lines = [f"g{place} = {text}" for place, text in enumerate(own)]
        pairs = [(f"g{place}", f"g{place + 1}") for place in range(count - 1)]
        if not signature.shared:
            lines += self.bubble(number, ("g",), "{0} > {1}", [])
            return [*lines, *self.tied(number, [f"({left} == {right})" for left, right in pairs])]
        lines += [f"h{place} = 0" for place in range(count)]
        equal = " or ".join(f"{left} == {right}" for left, right in pairs)
        second = [*(f"h{place} = {text}" for place, text in enumerate(signature.shared)), "moving = 1"]
        closer = ["if not moving and not closer:", *indented(["closer = 1", f"if {equal}:", *indented(second)])]
        lines += ["closer = 0", *self.bubble(number, ("g", "h"), "{0} > {1} or {0} == {1} and {2} > {3}", closer)]
        both = [f"(g{place} == g{place + 1}) & (h{place} == h{place + 1})" for place in range(count - 1)]
        return [*lines, *self.tied(number, both)]

    def tied(self, number: int, tests: Sequence[str]) -> Lines:
        bits = [f"({test}) << {self.first_bit[number] + place}" for place, test in enumerate(tests)]
        return [f"ties = ties | {' | '.join(bits)}"]

    def bubble(self, number: int, keys: tuple[str, ...], wrong: str, last: Lines) -> Lines:
        """Neighbours exchanged, with their keys, until none is out of order; `last` comes after each round."""
        inside: Lines = ["moving = 0"]
        for place, exchange in enumerate(self.lines[number]):
            body = [*exchange, "moving = 1"]
            for key in keys:
                body += [f"t = {key}{place}", f"{key}{place} = {key}{place + 1}", f"{key}{place + 1} = t"]
            compared = (f"{key}{at}" for key in keys for at in (place, place + 1))
            inside += [f"if {wrong.format(*compared)}:", *indented(body)]
        return ["moving = 1", "while moving:", *indented([*inside, *last])]

    def functions(self) -> list[str]:
        """Exchanges as functions, and those that try every order of members that cannot be told apart."""
        found: list[str] = []
        steps = [(number, place) for number, one in enumerate(self.classes) for place in range(len(one.members) - 1)]
        for number, place in steps:
            found += self.exchange_functions(number, place)
        names = [*(f"try_{self.prefix}{number}_{place}" for number, place in steps), self.rest]
        for (number, place), name, after in zip(steps, names, names[1:], strict=False):
            call = f"{after}(at, {', '.join(self.words.names)}{', ties' if after != self.rest else ''})"
            lines = self.every_order(number, place, [call], "unlike")
            head = f"def {name}(at, {', '.join(self.words.names)}, ties):"
            found.append("\n".join([head, *indented(lines), ""]))
        return found

    @property
    def entry(self) -> str:
        """The function that tries every order."""
        return f"try_{self.prefix}0_0"

    def exchange_functions(self, number: int, place: int) -> list[str]:
        """One function for each word of the state after an exchange."""
        arguments = ", ".join(self.words.names)
        return [
            "\n".join(
                [
                    f"def swap_{self.prefix}{number}_{place}_{word}({arguments}):",
                    *indented([*self.lines[number][place], f"return {name}"]),
                    "",
                ]
            )
            for word, name in enumerate(self.words.names)
        ]

    def swapped(self, number: int, place: int) -> Lines:
        """The lines that exchange two neighbours by calls."""
        names = self.words.names
        calls = [
            f"n{word} = swap_{self.prefix}{number}_{place}_{word}({', '.join(names)})" for word in range(len(names))
        ]
        return [*calls, *(f"{name} = n{word}" for word, name in enumerate(names))]

    def every_order(self, number: int, place: int, body: Lines, when: str) -> Lines:
        """The lines that do `body` with each member that may stand at a place. The state at the start is in `o…`; an
        order that gives the same state again is left out."""
        names = self.words.names
        lines = [*(f"o{word} = {name}" for word, name in enumerate(names)), *body]
        inner: Lines = []
        for other in range(len(self.classes[number].members) - 1, place, -1):
            # the member at `other` comes to the front, those before it move back by one
            moves = [line for at in range(other - 1, place - 1, -1) for line in self.swapped(number, at)]
            differs = " or ".join(f"{name} != o{word}" for word, name in enumerate(names))
            turn = [*moves, f"if {differs}:", *indented(body)] if when == "unlike" else [*moves, *body]
            inner = [f"if ties >> {self.first_bit[number] + other - 1} & 1:", *indented([*turn, *inner])]
        return [*lines, *inner]


def _keep(words: Words) -> str:
    """Stores a state where it is less than the one that is there."""
    less = ""
    for word, name in enumerate(words.names):
        tail = f" or {name} == k{word} and ({less})" if less else ""
        less = f"{name} < k{word}{tail}"
    lines = [f"k{word} = load64(at, {word})" for word in range(len(words.names))]
    lines += [f"if {less}:", *indented(_stored(words))]
    return "\n".join([f"def keep(at, {', '.join(words.names)}):", *indented(lines), ""])


def _stored(words: Words) -> Lines:
    return [f"store64(at, {word}, {name})" for word, name in enumerate(words.names)]


def _settle(words: Words, numberings: Sequence[Numbering], inner: _Sorting) -> str:
    """Goes on with one order of the nodes."""
    arguments = ", ".join(words.names)
    lines = _numbered(numberings)
    if inner.classes:
        lines += [*inner.sorted(), f"{inner.entry}(at, {arguments}, ties)"]
    else:
        lines.append(f"keep(at, {arguments})")
    return "\n".join([f"def settle(at, {arguments}):", *indented(lines), ""])


def _numbered(numberings: Sequence[Numbering]) -> Lines:
    return [line for numbering in numberings for line in numbering.lines()]


def _canonical(words: Words, numberings: Sequence[Numbering], inner: _Sorting, outer: _Sorting) -> str:
    arguments = ", ".join(words.names)
    last = (1 << 64) - 1
    tried = [f"store64(at, {word}, {last})" for word in range(len(words.names))]
    if inner.classes:
        each = [*outer.sorted(), *tried]
        each += [f"{outer.entry}(at, {arguments}, ties)"] if outer.classes else [f"settle(at, {arguments})"]
    elif outer.classes:
        alone = [*_numbered(numberings), *_stored(words)]
        ways = ["if ties:", *indented([*tried, f"{outer.entry}(at, {arguments}, ties)"]), "else:", *indented(alone)]
        each = [*outer.sorted(), *ways]
    else:
        each = [*_numbered(numberings), *_stored(words)]
    return _for_each("canonical", words, each)


def _for_each(name: str, words: Words, each: Lines, before: Lines = [], after: Lines = []) -> str:  # noqa: B006
    body = [f"at = states + j * {8 * len(words.names)}"]
    body += [f"{local} = load64(at, {word})" for word, local in enumerate(words.names)]
    loop = ["j = 0", "while j < n:", *indented([*body, *each, "j += 1"])]
    return "\n".join([f"def {name}(states, n):", *indented([*before, *loop, *after]), ""])


def _counting(words: Words, outer: _Sorting) -> str:
    """The counting of states by exchanges of nodes: all orders, by how many orders leave a state as it is."""
    if not outer.classes:
        return _for_each("count_orbits", words, ["total += 1"], ["total = 0"], ["return total"])
    everything = prod(factorial(len(one.members)) for one in outer.classes)
    names = words.names
    kept = ", ".join(f"z{word}" for word in range(len(names)))
    steps = [(number, place) for number, one in enumerate(outer.classes) for place in range(len(one.members) - 1)]
    parts = [part for number, place in steps for part in outer.exchange_functions(number, place)]
    same = " & ".join(f"({name} == z{word})" for word, name in enumerate(names))
    parts.append(f"def fix_end({', '.join(names)}, {kept}, ties):\n    return {same}\n")
    targets = [*(f"fix_{number}_{place}" for number, place in steps), "fix_end"]
    for (number, place), name, after in zip(steps, targets, targets[1:], strict=False):
        body = [f"total += {after}({', '.join(names)}, {kept}, ties)"]
        lines = ["total = 0", *outer.every_order(number, place, body, "always"), "return total"]
        parts.append("\n".join([f"def {name}({', '.join(names)}, {kept}, ties):", *indented(lines), ""]))
    call = f"{targets[0]}({', '.join(names)}, {', '.join(names)}, ties)"
    each = [*outer.sorted(), f"total += {everything} // {call} if ties else {everything}"]
    return "\n".join([*parts, _for_each("count_orbits", words, each, ["total = 0"], ["return total"])])
