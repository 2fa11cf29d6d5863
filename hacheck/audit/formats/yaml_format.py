"""YAML as entries: what configuration files use of it. Items of a list are named by their numbers, from 0.

Read are block and flow collections, plain, quoted and block scalars, comments, anchors, aliases and `<<`. Of several
documents in one file the first counts. Tags make nothing: `!!str` is passed over.
"""

from __future__ import annotations

import re

from msgspec import Struct

from hacheck.audit.entries import Entry, Unreadable

ENTRIES_MAX = 200_000
"""So many entries a file may come to: aliases of aliases of aliases make a small file endless."""

KEY = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^\s\[\]{},#&*!|>'"%@`?-][^#]*?|[?-][^\s#][^#]*?|[^\s:][^:#]*?)\s*:(?=\s|$)"""
)
BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?")
PREFIX = re.compile(r"(?:&(\S+)|!\S*)(?:\s+|$)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/", " ": " ", "e": "\x1b"}


class _Line(Struct, frozen=True):
    """A line that is not empty: its indent, what it says, its number, and its text with everything."""

    indent: int
    words: str
    number: int


class _Value(Struct, frozen=True):
    """A scalar, or a collection."""

    text: str | None
    inner: tuple[Entry, ...] = ()


def read_yaml(text: str, file: str) -> tuple[Entry, ...]:
    """The entries of the first document. Errors: `Unreadable`."""
    return _Reader(text, file).document()


