"""Logs of changes that overtake one another: made of a recorded start and of lines as the recordings have them.

Topic D is created first, and its create is told to slaves last; three topics are destroyed in between, the second one
before the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.interop.log_verdicts import LogVerdict, conform
from tests.nightly import by_night

START = Path(__file__).parents[1] / "data" / "icestorm" / "a-cold-start-3"
COORDINATOR, SLAVES = 3, (1, 2)

Lines = Sequence[tuple[int, str]]
"""Who writes a line, and what, in this order."""


def created(topic: str) -> Lines:
    """A topic is created everywhere, at its coordinator last."""
    return [
        (node, f'TopicManager: creating new topic "{topic}". id: x subscribers: ') for node in (*SLAVES, COORDINATOR)
    ]


def asked_to_destroy(topic: str) -> Lines:
    return [(COORDINATOR, f"Topic: {topic}: destroy")]


def destroyed(topic: str, stamp: str) -> Lines:
    return [(node, f"Topic: {topic}: destroyed llu: {stamp}") for node in SLAVES]


BEFORE = [*created("B"), *created("C"), *asked_to_destroy("A"), *asked_to_destroy("B"), *asked_to_destroy("C")]
TOLD = [*destroyed("B", "1/6"), *destroyed("A", "1/5"), *destroyed("C", "1/7")]
AFTER = [*created("E"), *asked_to_destroy("E"), *destroyed("E", "1/9")]


def verdict_on(folder: Path, lines: Lines) -> LogVerdict:
    """The verdict on the recorded start and these lines, one in 20 ms."""
    folder.mkdir()
    texts = {node: (START / f"replica-{node}.log").read_text() for node in (1, 2, 3)}
    for number, (node, text) in enumerate(lines):
        second, millisecond = divmod(20 * number, 1000)
        texts[node] += f"-- 12/31/37 23:59:{second:02}.{millisecond:03} replica{node}-IceStorm: {text}\n"
    for node, text in texts.items():
        (folder / f"replica-{node}.log").write_text(text)
    return conform("icestorm", folder, ("--adapter", "icestorm", "--check", "as_released"), 300.0)


@pytest.mark.parametrize(
    ("name", "lines", "kind"),
    by_night(
        [
            ("overtaken by three", [*BEFORE, *TOLD, *created("D"), *AFTER], "conforms"),
            (
                "a stamp that nothing has",
                [*BEFORE, *TOLD, *created("D"), *asked_to_destroy("D"), *destroyed("D", "1/11")],
                "deviates",
            ),
            ("a stamp given twice", [*BEFORE, *TOLD, *destroyed("D", "1/7")], "deviates"),
            ("nothing asked for what comes early", [*created("B"), *created("C"), *TOLD], "deviates"),
            ("slaves that do not agree", [*BEFORE, *destroyed("B", "1/6")[:1], *destroyed("B", "1/5")[1:]], "deviates"),
        ],
        but=lambda case: case[0] == "a stamp that nothing has",
    ),
)
def test_changes_that_overtake_one_another(name: str, lines: Lines, kind: str, tmp_path: Path) -> None:
    found = verdict_on(tmp_path / "logs", lines)
    assert found.kind == kind, f"{name}: {found.place}: {found.said}"
