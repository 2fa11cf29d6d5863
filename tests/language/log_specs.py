"""A head for specs whose steps write lines, and what is made of them."""

from __future__ import annotations

from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from hacheck.model.system_text import parse_system, print_system

HEAD = """system A "x"
identity Group
record Pair { left: 0..2, right: 0..2 }
node S[2] symmetric { n: 0..2 = 0  group: Group? = none  seen: set of 0..2 = {}  pair: Pair = Pair(0, 0)
  groups: set of bool = {}  ghost once: bool = false }
node C { k: 0..9 = 0  queue: sequence of 0..2 up to 2 = [] }
"""


def specification(body: str, head: str = HEAD) -> Specification:
    read = load(head + body, "a.ha")
    assert read.specification is not None, read.diagnostics
    return read.specification


def system(body: str, logs: bool = True) -> System:
    made = specification(body).instantiate(logs=logs)
    assert made.system is not None, made.diagnostics
    assert parse_system(print_system(made.system)) == made.system
    return made.system


def wrong(body: str) -> list[tuple[str, str]]:
    """The code of each diagnostic, and the text it is about."""
    text = HEAD + body
    return [(one.code, text[one.span.start : one.span.end]) for one in load(text, "a.ha").diagnostics]
