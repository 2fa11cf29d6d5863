"""The databases of all nodes of a trace, compared with each other and with what clients were answered.

Nothing here depends on a model: what is reported, the records alone show. Clocks of two nodes differ by at most the
skew, so one moment of one node is compared with all those of another one that may have been the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from hacheck.traces.adapters.data_rules import DataRules
from hacheck.traces.conformance.verdicts import Place
from hacheck.traces.data.client_calls import Call, Calls, call_of, sorted_calls
from hacheck.traces.data.client_reads import contradicted_reads
from hacheck.traces.data.content import reference
from hacheck.traces.data.contradictions import (
    CHANGES,
    GONE,
    GROUP,
    KEPT,
    LINES,
    READS,
    Contradiction,
    difference,
    listed,
)
from hacheck.traces.data.node_database import Fetch, NodeDatabase, Restart, time_of

NOBODY = "-"
"""The node of records that are no node's own."""


class Service(Struct, frozen=True):
    """A node that begins to serve in a group, and the place of the version of its database; -1 where it is unknown."""

    node: str
    place: Place
    version: int


class Group(Struct):
    """A group of nodes. `changes`: the names that its coordinator added while it served, with their records; `seen`:
    how many of them each member was compared with."""

    lead: Service | None = None
    joined: list[Service] = field(default_factory=list)
    changes: list[tuple[str, Place]] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)


