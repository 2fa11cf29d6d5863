"""The parser: lark, with the grammar of `grammar.lark`. A syntax error names the tokens that could stand there.

lark works out the parser's tables in a third of a second, which is longer than most checks take. So hacheck brings
them, as `Lark.save` writes them (`grammar.tables`, a compressed pickle). After a change of the grammar make them again:

    python -c "from hacheck.model.language.parser import write_tables; write_tables()"

Where they are not of this grammar, or of another minor version of lark, lark works them out at each start.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, cast

import lark
from lark import Lark, UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser
from msgspec import Struct

from hacheck.atomic_files import replacing
from hacheck.model.language.lexer import END, NAME, SpecLexer
from hacheck.model.language.parse_tree import Token, Tree

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLES = Path(__file__).with_name("grammar.tables")


class Reading(Struct, frozen=True):
    """A text that could be read: its tree, and its tokens."""

    root: Tree
    tokens: tuple[Token, ...]


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


def read(text: str) -> Reading:
    """The text's tree. Errors: `Unreadable`. Cost: linear in the text."""
    run = parser().parse_interactive(text)
    tokens: list[Token] = []
    try:
        for token in run.iter_parse():
            tokens.append(cast(Token, token))
        root = run.feed_eof(tokens[-1] if tokens else None)
    except UnexpectedToken as failure:
        if failure.token.type == END:
            raise _unreadable(run, tokens, tokens[-1].place[0] if tokens else 0, END, "") from None
        *before, token = tokens
        raise _unreadable(run, before, token.place[0], token.kind, token.text) from None
    except UnexpectedCharacters as failure:
        start = cast(int, failure.pos_in_stream)
        raise _unreadable(run, tokens, start, "", text[start : start + 1]) from None
    return Reading(root, tuple(tokens))


def _unreadable(run: InteractiveParser, tokens: list[Token], start: int, kind: str, text: str) -> Unreadable:
    possible = frozenset(name for name in run.choices() if name.isupper())
    if kind:
        wanted = frozenset(run.accepts()) or possible
    else:
        words = _lexer().words.values() if NAME in possible else ()
        wanted = possible.difference(words, (END,))
    before = (tokens[-1].kind, tokens[-1].place[0]) if tokens else ("", 0)
    return Unreadable(start, kind, text, wanted, before, _opened(tokens))


def _opened(tokens: list[Token]) -> tuple[int, ...]:
    opened: list[int] = []
    for token in tokens:
        if token.kind in ("LBRACE", "LPAR", "LSQB"):
            opened.append(token.place[0])
        elif token.kind in ("RBRACE", "RPAR", "RSQB"):
            opened.pop()
    return tuple(opened)


def spelled() -> Mapping[str, str]:
    """Every word and sign that the grammar writes out, with the kind of token it is."""
    return _lexer().spelled


def phrases() -> frozenset[str]:
    """The tokens of several words, each as it is written: `at most one`."""
    return frozenset(kind.lower().replace("_", " ") for kind, _ in _lexer().phrases.values())


def _lexer() -> SpecLexer:
    return cast(SpecLexer, parser().parser.lexer)


# ---- the parser's tables ----


@cache
def parser() -> Lark:
    """The parser; made when it is first needed."""
    grammar, kept = _content(GRAMMAR), _content(TABLES)
    signature, _, tables = kept.partition(b"\n")
    if signature == _signature(grammar):
        return Lark.load(BytesIO(zlib.decompress(tables)))
    return made(grammar)


def _content(file: Path) -> bytes:
    """A file of this package, which may be in a zip file: Spark ships it so, and its driver imports it from there."""
    loader = cast("ResourceLoader", __spec__.loader)
    return loader.get_data(str(file))


def made(grammar: bytes) -> Lark:
    """The parser of a grammar, with tables that lark works out. Errors: lark's, when the grammar is wrong."""
    text = grammar.decode()
    return Lark(text, parser="lalr", lexer=SpecLexer, tree_class=Tree, propagate_positions=True)


def _signature(grammar: bytes) -> bytes:
    version = ".".join(lark.__version__.split(".")[:2])
    return f"lark {version} {sha256(grammar).hexdigest()}".encode()


def write_tables() -> None:
    """Writes the tables of the grammar as it is now."""
    grammar = _content(GRAMMAR)
    saved = BytesIO()
    made(grammar).save(saved)
    with replacing(TABLES) as own:
        own.write_bytes(_signature(grammar) + b"\n" + zlib.compress(saved.getvalue(), 9))
