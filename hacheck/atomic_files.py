"""Files that are replaced: what was there stays until all of the new content is."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DIRECT = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Paths that name an open file of a process, whatever that is."""


def beside(path: Path) -> Path:
    """A name in the same folder that nothing has. It is known before anything is made, so that Ctrl-C at any moment
    leaves nothing."""
    return path.parent / f".hacheck-{secrets.token_hex(8)}"


def is_direct(path: Path) -> bool:
    """Whether a path is written where it is, as it cannot be replaced: a device, a pipe, a socket, or what this
    process has open as a standard stream. Errors: `OSError`, `ValueError` for what can be no path."""
    if os.path.abspath(path).startswith(DIRECT):
        return True
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(found.st_mode) or any(os.path.samestat(found, stream) for stream in _streams())


def _streams() -> Iterator[os.stat_result]:
    for descriptor in (1, 2):
        with suppress(OSError):
            yield os.fstat(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the path of a file to be written, which takes the place of `path` when the block is over; if the block
    fails, what was there stays, and nothing else.

    The new file has the mode of the one before. Of a link, what it leads to is replaced. What cannot be replaced (see
    `is_direct`) is given as it is. Errors: `OSError`.
    """
    if is_direct(path):
        yield path
        return
    place = path.resolve()
    check_permission(place)
    own = beside(place)
    try:
        own.open("xb").close()
        with suppress(FileNotFoundError):
            shutil.copymode(place, own)
        yield own
        os.replace(own, place)
    finally:
        with suppress(OSError):
            own.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Puts a text, in UTF-8 and as it is, in the place of a file's content. Errors: `OSError`."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, content: bytes) -> None:
    """Puts bytes in the place of a file's content. Errors: `OSError`."""
    with replacing(path) as own:
        own.write_bytes(content)


def check_replaceable(path: Path) -> None:
    """Finds out whether a file could be written, and leaves all as it is. Errors: `OSError` where it could not."""
    check_permission(path)
    if is_direct(path):
        return
    own = beside(path.resolve())
    try:
        own.open("xb").close()
    finally:
        with suppress(OSError):
            own.unlink(missing_ok=True)


def check_permission(path: Path) -> None:
    """Errors: `OSError` for a folder, and for a file that is there and may not be written: a folder that may be
    written would let it be replaced."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
