"""The parser's tables, made once for each version of the grammar and kept in the user's cache folder.

Making them takes most of a second, reading them back a tenth of that. A cache that is missing, damaged, somebody else's
or not writable costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from importlib import resources
from io import BytesIO
from pathlib import Path

import lark
from lark import Lark

DIGEST_BYTES = 32


def cache_folder() -> Path:
    """Where this user's caches are: `XDG_CACHE_HOME`, else what the system has for it."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(named) / "hacheck" if named else Path("~/.cache/hacheck").expanduser()


def load_parser(folder: Path) -> Lark:
    """The parser, from the folder's cache when it holds these tables, else made and written there."""
    grammar = resources.files("hacheck.model.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    version = f"{lark.__version__} {sys.version_info[:2]}"
    key = hashlib.sha256(f"{version}\n{grammar}".encode()).hexdigest()[:32]
    path = folder / f"parser-{key}"
    found = _read(path)
    if found is not None:
        return found
    made = Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
    _write(made, path)
    return made


def _read(path: Path) -> Lark | None:
    """The cached parser. Tables are only read when they are as they were written, and by whom."""
    try:
        with path.open("rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            digest, tables = file.read(DIGEST_BYTES), file.read()
        if hashlib.sha256(tables).digest() != digest:
            return None
        return Lark.load(BytesIO(tables))
    except Exception:  # whatever is wrong with a cache, the tables can be made
        return None


def _write(parser: Lark, path: Path) -> None:
    """Keeps the tables; written beside and moved, so that nobody reads half of them."""
    with suppress(OSError):
        tables = BytesIO()
        parser.save(tables)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(tables.getvalue()).digest() + tables.getvalue())
        os.replace(file.name, path)
