"""The reference, and the cases of each construct, say what is found; it is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language.examples import Example, examples, verify

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
EXAMPLES = [
    pytest.param(example, id=f"{path.stem}: {example.where}")
    for path in DOCUMENTS
    if path.exists()
    for example in examples(path)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_comes_out_as_said(example: Example) -> None:
    verify(example)
