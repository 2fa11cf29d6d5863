"""Which lanes a space-time diagram has, where they stand, and what their modes are called in the room there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.run_view.view_reader import ViewReader

GUTTER = 6
"""Columns in front of the lanes: the number of the step, its mark, and the bracket of a loop; more where numbers have
more than three digits."""

WIDE = 140
"""From so many columns on lanes and captions spread."""

LANE_MIN, LANE_MAX, LANE_MAX_WIDE = 6, 13, 26
CAPTION_MIN, CAPTION_MAX = 26, 44

OUTSIDE = "outside"
"""The lane of what only an observer of the whole system sees: ghosts that the property reads."""

CLIENTS = "clients"
"""The lane of what is acknowledged to clients."""

LaneKind: TypeAlias = Literal["node", "lock", "clients", "outside"]


class Lane(Struct, frozen=True):
    """One lane; `column`: where its line stands, counted from the first lane."""

    kind: LaneKind
    name: str
    title: str
    column: int


class Layout(Struct, frozen=True):
    """The lanes of a diagram. `modes`: what each mode is called; `ghosts`: the variables that lane `outside` shows."""

    gutter: int
    lanes: tuple[Lane, ...]
    lane_width: int
    caption_width: int
    not_drawn: tuple[str, ...]
    modes: dict[str, str]
    ghosts: frozenset[str]

    @property
    def width(self) -> int:
        """The columns of all lanes."""
        return self.lane_width * len(self.lanes)

    @property
    def columns(self) -> dict[str, int]:
        """Where the lane of each name stands."""
        return {lane.name: lane.column for lane in self.lanes}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have lanes."""
        return tuple(lane.name for lane in self.lanes if lane.kind == "node")


def lay_out(reader: ViewReader, captions: StepCaptions, width: int, only: Sequence[str] = ()) -> Layout:
    """The lanes for a width. Those with the fewest events go first where not all have room."""
    events = _events(reader)
    nodes = [node for node in reader.nodes if events.get(node) and (not only or node in only)]
    locks = list(
        dict.fromkeys(one["lock"] for step in range(1, reader.last + 1) for one in reader.effects(step, "lock"))
    )
    ghosts = _ghosts(reader)
    gutter = GUTTER + max(0, len(str(reader.last)) - 3)
    caption = max(CAPTION_MIN, min(CAPTION_MAX, int(width * 0.45)))
    clients = reader.acknowledges
    if ghosts and LANE_MIN * (len(nodes) + len(locks) + clients + 1) > width - gutter - CAPTION_MIN:
        ghosts = frozenset()
    count = len(nodes) + len(locks) + clients + bool(ghosts)
    most = LANE_MAX_WIDE if width > WIDE else LANE_MAX
    while nodes and LANE_MIN * count > width - gutter - CAPTION_MIN:
        nodes.remove(min(reversed(nodes), key=lambda node: events[node]))
        count -= 1
    lane_width = max(LANE_MIN, min(most, (width - gutter - caption) // max(count, 1)))
    named: list[tuple[LaneKind, str]] = [("node", node) for node in nodes]
    named += [("lock", lock) for lock in locks]
    named += [("clients", CLIENTS)] if clients else []
    named += [("outside", OUTSIDE)] if ghosts else []
    room = lane_width - 1
    lanes = tuple(
        Lane(kind, name, _title(captions, kind, name, room), place * lane_width + lane_width // 2)
        for place, (kind, name) in enumerate(named)
    )
    left = tuple(node for node in reader.nodes if node not in nodes)
    taken = gutter + lane_width * len(lanes) + 1
    return Layout(gutter, lanes, lane_width, max(width - taken, 20), left, _modes(reader, lane_width - 2), ghosts)


def _title(captions: StepCaptions, kind: str, name: str, room: int) -> str:
    if len(name) <= room:
        return name
    if kind != "node":
        return name[: room - 1] + "."
    short = captions.name(name)
    number = short[len(short.rstrip("0123456789")) :]
    return short if len(short) <= room else short[: max(room - len(number), 1)].rstrip() + number


def _events(reader: ViewReader) -> dict[str, int]:
    """How much happens to each node."""
    found: dict[str, int] = {}
    for step in range(1, reader.last + 1):
        named = {reader.actor(step)}
        for effect in reader.steps[step - 1]["effects"]:
            named |= {str(effect.get(end)) for end in ("node", "from", "to", "a", "b")}
        named |= {change.owner for change in reader.changes(step) if change.owner}
        for node in named & set(reader.kind_of):
            found[node] = found.get(node, 0) + 1
    return found


def _ghosts(reader: ViewReader) -> frozenset[str]:
    """The shared ghosts that the property reads and the run writes, but for those that clients are promised."""
    read = set((reader.property or {}).get("reads", ())) - reader.promised
    marked = {slot["variable"] for slot in reader.slots if slot["ghost"] and not slot["owner"]} & read
    written = {change.variable for step in range(1, reader.last + 1) for change in reader.changes(step)}
    return frozenset(marked & written)


def _modes(reader: ViewReader, room: int) -> dict[str, str]:
    """What each mode is called in so many columns, brackets included; no two the same where that can be."""
    names = dict.fromkeys(member for mode in reader.view["modes"].values() for member in mode["members"])
    found: dict[str, str] = {}
    for name in names:
        short = name if len(name) <= room - 1 else name[: max(room - 2, 1)] + "."
        keep = room - 3
        while short in found.values() and keep > 0:
            short = name[:keep] + name[-(room - 1 - keep) :]
            keep -= 1
        found[name] = short
    return found
