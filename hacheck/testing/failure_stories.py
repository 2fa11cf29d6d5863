"""The story of a run that its model does not allow, in plain text: who did what when, and what was expected instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hacheck.model.run_json import run_from_json
from hacheck.testing.check_results import run_lines
from hacheck.testing.expected_lines import instead
from hacheck.testing.line_encoding import Event
from hacheck.testing.stimuli import Step
from hacheck.traces.conformance.diagnosis import Diagnosis
from hacheck.traces.conformance.record_encoding import NO_NODE

if TYPE_CHECKING:
    from hacheck.testing.session import Entry, Session
    from hacheck.testing.state_tracker import Broken

WIDTH = 72
"""Columns of text that a story takes at most, where there are few nodes."""

_COLUMN_MIN = 18

DRAWN_MAX = 60
"""A longer run of the model is not drawn: what went wrong is at its end."""


def story(session: Session, broken: Broken | None, violated: tuple[str, ...], owed: str = "") -> str:
    """What went wrong, how it came to that, and how to see it again."""
    parts = [_headline(session, broken, violated, owed), "\n".join(table(session.entries))]
    if broken is not None:
        found = session.model.tracker.explain(session.lines)
        parts += ["\n".join(instead(found)), "\n".join(_up_to_there(session, found))]
    parts += [session.ask_for_story(), _again(session)]
    return "\n\n".join(part for part in parts if part)


def beside(session: Session) -> str:
    """What is to be said beside an error of the system under test: what was done, and how to do it again."""
    parts = ["It happened in this run:", "\n".join(table(session.entries)), session.ask_for_story(), _again(session)]
    return "\n\n".join(part for part in parts if part)


def _headline(session: Session, broken: Broken | None, violated: tuple[str, ...], owed: str) -> str:
    name = session.model.system.name
    if owed:
        return f"{type(session.adapter).__name__} does not serve though nothing is wrong any more: {owed}"
    if broken is not None:
        return f"{type(session.adapter).__name__} does not follow {name}: {broken.event.text}\n{broken.reason}"
    names = []
    for one in session.model.system.properties:
        if one.name in violated:
            names.append(f"`{one.name}`{f' ({one.description})' if one.description else ''}")
    return f"{type(session.adapter).__name__} violates {' and '.join(names)} of {name}"


def _up_to_there(session: Session, found: Diagnosis | None) -> Iterator[str]:
    """A shortest run of the model up to where the code leaves it, drawn as `hacheck verify` draws runs."""
    if found is None or not found.run:
        return
    system = session.model.tracker.diagnoser.system
    run = run_from_json(system, json.loads(found.run))
    if not 0 < len(run.steps) <= DRAWN_MAX:
        return
    yield "The model up to there, by a shortest run:"
    yield ""
    yield from run_lines(system, run, None)


# ---- who did what when ----


def table(entries: Sequence[Entry]) -> list[str]:
    """A column for each node, time going down; what the test did stands at the left margin."""
    nodes = [one.node for one in entries if isinstance(one, Event) and one.node != NO_NODE]
    columns = sorted(dict.fromkeys(nodes), key=_by_number)
    longest = max((len(one.text.removeprefix(f"{one.node}: ")) for one in entries if isinstance(one, Event)), default=0)
    width = max(_COLUMN_MIN, min(longest + 2, WIDTH // max(len(columns), 1)))
    lines = ["".join(f"{name:<{width}}" for name in columns).rstrip()] if columns else []
    for one in entries:
        if not isinstance(one, Event):
            lines.append(f"> {one.text}")
            continue
        column = columns.index(one.node) if one.node in columns else 0
        text = one.text.removeprefix(f"{one.node}: ")
        lines.append(" " * (width * column) + text)
    return lines


def _by_number(name: str) -> tuple[str, int, str]:
    digits = name[len(name.rstrip("0123456789")) :]
    return name.rstrip("0123456789"), int(digits or 0), name


# ---- to see it again ----


def _again(session: Session) -> str:
    return "To see it again:\n\n" + "\n".join(f"    {line}".rstrip() for line in as_test(session))


def as_test(session: Session) -> list[str]:
    """A test that does the same again."""
    kind = type(session.adapter)
    steps: list[Step] = [one for one in session.entries if isinstance(one, Step)]
    return [
        "from hacheck.testing import do, replay",
        f"from {kind.__module__} import {kind.__name__}",
        "",
        "",
        f"def test_{_snake(kind.__name__)}_again() -> None:",
        "    steps = [",
        *(f"        {_as_call(one)}," for one in steps),
        "    ]",
        f"    replay({kind.__name__}, steps)",
    ]


def _as_call(step: Step) -> str:
    given = "".join(f", {name}={_quoted(value)}" for name, value in step.arguments)
    return f"do({_quoted(step.method)}{given})"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
