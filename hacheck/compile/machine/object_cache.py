"""Object code kept in the user's cache folder, so that a model is compiled once.

An entry found runs as machine code of this process. So it is used only if nobody but this user can have written it:
a plain file, owned by the user, writable by no other; where a system has no such owners, nothing is kept. Within that,
it must be whole and be what the caller wants, by its key and a digest of its content. Anything else counts as not
found, and is replaced. Trouble with the folder costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from hacheck.compile.machine.build_identity import UnknownIdentityError, identity
from hacheck.compile.machine.compiler import Levels

Read = TypeVar("Read")

BYTES_MAX = 500_000_000
"""How large all entries together may be; the least recently used ones go first."""

_MAGIC = b"hacheck object\0\n"
_FORMAT = 1
_HEADER = struct.Struct("<16sQ32s32sQQ")  # magic, format, key, digest of the rest, its parts' lengths
_PREFIX, _SUFFIX = "object-", ".new"
_ABANDONED_SECONDS = 3600.0


class Entry(Struct, frozen=True):
    """What is kept under one key.

    - `objects`: object files, as `compile_object` made them.
    - `facts`: whatever belongs to them, as JSON has it.
    """

    objects: tuple[bytes, ...]
    facts: Any


def cache_folder() -> Path:
    """Where this user's caches are: `HACHECK_CACHE_DIR`, else below `XDG_CACHE_HOME`, else what the system has."""
    named = os.environ.get("HACHECK_CACHE_DIR")
    if named:
        return Path(named)
    shared = os.environ.get("XDG_CACHE_HOME")
    if shared:
        return Path(shared) / "hacheck"
    return Path("~/Library/Caches/hacheck" if sys.platform == "darwin" else "~/.cache/hacheck").expanduser()


def key_of(kind: str, text: str | bytes, levels: Levels) -> str:
    """The key for what is compiled from a text: of which kind it is, and how much LLVM does.

    It also depends on this hacheck, on llvmlite and on the CPU. Empty where that is not known: then nothing is kept.
    """
    try:
        parts: list[str | bytes] = [kind, text, f"{levels.passes} {levels.codegen}", identity()]
    except UnknownIdentityError:
        return ""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode()
        digest.update(struct.pack("<Q", len(content)) + content)
    return digest.hexdigest()


class ObjectCache:
    """The entries in one folder, which several processes may use at once.

    - `folder`: by default one in the user's cache folder; made when there is something to keep.
    - `bytes_max`: how large all entries together may be.
    - `trouble`: what went wrong at the last use, in words; it is reported only where somebody reads it here.
    """

    __slots__ = ("bytes_max", "folder", "trouble")

    def __init__(self, folder: Path | None = None, bytes_max: int = BYTES_MAX) -> None:
        self.folder = cache_folder() / "objects" if folder is None else folder
        self.bytes_max = bytes_max
        self.trouble = ""

    def lookup(self, key: str) -> Entry | None:
        """What is kept under a key; `None` if there is nothing, or nothing to be trusted. Costs less than 1 ms."""
        self.trouble = ""
        if not self._usable(key):
            return None
        try:
            content = _read_trusted(self.folder / f"{_PREFIX}{key}")
            return _unpack(content, bytes.fromhex(key))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, struct.error) as error:
            self.trouble = f"not used: {error}"
            return None

    def store(self, key: str, objects: Sequence[bytes], facts: Any = None) -> None:
        """Keeps object files and what belongs to them. What cannot be kept is not, and `trouble` says why."""
        self.trouble = ""
        if not self._usable(key):
            return
        content = _pack(Entry(tuple(objects), facts), bytes.fromhex(key))
        if len(content) > self.bytes_max:
            self.trouble = f"not kept: {len(content)} bytes are more than the cache may have"
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(content, self.folder / f"{_PREFIX}{key}")
            self._remove_least_recently_used()
        except OSError as error:
            self.trouble = f"not kept: {error}"

    def found(self, key: str, read: Callable[[Entry], Read | None]) -> Read | None:
        """What `read` makes of what is kept under a key. Errors: those of `read`."""
        entry = self.lookup(key)
        return None if entry is None else read(entry)

    def found_or_made(self, key: str, read: Callable[[Entry], Read | None], make: Callable[[], Entry]) -> Read:
        """What `read` makes of what is kept under a key. Where there is nothing, or `read` returns `None` since it is
        of no use, it is made now, and kept. Errors: those of both."""
        found = self.found(key, read)
        if found is None:
            entry = make()
            self.store(key, entry.objects, entry.facts)
            found = read(entry)
            assert found is not None, "what was just made is what is read"
        return found

    def _usable(self, key: str) -> bool:
        if not key:
            self.trouble = "what the object code depends on is not known"
        elif not hasattr(os, "geteuid"):
            self.trouble = "the owner of a file is not known on this system"
        return not self.trouble

    def _write(self, content: bytes, path: Path) -> None:
        """Written beside and moved, so that nobody reads half of it."""
        import tempfile  # only those who write pay for it

        descriptor, beside = tempfile.mkstemp(suffix=_SUFFIX, prefix=_PREFIX, dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(beside, path)
        except OSError:
            with suppress(OSError):
                os.unlink(beside)
            raise

    def _remove_least_recently_used(self) -> None:
        now, entries = time.time(), sorted(_entries(self.folder))
        total = sum(size for _, size, _ in entries)
        for used, size, path in entries:
            half_written = path.endswith(_SUFFIX)  # maybe right now, by another process
            abandoned = half_written and used < now - _ABANDONED_SECONDS
            if abandoned or (total > self.bytes_max and not half_written):
                with suppress(FileNotFoundError):  # another process did it
                    os.unlink(path)
                total -= size


def _entries(folder: Path) -> Iterator[tuple[float, int, str]]:
    """When each entry was used, its size, and its path."""
    with os.scandir(folder) as files:
        for file in files:
            if file.name.startswith(_PREFIX):
                with suppress(FileNotFoundError):
                    status = file.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, file.path


def _read_trusted(path: Path) -> bytes:
    """The content of a file that only this user can have written. Raises `OSError`, of which `PermissionError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError("it is not a file of this user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError("others may write it")
        content = file.read()
        with suppress(OSError):
            os.utime(file.fileno())
    return content


def _pack(entry: Entry, key: bytes) -> bytes:
    about = json.dumps({"facts": entry.facts, "sizes": [len(code) for code in entry.objects]}).encode()
    code = b"".join(entry.objects)
    digest = hashlib.sha256(about + code).digest()
    return _HEADER.pack(_MAGIC, _FORMAT, key, digest, len(about), len(code)) + about + code


def _unpack(content: bytes, key: bytes) -> Entry:
    magic, version, kept_key, digest, about_size, code_size = _HEADER.unpack_from(content)
    if (magic, version) != (_MAGIC, _FORMAT):
        raise ValueError("it is of another format")
    if kept_key != key:
        raise ValueError("it belongs to another key")
    rest = content[_HEADER.size :]
    if len(rest) != about_size + code_size or hashlib.sha256(rest).digest() != digest:
        raise ValueError("it is damaged")
    about = json.loads(rest[:about_size])
    objects, position = [], about_size
    for size in about["sizes"]:
        objects.append(rest[position : position + size])
        position += size
    return Entry(tuple(objects), about["facts"])
