"""What is wrong with the data of a trace: which property it breaks, which names, at which records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from hacheck.traces.conformance.verdicts import Place

LINES = "database_follows_its_lines"
GROUP = "group_shares_one_database"
CHANGES = "members_make_every_change"
READS = "reads_show_the_database"
KEPT = "acknowledged_is_kept"
GONE = "removed_stays_removed"

MEANINGS: Mapping[str, str] = {
    LINES: "a node's database is what its own lines made of it, also after a restart",
    GROUP: "a node that begins to serve in a group has the database of its coordinator",
    CHANGES: "a member of a group that makes a change made those before it, too",
    READS: "a client that reads all names is answered with those of the node that it called",
    KEPT: "what was acknowledged to a client as added is there later, in every group and for every reader",
    GONE: "what was acknowledged to a client as removed is there no more, in no group and for no reader",
}
"""The properties of data, with what each means. They need no model."""

NAMES_SHOWN = 5


class Contradiction(Struct, frozen=True):
    """A property of data that the records of a trace break. `text`: what is wrong, without its full stop; `start`: the
    record that shows it; `since`: the one that it contradicts, where there is one; `node`: whose database it is;
    `sure`: whatever clients recorded nothing of."""

    name: str
    text: str
    start: Place
    since: Place | None
    node: str
    sure: bool = True


def listed(noun: str, names: Iterable[str]) -> str:
    """Names in a sentence: `topics B, C and 7 more`."""
    found = sorted(names)
    some = ", ".join(f"`{name}`" for name in found[:NAMES_SHOWN])
    more = f" and {len(found) - NAMES_SHOWN:,} more" if len(found) > NAMES_SHOWN else ""
    return f"{noun}{'' if len(found) == 1 else 's'} {some}{more}"


def difference(noun: str, expected: Iterable[str], found: Iterable[str]) -> str:
    """In which names a set differs from the one that was expected."""
    wanted, there = set(expected), set(found)
    said = []
    if wanted - there:
        said.append(f"{listed(noun, wanted - there)} missing")
    if there - wanted:
        said.append(f"{listed(noun, there - wanted)} too many")
    return ", ".join(said)
