"""Kernels compiled, or found compiled; the kernel language itself is loaded only to compile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hacheck.compile.machine.compiler import KERNEL_LEVELS, QUICK_LEVELS, Levels, compile_object
from hacheck.compile.machine.object_cache import Entry, ObjectCache, key_of


def compiled_kernels(
    functions: Sequence[Callable[..., Any]],
    constants: Mapping[str, int],
    exported: Collection[str],
    cache: ObjectCache,
    quick: bool = False,
) -> bytes:
    """Object code of kernels, as `kernel_ir` takes them. `quick`: there is little to do, so where none is kept it is
    made in an eighth of the time, and slower. Raises `KernelError` and `CompilerError`."""
    try:
        about = _identity(functions, constants, exported)
        key, quick_key = (key_of("kernels", about, levels) for levels in (KERNEL_LEVELS, QUICK_LEVELS))
    except OSError:  # in an archive, say
        key = quick_key = ""

    def made(levels: Levels) -> Entry:
        from hacheck.compile.kernels.to_llvm import kernel_ir

        return Entry((compile_object(kernel_ir(functions, constants, exported), levels),), {})

    if quick:
        found = cache.found(key, lambda entry: entry.objects[0])
        if found is not None:
            return found
        return cache.found_or_made(quick_key, lambda entry: entry.objects[0], lambda: made(QUICK_LEVELS))
    return cache.found_or_made(key, lambda entry: entry.objects[0], lambda: made(KERNEL_LEVELS))


def kept_kernels(
    functions: Sequence[Callable[..., Any]],
    constants: Mapping[str, int],
    exported: Collection[str],
    cache: ObjectCache,
) -> bytes | None:
    """Object code of the same, if it was made before."""
    try:
        key = key_of("kernels", _identity(functions, constants, exported), KERNEL_LEVELS)
    except OSError:
        return None
    return cache.found(key, lambda entry: entry.objects[0])


def _identity(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int], exported: Collection[str]) -> str:
    """What the kernels' IR depends on: the files they are written in, and what is known when compiling.

    Numbers they take from other modules of the engine are covered by `identity`. Raises `OSError`.
    """
    paths = dict.fromkeys(function.__code__.co_filename for function in functions)
    files = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]
    names = [f"{function.__module__}.{function.__qualname__}" for function in functions]
    return repr((files, names, sorted(constants.items()), sorted(exported)))
