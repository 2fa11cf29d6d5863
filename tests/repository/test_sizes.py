"""Modules and functions stay small enough to be read in one go. Nothing is exempt: split it instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MODULE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60


def test_module_is_at_most_600_lines(modules: tuple[Path, ...], root: Path) -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    long = [f"{path.relative_to(root)}: {n}" for path, n in lengths.items() if n > MODULE_LINES_MAX]
    assert long == []


def test_function_is_at_most_60_lines(modules: tuple[Path, ...], root: Path) -> None:
    long = [
        f"{path.relative_to(root)}:{line}: {name} has {lines}"
        for path in modules
        for name, line, lines in functions(path.read_text(encoding="utf-8"))
        if lines > FUNCTION_LINES_MAX
    ]
    assert long == []


def test_long_function_is_found_wherever_it_stands() -> None:
    body = "\n".join(f"            x{i} = {i}" for i in range(FUNCTION_LINES_MAX))
    text = f"class A:\n    def outer(self):\n        async def inner():\n{body}\n"
    assert [(name, lines) for name, _, lines in functions(text)] == [("outer", 62), ("inner", 61)]


def test_module_says_its_job_in_its_first_line(modules: tuple[Path, ...], root: Path) -> None:
    silent = [
        str(path.relative_to(root))
        for path in modules
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_no_module_is_a_drawer_for_everything(modules: tuple[Path, ...], root: Path) -> None:
    assert [str(path.relative_to(root)) for path in modules if path.name == "utils.py"] == []


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of each function of a module, however deep; decorators not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1
