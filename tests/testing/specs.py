"""Small specs to test with."""

from __future__ import annotations

from pathlib import Path

from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged

COUNTER = (Path(__file__).parent / "counter.ha").read_text()
"""Two lines of one step, a bound, steps that write nothing, and an invariant that is violated."""


def system_of(text: str, check: str | None = None) -> System:
    """The system of a text that lines are compared with."""
    loaded = load(text, "spec.ha")
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}, check, logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system)
