"""A function that replaces states by representatives of those they are symmetric to, as text of the kernel language.

Symmetric members of a kind are sorted by their signatures, neighbours exchanged until none is out of order. Where
signatures are equal, every order of those members is tried; the least state is the representative. Exchanging does
not change which states come into question, so symmetric states have one representative.

Identities are numbered for each order of nodes that is tried (see `numbering`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import factorial, prod

from msgspec import Struct

from hacheck.checker.explicit.symmetry.counter_distances import closing_lines
from hacheck.checker.explicit.symmetry.identity_numbers import Numbering, finish
from hacheck.checker.explicit.symmetry.member_signatures import SCATTERED, Signature, signature_of
from hacheck.checker.explicit.symmetry.slot_renaming import Lines, Words, exchange_lines, indented
from hacheck.compile.lowering.layout import Layout
from hacheck.compile.lowering.permuted_slots import exchange_in
from hacheck.model.counters.value_distances import Distances
from hacheck.model.ir import System
from hacheck.model.symmetry_types import SymmetryClass
from hacheck.model.types import Identity, Node

_LAST = (1 << 64) - 1


class Canonicaliser(Struct, frozen=True):
    """Texts of the kernel language, whose functions work on `n` states of `W` words at an address.

    `canonical` has `canonical(states, n)`: each state is replaced by its representative. `counting` has
    `count_orbits(states, n) -> k`: how many states `n` distinct representatives stand for, by exchanges of nodes.
    """

    canonical: str
    counting: str


def canonicaliser(
    system: System, layout: Layout, classes: Sequence[SymmetryClass], distances: Sequence[Distances] = ()
) -> Canonicaliser:
    """The representatives under all permutations within classes, once the values of some counters are drawn near each
    other. Every exchange of two members of a class must be possible on the layout (see `exchange_in`), whose slots must
    be arranged in words. Cost: the slots of the layout, for each pair of members."""
    words = Words(layout)
    closing = [line for one in distances for line in closing_lines(system, words, one)]
    pools = [one.kind for one in classes if isinstance(one.kind, Identity)]
    numberings = tuple(Numbering(words, pool, number) for number, pool in enumerate(pools))
    sorting = _Sorting(system, words, [one for one in classes if isinstance(one.kind, Node)], classes)
    parts = [SCATTERED, _keep(words), *_completion(words, numberings), *sorting.functions()]
    parts.append(_canonical(words, numberings, sorting, closing))
    return Canonicaliser("\n".join(parts), "\n".join([SCATTERED, _counting(words, sorting)]))


class _Sorting:
    """The sorting of symmetric nodes, and the trying of orders where their signatures are equal. `masked`: the members
    of all kinds that signatures may not distinguish."""

    def __init__(
        self, system: System, words: Words, classes: Sequence[SymmetryClass], masked: Sequence[SymmetryClass]
    ) -> None:
        self.words, self.classes = words, classes
        self.signatures = [signature_of(system, words, one, masked) for one in classes]
        self.first_bit = [sum(len(one.members) - 1 for one in classes[:place]) for place in range(len(classes))]
        self.exchanges = [
            {pair: self.exchange(one, *pair) for pair in combinations(range(len(one.members)), 2)} for one in classes
        ]

    def exchange(self, one: SymmetryClass, first: int, second: int) -> Lines:
        taken = exchange_in(self.words.layout, one.kind, one.members[first], one.members[second])
        assert taken is not None, f"{one.kind.name} {one.members[first]} and {one.members[second]} are not symmetric"
        return exchange_lines(self.words, taken)

    @property
    def steps(self) -> list[tuple[int, int]]:
        """The places that are filled one after the other: the class, and the place in it."""
        return [(number, place) for number, one in enumerate(self.classes) for place in range(len(one.members) - 1)]

    def sorted(self, moves: bool = True) -> Lines:
        """The lines that sort the members and leave in `ties` a bit for each pair of neighbours that are equal. Without
        `moves` they are sorted already."""
        lines: Lines = ["ties = 0"]
        for number, (one, signature) in enumerate(zip(self.classes, self.signatures, strict=True)):
            lines += self.sorted_class(number, one, signature, moves)
        return lines

    def sorted_class(self, number: int, one: SymmetryClass, signature: Signature, moves: bool) -> Lines:
        """The lines for one class. What lies between members is looked at only where their own fields are equal."""
        count = len(one.members)
        lines = [f"g{place} = {text}" for place, text in enumerate(signature.own)]
        pairs = [(f"g{place}", f"g{place + 1}") for place in range(count - 1)]
        both = [f"(g{place} == g{place + 1}) & (h{place} == h{place + 1})" for place in range(count - 1)]
        if not signature.shared:
            lines += self.bubble(number, ("g",), "{0} > {1}", []) if moves else []
            return [*lines, *self.tied(number, [f"({left} == {right})" for left, right in pairs])]
        lines += [f"h{place} = 0" for place in range(count)]
        equal = " or ".join(f"{left} == {right}" for left, right in pairs)
        if not moves:
            shared = [f"h{place} = {text}" for place, text in enumerate(signature.shared)]
            return [*lines, f"if {equal}:", *indented(shared), *self.tied(number, both)]
        second = [*(f"h{place} = {text}" for place, text in enumerate(signature.shared)), "moving = 1"]
        closer = ["if not moving and not closer:", *indented(["closer = 1", f"if {equal}:", *indented(second)])]
        lines += ["closer = 0", *self.bubble(number, ("g", "h"), "{0} > {1} or {0} == {1} and {2} > {3}", closer)]
        return [*lines, *self.tied(number, both)]

    def tied(self, number: int, tests: Sequence[str]) -> Lines:
        bits = [f"({test}) << {self.first_bit[number] + place}" for place, test in enumerate(tests)]
        return [f"ties = ties | {' | '.join(bits)}"]

    def bubble(self, number: int, keys: tuple[str, ...], wrong: str, last: Lines) -> Lines:
        """Neighbours exchanged, with their keys, until none is out of order; `last` comes after each round."""
        inside: Lines = ["moving = 0"]
        for place in range(len(self.classes[number].members) - 1):
            body = [*self.exchanges[number][place, place + 1], "moving = 1"]
            for key in keys:
                body += [f"t = {key}{place}", f"{key}{place} = {key}{place + 1}", f"{key}{place + 1} = t"]
            compared = (f"{key}{at}" for key in keys for at in (place, place + 1))
            inside += [f"if {wrong.format(*compared)}:", *indented(body)]
        return ["moving = 1", "while moving:", *indented([*inside, *last])]

    def functions(self) -> list[str]:
        """Functions that try every order of members whose signatures are equal, and complete each."""
        found: list[str] = []
        names = ", ".join(self.words.names)
        for step, (number, place) in enumerate(self.steps):
            after = [f"{_trying(*later)}(at, {names}, ties)" for later in self.steps[step + 1 : step + 2]]
            call = after[0] if after else f"settle(at, {names})"
            lines = self.every_order(number, place, [call], repeats=False)
            found.append("\n".join([f"def {_trying(number, place)}(at, {names}, ties):", *indented(lines), ""]))
        return found

    def every_order(self, number: int, place: int, body: Lines, repeats: bool) -> Lines:
        """The lines that do `body` with each member that may stand at a place; `repeats`: also where that gives the
        same state again."""
        names = self.words.names
        lines = [*(f"o{word} = {name}" for word, name in enumerate(names)), *body]
        back = [f"{name} = o{word}" for word, name in enumerate(names)]
        differs = " or ".join(f"{name} != o{word}" for word, name in enumerate(names))
        inner: Lines = []
        for other in range(len(self.classes[number].members) - 1, place, -1):
            turn = [*(back if other > place + 1 else []), *self.exchanges[number][place, other]]
            turn += body if repeats else [f"if {differs}:", *indented(body)]
            inner = [f"if ties >> {self.first_bit[number] + other - 1} & 1:", *indented([*turn, *inner])]
        return [*lines, *inner]


def _trying(number: int, place: int) -> str:
    return f"try{number}_{place}"


# ---- identities ----


def _completion(words: Words, numberings: tuple[Numbering, ...]) -> list[str]:
    """Functions that go on with one order of the nodes: `settle(at, words)` numbers identities and keeps the state if
    it is less than the one that is there."""
    loose = tuple(numbering for numbering in numberings if numbering.loose)
    masked = frozenset(held.slot for numbering in loose for held in numbering.loose)
    names = ", ".join(words.names)
    lines = [line for numbering in numberings for line in numbering.lines()]
    if not loose:
        return ["\n".join([f"def settle(at, {names}):", *indented([*lines, f"keep(at, {names})"]), ""])]
    tables = [table for numbering in loose for table in numbering.tables]
    ending = [*finish(words, loose), f"keep(at, {names})"]
    parts = ["\n".join([f"def end(at, {names}, {', '.join(tables)}):", *indented(ending), ""])]
    for place in range(len(loose) - 1, -1, -1):
        parts += [loose[place].rank(masked), _placing(words, loose, place, masked)]
    few, one_each = [], []
    for numbering in loose:
        lines += numbering.gather()
        few.append(f"{numbering.left} & ({numbering.left} - 1) == 0")
        entered = [f"x = trailing_zeros({numbering.left})", *numbering.enter("x", numbering.next)]
        one_each += [f"if {numbering.left}:", *indented(entered)]
    lines += [f"if {' and '.join(few)}:", *indented([*one_each, f"end(at, {names}, {', '.join(tables)})"])]
    lines += ["else:", *indented([f"place0(at, {_numbered_so_far(words, loose)})"])]
    return [*parts, "\n".join([f"def settle(at, {names}):", *indented(lines), ""])]


def _numbered_so_far(words: Words, loose: Sequence[Numbering]) -> str:
    """The state of a numbering under way, as arguments."""
    tables = [table for numbering in loose for table in numbering.tables]
    rest = [local for numbering in loose for local in (numbering.next, numbering.left)]
    return ", ".join([*words.names, *tables, *rest])


def _placing(words: Words, loose: Sequence[Numbering], place: int, masked: frozenset[int]) -> str:
    """A function that numbers the identities of one pool which only sets and bags hold, then those of the next."""
    numbering, arguments, names = loose[place], _numbered_so_far(words, loose), ", ".join(words.names)
    rank, left, next_ = f"rank{numbering.number}", numbering.left, numbering.next
    tables = [table for one in loose for table in one.tables]
    onward = f"place{place + 1}(at, {arguments})"
    if place == len(loose) - 1:
        onward = f"end(at, {names}, {', '.join(tables)})"
    rest = ["x = trailing_zeros(rest)", "rest = rest & (rest - 1)"]
    least = [*rest, f"r = {rank}({names}, x)", "if r < best:", "    best = r"]
    saved = [f"z{number} = {table}" for number, table in enumerate(numbering.tables)]
    back = [f"{table} = z{number}" for number, table in enumerate(numbering.tables)]
    turn = [*saved, *numbering.enter("x", next_), f"{next_} = {next_} + 1", f"{left} = {left} ^ 1 << x"]
    turn.append(f"place{place}(at, {arguments})")
    if numbering.is_entangled(masked):
        turn += [*back, f"{next_} = {next_} - 1", f"{left} = {left} ^ 1 << x"]
    else:
        turn.append("return")
    lines = [f"if {left} == 0:", *indented([onward, "return"]), f"best = {_LAST}", f"rest = {left}"]
    lines += ["while rest:", *indented(least), f"rest = {left}"]
    lines += ["while rest:", *indented([*rest, f"if {rank}({names}, x) == best:", *indented(turn)])]
    return "\n".join([f"def place{place}(at, {arguments}):", *indented(lines), ""])


# ---- the functions ----


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


def _canonical(words: Words, numberings: tuple[Numbering, ...], sorting: _Sorting, first: Lines) -> str:
    names = ", ".join(words.names)
    greatest = [f"store64(at, {word}, {_LAST})" for word in range(len(words.names))]
    if any(numbering.loose for numbering in numberings):
        alone = [*greatest, f"settle(at, {names})"]
    else:
        alone = [*(line for numbering in numberings for line in numbering.lines()), *_stored(words)]
    if not sorting.classes:
        return _for_each("canonical", words, [*first, *alone])
    tried = [*greatest, f"{_trying(0, 0)}(at, {names}, ties)"]
    each = [*first, *sorting.sorted(), "if ties:", *indented(tried), "else:", *indented(alone)]
    return _for_each("canonical", words, each)


def _for_each(name: str, words: Words, each: Lines, before: Sequence[str] = (), after: Sequence[str] = ()) -> str:
    body = [f"at = states + j * {8 * len(words.names)}"]
    body += [f"{local} = load64(at, {word})" for word, local in enumerate(words.names)]
    loop = ["j = 0", "while j < n:", *indented([*body, *each, "j += 1"])]
    return "\n".join([f"def {name}(states, n):", *indented([*before, *loop, *after]), ""])


def _counting(words: Words, sorting: _Sorting) -> str:
    """The counting of states by exchanges of nodes: all orders, by how many orders leave a state as it is."""
    if not sorting.classes:
        return _for_each("count_orbits", words, ["total += 1"], ["total = 0"], ["return total"])
    names = words.names
    kept = [f"z{word}" for word in range(len(names))]
    arguments, state = ", ".join([*names, *kept, "ties"]), ", ".join([*names, *names, "ties"])
    same = " & ".join(f"({name} == {old})" for name, old in zip(names, kept, strict=True))
    parts = [f"def fixes({arguments}):\n    return {same}\n"]
    for number, place in reversed(sorting.steps):
        after = parts[-1][len("def ") : parts[-1].index("(")]
        lines = sorting.every_order(number, place, [f"total += {after}({arguments})"], repeats=True)
        text = ["total = 0", *lines, "return total"]
        parts.append("\n".join([f"def fixes{number}_{place}({arguments}):", *indented(text), ""]))
    everything = prod(factorial(len(one.members)) for one in sorting.classes)
    first = "fixes{}_{}".format(*sorting.steps[0])
    each = [*sorting.sorted(moves=False), f"total += {everything} // {first}({state}) if ties else {everything}"]
    return "\n".join([*parts, _for_each("count_orbits", words, each, ["total = 0"], ["return total"])])
