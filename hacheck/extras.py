"""Which extra of hacheck brings a library that its core does without.

Reading logs needs more than half of what hacheck could install, and verifying needs none of that. Such a library is
imported where it is used; where it is not installed, the message names the extra that brings it.
"""

from __future__ import annotations

from collections.abc import Mapping

EXTRAS: Mapping[str, str] = {
    "numpy": "logs",
    "pyarrow": "logs",
    "duckdb": "logs",
    "z3": "prove",
    "pyspark": "spark",
    "pandas": "spark",
    "pygls": "lsp",
    "lsprotocol": "lsp",
    "mcp": "mcp",
    "yaml": "audit",
}
"""The extra of each library, by the name that is imported."""


def missing_extra(error: ImportError) -> tuple[str, str] | None:
    """The library that an import did not find and the command that installs it; `None` where no extra has it."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(library)
    return None if extra is None else (library, f"pip install 'hacheck[{extra}]'")
