"""Specifications and systems kept in the user's cache folder beside machine code: a text is read and elaborated once.

What is kept is pickled, and reading it may run code. It is trusted as machine code is: see `machine.object_cache`.
Where nothing can be kept, or found, everything is made as if there were no folder.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping
from typing import TypeVar

from hacheck.compile.machine.build_identity import model_identity
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.canonical_text import text_of
from hacheck.model.language.specification import Instance, Loaded, Reader, Specification, load
from hacheck.supervise.recursion_limit import pickled

Made = TypeVar("Made")


def kept_load(
    text: str, path: str, read: Reader, *, defaults_only: bool = False, cache: ObjectCache | None = None
) -> Loaded:
    """What `load` makes of a spec: found where the same text was read before, with libraries of the same text; else
    made now. What is wrong is not kept, warnings are."""
    cache = ObjectCache() if cache is None else cache
    key = _key("specification", repr((text, path, defaults_only)))
    entry = cache.lookup(key)
    if entry is not None and all(_digest(read(name)) == digest for name, digest in entry.facts):
        found: Loaded = pickle.loads(entry.objects[0])
        return found
    libraries: dict[str, str] = {}

    def noted(name: str) -> str | None:
        content = read(name)
        libraries[name] = _digest(content)
        return content

    loaded = load(text, path, noted, defaults_only=defaults_only)
    if loaded.specification is not None:
        cache.store(key, [pickled(loaded)], list(libraries.items()))
    return loaded


def kept_instance(
    specification: Specification,
    settings: Mapping[str, str],
    check: str | None,
    *,
    logs: bool = False,
    cache: ObjectCache | None = None,
) -> Instance:
    """What `Specification.instantiate` makes of settings: found where that was made before, else made now. What is
    wrong is not kept."""
    whole = text_of(specification)
    text = None if whole is None else f"{sorted(settings.items())} {check!r} {logs}\n{whole}"

    def make() -> Instance:
        return specification.instantiate(settings, check, logs=logs)

    return kept_result("instance", text, make, lambda made: made.system is not None, cache)


def kept_result(
    kind: str,
    text: str | None,
    make: Callable[[], Made],
    worth: Callable[[Made], bool] = lambda made: True,
    cache: ObjectCache | None = None,
) -> Made:
    """What `make` returns: found where it was made from the same text before, else made now, and kept if it is worth
    it. `kind`: of what; `text`: everything that it depends on but hacheck's own sources, `None` where that is not
    known."""
    cache = ObjectCache() if cache is None else cache
    key = "" if text is None else _key(kind, text)
    entry = cache.lookup(key)
    if entry is not None:
        found: Made = pickle.loads(entry.objects[0])
        return found
    made = make()
    if worth(made):
        cache.store(key, [pickled(made)], [])
    return made


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()


def _key(kind: str, text: str) -> str:
    own = model_identity()
    return "" if own is None else hashlib.sha256(f"{kind}\n{own}\n{text}".encode()).hexdigest()
