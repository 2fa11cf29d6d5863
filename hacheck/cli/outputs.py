"""What a command writes is none of what it reads: looked at before it begins, by what its parameters declare."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct

from hacheck.cli.command_line import Argument, Option, Parameter, Reads, Writes, parameters_of
from hacheck.cli.guard import BadInput

HINT = "give the output another name, or another folder"


class Named(Struct, frozen=True):
    """A file or folder that a command line names: as which of its words, and where it is."""

    word: str
    path: Path


def keep_apart(command: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Errors: `BadInput` where a file that is to be written is one that is read, lies in a folder that is read, or is
    written twice. Links are followed; a spec's libraries are read, too."""
    parameters = [item for item in parameters_of(command) if given.get(item.name) is not None]
    outputs = [
        (writes, named) for item in parameters for writes, named in _written(item, given[item.name]) if _counts(named)
    ]
    if not outputs:
        return
    inputs = [named for item in parameters for named in _read(item, given[item.name]) if _counts(named)]
    for writes, output in outputs:
        for one in inputs:
            _check(writes, output, one)
    _check_each_other([named for writes, named in outputs if not writes.within])


def _written(item: Parameter, value: Any) -> Iterator[tuple[Writes, Named]]:
    if not isinstance(item.declared, Option) or item.declared.writes is None or value == "-":
        return
    writes, word = item.declared.writes, f"{item.declared.names[0]} {value}"
    yield writes, Named(word, Path(value))
    if writes.beside and Path(value).name:
        beside = Path(value).with_suffix(writes.beside)
        yield Writes(), Named(f"{beside}, which {word} writes", beside)


def _read(item: Parameter, value: Any) -> Iterator[Named]:
    declared = item.declared
    word = declared.metavar.strip("[].") if isinstance(declared, Argument) else declared.names[0]
    for text in value if item.many else (value,):
        for path in files_read(declared.reads, str(text)):
            yield Named(f"{word} {text}", path)


def files_read(reads: Reads, text: str) -> Iterator[Path]:
    """The files that a value names to be read, as far as they are there."""
    if not reads or text == "-":
        return
    match reads:
        case "listed":
            if text.startswith("@"):
                yield Path(text[1:])
        case "module":
            yield from _module_files(text)
        case "spec":
            yield from with_libraries(text)
        case "run":
            yield Path(text)
            yield from _specs_of_runs(text)
        case _:
            yield _local(text)


def _local(text: str) -> Path:
    """The file of a path, or of a `file:` URL as traces may be given by."""
    url = re.match(r"file://(localhost)?(?=/)", text, re.IGNORECASE)
    if url is None:
        return Path(text)
    from urllib.parse import unquote

    return Path(unquote(text[url.end() :]))


def _specs_of_runs(text: str) -> Iterator[Path]:
    """The specs that saved runs are of, and what they use; of what is no such file, what it is as a spec."""
    try:
        content = json.loads(Path(text).read_bytes())
    except (OSError, ValueError, RecursionError):
        yield from with_libraries(text)
        return
    whole = content if isinstance(content, dict) else {}
    several = whole.get("specs")
    for one in (whole, *(several if isinstance(several, list) else ())):
        named = [one.get(key) for key in ("path", "spec")] if isinstance(one, dict) else []
        for name in named:
            if isinstance(name, str):
                yield from with_libraries(name)


def _module_files(text: str) -> Iterator[Path]:
    name, colon, _ = text.partition(":")
    if colon:
        parts = name.split(".")
        for folder in sys.path:
            yield Path(folder, *parts).with_suffix(".py")
            yield Path(folder, *parts, "__init__.py")


def with_libraries(text: str) -> Iterator[Path]:
    """A spec and what it uses. Only looks for what may be meant: the loader says what is wrong."""
    from hacheck import shipped

    try:
        waiting = [shipped.find(text)]
    except (shipped.UnknownSpec, OSError, ValueError):
        return
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        try:
            content = path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        waiting += [path.parent / name for name in re.findall(r'\buse\s+"([^"\n]+)"', content)]


def _counts(named: Named) -> bool:
    """Whether something can be lost there: not a device, not a pipe. What can be no path is said later."""
    try:
        return not named.path.exists() or named.path.is_file() or named.path.is_dir()
    except (OSError, ValueError):
        return False


def _check(writes: Writes, output: Named, read: Named) -> None:
    where, place = _resolved(output.path), _resolved(read.path)
    if where == place or _is_same(output.path, read.path):
        raise BadInput(f"{output.word} would be written over what is read: {read.word}", HINT)
    if read.path.is_dir() and place in where.parents:
        raise BadInput(f"{output.word} lies in a folder that is read: {read.word}", HINT)
    if where == place.parent and any(fnmatchcase(place.name, pattern) for pattern in writes.within):
        where_read = f"{place.name} in that folder, which is read: {read.word}"
        raise BadInput(f"{output.word} could write over {where_read}", HINT)


def _check_each_other(outputs: list[Named]) -> None:
    for at, output in enumerate(outputs):
        for other in outputs[:at]:
            if _resolved(output.path) == _resolved(other.path) or _is_same(output.path, other.path):
                raise BadInput(f"two outputs in one file: {other.word} and {output.word}", HINT)


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by whatever names."""
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):
        return False
