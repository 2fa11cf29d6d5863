"""Kernels compiled, or found compiled; the kernel language itself is loaded only to compile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hacheck.compile.machine.compiler import KERNEL_LEVELS, compile_object
from hacheck.compile.machine.object_cache import Entry, ObjectCache, key_of


def compiled_kernels(
    functions: Sequence[Callable[..., Any]],
    constants: Mapping[str, int],
    exported: Collection[str],
    cache: ObjectCache,
) -> bytes:
    """Object code of kernels, as `kernel_ir` takes them. Raises `KernelError` and `CompilerError`."""
    try:
        key = key_of("kernels", _identity(functions, constants, exported), KERNEL_LEVELS)
    except OSError:  # in an archive, say
        key = ""

    def made() -> Entry:
        from hacheck.compile.kernels.to_llvm import kernel_ir

        return Entry((compile_object(kernel_ir(functions, constants, exported), KERNEL_LEVELS),), {})

    return cache.found_or_made(key, lambda entry: entry.objects[0], made)


def _identity(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int], exported: Collection[str]) -> str:
    """What the kernels' IR depends on: the files they are written in, and what is known when compiling.

    Numbers they take from other modules of the engine are covered by `identity`. Raises `OSError`.
    """
    paths = dict.fromkeys(function.__code__.co_filename for function in functions)
    files = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]
    names = [f"{function.__module__}.{function.__qualname__}" for function in functions]
    return repr((files, names, sorted(constants.items()), sorted(exported)))
