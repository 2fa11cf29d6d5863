"""Which files are mutated, and which cases are to notice it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

LANGUAGE = Path("hacheck/model/language")
LOWERING = Path("hacheck/compile/lowering")
PORTABLE = Path("hacheck/checker/explicit/portable")
CODEGEN = Path("hacheck/compile/codegen")
CONDITIONS = Path("hacheck/model/rewrite.py")
"""Not in the folder of the language, but what joins the conditions that it makes."""
NOT_ELABORATION = frozenset(
    {
        "__init__.py", "code_info.py", "codes.py", "codes_of_meaning.py",
        "codes_of_names.py", "codes_of_text.py", "codes_of_types.py", "declaration_builder.py",
        "declarations.py", "diagnostics.py", "foreign_syntax.py", "foreign_words.py", "format.py",
        "lexer.py", "old_words.py",
        "parse.py", "parse_tree.py", "parser.py", "raised_limits.py", "specification.py",
        "syntax_errors.py", "syntax_tree.py", "tree_builder.py",
    }
)  # fmt: skip
"""Modules of the language that parse, explain and format."""
OTHERWISE = frozenset(
    {"cone_of_influence.py", "permuted_instances.py", "permuted_slots.py", "random_walks.py", "text.py"}
)
"""Modules of the lowering and of the portable engine that no case here runs: printing, reductions, random walks."""


def targets(root: Path) -> Iterator[Path]:
    """The files."""
    for folder in (LANGUAGE, LOWERING, PORTABLE, CODEGEN):
        for path in sorted((root / folder).glob("*.py")):
            left_out = NOT_ELABORATION if folder == LANGUAGE else OTHERWISE
            if path.name not in left_out and path.name != "__init__.py":
                yield path
    yield root / CONDITIONS


def group_of(path: Path) -> Literal["language", "engine", "native"]:
    """The cases that are to notice a change of a file."""
    if path.parent.name == LANGUAGE.name or path.name == CONDITIONS.name:
        return "language"
    return "native" if path.parent.name == CODEGEN.name else "engine"


def module_name(root: Path, path: Path) -> str:
    """The module that a file is."""
    return ".".join(path.relative_to(root).with_suffix("").parts)
