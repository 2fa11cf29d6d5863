"""The parser: from text to tree, by the grammar's tables.

A word is a word of the language where that may stand, else a name. What cannot be read on is told with what could have
stood there instead.
"""

from __future__ import annotations

import re
from functools import cache

from hacheck.model.data import dataclass
from hacheck.model.language.grammar_tables import END, NAME, NUMBER, TEXT, Rule, Tables, load_tables
from hacheck.model.language.parse_tree import NOWHERE, Place, Token, Tree


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that could be read: its tree, and each of its tokens with its kind, start and end."""

    root: Tree
    tokens: tuple[tuple[str, int, int], ...]


class Unreadable(Exception):
    """No text that the grammar knows begins with what stands up to here.

    `kind` and `text` are those of the token at `start`, `kind` is empty where there is none but only a character.
    `wanted`: the kinds of token that could stand here. `before`: kind and start of the token before it, if there is
    one. `opened`: where brackets stand that are still open.
    """

    def __init__(
        self, start: int, kind: str, text: str, wanted: frozenset[str], before: tuple[str, int], opened: tuple[int, ...]
    ) -> None:
        super().__init__(f"{kind} at {start}")
        self.start, self.kind, self.text = start, kind, text
        self.wanted, self.before, self.opened = wanted, before, opened


@cache
def tables() -> Tables:
    """The tables; read once, when first needed."""
    return load_tables()


def read(text: str) -> Reading:
    """The text's tree. Errors: `Unreadable`. Cost: linear in the text."""
    return _Run(tables(), text).reading()


