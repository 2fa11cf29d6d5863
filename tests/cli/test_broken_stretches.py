"""What was broken for moments takes one line of the report, and stands behind what lasted."""

from __future__ import annotations

from hacheck.cli.logs.broken_stretches import broken_lines
from hacheck.traces.conformance.verdicts import Broken, Place, Verdict

MS = 1_000_000
START = 1_763_777_650_221 * MS


def stretch(name: str, after_ms: int, lasted_ms: int, *, sure: bool = True, is_open: bool = False) -> Broken:
    """A stretch that began so long after the first record."""
    begin = START + after_ms * MS
    places = (Place(1, "a", "master", begin, "a.log", 1), Place(2, "a", "backup", begin + lasted_ms * MS, "a.log", 2))
    return Broken(name, sure, lasted_ms * MS, *places, is_open)


def text(*stretches: Broken) -> list[str]:
    """The lines of a trace."""
    sure = dict.fromkeys(f"{one.invariant}@1" for one in stretches if one.sure)
    possible = dict.fromkeys(f"{one.invariant}@1" for one in stretches if not one.sure)
    verdict = Verdict("night", "conforms", 2, 2, violated=tuple(sure), perhaps=tuple(possible), broken=stretches)
    return [line.plain for line in broken_lines(verdict, {})]


def test_moments_of_a_property_take_one_line() -> None:
    lines = text(*(stretch("one_view", 1000 * at, at) for at in range(64)))
    assert lines == [
        "one_view violated",
        "  for moments only, 64 times, for at most 63.0 ms: 2025-11-22 02:15:13.221 UTC to 02:15:13.284, 63.0 ms, "
        "from master (a.log:1) to backup (a.log:2)",
    ]


def test_what_lasted_comes_first_and_its_moments_are_counted() -> None:
    lines = text(stretch("brief", 0, 3), stretch("long", 0, 2_000), stretch("long", 9_000, 50))
    assert [line.split(" ")[0] for line in lines if not line.startswith(" ")] == ["long", "brief"]
    assert lines[1] == "  2025-11-22 02:14:10.221 UTC to 02:14:12.221, 2.0 s; from master (a.log:1) to backup (a.log:2)"
    assert lines[2] == "  shorter ones, not shown: 1"


def test_brief_stretch_that_goes_on_is_no_moment() -> None:
    assert "until the log ends, at least 3.0 ms" in text(stretch("one", 0, 3, is_open=True))[1]


def test_possible_moments_say_that_it_depends() -> None:
    lines = text(stretch("one", 0, 3, sure=False))
    assert lines[1].startswith("  for moments only, once: ")
    assert lines[2] == "  some run that explains the whole log breaks it, and another does not"
