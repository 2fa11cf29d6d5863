"""Where every line of a log went: into an event, into the entry above, or nowhere, by kind."""

from __future__ import annotations

import re
from collections import Counter

KINDS_MAX = 1_000
"""So many kinds of unknown lines are distinguished; further ones are counted together."""

OTHER = "(of other kinds)"

_CHANGING = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|0x[0-9A-Fa-f]+|\d+(?:\.\d+)*")


class Tally:
    """Counts of lines. `lines` is the sum of all the others."""

    def __init__(self) -> None:
        self.lines = 0
        self.events: Counter[str] = Counter()
        self.nothing: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.continued = 0
        self.blank = 0
        self.findings = 0

    def unknown_line(self, text: str) -> None:
        """Counts a line that no rule speaks of, under what lines of its kind have in common."""
        kind = kind_of(text)
        self.unknown[kind if kind in self.unknown or len(self.unknown) < KINDS_MAX else OTHER] += 1

    @property
    def accounted(self) -> int:
        """The lines that went somewhere; all of them, or there is a bug."""
        counted = self.events.total() + self.nothing.total() + self.unknown.total()
        return counted + self.continued + self.blank + self.findings

    def to_json(self) -> dict[str, object]:
        """All counts."""
        return {
            "lines": self.lines,
            "events": dict(sorted(self.events.items())),
            "nothing": dict(sorted(self.nothing.items())),
            "unknown": dict(self.unknown.most_common()),
            "continued": self.continued,
            "blank": self.blank,
            "findings": self.findings,
        }


def kind_of(text: str) -> str:
    """What a line has in common with others of its kind: numbers and identities as `#`, and not too long."""
    return _CHANGING.sub("#", " ".join(text.split()))[:80]
