"""A story says what went wrong, how it came to that, and how to see it again."""

from __future__ import annotations

import pytest

from hacheck.testing import Disagreement, Event, do, replay
from hacheck.testing.failure_stories import table
from hacheck.testing.run_options import OPTIONS, Options
from tests.testing.services import Counting


class Storied(Counting):
    """Says seven, and has a story of its own."""

    def count(self, s: str) -> None:
        """Says seven."""
        self.number = 2 if self.number else 1
        self._show("counted")
        if self.number == 2:
            self._show("even")
            self.number = 4
            self._show("even")

    def story(self) -> str:
        """What else there is to say."""
        return "Its file was empty."


STORY = """\
Storied does not follow Counter: Server-1: even(n: 4)
no run of the model writes this line here

Server-1
> wait(seconds=1)
> count(s='Server-1')
counted(n: 1)
> count(s='Server-1')
counted(n: 2)
even(n: 2)
even(n: 4)

The model could have written no further line by itself.
The smallest change that the model accepts: extra line: without this line.

The model up to there, by a shortest run:

        Server 1
  0         |
  1         *       count: n = 1
  2         *       count: n = 2
| up

Its file was empty.

To see it again:

    from hacheck.testing import do, replay
    from tests.testing.test_stories import Storied


    def test_storied_again() -> None:
        steps = [
            do("wait", seconds=1),
            do("count", s="Server-1"),
            do("count", s="Server-1"),
        ]
        replay(Storied, steps)"""


def test_a_story_is_whole() -> None:
    with pytest.raises(Disagreement) as found:
        replay(Storied, [do("wait", seconds=1), do("count", s="Server-1"), do("count", s="Server-1")])
    assert str(found.value) == STORY
    assert str(found.value) == STORY, "it is worked out once"


def test_the_test_that_it_gives_fails_again() -> None:
    code = STORY[STORY.index("    from hacheck") :]
    names: dict[str, object] = {}
    exec("\n".join(line[4:] for line in code.splitlines()), names)  # what a reader does with it
    again = names["test_storied_again"]
    assert callable(again)
    with pytest.raises(Disagreement):
        again()


def test_every_node_has_a_column() -> None:
    entries = [
        Event("Server-10", "begun", {}),
        do("crash", n="Server-2"),
        Event("Server-2", "gone", {"n": 1, "why": "a long, long reason"}),
        Event("-", "asked", {}),
    ]
    assert table(entries) == [
        "Server-2                            Server-10",
        "                                    begun",
        "> crash(n='Server-2')",
        "gone(n: 1, why: a long, long reason)",
        "asked",
    ]
    assert table([do("wait", seconds=1.0)]) == ["> wait(seconds=1.0)"]
    assert table([]) == []


def test_many_nodes_have_narrow_columns() -> None:
    entries = [Event(f"Server-{number}", "begun", {}) for number in range(1, 6)]
    assert table(entries)[0].split() == [f"Server-{number}" for number in range(1, 6)]
    assert len(table(entries)[-1]) == 4 * 18 + len("begun")


def test_errors_have_the_names_that_people_import() -> None:
    from hacheck import testing

    for name in ("BadModel", "BadRun", "Disagreement", "ProcessFailure", "Undecided", "UnfitEvent"):
        kind = getattr(testing, name)
        assert (kind.__module__, kind.__qualname__) == ("hacheck.testing", name)
    with pytest.raises(AttributeError, match=r"module 'hacheck\.testing' has no attribute 'nothing'"):
        _ = testing.nothing
    assert all(getattr(testing, name) is not None for name in testing.__all__)


@pytest.fixture(autouse=True)
def _no_options() -> None:
    OPTIONS.set(Options())
