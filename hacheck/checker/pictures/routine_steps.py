"""Which steps of a long run are routine: kinds of steps that recur and, where they happen, change nothing that the
property reads, nobody's mode, no lock, and nothing that the story names.

Routine is what is drawn as one row. It is no claim that a step has no consequences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hacheck.checker.run_view.view_reader import ViewReader

LONG = 40
"""Up to so many steps a run is drawn whole."""

RARE = 3
"""A kind of step that a run has no more often than that is not routine."""

LAST = 12
"""So many steps before the end are drawn, whatever they are."""

FEWEST = 3
"""Fewer routine steps in a row are drawn one by one."""

DRAWN_MAX = 50
"""So many steps at most are drawn because they are rare; older ones become routine."""

DECISIVE = ("crash", "restart", "pause", "resume", "halt", "cut", "heal", "lock", "believe", "lost")
"""Effects of steps that are no routine. A call without an answer is none, either."""


def routine_steps(reader: ViewReader) -> frozenset[int]:
    """The numbers of the steps that are routine. Cost: a pass over the steps."""
    if reader.last <= LONG:
        return frozenset()
    kinds = Counter(kind for step in range(1, reader.last + 1) for kind in _kinds(reader, step))
    named = _named(reader)
    first = reader.last if reader.loop is None else reader.loop
    drawn: set[int] = set()
    rare: list[int] = []
    for step in range(1, reader.last + 1):
        if step in named or step > min(first, reader.last - LAST) or _matters(reader, step):
            drawn.add(step)
        elif any(kinds[kind] <= RARE for kind in _kinds(reader, step)):
            rare.append(step)
    drawn.update(rare[max(0, len(rare) - max(0, DRAWN_MAX - len(drawn))) :])
    return frozenset(_in_rows(reader.last, drawn))


def _in_rows(last: int, drawn: set[int]) -> Iterator[int]:
    """The steps that are not drawn, as far as enough of them follow each other."""
    row: list[int] = []
    for step in range(1, last + 2):
        if step <= last and step not in drawn:
            row.append(step)
            continue
        if len(row) >= FEWEST:
            yield from row
        row.clear()


def _kinds(reader: ViewReader, step: int) -> Iterator[str]:
    """What kinds of things happen in a step: its action, and what it records."""
    yield str(reader.steps[step - 1]["action"])
    for effect in reader.effects(step, "record"):
        yield f"record {effect['event']}"


def _named(reader: ViewReader) -> set[int]:
    """The steps that the story names, and those at which a wrong belief begins, becomes wrong, or ends."""
    named = {step for sentence in reader.view["story"] for step in sentence["steps"]}
    for belief in reader.view["beliefs"]:
        named |= {belief["born"], belief["wrong"], belief["until"] + 1}
    return named


def _matters(reader: ViewReader, step: int) -> bool:
    if reader.steps[step - 1]["kind"] in ("fault", "repair") or reader.effects(step, *DECISIVE):
        return True
    if any(call["outcome"] != "answered" for call in reader.effects(step, "call")):
        return True
    read = set((reader.property or {}).get("reads", ()))
    promised = {name for names in reader.view["promised"].values() for name in names}
    if reader.effects(step, "acknowledged") and read & promised:
        return True
    return any(change.mode or change.role == "lock" or change.variable in read for change in reader.changes(step))
