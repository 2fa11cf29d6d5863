"""The files to be audited: those named, those in folders, and those that a compose file mounts; which node each is of,
and which product wrote them. Nothing outside of the given places is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError
from hacheck.audit.entries import Entry, Unreadable, found_at, plain_name, without_secrets
from hacheck.audit.formats import FORMATS, FormatName
from hacheck.audit.formats.yaml_format import read_yaml
from hacheck.audit.reader import FileKind, Reader, load_reader, shipped_readers

BYTES_MAX = 8_000_000
"""So large a configuration file is at most."""
FILES_MAX = 2000
COMPOSE = ("docker-compose*.y*ml", "compose*.y*ml")
SKIPPED = (".git", "__pycache__", "node_modules", ".venv")


class Source(Struct, frozen=True):
    """A text to be read. `shown`: what it is called in reports; `host`: the node that a compose file gives it to, or
    nothing; `folder`: files in one folder are of one node; `line_offset`: where in a file the text begins; `composes`:
    it is a compose file."""

    shown: str
    text: str
    folder: str
    host: str = ""
    path: Path | None = None
    line_offset: int = 0
    format: FormatName | None = None
    composes: bool = False

    @property
    def file_name(self) -> str:
        """The last part of its name."""
        return self.shown.rpartition("/")[2]


class Missing(Struct, frozen=True):
    """A file that a compose file mounts and that is not there: where that is said, which file, as what, for whom."""

    place: str
    file: str
    target: str
    host: str


class Sources(Struct):
    """The texts to be read, what was passed over and why, and what is not there."""

    found: list[Source]
    skipped: list[str]
    missing: list[Missing]


class Recognised(Struct, frozen=True):
    """A source of a product: the kind of file that it is, and its entries."""

    source: Source
    kind: str
    entries: tuple[Entry, ...]


def sources_of(paths: Sequence[str]) -> Sources:
    """The texts to be read. Errors: `InputError` where a path names nothing, or nothing that can be read."""
    made = Sources([], [], [])
    found = made.found
    for text in paths:
        path = Path(text)
        if path.is_dir():
            for inner in _files_in(path):
                _add(inner, made, named=False)
        elif path.exists():
            _add(path, made, named=True)
        else:
            raise InputError(f"{text}: there is no such file or folder", "name the configuration files of all nodes")
        if len(found) > FILES_MAX:
            raise InputError(f"{text}: more than {FILES_MAX} files", "name the folder that has the configuration")
    mounted = {one.path.resolve() for one in found if one.path is not None and one.host}
    unique = {
        (one.path or one.shown, one.host, one.line_offset): one
        for one in found
        if one.host or one.path is None or one.path.resolve() not in mounted
    }
    return Sources(list(unique.values()), made.skipped, made.missing)


def files_below(paths: Sequence[str]) -> Iterator[Path]:
    """The files named, and those in folders."""
    for text in paths:
        yield from _files_in(Path(text)) if Path(text).is_dir() else (Path(text),)


def _files_in(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            yield Path(where) / name


def _add(path: Path, made: Sources, *, named: bool) -> None:
    """The file as a source; of a compose file what it mounts and its commands as well."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise Unreadable(str(path), None, f"is larger than {BYTES_MAX // 10**6} MB", "it is no configuration file")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Unreadable(str(path), None, f"cannot be read: {error.strerror}", "give the right to read it") from None
    except UnicodeDecodeError:
        if named:
            raise Unreadable(str(path), None, "is no text in UTF-8", "name configuration files") from None
        made.skipped.append(f"{path}: no text")
        return
    composes = any(fnmatch(path.name, pattern) for pattern in COMPOSE) and "services" in text
    if composes:
        made.found.extend(_composed(path, text, made))
    made.found.append(Source(str(path), text, str(path.parent), path=path, composes=composes))


def _composed(path: Path, text: str, made: Sources) -> Iterator[Source]:
    """What a compose file gives to its services: files that it mounts, and command lines."""
    root = path.parent.resolve()
    for service in found_at(read_yaml(text, str(path)), "services/*"):
        host = _first(service.entry, ("hostname", "container_name")) or service.entry.name
        for mount in found_at(service.entry.inner, "volumes/*"):
            where = mount.entry.value or _first(mount.entry, ("source",)) or ""
            local, _, inside = where.partition(":") if mount.entry.value else (where, "", "")
            inside = inside.partition(":")[0] or _first(mount.entry, ("target",)) or ""
            if not local.startswith((".", "/")):
                continue  # a volume by name
            target = (path.parent / local).resolve()
            if not target.is_relative_to(root):
                skipped = f"{path}:{mount.entry.line}: {local} lies outside of {path.parent}, and is not read"
                made.skipped.append(skipped)
                continue
            if not target.exists():
                made.missing.append(Missing(f"{path}:{mount.entry.line}", local, inside, host))
            for one in _files_in(target) if target.is_dir() else (target,) if target.exists() else ():
                shown = path.parent / one.relative_to(root)
                content = _text(one)
                if content is not None:
                    yield Source(str(shown), content, f"{path}#{host}", host, path=shown)
        yield from _commands(path, service.entry, host)


def _commands(path: Path, service: Entry, host: str) -> Iterator[Source]:
    for found in found_at(service.inner, "command"):
        words = found.entry.value or " ".join(one.value or "" for one in found.entry.inner)
        if "--" in words:
            line = found.entry.line - 1
            yield Source(str(path), words, f"{path}#{host}", host, line_offset=line, format="options")


def _first(entry: Entry, names: Iterable[str]) -> str | None:
    for name in names:
        for found in found_at(entry.inner, name):
            if found.entry.value:
                return found.entry.value
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig") if path.stat().st_size <= BYTES_MAX else None
    except (OSError, UnicodeDecodeError):
        return None


def require_mounted(reader: Reader, missing: Sequence[Missing]) -> list[str]:
    """What is said of files that are mounted and not there. Errors: `Unreadable` for one that is called as those of the
    product are: without it the answer would be about another system."""
    patterns = [name for kind in reader.file.values() for name in kind.names if name != "*"]
    for one in missing:
        names = [Path(one.file).name, Path(one.target).name]
        if any(fnmatch(name, pattern) for name in names for pattern in patterns):
            raise Unreadable(
                one.place,
                None,
                f"{one.file} is mounted by {one.host}, and there is no such file",
                "every node's file is needed: put it there, or take the service out",
            )
    return [f"{one.place}: {one.file} is mounted by {one.host}, and is not there" for one in missing]


# ---- which product ----

VERSION = re.compile(r"[0-9]+(\.[0-9A-Za-z]+)*([-+][0-9A-Za-z.-]+)?")
"""What a version looks like: 2.41, 2.41.0, 7.2.5-rc1."""


def chosen_reader(sources: Sequence[Source], product: str | None, reader: str | None) -> tuple[Reader, str | None]:
    """The reader for these files, and the version that was named with the product. Errors: `InputError` where no
    product, or more than one, has such files."""
    name, at, version = (product or "").partition("@")
    if at and not VERSION.fullmatch(version):
        raise InputError(
            f"--product {product}: `{version}` is no version", f"write it with numbers: --product {name}@2.4.1"
        )
    known = shipped_readers()
    if reader is not None:
        return load_reader(Path(reader)), version or None
    if name:
        if name not in known:
            raise InputError(f"--product {product}: there is no reader for `{name}`", f"there are: {', '.join(known)}")
        return load_reader(known[name]), version or None
    readers = [load_reader(path) for path in known.values()]
    scored = [(len(recognised(one, sources, tolerant=True)), one) for one in readers]
    best = max((count for count, _ in scored), default=0)
    fitting = [one for count, one in scored if count == best]
    if not best:
        files = ", ".join(one.shown for one in sources[:3]) or "none"
        reasons = [f"; {one}" for one in list(_reasons(readers, sources))[:1]]
        raise InputError(
            f"no product has files like these: {files}{''.join(reasons)}",
            f"name it: --product {'|'.join(known)}, or write a reader (docs/audit.md)",
        )
    if len(fitting) > 1:
        names = " or ".join(one.name for one in fitting)
        raise InputError(f"these files may be of {names}", f"say which: --product {fitting[0].name}")
    return fitting[0], None


def _reasons(readers: Sequence[Reader], sources: Sequence[Source]) -> Iterator[Unreadable]:
    """Why files cannot be read that are called as those of a product."""
    for source in sources:
        for kind in (kind for reader in readers for kind in reader.file.values() if kind.names != ("*",)):
            if any(_has_name(source, pattern) for pattern in kind.names):
                try:
                    FORMATS[kind.format](source.text, source.shown)
                except Unreadable as error:
                    yield error
                    break


def recognised(reader: Reader, sources: Sequence[Source], *, tolerant: bool = False) -> list[Recognised]:
    """The sources that are files of a product, with what is in them; no secret is left in it. `tolerant`: files that
    cannot be read are none of it. Errors: `Unreadable` for a file whose name is right, and whose text is not."""
    found = []
    for source in sources:
        plain = plain_name(source.text) if tolerant else ""
        for name, kind in reader.file.items():
            if (source.format or kind.format) != kind.format:
                continue
            if source.format is None and not any(_has_name(source, pattern) for pattern in kind.names):
                continue
            if tolerant and not _may_be(kind, plain):
                continue
            try:
                entries = FORMATS[kind.format](source.text, source.shown)
            except Unreadable:
                if tolerant or kind.names == ("*",):
                    continue
                raise
            entries = _moved(_with_includes(entries, source, kind), source.line_offset)
            if any(next(found_at(entries, path), None) is not None for path in kind.signature):
                found.append(Recognised(source, name, without_secrets(entries)))
                break
    return found


def _may_be(kind: FileKind, plain: str) -> bool:
    """Whether a text has the words of a signature: one that lacks them need not be parsed."""
    parts = (re.split(r"[/*]+", plain_name(path)) for path in kind.signature)
    return any(all(part.removeprefix("@") in plain for part in each) for each in parts)


def _has_name(source: Source, pattern: str) -> bool:
    """Whether a file is called so; a pattern with `/` is about its folders, too."""
    return fnmatch(f"/{source.shown}" if "/" in pattern else source.file_name, pattern)


def _moved(entries: tuple[Entry, ...], lines: int) -> tuple[Entry, ...]:
    if not lines:
        return entries
    return tuple(replace(one, line=one.line + lines, inner=_moved(one.inner, lines)) for one in entries)


def _of_file(entries: tuple[Entry, ...], file: str) -> tuple[Entry, ...]:
    return tuple(replace(one, file=file, inner=_of_file(one.inner, file)) for one in entries)


def _with_includes(entries: tuple[Entry, ...], source: Source, kind: FileKind, depth: int = 0) -> tuple[Entry, ...]:
    """The entries with those of the files that they include, where these lie in the same folder or below it."""
    if not kind.includes or source.path is None or depth > 10:
        return entries
    root, made = source.path.parent.resolve(), []
    for entry in entries:
        if entry.name not in kind.includes or not entry.value:
            made.append(entry)
            continue
        before = len(made)
        for path in sorted(root.glob(entry.value)) if not Path(entry.value).is_absolute() else ():
            text = _text(path) if path.resolve().is_relative_to(root) else None
            if text is not None:
                included = _of_file(FORMATS[kind.format](text, str(path)), str(path))
                made += _with_includes(included, source, kind, depth + 1)
        made += [entry] if len(made) == before else []  # what could not be read stays, and readers have a rule for it
    return tuple(made)