class _Run:
    """One run of the parser: the stack, as three lists of one length, and the tokens so far.

    A token stands on the stack as its kind alone until a rule keeps it.
    """

    def __init__(self, known: Tables, text: str) -> None:
        self.known, self.text = known, text
        self.states = [known.start]
        self.values: list[Tree | Token | str | None] = []
        self.places: list[Place] = []
        self.tokens: list[tuple[str, int, int]] = []

    def reading(self) -> Reading:
        text, states, values, places = self.text, self.states, self.values, self.places
        moves, rules = self.known.moves, self.known.rules
        following = _pattern(tuple(self.known.signs)).match
        position, line, counted = 0, 1, 0
        while True:
            found = following(text, position)
            assert found is not None, "blanks can always be read"
            kind, start, position = self._token(found, moves[states[-1]])
            line += text.count("\n", counted, start)
            counted = start
            while True:
                move = moves[states[-1]].get(kind)
                if move is None:
                    raise self._unreadable(kind, start, position)
                if move >= 0:
                    states.append(move)
                    values.append(kind)
                    places.append((start, position, line))
                    self.tokens.append((kind, start, position))
                    break
                rule = rules[~move]
                if rule.passes and not isinstance(values[-1], str):
                    states[-1] = moves[states[-2]][rule.origin]
                else:
                    self._reduce(rule)
                    states.append(moves[states[-1]][rule.origin])
                if kind == END and states[-1] == self.known.end:
                    root = values[-1]
                    assert isinstance(root, Tree), "the start rule makes a tree"
                    return Reading(root, tuple(self.tokens))

    def _token(self, found: re.Match[str], moves: dict[str, int]) -> tuple[str, int, int]:
        """The kind, start and end of the token that was found, as the state sees it: one that may stand here."""
        group = found.lastindex
        if group is None:
            start = found.end()
            if start == len(self.text) and END in moves:
                return END, start, start
            raise self._unreadable(END if start == len(self.text) else "", start, start + 1)
        start, end = found.span(group)
        if group == 1:
            word = found.group(1)
            kind = self.known.words.get(word, NAME)
            phrase = self.known.phrases.get(word)
            if phrase is not None and (phrase[0] in moves or kind not in moves):
                whole = phrase[1].match(self.text, start)
                if whole is not None:
                    kind, end = phrase[0], whole.end()
            if kind not in moves and NAME in moves:
                return NAME, start, start + len(word)
        elif group == 4:
            sign = found.group(4)
            kind = self.known.signs[sign]
            shorter = self.known.signs.get(sign[0])
            if kind not in moves and shorter in moves:
                return shorter, start, start + 1
        else:
            kind = NUMBER if group == 2 else TEXT
        if kind not in moves:
            raise self._unreadable(kind, start, end)
        return kind, start, end

    def _reduce(self, rule: Rule) -> None:
        """What a rule has read is taken from the stack, and what it makes of it put there, with its place."""
        values, places, size = self.values, self.places, rule.size
        first = len(values) - size
        children: list[Tree | Token | None] = []
        height = 0
        for index, expands, missing in rule.kept:
            if missing:
                children += [None] * missing
            value = values[first + index]
            if isinstance(value, Tree):
                if expands:
                    children = [*children, *value.children] if children else value.children
                    height = max(height, value.height)
                    continue
                height = max(height, value.height + 1)
            elif isinstance(value, str):
                start, end, _ = place = places[first + index]
                value = Token(value, self.text[start:end], place)
            children.append(value)
        if rule.missing:
            children += [None] * rule.missing
        place = _around(places[first:]) if size else NOWHERE
        made: Tree | Token | None
        if rule.shrinks and len(children) == 1:
            made = children[0]
            if isinstance(made, Token):
                place = made.place
            elif made is None:
                place = NOWHERE
            elif made.place is NOWHERE:
                made = Tree(made.data, made.children, place, made.height)
        else:
            made = Tree(rule.data, children, place, height)
        del values[first:], places[first:], self.states[first + 1 :]
        values.append(made)
        places.append(place)

    # ---- what is wrong ----

    def _unreadable(self, kind: str, start: int, end: int) -> Unreadable:
        row = self.known.moves[self.states[-1]]
        possible = frozenset(name for name in row if name.isupper())
        if kind:
            wanted = frozenset(name for name in possible if self._accepts(name)) or possible
        else:
            words = self.known.words.values() if NAME in row else ()
            wanted = possible.difference(words, (END,))
        if kind == END:
            start = self.tokens[-1][1] if self.tokens else 0
        before = self.tokens[-1][:2] if self.tokens else ("", 0)
        return Unreadable(start, kind, self.text[start:end], wanted, before, self._opened())

    def _accepts(self, kind: str) -> bool:
        """Whether a token could stand here: some states are only left by rules that then do not know what to do."""
        moves, rules = self.known.moves, self.known.rules
        states = list(self.states)
        while True:
            move = moves[states[-1]].get(kind)
            if move is None or move >= 0:
                return move is not None
            rule = rules[~move]
            del states[len(states) - rule.size :]
            states.append(moves[states[-1]][rule.origin])
            if kind == END and states[-1] == self.known.end:
                return True

    def _opened(self) -> tuple[int, ...]:
        opened: list[int] = []
        for kind, start, _ in self.tokens:
            if kind in ("LBRACE", "LPAR", "LSQB"):
                opened.append(start)
            elif kind in ("RBRACE", "RPAR", "RSQB"):
                opened.pop()
        return tuple(opened)


def _around(places: list[Place]) -> Place:
    """From the first to the last place of something that is written."""
    first = next((place for place in places if place is not NOWHERE), NOWHERE)
    last = next((place for place in reversed(places) if place is not NOWHERE), NOWHERE)
    return first if first is last else (first[0], last[1], first[2])


@cache
def _pattern(signs: tuple[str, ...]) -> re.Pattern[str]:
    """Blanks and comments, then a word, a number, a text, a sign (the longest that fits), or nothing of these."""
    longest_first = sorted(signs, key=len, reverse=True)
    written = "|".join(re.escape(sign) for sign in longest_first)
    tokens = rf'([A-Za-z_][A-Za-z0-9_]*)|([0-9][0-9_]*)|("[^"\n]*")|({written})'
    return re.compile(rf"(?:[ \t\r\n\f]+|#[^\n]*)*(?:{tokens}|)")
