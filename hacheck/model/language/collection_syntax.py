"""What people write of sets, sequences and calls as other languages have it, and what is written here instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hacheck.model.language.parser import Unreadable

OF_SEQUENCES = (
    "of a sequence there are `x[1]`, `first(x)`, `last(x)`, `rest(x)`, `take(x, n)`, `drop(x, n)`, `join(x, y)`, "
    "`size(x)`, `x with e`, `x without e`, `e in x`, `for e in x do`"
)
OF_SETS = (
    "of a set there are `x with e`, `x without e`, `x union y`, `x intersect y`, `x minus y`, `x subset y`, `e in x`, "
    "`size(x)`, `{ f for e in x where … }`, `some e in x where …`, `for e in x do`"
)
OF_BAGS = "of a bag there are `x with e`, `x without e`, `e in x`, `size(x)`, `for e in x do`"
OF_MAPS = "of a map there are `x[k]`, `x[k] := e`, `x := each k: K -> e`"
"""What there is to do with a collection."""

JOINED = ("union", "intersect", "minus", "with", "without", "subset")
METHODS = {
    **dict.fromkeys(("append", "add", "push", "insert", "push_back", "enqueue", "put", "include"), "with"),
    **dict.fromkeys(("remove", "discard", "delete", "erase", "exclude"), "without"),
}
FILTER = re.compile(r"\{\s*(\w+)\s+in\s+([^{}]+?)\s*$")
CALLED = re.compile(r"\blet\s+(\w+)\s*=\s*call\s+[^\n]*$")
IN_SET = re.compile(r"\bin\s+([\w.\[\]()]+)\s*$")
EACH_OF = re.compile(r"\b(at|to)\s+each\s+([\w.]+\([^()]*\)|[\w.]+)\s*$")
PART = re.compile(r"([\w.]+)\[\s*([^\[\]]*?)\s*\.$")
RANGED = re.compile(r"\b(\w+)\s+in\s+(\w+)\s*\.$")
METHOD = re.compile(r"([\w.]+)\.(\w+)\s*$")


def in_collections(failure: Unreadable, text: str) -> str | None:
    """What to write about a set, a sequence, or a call, where the text cannot be read on; `None` for nothing known."""
    start, found = failure.start, failure.text
    before = text[max(0, start - 200) : start]
    line = text[start : text.find("\n", start) if "\n" in text[start:] else len(text)]
    if found == "where" and (inside := FILTER.search(before)):
        if re.search(rf"\bnode\s+{re.escape(inside[2])}\b", text):
            return f"write `{{ {inside[1]}: {inside[2]} where … }}`"
        return f"write `{{ {inside[1]} for {inside[1]} in {inside[2]} where … }}`"
    if found in JOINED and (each := EACH_OF.search(before)):
        return f"brackets stand around the set: `{each[1]} each ({each[2]} {found} …)`"
    if found in JOINED and (inside := IN_SET.search(before)):
        return f"brackets stand around the set: `in ({inside[1]} {found} …)`"
    if called := CALLED.search(before):
        return f"a call names its answer at its end: `call {_called(before, line)} as {called[1]}`"
    if found == ".":
        return _range(before, line)
    if found == "(" and (method := METHOD.search(before)):
        return _method(method[1], method[2])
    return None


def _called(before: str, line: str) -> str:
    """The call that stands after `let x = call`, as far as its line goes."""
    return (before[before.rindex("call") + 4 :] + line).strip().split("#")[0].strip()


def _range(before: str, line: str) -> str | None:
    """What to write for `..` where no range can stand. `line`: from the second of its dots on."""
    if part := PART.search(before):
        last = re.match(r"\.\s*([^\]]*?)\s*\]", line)
        if last and part[2] in ("0", "1"):
            return f"write `take({part[1]}, {last[1] or '…'})`: its first elements"
        return f"write `drop(take({part[1]}, {last[1] if last else '…'}), {part[2]} - 1)`"
    if ranged := RANGED.search(before):
        return f"a range is a type: `{ranged[1]}: {ranged[2]}..…`"
    return None


def _method(place: str, word: str) -> str | None:
    if word in METHODS:
        return f"write `{place} := {place} {METHODS[word]} …`"
    if word in ("size", "len", "length", "count"):
        return f"write `size({place})`"
    if word in ("first", "last", "rest", "head", "tail", "pop", "contains", "isEmpty", "is_empty"):
        return OF_SEQUENCES
    return None