class _Reader:
    """Goes through the lines of a file from the first to the last."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.raw = text.splitlines()
        self.anchors: dict[str, _Value] = {}
        self.lines = self._lines()
        self.place = 0
        self.made = 0

    def _lines(self) -> list[_Line]:
        found: list[_Line] = []
        for number, raw in enumerate(self.raw, start=1):
            words = _without_comment(raw).rstrip()
            if not words.strip() or words.startswith("%"):
                continue
            if re.match(r"(---|\.\.\.)(\s|$)", words):
                if found:
                    break
                words = words[3:]
                if not words.strip():
                    continue
            if "\t" in words[: len(words) - len(words.lstrip())]:
                raise Unreadable(self.file, number, "a tab indents this line, which YAML forbids", "write blanks")
            found.append(_Line(len(words) - len(words.lstrip()), words.strip(), number))
        return found

    def fail(self, line: int, reason: str, hint: str | None = None) -> Unreadable:
        """An error at a line."""
        return Unreadable(self.file, line, f"is no YAML: {reason}", hint)

    def document(self) -> tuple[Entry, ...]:
        """All of it."""
        if not self.lines:
            return ()
        value = self.node(self.lines[0].indent)
        if self.place < len(self.lines):
            line = self.lines[self.place]
            raise self.fail(line.number, f"`{line.words[:40]}` is indented like nothing above it")
        return value.inner

    # ---- blocks ----

    def node(self, indent: int) -> _Value:
        """The collection or scalar that begins at this line."""
        line = self.lines[self.place]
        if line.words == "-" or line.words.startswith("- "):
            return self.sequence(indent)
        if KEY.match(line.words) and not line.words.startswith(("{", "[")):
            return self.mapping(indent)
        self.place += 1
        return self.inline(line.words, line, indent - 1)

    def sequence(self, indent: int) -> _Value:
        """Items that begin with `-`."""
        items: list[Entry] = []
        while self.place < len(self.lines):
            line = self.lines[self.place]
            if line.indent != indent or not (line.words == "-" or line.words.startswith("- ")):
                break
            rest = line.words[1:].lstrip()
            if not rest:
                self.place += 1
                value = self.below(indent)
            else:  # what stands after the dash is a line of its own, further to the right
                inner = indent + len(line.words) - len(rest)
                self.lines[self.place] = _Line(inner, rest, line.number)
                value = self.prefixed(inner)
            items.append(self.entry(str(len(items)), value, line.number))
        return _Value(None, tuple(items))

    def prefixed(self, indent: int) -> _Value:
        """A value after a dash, which may have an anchor or a tag before it."""
        line = self.lines[self.place]
        match = PREFIX.match(line.words)
        if match is None:
            return self.node(indent)
        rest = line.words[match.end() :]
        if rest:
            self.lines[self.place] = _Line(indent, rest, line.number)
            value = self.prefixed(indent)
        else:
            self.place += 1
            value = self.below(indent - 1)
        return self.kept(match[1], value)

    def mapping(self, indent: int) -> _Value:
        """Keys with their values."""
        items: dict[str, Entry] = {}
        while self.place < len(self.lines) and self.lines[self.place].indent == indent:
            line = self.lines[self.place]
            match = KEY.match(line.words)
            if match is None or line.words.startswith("- "):
                break
            name = self.scalar(match[1].strip(), line.number)
            rest = line.words[match.end() :].strip()
            self.place += 1
            value = self.value(rest, line, indent)
            if name == "<<":
                for one in value.inner:
                    for merged in one.inner if one.name.isdigit() else (one,):
                        items.setdefault(merged.name, merged)
                continue
            if name in items and items[name].line > line.number - 1:
                raise self.fail(line.number, f"the key `{name}` stands here twice")
            items[name] = self.entry(name, value, line.number)
        return _Value(None, tuple(items.values()))

    def value(self, rest: str, line: _Line, indent: int) -> _Value:
        """What stands after a key."""
        match = PREFIX.match(rest)
        if match is not None:
            return self.kept(match[1], self.value(rest[match.end() :], line, indent))
        if not rest:
            return self.below(indent, of_key=True)
        if BLOCK.fullmatch(rest):
            return self.block(rest, line, indent)
        return self.inline(rest, line, indent)

    def below(self, indent: int, *, of_key: bool = False) -> _Value:
        """What is indented further, or, below a key, a list that is not."""
        if self.place < len(self.lines):
            line = self.lines[self.place]
            is_item = line.words == "-" or line.words.startswith("- ")
            if line.indent > indent or (of_key and line.indent == indent and is_item):
                return self.prefixed(line.indent) if not is_item else self.node(line.indent)
        return _Value(None)

    def block(self, sign: str, line: _Line, indent: int) -> _Value:
        """A scalar of several lines, after `|` or `>`."""
        rows: list[str] = []
        number = line.number
        while number < len(self.raw):
            row = self.raw[number]
            if row.strip() and len(row) - len(row.lstrip(" ")) <= indent:
                break
            rows.append(row)
            number += 1
        while self.place < len(self.lines) and self.lines[self.place].number <= number:
            self.place += 1
        least = min((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), default=0)
        text = ("\n" if sign[0] == "|" else " ").join(row[least:] for row in rows)
        return _Value(text.rstrip("\n "))

    def inline(self, rest: str, line: _Line, indent: int) -> _Value:
        """A value that begins in a line and may go on in those below that are indented further."""
        words = rest
        while self._is_open(words) and self.place < len(self.lines):
            words = f"{words} {self.lines[self.place].words}"
            self.place += 1
        if words[0] in "{[":
            flow = _Flow(self, words, line.number)
            return flow.whole()
        while words[0] not in "\"'*" and self.place < len(self.lines) and self.lines[self.place].indent > indent:
            more = self.lines[self.place]
            if KEY.match(more.words):
                raise self.fail(more.number, f"`{more.words[:40]}` is indented like a part of the value above it")
            words = f"{words} {more.words}"
            self.place += 1
        if words.startswith("*"):
            return self.alias(words[1:], line.number)
        return _Value(self.scalar(words, line.number))

    def _is_open(self, words: str) -> bool:
        """Whether a bracket or a quotation mark that a value begins with has no end yet."""
        if words[0] in "\"'":
            return re.fullmatch(r'"(?:\\.|[^"\\])*"|\'(?:\'\'|[^\'])*\'', words) is None
        if words[0] not in "{[":
            return False
        bare = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\'\'|[^\'])*\'', "", words)
        return bare.count("{") + bare.count("[") > bare.count("}") + bare.count("]")

    # ---- values ----

    def alias(self, name: str, line: int) -> _Value:
        """What an anchor stands before."""
        if name not in self.anchors:
            raise self.fail(line, f"there is no anchor `&{name}` above")
        self.count(self.anchors[name].inner, line)
        return self.anchors[name]

    def kept(self, anchor: str | None, value: _Value) -> _Value:
        """A value, kept under its anchor if it has one."""
        if anchor is not None:
            self.anchors[anchor] = value
        return value

    def entry(self, name: str, value: _Value, line: int) -> Entry:
        """An entry, counted."""
        self.count((), line)
        return Entry(name, value.text, line, value.inner)

    def count(self, entries: tuple[Entry, ...], line: int) -> None:
        """Errors: `Unreadable` where a file comes to too many entries."""
        self.made += 1 + sum(1 + len(one.inner) for one in entries)
        waiting = [*entries]
        while waiting and self.made <= ENTRIES_MAX:
            one = waiting.pop()
            self.made += len(one.inner)
            waiting += one.inner
        if self.made > ENTRIES_MAX:
            raise Unreadable(self.file, line, f"comes to more than {ENTRIES_MAX:,} entries", "write aliases out")

    def scalar(self, words: str, line: int) -> str:
        """The text of a scalar without its quotation marks."""
        if words[:1] == '"':
            if len(words) < 2 or words[-1] != '"':
                raise self.fail(line, "a quotation mark has no partner")
            return re.sub(r"\\(.)", _unescaped, words[1:-1])
        if words[:1] == "'":
            if len(words) < 2 or words[-1] != "'":
                raise self.fail(line, "a quotation mark has no partner")
            return words[1:-1].replace("''", "'")
        return "" if words in ("~", "null", "Null", "NULL") else words


class _Flow:
    """Reads `{…}` and `[…]`."""

    TOKEN = re.compile(
        r"""\s*([{}\[\],]|:(?=[\s,}\]]|$)|"(?:\\.|[^"\\])*"|'(?:''|[^'])*'|(?:[^\s{}\[\],:]|:(?![\s,}\]]|$)|\s+(?![\s,:}\]]|$))+)"""
    )

    def __init__(self, reader: _Reader, words: str, line: int) -> None:
        self.reader, self.line = reader, line
        self.tokens: list[str] = [found.strip() for found in self.TOKEN.findall(words) if found.strip()]
        self.place = 0

    def whole(self) -> _Value:
        """The collection, with nothing after it."""
        value = self.value()
        if self.place < len(self.tokens):
            raise self.reader.fail(self.line, f"`{self.tokens[self.place]}` stands after the end of a bracket")
        return value

    def next(self) -> str:
        """The next token, taken."""
        if self.place >= len(self.tokens):
            raise self.reader.fail(self.line, "a bracket has no end")
        self.place += 1
        return self.tokens[self.place - 1]

    def value(self) -> _Value:
        """A collection or a scalar."""
        token = self.next()
        if token == "{":
            return self.collection("}")
        if token == "[":
            return self.collection("]")
        if token in ("}", "]", ",", ":"):
            raise self.reader.fail(self.line, f"`{token}` where a value is expected")
        if token.startswith("*"):
            return self.reader.alias(token[1:], self.line)
        return _Value(self.reader.scalar(token, self.line))

    def collection(self, end: str) -> _Value:
        """What stands between brackets."""
        items: list[Entry] = []
        while True:
            if self.place < len(self.tokens) and self.tokens[self.place] == end:
                self.place += 1
                return _Value(None, tuple(items))
            value, name = self.value(), str(len(items))
            if self.place < len(self.tokens) and self.tokens[self.place] == ":":
                self.place += 1
                name = value.text or ""
                follows = self.tokens[self.place] if self.place < len(self.tokens) else end
                value = _Value(None) if follows in (",", end) else self.value()
            items.append(self.reader.entry(name, value, self.line))
            token = self.next()
            if token == end:
                self.place -= 1
            elif token != ",":
                raise self.reader.fail(self.line, f"`{token}` where `,` or `{end}` is expected")


def _unescaped(found: re.Match[str]) -> str:
    sign: str = found[1]
    return ESCAPES.get(sign, sign)


def _without_comment(raw: str) -> str:
    """A line without what stands after a `#` that no quotation mark encloses."""
    if "#" not in raw:
        return raw
    quote = ""
    for place, sign in enumerate(raw):
        if quote:
            quote = "" if sign == quote and raw[place - 1] != "\\" else quote
        elif sign in "\"'" and (place == 0 or raw[place - 1] in " \t[{,:-"):
            quote = sign
        elif sign == "#" and (place == 0 or raw[place - 1] in " \t"):
            return raw[:place]
    return raw
