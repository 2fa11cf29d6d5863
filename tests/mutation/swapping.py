"""Puts a changed source file into a running process: the code of its functions is replaced where they are.

Whoever imported a function still has the same object, so nothing has to be imported anew. What runs when a module is
imported (tables, classes, defaults) cannot be replaced so, and is told apart.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any


class NotSwapped(Exception):
    """The change is outside of functions."""


def swap(name: str, path: Path, before: str) -> int:
    """Replaces what changed in a module. `before`: its source until now. Returns how many functions changed. Errors:
    `NotSwapped`, `SyntaxError`."""
    old, new = _code(before, path), _code(path.read_text(encoding="utf-8"), path)
    known = {one.co_qualname: one for one in _inside(old)}
    live = dict(_functions(sys.modules[name]))
    if _outside(old) != _outside(new):
        raise NotSwapped(name)
    changed = 0
    for one in _inside(new):
        if _same(one, known[one.co_qualname]):
            continue
        if one.co_qualname not in live:
            raise NotSwapped(one.co_qualname)
        live[one.co_qualname].__code__ = one
        changed += 1
    for cached in [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]:
        cached.cache_clear()
    return changed


def _code(source: str, path: Path) -> CodeType:
    return compile(source, str(path), "exec", dont_inherit=True)


def _inside(code: CodeType) -> Iterator[CodeType]:
    """The functions and methods of a module, not those inside them."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & inspect.CO_OPTIMIZED:
                yield one
            else:
                yield from _inside(one)


def _outside(code: CodeType) -> list[object]:
    """What a module or class does when it is imported, but for its functions."""
    found: list[object] = [code.co_code, code.co_names]
    for one in code.co_consts:
        if not isinstance(one, CodeType):
            found.append((type(one).__name__, one))
        elif not one.co_flags & inspect.CO_OPTIMIZED:
            found.append(_outside(one))
    return found


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two functions do the same, wherever they stand in their files."""
    if len(one.co_consts) != len(other.co_consts) or one.co_code != other.co_code or one.co_names != other.co_names:
        return False
    for mine, its in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(mine, CodeType) and isinstance(its, CodeType):
            if not _same(mine, its):
                return False
        elif type(mine) is not type(its) or mine != its:
            return False
    return True


def _functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for holder in _holders(module, module.__name__):
        for value in list(vars(holder).values()):
            for one in _plain(value):
                if one.__module__ == module.__name__:
                    yield one.__code__.co_qualname, one


def _holders(holder: Any, name: str) -> Iterator[Any]:
    yield holder
    for value in list(vars(holder).values()):
        if isinstance(value, type) and value.__module__ == name and value is not holder:
            yield from _holders(value, name)


def _plain(value: object) -> Iterator[FunctionType]:
    match value:
        case FunctionType():
            found = inspect.unwrap(value)
            if isinstance(found, FunctionType):
                yield found
        case staticmethod() | classmethod():
            yield from _plain(value.__func__)
        case property():
            yield from _plain(value.fget)
        case _ if hasattr(value, "__wrapped__"):
            yield from _plain(value.__wrapped__)
