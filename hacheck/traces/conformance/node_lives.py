"""How long nodes lived, as their logs show it: what a silent crash can be, and when it is taken to have been.

A line of any kind shows that its node was there. So a node did not end before the last line of its log, where a new
start would have left a line. And of a node that wrote a line again after a crash that nobody wrote down, it is likely
that it ended soon after the last line before: a *prompt* run has every such crash before another node's next record.
Where a record that is not compared says that somebody killed its process, it ended then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.compile import slots_of
from hacheck.model import ir
from hacheck.traces.conformance.interleavings import Cut
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.record_words import bits_of
from hacheck.traces.conformance.trace_program import Bits, Compiled
from hacheck.traces.records import EVENT, FIELDS, NODE, TIME

LOG_UNTIL = "log_until"
"""The field of records that says until when the log of their node continues."""

KILLED, TARGET = "killed", "target"
"""The event and the field by which a time line says that the process of a node, by its number, was ended."""


class NodeLife(Struct, frozen=True):
    """A node that may crash, and its records.

    - `name`: what the log calls it; `up`: where a state says whether it is up; `starts_show`: each of its starts leaves
      a line;
    - `records`: by stream, which of the records there are its own, as places that rise;
    - `until`: by stream and own record, the time up to which its log continues before its next record.
    """

    name: str
    up: Bits
    starts_show: bool
    records: tuple[Any, ...]
    until: tuple[Any, ...]

    def last_line(self, cut: Cut) -> tuple[int | None, bool]:
        """Until when its log goes before a cut, and whether that is the end of its log."""
        latest: int | None = None
        ended = True
        for mine, until, at in zip(self.records, self.until, cut, strict=True):
            taken = int(np.searchsorted(mine, at))
            ended = ended and taken == len(mine)
            if taken:
                latest = int(until[taken - 1]) if latest is None else max(latest, int(until[taken - 1]))
        return latest, ended

    def following(self, cut: Cut) -> tuple[int, int] | None:
        """Its first record behind a cut, by stream and place there."""
        for stream, (mine, at) in enumerate(zip(self.records, cut, strict=True)):
            taken = int(np.searchsorted(mine, at))
            if taken < len(mine):
                return stream, int(mine[taken])
        return None

    def is_up(self, states: Any) -> Any:
        """In which of some states, in words, it is up."""
        word = states[:, self.up.word] >> np.uint64(self.up.shift)
        return (word & np.uint64((1 << self.up.width) - 1)) != 0

    def ended(self, before: Any, after: Any) -> Any:
        """Which of some steps, by the states before and after them, end it."""
        return self.is_up(before) & ~self.is_up(after)


class NodeLives(Struct, frozen=True):
    """The nodes of a trace that may crash. `times`: by stream those of its records; `skew_ns`: how far these may be
    wrong; `last`: the time of the last record that is compared."""

    nodes: tuple[NodeLife, ...]
    times: Sequence[Any]
    skew_ns: int
    last: int

    def continuing(self, cut: Cut) -> list[NodeLife]:
        """The nodes that a hidden step from a cut cannot end: their logs continue later, and no new start of theirs
        comes."""
        return [node for node in self.nodes if self._continues(node, cut)]

    def late(self, cut: Cut) -> list[NodeLife]:
        """The nodes that have written nothing for so long at a cut that a prompt run has no crash of theirs there."""
        found = []
        for node in self.nodes:
            latest, _ = node.last_line(cut)
            others = self._latest_of_others(node, cut)
            if others is not None and (latest is None or others > latest + self.skew_ns):
                found.append(node)
        return found

    def end_ns(self) -> int | None:
        """Until when all nodes that may crash lived for sure, beyond the last record; `None` where none may."""
        whole = tuple(len(times) for times in self.times)
        ends = [node.last_line(whole)[0] if self._continues(node, whole) else None for node in self.nodes]
        return min((self.last if end is None else end for end in ends), default=None)

    def _continues(self, node: NodeLife, cut: Cut) -> bool:
        latest, ended = node.last_line(cut)
        if latest is None or not (ended and node.starts_show):
            return False
        left = [int(times[at]) for times, at in zip(self.times, cut, strict=True) if at < len(times)]
        return latest > min(left) + self.skew_ns if left else latest > self.last

    def _latest_of_others(self, node: NodeLife, cut: Cut) -> int | None:
        """The time of the latest record of other nodes before a cut."""
        found: int | None = None
        for mine, times, at in zip(node.records, self.times, cut, strict=True):
            place, own = at - 1, int(np.searchsorted(mine, at)) - 1
            while place >= 0 and own >= 0 and mine[own] == place:
                place, own = place - 1, own - 1
            if place >= 0 and (found is None or times[place] > found):
                found = int(times[place])
        return found


def lives_of(
    system: ir.System, compiled: Compiled, batch: Any, rows: Sequence[Any], times: Sequence[Any], skew_ns: int
) -> NodeLives:
    """The lives of the nodes of a trace. `system`: whose steps write lines; `rows`: by stream, which record of the
    batch each is; `times`: by stream those of its records."""
    encoder = Encoder(compiled)
    nodes = batch.column(NODE).to_pylist()
    until = log_ends(batch)
    names = (one.name for one in compiled.shape.system.variables)
    places = dict(zip(names, compiled.program.layout.places, strict=True))
    found = []
    for name in dict.fromkeys(nodes):
        place = encoder.writer(name)
        writer = compiled.shape.writers[place] if 0 <= place < len(compiled.shape.writers) else None
        up = None if writer is None else _up_bits(compiled, places, writer)
        if writer is None or up is None:
            continue
        written = np.flatnonzero(np.array(nodes, object) == name)
        kills = _kills(compiled, batch, writer[1])
        own = [np.flatnonzero(np.isin(there, written)) for there in rows]
        streams = zip(rows, own, times, strict=True)
        ends = [_ends(written, until, there[mine], when[mine], kills) for there, mine, when in streams]
        found.append(NodeLife(name, up, _starts_show(system, writer[0]), tuple(own), tuple(ends)))
    last = max((int(one[-1]) for one in times if len(one)), default=0)
    return NodeLives(tuple(found), times, skew_ns, last)


def log_ends(batch: Any) -> Any | None:
    """By record of a batch until when its node's log continues, in nanoseconds; `None` where there are no times."""
    column = batch.column(TIME)
    if column.null_count:
        return None
    times = column.to_numpy(zero_copy_only=False)
    fields = batch.column(FIELDS) if FIELDS in batch.schema.names else None
    if fields is None or fields.type.get_field_index(LOG_UNTIL) < 0:
        return times
    said = pc.fill_null(pc.struct_field(fields, LOG_UNTIL), 0).to_numpy(zero_copy_only=False)
    return np.maximum(times, said)