class TraceDatabases:
    """Follows the records of one trace, which come in the order of their numbers."""

    def __init__(self, rules: DataRules, skew_ns: int) -> None:
        self._rules = rules
        self._skew = skew_ns
        self._nodes: dict[str, NodeDatabase] = {}
        self._groups: dict[str, Group] = {}
        self._ends: dict[str, list[int]] = {}
        self._calls: list[Call] = []
        self._added: dict[str, list[int]] = {}
        self._removed: dict[str, list[int]] = {}
        self._found: list[Contradiction] = []

    def record(self, place: Place, fields: Mapping[str, Any]) -> None:
        """Takes the next record of the trace."""
        rules, event = self._rules, place.event
        if rules.calls is not None and event == rules.calls.event:
            call = call_of(place, dict(fields), rules.calls)
            self._calls += [] if call is None else [call]
        elif rules.end is not None and event == rules.end.event:
            self._ends.setdefault(str(fields.get(rules.end.field)), []).append(time_of(place))
        elif place.node != NOBODY and rules.logs_show_data:
            self._of_node(self._database(place.node), place, fields)

    def contradictions(self) -> list[Contradiction]:
        """Everything that is wrong, in the order of the records that show it: all records are there."""
        for node in self._nodes.values():
            node.loaded()
        calls = Calls({}, {}, []) if self._rules.calls is None else sorted_calls(self._calls, self._rules.calls)
        for group in self._groups.values():
            self._same_database(group)
        for node in self._nodes.values():
            for restart in node.restarts:
                self._restarted(restart, calls)
            for fetch in node.fetches:
                self._fetched(node, fetch)
        if not self._rules.logs_show_data:
            self._found += contradicted_reads(calls, self._rules.noun, self._skew)
        lost = self._kept(calls)
        if self._rules.logs_show_data:
            self._never_made(calls, lost)
        self._dropped(calls)
        self._read(calls)
        return sorted(self._found, key=lambda one: one.start.seq)

    def _database(self, node: str) -> NodeDatabase:
        found = self._nodes.get(node)
        if found is None:
            found = self._nodes[node] = NodeDatabase(node, self._rules.noun, self._found.append)
        return found

    def _of_node(self, node: NodeDatabase, place: Place, fields: Mapping[str, Any]) -> None:
        rules, event = self._rules, place.event
        if event == rules.start:
            node.start(place)
        elif event == rules.load.event:
            node.load(fields[rules.load.field])
        elif event == rules.take.event:
            node.take(frozenset(fields.get(rules.take.field) or ()), place)
        elif rules.fetch is not None and event == rules.fetch.event:
            node.fetch(str(fields.get(rules.fetch.field)), place)
        elif event == rules.add.event:
            name = fields[rules.add.field]
            if node.add(name, place):
                self._added.setdefault(name, []).append(time_of(place))
                self._changed(node, name, place)
        elif event == rules.remove.event:
            name = fields[rules.remove.field]
            if node.remove(name, place):
                self._removed.setdefault(name, []).append(time_of(place))
                self._changed(node, None, place)
        elif rules.lead is not None and event == rules.lead.event:
            self._serves(node, str(fields.get(rules.lead.field)), place, member=False)
        elif rules.join is not None and event == rules.join.event:
            self._serves(node, str(fields.get(rules.join.field)), place, member=True)
        elif rules.leave is not None and event == rules.leave[0] and fields.get(rules.leave[1]) == rules.leave[2]:
            node.leave()

    def _serves(self, node: NodeDatabase, name: str, place: Place, *, member: bool) -> None:
        node.serve(name, member=member)
        group = self._groups.setdefault(name, Group())
        known = node.content.names is not None
        service = Service(node.node, place, len(node.content.versions) - 1 if known else -1)
        if member:
            group.joined.append(service)
            group.seen[node.node] = len(group.changes)
        else:
            group.lead = service

    def _changed(self, node: NodeDatabase, name: str | None, place: Place) -> None:
        """A node in service made a change; a member must have made those before it."""
        group = None if node.group is None else self._groups.get(node.group)
        if group is None:
            return
        if not node.member:
            group.changes += [] if name is None else [(name, place)]
            return
        start = group.seen.get(node.node, 0)
        for name_before, before in group.changes[start:]:
            if time_of(before) > time_of(place) - self._skew:
                break
            group.seen[node.node] = start = start + 1
            if node.content.names is not None and name_before not in node.made:
                said = f"{listed(self._rules.noun, [name_before])}, which its coordinator added before"
                text = f"node {node.node} makes a change, and never added {said}"
                self._found.append(Contradiction(CHANGES, text, place, before, node.node))

    def _same_database(self, group: Group) -> None:
        """Every member begins with the database of the coordinator."""
        lead = group.lead
        if lead is None or lead.version < 0:
            return
        content = self._nodes[lead.node].content
        for member in group.joined:
            own = self._nodes[member.node].content
            if member.version < 0 or own.versions[member.version].held == content.versions[lead.version].held:
                continue
            differs = difference(self._rules.noun, content.at(lead.version), own.at(member.version))
            text = f"node {member.node} begins to serve with {differs}, compared with coordinator {lead.node}"
            self._found.append(Contradiction(GROUP, text, member.place, lead.place, member.node))

    def _fetched(self, node: NodeDatabase, fetch: Fetch) -> None:
        """A database that was taken from a node is one that it had."""
        source = self._named(fetch.source)
        if source is None:
            return
        start, end = time_of(fetch.place) - self._skew, time_of(fetch.taken) + self._skew
        content, taken = source.content, node.content.versions[fetch.version]
        places = list(content.within(start, end))
        if not content.known_within(start, end) or any(content.versions[one].held == taken.held for one in places):
            return
        differs = difference(self._rules.noun, content.at(places[-1]), node.content.at(fetch.version))
        text = f"node {fetch.node} took the database of node {source.node} with {differs}"
        self._found.append(Contradiction(GROUP, text, fetch.taken, fetch.place, fetch.node))

    def _restarted(self, restart: Restart, calls: Calls) -> None:
        """What is on the disk is what was there when the process ended, but for changes under way."""
        start = time_of(restart.start)
        ends = [at for at in self._ends.get(restart.node, ()) if restart.began <= at <= start + self._skew]
        until = min(max(ends, default=start), start) + self._skew
        if not restart.served and self._was_pushed(restart, until):
            return
        missing = {
            name
            for name in restart.before - restart.loaded
            if not calls.remove_called_by(name, until) and not _between(self._removed, name, restart.began, until)
        }
        extra = {
            name
            for name in restart.loaded - restart.before
            if calls.any_change and name not in restart.removed and not calls.add_called_by(name, until)
        }
        if missing or extra:
            differs = difference(self._rules.noun, missing, extra)
            text = f"node {restart.node} starts with {differs} on its disk, compared with its lines before"
            self._found.append(Contradiction(LINES, text, restart.start, None, restart.node))

    def _was_pushed(self, restart: Restart, until: int) -> bool:
        """Whether another node had, in that life of the process, exactly what is on its disk: it may have been taken
        without a line."""
        held = reference(restart.loaded)
        others = [node.content for name, node in self._nodes.items() if name != restart.node]
        return any(
            content.versions[one].held == held
            for content in others
            for one in content.within(restart.began - self._skew, until)
        )

    def _kept(self, calls: Calls) -> set[str]:
        """What clients know is added, and removed, is so in every later group. Each name is reported once; returns the
        added ones that are."""
        leads = [group.lead for group in self._groups.values() if group.lead is not None and group.lead.version >= 0]
        lost: set[str] = set()
        back: set[str] = set()
        for lead in sorted(leads, key=lambda one: time_of(one.place)):
            names = self._nodes[lead.node].content.at(lead.version)
            for name in calls.adds.keys() - names - lost:
                add = self._last_done(calls.adds[name], lead)
                if add is not None and not self._excused(add, calls.removes.get(name, ()), self._removed, lead):
                    lost.add(name)
                    said = f"{listed(self._rules.noun, [name])} was acknowledged ({add.place.words})"
                    text = f"{said}, and the group that node {lead.node} leads lacks it"
                    self._found.append(Contradiction(KEPT, text, lead.place, add.place, lead.node))
            for name in (calls.removes.keys() & names) - back:
                remove = self._last_done(calls.removes[name], lead)
                if remove is not None and not self._excused(remove, calls.adds.get(name, ()), self._added, lead):
                    back.add(name)
                    said = f"{listed(self._rules.noun, [name])} was removed by a client ({remove.place.words})"
                    text = f"{said}, and the group that node {lead.node} leads has it again"
                    self._found.append(Contradiction(GONE, text, lead.place, remove.place, lead.node))
        return lost

    def _never_made(self, calls: Calls, lost: set[str]) -> None:
        """What was acknowledged and no node made during the call or has at its end: all databases are known then, that
        of the node that was called among them. `lost`: is reported already."""
        contents = [node.content for node in self._nodes.values()]
        for name, held in calls.adds.items():
            for call in held if name not in lost else ():
                start, end = call.called - self._skew, call.ended + self._skew
                if not call.done or self._named(call.node) is None or _between(self._added, name, start, end):
                    continue
                if not all(content.known_within(call.ended, end) for content in contents):
                    continue
                if not any(name in content.at(one) for content in contents for one in content.within(call.ended, end)):
                    text = f"{listed(self._rules.noun, [name])} was acknowledged, and no node made it"
                    self._found.append(Contradiction(KEPT, text, call.place, None, call.node))

    def _dropped(self, calls: Calls) -> None:
        """Names that a node had and gave up for the database of another one, where nobody removed them and no client
        recorded that it added them: whether they were acknowledged is unknown, so a loss is possible."""
        said: set[str] = set()
        every = [one for node in self._nodes.values() for one in node.dropped]
        for one in sorted(every, key=lambda one: time_of(one.place)):
            until = time_of(one.place) + self._skew
            names = {
                name
                for name in one.names - said
                if name not in calls.adds
                and not calls.remove_called_by(name, until)
                and not _between(self._removed, name, 0, until)
            }
            if names:
                said |= names
                text = f"node {one.node} takes a database without {listed(self._rules.noun, names)}, which it had"
                text += "; whether they were acknowledged, no client recorded"
                self._found.append(Contradiction(KEPT, text, one.place, one.began, one.node, sure=False))

    def _last_done(self, calls: list[Call], lead: Service) -> Call | None:
        """The last call that its client knew to be carried out before a group began to serve."""
        done = [call for call in calls if call.done and call.ended + self._skew < time_of(lead.place)]
        return max(done, key=lambda call: call.ended, default=None)

    def _excused(self, call: Call, others: Any, lines: Mapping[str, list[int]], lead: Service) -> bool:
        """Whether another call, or a line of a node, may have undone it before the group began to serve."""
        until = time_of(lead.place) + self._skew
        undone = any(other.ended >= call.called and other.called <= until for other in others)
        return undone or _between(lines, call.name, call.called - self._skew, until)

    def _read(self, calls: Calls) -> None:
        """What clients read is what the node that they called had, at some moment during the call."""
        for read in calls.reads:
            node = self._named(read.node)
            start, end = read.called - self._skew, read.ended + self._skew
            if node is None or read.names is None or not node.content.known_within(start, end):
                continue
            places = list(node.content.within(start, end))
            held = reference(read.names)
            if not any(node.content.versions[one].held == held for one in places):
                differs = difference(self._rules.noun, node.content.at(places[-1]), read.names)
                text = f"a client read {differs} at node {node.node}, compared with its lines"
                self._found.append(Contradiction(READS, text, read.place, None, node.node))

    def _named(self, said: str) -> NodeDatabase | None:
        """The node that a record calls so: by its name, or by its number."""
        if said in self._nodes:
            return self._nodes[said]
        found = [node for name, node in self._nodes.items() if said and re.fullmatch(rf".*\D0*{re.escape(said)}", name)]
        return found[0] if len(found) == 1 else None


def _between(moments: Mapping[str, list[int]], name: str, start: int, end: int) -> bool:
    return any(start <= at <= end for at in moments.get(name, ()))
