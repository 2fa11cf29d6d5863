"""A first adapter for a log that nobody has described yet: how its lines begin, and which kinds of messages there are.

Messages are of one kind if they differ only in numbers, identities, addresses and texts in quotes. What differs becomes
a field. What a kind means, and how it should be called, only somebody who knows the system can say.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from hacheck.traces.adapters.time_stamps import Clock

KINDS_MAX = 40
"""So many kinds of messages get an event, those with the most lines."""

LINES_MAX = 200_000
"""So many lines are looked at."""

HEADS: tuple[tuple[str, str], ...] = (
    (r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)", "iso"),
    (r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)", "syslog"),
    (r"\[(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)\]", "iso"),
    (r"(?P<time>\d\d/\d\d/\d{2} \d\d:\d\d:\d\d\.\d+)", "%m/%d/%y %H:%M:%S.%f"),
    (r"(?P<time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)", "%Y/%m/%d %H:%M:%S"),
    (r"\[(?P<time>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]", "%d/%b/%Y:%H:%M:%S %z"),
    (r"(?P<time>\d{10}\.\d+)", "epoch_s"),
    (r"(?P<time>\d{13})", "epoch_ms"),
)
"""Time stamps at the beginning of lines, and their forms."""

BEFORE = r"(?:[^\w\s\[]{1,3} )?"
"""What may come before the time: a mark."""

AFTER = (
    r" (?P<program>[\w.-]+): (?:(?P<category>[A-Z]\w+): )?",
    r" (?P<host>[\w.-]+) (?P<program>[\w./-]+)(?:\[\d+\])?: ",
    r" \[?(?P<level>[A-Z]{4,8})\]? +",
    r" ",
)
"""What may come between the time and the message, the most first."""

SHARE = 0.8
"""A head is right if so many of the lines that are not indented have it."""

_VARYING = re.compile(
    r"(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<id>\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b|\b0x[0-9A-Fa-f]+\b)"
    r"|(?P<address>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<fraction>-?\b\d+\.\d+\b)"
    r"|(?P<number>(?<![\w.-])-?\d+(?![\w.]))"
)
_FORMS = {
    "text": (r"""["'](?P<{0}>[^"']*)["']""", "string"),
    "id": (r"(?P<{0}>[\w-]+)", "string"),
    "address": (r"(?P<{0}>[\d.:]+)", "string"),
    "fraction": (r"(?P<{0}>-?\d+\.\d+)", "float"),
    "number": (r"(?P<{0}>-?\d+)", "int"),
}


class Kind(Struct, frozen=True):
    """Messages that differ only in values. `words`: the message with each value as the name of what it is."""

    words: tuple[str, ...]
    lines: int
    example: str

    @property
    def text(self) -> str:
        """The message, with what varies in angle brackets."""
        return "".join(word if place % 2 == 0 else f"<{word}>" for place, word in enumerate(self.words))


class Draft(Struct, frozen=True):
    """An adapter to begin with, as TOML; how many lines had its head, and how many are of a kind with an event."""

    text: str
    lines: int
    with_head: int
    in_events: int
    kinds: tuple[Kind, ...]


def drafted(lines: Iterable[str], name: str, file: str) -> Draft | None:
    """A draft for a log; `None` if no line of it begins with a time that is known. `name`: of the adapter; `file`: of
    the log. Cost: some passes over the lines, in memory."""
    kept = [line.rstrip("\r\n") for _, line in zip(range(LINES_MAX), lines, strict=False)]
    head = _head_of(kept)
    if head is None:
        return None
    pattern, form = head
    compiled = re.compile(pattern)
    matches = [match for line in kept if (match := compiled.match(line)) is not None]
    found: Counter[tuple[str, ...]] = Counter()
    examples: dict[tuple[str, ...], str] = {}
    for match in matches:
        message = match.string[match.end() :]
        words = _words(message)
        found[words] += 1
        examples.setdefault(words, message)
    kinds = tuple(Kind(words, number, examples[words]) for words, number in found.most_common(KINDS_MAX) if any(words))
    text = "\n".join(_toml(name, file, pattern, form, kinds))
    return Draft(text + "\n", len(kept), len(matches), sum(kind.lines for kind in kinds), kinds)


def json_keys(lines: Iterable[str]) -> dict[str, object]:
    """The first object of a log in JSON lines, as values by path: `t.$date`; empty for any other log."""
    first = next((line for line in lines if line.strip()), "")
    try:
        found = json.loads(first)
    except ValueError:
        return {}
    return dict(_paths(found, "")) if isinstance(found, dict) else {}


def _paths(found: Mapping[str, object], before: str) -> Iterator[tuple[str, object]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def for_json(keys: Mapping[str, object]) -> str:
    """How an adapter of such a log begins."""
    clock = Clock(("iso",), "UTC", written=0)
    stamped = (key for key, value in keys.items() if isinstance(value, str) and clock.read(value) is not None)
    return (
        f'its lines are JSON: write `format = "json"`, under [line] paths (`time = "{next(stamped, "PATH")}"`), and in '
        f'each [[event]] `where = {{ KEY = ["…"] }}`; their keys: {", ".join(keys)}; docs/adapters.md has more'
    )


def _head_of(lines: list[str]) -> tuple[str, str] | None:
    """How lines begin, with the form of their times: what most lines that are not indented have."""
    begun = [line for line in lines if line.strip() and not line[0].isspace()][:2_000]
    written = 4_000_000_000_000_000_000  # any year will do for a stamp without one
    for stamp, form in HEADS:
        clock = Clock((form,), "UTC", written=written)
        for after in AFTER:
            compiled = re.compile(BEFORE + stamp + after)
            matches = [match for line in begun if (match := compiled.match(line)) is not None]
            good = sum(clock.read(match["time"]) is not None for match in matches)
            if begun and good >= SHARE * len(begun):
                return BEFORE + stamp + after, form
    return None


def _words(message: str) -> tuple[str, ...]:
    """A message with its values taken out: texts at even places, the kinds of values at odd ones."""
    found: list[str] = []
    end = 0
    for match in _VARYING.finditer(message):
        found += [message[end : match.start()], str(match.lastgroup)]
        end = match.end()
    return (*found, message[end:])


def _toml(name: str, file: str, head: str, form: str, kinds: tuple[Kind, ...]) -> Iterator[str]:
    stem, dot, ending = file.rpartition(".")
    plain = stem.rstrip("0123456789") if dot else file
    yield "# Drafted from an example: rename the events, and delete those that mean nothing. See docs/adapters.md."
    yield f"name = {json.dumps(name)}"
    yield 'about = "what it reads"'
    yield ""
    yield "[files]"
    yield "# regular expression for names of logs; the group `node` is the node, and the folder is the trace"
    yield f"name = '(?P<node>{re.escape(plain)}\\w*){re.escape(dot + ending) if dot else ''}'"
    yield ""
    yield "[line]"
    yield f"head = '{head}'"
    yield "continuation = '\\s'"
    yield f"time = {json.dumps(form)}"
    yield 'zone = "UTC"'
    used: set[str] = set()
    for kind in kinds:
        yield ""
        yield from _event(kind, _called(kind, used))


def _event(kind: Kind, name: str) -> Iterator[str]:
    parts, fields = [], []
    for place, word in enumerate(kind.words):
        if place % 2 == 0:
            parts.append(re.escape(word).replace("\\ ", " ").replace("'", "."))
            continue
        field = f"{word}{place // 2 + 1}"
        pattern, of = _FORMS[word]
        parts.append(pattern.format(field).replace("'", "\\x27"))
        fields.append(f'fields.{field} = "{of}"')
    longest = max(kind.words[::2], key=len).strip()
    yield f"# {kind.lines:,} lines, such as: {kind.example[:100]}"
    yield "[[event]]"
    yield f"name = {json.dumps(name)}"
    if len(longest) > 2:
        yield f"has = {json.dumps(longest)}"
    yield f"pattern = '{''.join(parts)}'"
    yield from fields


def _called(kind: Kind, used: set[str]) -> str:
    """A name for an event: the first words of its messages."""
    words = re.findall(r"[a-z]+", " ".join(kind.words[::2]).lower())
    base = "_".join(words[:4]) or "event"
    name, number = base, 2
    while name in used:
        name, number = f"{base}_{number}", number + 1
    used.add(name)
    return name
