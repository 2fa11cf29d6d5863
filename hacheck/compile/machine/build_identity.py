"""What machine code depends on besides what it was made from."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import hacheck

# every source that generated code depends on
_SOURCES = ("model", "compile", "checker/explicit", "traces/conformance", "traces/simulation")
_WITHOUT_SAY = ("__pycache__", "language", "portable")  # a model's own text is part of the key, however it came about
_START_FIELD = 19  # of /proc/self/stat, after the name
_CLOCK_SECONDS = 0.1  # by which the clocks of files and processes may differ
_LOADED = time.time()


class UnknownIdentityError(Exception):
    """The identity of the build is not known here, so nothing made here is to be kept."""


@cache
def identity() -> str:
    """Changes whenever compiling the same text could give other machine code. Costs some 3 ms, once.

    It covers hacheck's own sources, llvmlite, and this machine's CPU. Raises `UnknownIdentityError`.
    """
    return "\n".join([_engine(), _compiler(), _cpu()])


@cache
def model_identity() -> str | None:
    """Changes whenever the same text of a spec could give another model, or one that another Python has made; `None`
    where that is not known. It needs no llvmlite."""
    language = _language()
    try:
        return None if language is None else "\n".join([_engine(), language, sys.version])
    except UnknownIdentityError:
        return None


def _language() -> str | None:
    """The sources that read the text of specs."""
    folder = os.path.join(os.path.dirname(hacheck.__file__), "model", "language")
    try:
        files = sorted(sources(folder, ("__pycache__",), (".py", ".lark", ".tables")))
        if max(changed for _, changed in files) > _started() - _CLOCK_SECONDS:
            return None
        return digest_of(path for path, _ in files)
    except (OSError, ValueError):  # in an archive, say
        return None


@cache
def _engine() -> str:
    """hacheck's version, and its sources as they are: after a change no number has to be raised."""
    folder = os.path.dirname(hacheck.__file__)
    try:
        files = sorted(found for part in _SOURCES for found in sources(os.path.join(folder, part), _WITHOUT_SAY))
        if max(changed for _, changed in files) > _started() - _CLOCK_SECONDS:
            raise UnknownIdentityError("hacheck's own sources were changed after this process began")
        digest = digest_of(path for path, _ in files)
    except (OSError, ValueError) as error:  # in an archive, say
        raise UnknownIdentityError(f"hacheck's own sources cannot be read: {error}") from None
    return f"hacheck {hacheck.__version__} {digest}"


def sources(folder: str, without: Collection[str], endings: tuple[str, ...] = (".py",)) -> Iterator[tuple[str, float]]:
    """Path and time of change of each source below a folder, but those in folders of the names in `without`. Errors:
    `OSError`."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(endings):
                yield entry.path, entry.stat().st_mtime
            elif entry.name not in without and entry.is_dir():
                yield from sources(entry.path, without, endings)


def digest_of(paths: Iterable[str]) -> str:
    """A digest of the contents of files, in this order. Errors: `OSError`."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            content = file.read()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def _started() -> float:
    """When this process began, in seconds since 1970; where that is not known, when this module was loaded."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        since_boot = int(fields[_START_FIELD]) / os.sysconf("SC_CLK_TCK")
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
    except (OSError, ValueError, IndexError, AttributeError):
        return _LOADED


def _compiler() -> str:
    """llvmlite's version and its library's size and time: a library made anew may have another LLVM in it."""
    try:
        package = import_module("llvmlite")
        library = Path(str(package.__file__)).parent / "binding" / import_module("llvmlite.utils").get_library_name()
        status = library.stat()
    except (ImportError, OSError, AttributeError) as error:
        raise UnknownIdentityError(f"llvmlite is not there: {error}") from None
    return f"llvmlite {package.__version__} {status.st_size} {status.st_mtime_ns}"


def _cpu() -> str:
    """What LLVM compiles for."""
    try:
        targets = import_module("llvmlite.binding")
        return f"{targets.get_host_cpu_name()} {targets.get_host_cpu_features().flatten()}"
    except (ImportError, OSError) as error:
        raise UnknownIdentityError(f"llvmlite cannot be loaded: {error}") from None
