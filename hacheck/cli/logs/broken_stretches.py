"""The stretches of a log in which properties were broken, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from rich.text import Text

from hacheck.traces.conformance.verdicts import Broken, Place, Verdict, lasting

STRETCHES_SHOWN = 5
"""Stretches of one property in one trace that are shown: the longest ones."""

BRIEF_NS = 100_000_000
"""Shorter stretches are moments, and those of a property take one line: they must not hide what lasted."""


def broken_lines(verdict: Verdict, descriptions: Mapping[str, str]) -> Iterator[Text]:
    """Lines about each property that a trace broke, or may have broken: the property with its meaning, then a line for
    each stretch. `descriptions`: what the spec says of each property."""
    surely = {_name(one) for one in verdict.violated}
    possibly = {_name(one) for one in verdict.perhaps}
    for name in sorted(surely | possibly, key=lambda one: (one not in surely, -_most(verdict.broken, one), one)):
        meaning = f": {descriptions[name]}" if descriptions.get(name) else ""
        word, style = ("violated", "bad") if name in surely else ("possibly violated", "warn")
        yield Text.assemble((name, "name"), " ", (word, style), meaning)
        mine = [one for one in verdict.broken if one.invariant == name]
        if name in surely:  # what is possible besides is no news
            mine = [one for one in mine if one.sure] or mine
        brief = bool(mine) and all(_is_brief(one) for one in mine)
        if brief:
            yield Text(f"  {_moments(mine)}", style="quiet")
        shown = _longest(mine)
        for one in shown:
            yield Text(f"  {stretch_text(one, certain=name in surely)}")
        if len(mine) > len(shown) and not brief:
            yield Text(f"  shorter ones, not shown: {len(mine) - len(shown):,}", style="quiet")
        if mine and all(one.detail for one in mine):
            continue
        decided = next((one for one in mine if one.decides), None)
        if name not in surely and decided is not None:
            yield from _explanations(decided)
        elif name not in surely:
            yield Text("  some run that explains the whole log breaks it, and another does not", style="quiet")
        elif not any(one.sure for one in mine) and not brief:
            yield Text("  every run that explains the whole log breaks it, at one moment or another", style="quiet")
    for text in verdict.excluded:
        called, _, condition = text.partition(": ")
        how, colour = ("at no other time", "quiet") if called in possibly else ("excluded", "ok")
        yield Text.assemble((called, "name"), " ", (how, colour), f" {condition}")


def _explanations(one: Broken) -> Iterator[Text]:
    """The two nearest runs that explain the whole log, of which one breaks the property, and what decides."""
    yield Text(f"  it depends on {one.decides}, which no line shows:", style="quiet")
    yield Text(f"    a run that breaks it: {one.breaking}", style="quiet")
    yield Text(f"    one that does not:    {one.sparing}", style="quiet")


def _longest(stretches: list[Broken]) -> list[Broken]:
    by_length = sorted(stretches, key=lambda one: -(one.nanoseconds or 0))[:STRETCHES_SHOWN]
    return [one for one in stretches if one in by_length and not _is_brief(one)]


def _is_brief(one: Broken) -> bool:
    return one.nanoseconds is not None and one.nanoseconds < BRIEF_NS and not (one.is_open or one.detail)


def _moments(stretches: list[Broken]) -> str:
    """Stretches that are all brief, in one line: the longest of them."""
    longest = max(stretches, key=lambda one: one.nanoseconds or 0)
    number = len(stretches)
    how_often = "once" if number == 1 else f"{number:,} times, for at most {lasting(longest.nanoseconds or 0)}"
    return f"for moments only, {how_often}: {_when(longest)}, from {longest.start.words} to {longest.end.words}"


def _most(stretches: Sequence[Broken], name: str) -> int:
    """How long the longest stretch of a property is, in nanoseconds."""
    return max((one.nanoseconds or 0 for one in stretches if one.invariant == name), default=0)


def _name(violation: str) -> str:
    return violation.partition("@")[0]


def stretch_text(one: Broken, *, certain: bool) -> str:
    """A stretch in one line: when, for how long, who broke it, from which record to which."""
    if one.detail:
        when = "" if one.start.time is None else f"{moment(one.start.time)}: "
        since = "".join(f", since {place.words}" for place in one.since if place is not None)
        return f"{when}{one.detail}: {one.start.words}{since}"
    parts = [_when(one)]
    if one.nodes:
        parts.append(", ".join(_since(node, place) for node, place in zip(one.nodes, one.since, strict=True)))
    end = "the end of the log" if one.is_open else one.end.words
    records = f"from {one.start.words} to {end}"
    text = f"{': '.join(parts)}; {records}" if parts[0] or len(parts) > 1 else records
    return text if one.sure or certain else f"possibly {text}"


def _when(one: Broken) -> str:
    if one.nanoseconds is None or one.start.time is None:
        return ""
    if one.is_open and not one.nanoseconds:
        return f"{moment(one.start.time)} until the log ends"
    if one.is_open:
        return f"{moment(one.start.time)} until the log ends, at least {lasting(one.nanoseconds)}"
    end = "" if one.end.time is None else f" to {moment(one.end.time, after=one.start.time)}"
    return f"{moment(one.start.time)}{end}, {lasting(one.nanoseconds)}"


def _since(node: str, place: Place | None) -> str:
    if place is None:
        return node
    return f"{node} since {place.file}:{place.line}" if place.file else f"{node} since record {place.seq}"


def moment(nanoseconds: int, after: int | None = None) -> str:
    """A time as people write it, in UTC, to the millisecond; without its day where that is the day of another one."""
    time = _utc(nanoseconds)
    text = f"{time:%H:%M:%S}.{time.microsecond // 1000:03d}"
    if after is not None and _utc(after).date() == time.date():
        return text
    return f"{time:%Y-%m-%d} {text} UTC"


def _utc(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).replace(microsecond=nanoseconds % 10**9 // 1000)
