"""Scenarios: what somebody wants to have seen, as lines, steps and states in their order, and how far runs came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.testing.line_encoding import Event
from hacheck.testing.stimuli import Step

Part: TypeAlias = str | Step | Event
"""One thing of a scenario: the name of a line, of an action or a fault, or of a `reachable` of the spec, which is met
where the model is in such a state, whatever the hidden steps were; a step with its arguments; a line with its node, and
with the fields that it names."""

Sight: TypeAlias = tuple[Step | Event | None, AbstractSet[str]]
"""What a run did or showed (nothing, at its start), and the named conditions that held behind it."""


class Scenario(Struct, frozen=True):
    """Parts that are to come in this order, with anything in between."""

    name: str
    parts: tuple[Part, ...]

    def reached(self, sights: Iterable[Sight]) -> int:
        """How many of its parts came in a run."""
        met = 0
        for entry, conditions in sights:
            if entry is not None and met < len(self.parts) and _is(self.parts[met], entry):
                met += 1
            while met < len(self.parts) and _holds(self.parts[met], conditions):
                met += 1
        return met

    def content(self, reached: Sequence[int]) -> dict[str, Any]:
        """How far runs came, as JSON has it: of all `runs`, in how many it was `met`; the parts that came in the best
        of them, and what was missing next."""
        best, words = max(reached, default=0), [part_text(part) for part in self.parts]
        return {
            "name": self.name,
            "parts": words,
            "met": sum(one == len(words) for one in reached),
            "best": best,
            "missing": words[best] if best < len(words) else None,
        }


def scenario_lines(content: Mapping[str, Any], runs: int) -> list[str]:
    """What `Scenario.content` says, for people."""
    lines = []
    for one in content["scenarios"]:
        if one["met"]:
            lines.append(f"  scenario {one['name']}: in {one['met']:,} of {runs:,} runs")
        else:
            lines.append(f"  scenario {never_met(one)}")
    return lines


def never_met(content: Mapping[str, Any]) -> str:
    """That a scenario was met in no run, and how far the best run came."""
    best, parts = content["best"], content["parts"]
    came = f"the best one came to `{parts[best - 1]}`, part {best} of {len(parts)}, and then" if best else "all"
    return f"{content['name']}: in no run; {came} lacked `{content['missing']}`"


def named(scenarios: Iterable[Scenario]) -> frozenset[str]:
    """The names that they mention."""
    return frozenset(part for one in scenarios for part in one.parts if isinstance(part, str))


def part_text(part: Part) -> str:
    """A part, for people."""
    return part if isinstance(part, str) else part.text


def _holds(part: Part, conditions: AbstractSet[str]) -> bool:
    return isinstance(part, str) and part in conditions


def _is(part: Part, entry: Step | Event) -> bool:
    if isinstance(part, str):
        return part == (entry.method if isinstance(entry, Step) else entry.name)
    if isinstance(part, Event) and isinstance(entry, Event):
        fields = dict(entry.fields)
        same = (part.node, part.name) == (entry.node, entry.name)
        return same and all(name in fields and fields[name] == value for name, value in part.fields.items())
    return part == entry
