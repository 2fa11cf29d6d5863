"""One layout for all specs: indentation by structure, one space where one belongs; line breaks and comments stay.

Lines are the author's. What begins a declaration stands at the margin, what belongs to it two columns further in, a
block's statements two columns further than the statement they belong to; a line that only goes on is indented once more
than the one it goes on from. Columns that were lined up by hand before `=`, a text or a comment stay lined up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from hacheck.model.language.parse_tree import NOWHERE, Token, Tree
from hacheck.model.language.parser import Unreadable, read

INDENT = "  "
PARTS = {
    "node_field", "view", "field_type", "clause_source", "clause_note", "clause_when", "clause_only_after",
    "clause_thread", "channel", "capacity", "atomic_when", "timeout_when", "freed_late", "lease", "fair", "fair_all",
    "shown", "by_request", "with_settings", "only", "expect_all", "expect_violated", "restores", "from_log",
}  # fmt: skip
"""What stands one level inside a declaration when it begins a line."""
OPERANDS = {"NAME", "NUMBER", "TRUE", "FALSE", "NONE", "RPAR", "RSQB", "RBRACE", "QMARK", "QUESTION"}
"""Kinds of token after which `-` is a subtraction and `[` an index."""
LINED_UP = {"EQUAL", "TEXT", "NAME", "CHECK", "EXPECT", "WITH"}
"""What may be lined up in a column, after an operand or one of `ENDS`."""
ENDS = OPERANDS | {"TEXT", "ON", "OFF", "BOOL", "HOLD", "VIOLATED"}
JOINING = {"and", "or", "implies", "union", "intersect", "minus", "with", "without", "+", "-", "*", "~>"}
"""A line that begins with one of these goes on an expression: deeper than the line the expression begins."""
COLUMN_MAX = 60
GAP = re.compile(r"#[^\n]*|\n")


class Owner(Struct, frozen=True):
    """What a line may go on from: a declaration, a part of one or a statement, from `start` to `end`."""

    start: int
    end: int
    depth: int
    conditional: bool


class Structure(Struct):
    """Of a text: the depth of what begins at each place, all owners, and where braces are sets."""

    depths: dict[int, int] = field(default_factory=dict)
    owners: list[Owner] = field(default_factory=list)
    sets: set[int] = field(default_factory=set)

    def add(self, node: Tree, depth: int) -> None:
        """What begins here, with its depth."""
        if node.place is NOWHERE:
            return
        start, end, _ = node.place
        self.depths.setdefault(start, depth)
        conditional = node.data in ("if_statement", "acquire", "for_statement", "while_statement")
        self.owners.append(Owner(start, end, depth, conditional))


class Piece(Struct, frozen=True):
    """A token or a comment, and what stood before it: line ends, and blanks on its line."""

    text: str
    kind: str
    start: int
    lines_before: int
    blanks_before: int


def format_text(text: str) -> str:
    """The text in the one layout; a text that cannot be read is given back as it is.

    The same declarations are read from both, and formatting again changes nothing. Cost: linear in the text.
    """
    try:
        reading = read(text)
    except Unreadable:
        return text
    structure = _surveyed(reading.root)
    pieces = list(_pieces(text, reading.tokens))
    lines = _lines(pieces)
    return "\n".join(_laid_out(lines, structure)).strip("\n") + "\n"


# ---- structure ----


def _surveyed(root: Tree) -> Structure:
    structure = Structure()
    stack: list[tuple[Tree, int]] = []
    for item in root.children:
        if isinstance(item, Tree):
            structure.add(item, 0)
            stack.append((item, 0))
    while stack:
        node, depth = stack.pop()
        if node.data == "set_literal":
            structure.sets.add(node.place[0])
        for child in node.children:
            if not isinstance(child, Tree):
                continue
            if node.data == "body" or child.data in PARTS or child.data.startswith("fault_"):
                structure.add(child, depth + 1)
                stack.append((child, depth + 1))
            else:
                stack.append((child, depth))
    structure.owners.sort(key=lambda owner: (owner.start, -owner.end))
    return structure


# ---- tokens ----


def _pieces(text: str, tokens: Iterable[Token]) -> Iterable[Piece]:
    end = 0
    for token in tokens:
        start, after, _ = token.place
        yield from _between(text, end, start)
        before = text[end:start]
        after_comment = before.rsplit("\n", 1)[-1]
        yield Piece(" ".join(token.split()), token.kind, start, _ends(text, end, start), len(after_comment))
        end = after
    yield from _between(text, end, len(text))


def _between(text: str, start: int, end: int) -> Iterable[Piece]:
    """The comments between two tokens."""
    done = start
    for match in GAP.finditer(text, start, end):
        if match.group() != "\n":
            blanks = match.start() - max(done, text.rfind("\n", start, match.start()) + 1)
            yield Piece(match.group().rstrip(), "COMMENT", match.start(), text.count("\n", done, match.start()), blanks)
            done = match.end()


def _ends(text: str, start: int, end: int) -> int:
    """Line ends before a token, since the last comment before it."""
    last = start
    for match in GAP.finditer(text, start, end):
        if match.group() != "\n":
            last = match.end()
    return text.count("\n", last, end)


def _lines(pieces: list[Piece]) -> list[list[Piece]]:
    """The lines; an empty one stands for any number of empty lines."""
    lines: list[list[Piece]] = []
    for piece in pieces:
        if not lines or piece.lines_before:
            if lines and piece.lines_before > 1:
                lines.append([])
            lines.append([])
        lines[-1].append(piece)
    return lines


# ---- layout ----


def _laid_out(lines: list[list[Piece]], structure: Structure) -> list[str]:
    layout = _Layout(structure)
    made = [layout.line(line) for line in lines]
    indents = layout.indents
    for index in reversed(range(len(lines))):  # a comment stands as deep as what it is about
        if lines[index] and lines[index][0].kind == "COMMENT":
            following = next((k for k in range(index + 1, len(lines)) if lines[k]), None)
            indents[index] = 0 if following is None else indents[following]
            closes = following is not None and lines[following][0].kind == "RBRACE"
            indents[index] += int(closes)
    return [INDENT * indent + text if text else "" for indent, text in zip(indents, made, strict=True)]


class _Layout:
    """Lays out line after line; remembers the brackets that are open, with the depth of the line that opened each."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.indents: list[int] = []
        self.open: list[tuple[bool, int]] = []
        self.around: list[Owner] = []
        self.joined: dict[int, bool] = {}
        """Of each owner, whether the first line that goes on from it begins with a joining word."""
        self.next_owner = 0

    def line(self, pieces: list[Piece]) -> str:
        """The text of a line without its indentation, which is noted."""
        indent = self._indent(pieces[0]) if pieces else 0
        self.indents.append(indent)
        text = ""
        previous: Piece | None = None
        unary = False
        for piece in pieces:
            gap = ""
            if previous is not None and not unary:
                gap = self._gap(previous, piece)
            unary = piece.text == "-" and (previous is None or previous.kind not in OPERANDS)
            if piece.kind in ("LPAR", "LSQB", "LBRACE"):
                self.open.append((piece.start in self.structure.sets, indent))
            elif piece.kind in ("RPAR", "RSQB", "RBRACE") and self.open:
                self.open.pop()
            text += gap + piece.text
            previous = piece
        return text

    def _indent(self, first: Piece) -> int:
        if first.kind in ("RPAR", "RSQB", "RBRACE") and self.open:
            return self.open[-1][1]
        owner = self._owner(first.start)
        if first.start in self.structure.depths:
            return self.structure.depths[first.start]
        if owner is None:
            return 0
        with_it = first.kind == "DO" or (first.kind in ("THEN", "ELSE") and owner.conditional)
        if with_it:
            return owner.depth
        joins = first.text in JOINING
        first_joins = self.joined.setdefault(owner.start, joins)
        return owner.depth + (2 if joins and not first_joins else 1)

    def _owner(self, place: int) -> Owner | None:
        """The innermost owner around a place. Places must be looked up in order."""
        owners = self.structure.owners
        while self.next_owner < len(owners) and owners[self.next_owner].start <= place:
            self.around.append(owners[self.next_owner])
            self.next_owner += 1
        self.around = [owner for owner in self.around if owner.end > place]
        return self.around[-1] if self.around else None

    def _gap(self, left: Piece, right: Piece) -> str:
        if right.kind == "COMMENT":
            return " " * min(max(2, right.blanks_before), COLUMN_MAX)
        if self._joined(left, right):
            return ""
        lined_up = right.blanks_before > 1 and right.kind in LINED_UP and left.kind in ENDS
        return " " * min(right.blanks_before, COLUMN_MAX) if lined_up else " "

    def _joined(self, left: Piece, right: Piece) -> bool:
        """Whether no space belongs between two tokens."""
        if right.kind in ("RPAR", "RSQB", "COMMA", "COLON", "DOT", "SEMICOLON", "QMARK", "QUESTION", "__ANON_0"):
            return True
        if left.kind in ("LPAR", "LSQB", "DOT", "__ANON_0") or right.text == ".." or left.text == "..":
            return True
        if right.kind == "LPAR":
            return left.kind in ("NAME", "OLD")
        if right.kind == "LSQB":
            return left.kind in OPERANDS
        return (left.kind == "LBRACE" or right.kind == "RBRACE") and bool(self.open) and self.open[-1][0]