def _ends(written: Any, until: Any | None, compared: Any, times: Any, kills: Any) -> Any:
    """Until when a node's log continues before its next record that is compared. `written`: all its records, as rows;
    `compared`: those that are compared, with their times as the search has them; `kills`: when its process was ended:
    lines behind that are of the next process."""
    if until is None:
        return times
    ends = times.copy()
    for number, row in enumerate(compared):
        later = compared[number + 1] if number + 1 < len(compared) else np.iinfo(np.int64).max
        mine = written[(written >= row) & (written < later)]
        ends[number] = max(int(times[number]), int(until[mine].max()))
        following = int(times[number + 1]) if number + 1 < len(compared) else later
        between = kills[(kills >= times[number]) & (kills <= following)]
        ends[number] = min(int(ends[number]), int(between.min())) if len(between) else ends[number]
    return ends


def _kills(compiled: Compiled, batch: Any, number: int) -> Any:
    """When the process of a node was ended, as records say of which the spec does not know the event; in order."""
    fields = batch.column(FIELDS) if FIELDS in batch.schema.names else None
    compared = any(event.name == KILLED and event.written for event in compiled.shape.events)
    if compared or fields is None or fields.type.get_field_index(TARGET) < 0 or batch.column(TIME).null_count:
        return np.zeros(0, np.int64)
    target = pc.struct_field(fields, TARGET)
    if not pa.types.is_integer(target.type):
        return np.zeros(0, np.int64)
    its = pc.fill_null(pc.and_(pc.equal(batch.column(EVENT), KILLED), pc.equal(target, number)), False)
    return np.sort(batch.column(TIME).filter(its).to_numpy(zero_copy_only=False))


def _up_bits(compiled: Compiled, places: dict[str, Any], writer: tuple[str, int]) -> Bits | None:
    """Where a state says whether a node is up; `None` where it never goes down, or nothing depends on that."""
    kind, number = writer
    variable = next((one for one in compiled.shape.system.variables if one.name == f"{kind}.up"), None)
    if variable is None:
        return None
    slots = list(slots_of(places[variable.name]))
    if not 0 < number <= len(slots):
        return None
    bits = bits_of(compiled.program.layout, slots[number - 1])
    return bits if bits.width else None


def _starts_show(system: ir.System, kind: str) -> bool:
    """Whether each start of a node of a kind leaves a line."""
    starts = [action for action in system.actions if action.name == f"restart {kind}"]
    return all(any(isinstance(one, ir.Log) for one in action.body) for action in starts)
