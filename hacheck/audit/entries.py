"""Entries: what a configuration file holds, in whatever format, as a tree with names, values and lines."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError

HIDDEN = "********"
"""What is shown of a secret."""

SECRET = re.compile(
    r"pas+(w(or)?d|phrase)?$|[-_.]pass\b|auth[-_]?(pass|key)$|requirepass|masterauth|secret|token|credential|private[-_]?key",
    re.IGNORECASE,
)
"""Names of values that are secrets."""

IN_ADDRESS = re.compile(
    r"(?<=://)([^/@\s:]+):[^/@\s]+(?=@)|((?:password|passwd|secret|token)=)[^&;,)\s]+", re.IGNORECASE
)
"""Secrets within an address: `amqp://name:secret@host`, `?password=secret`."""

_KEY = secrets.token_bytes(16)


class Unreadable(InputError):
    """A file cannot be read as what it is: which, where in it, why, and what to do."""

    def __init__(self, file: str, line: int | None, reason: str, hint: str | None = None) -> None:
        super().__init__(f"{file}{'' if line is None else f':{line}'}: {reason}", hint)


class Entry(Struct, frozen=True):
    """An element, a section, a key: its name, its value as text (`None` where it has none), its line, and what is in
    it. `digest`: of a secret, whose value is hidden, what two of them are compared by in this process. `file`: where it
    stands, if another file included it."""

    name: str
    value: str | None
    line: int
    inner: tuple[Entry, ...] = ()
    digest: str | None = None
    file: str = ""


class Found(Struct, frozen=True):
    """An entry, and the path at which it was found: `core/ha-policy/replication`."""

    path: str
    entry: Entry


def found_at(entries: Iterable[Entry], path: str) -> Iterator[Found]:
    """The entries at a path, in the order of the file. `*` stands for one name, `**` for any number of them. Names are
    compared without regard to case, and `-` is as good as `_`."""
    yield from _matching(entries, path.strip("/").split("/"), "")


def _matching(entries: Iterable[Entry], parts: list[str], above: str) -> Iterator[Found]:
    head, rest = parts[0], parts[1:]
    for entry in entries:
        path = f"{above}/{entry.name}" if above else entry.name
        if head == "**":
            if not rest:
                yield Found(path, entry)
            elif is_named(entry.name, rest[0]):
                yield from [Found(path, entry)] if len(rest) == 1 else _matching(entry.inner, rest[1:], path)
            yield from _matching(entry.inner, parts, path)
        elif is_named(entry.name, head):
            yield from _matching(entry.inner, rest, path) if rest else [Found(path, entry)]


def is_named(name: str, wanted: str) -> bool:
    """Whether a name is the one that a path has there; `*` in it stands for any characters."""
    return (
        fnmatchcase(plain_name(name), plain_name(wanted)) if "*" in wanted else plain_name(name) == plain_name(wanted)
    )


def plain_name(name: str) -> str:
    """A name as it is compared: case, and `-` or `_`, make no difference."""
    return name.lower().replace("_", "-")


def leaves(entries: Iterable[Entry], above: str = "") -> Iterator[Found]:
    """Every entry that has a value, or nothing in it, with its path. Words of a value are no entries of their own."""
    for entry in entries:
        path = f"{above}/{entry.name}" if above else entry.name
        if entry.value is not None or not entry.inner:
            yield Found(path, entry)
        yield from leaves((inner for inner in entry.inner if entry.value is None or not inner.name.isdigit()), path)


def without_secrets(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The same entries, in which no secret is left."""
    return tuple(_hidden(entry) for entry in entries)


def _hidden(entry: Entry) -> Entry:
    value, digest = entry.value, None
    if value and SECRET.search(entry.name) and value.lower() not in ("true", "false", "yes", "no"):
        value, digest = HIDDEN, hmac.new(_KEY, value.encode(), sha256).hexdigest()
    elif value:
        value = IN_ADDRESS.sub(lambda found: f"{found[1]}:{HIDDEN}" if found[1] else f"{found[2]}{HIDDEN}", value)
    return replace(entry, value=value, inner=() if digest else without_secrets(entry.inner), digest=digest)
