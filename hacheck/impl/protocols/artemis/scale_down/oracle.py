"""What is promised of servers that scale down, and whether a run kept it: what clients were answered against all disks.

No acknowledged message is lost, wherever it was moved to; a prepared transaction is known to somebody. A message may be
there twice only if a scale-down was interrupted, and out of order only where another server's messages came to.
Source: HornetQ manual, "Scaling Down"; broker facts 2.12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hacheck.impl.kit.ledger import Ledger, lost
from hacheck.impl.kit.storage import decode
from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.artemis.journal import Journal, from_files
from hacheck.impl.protocols.artemis.scale_down.options import ScaleDownOptions, group_of
from hacheck.impl.protocols.artemis.shared_store.broker import ACTIVATION_KEY, STORE, Activation
from hacheck.impl.system import Broken, Member


def journal_of(store: Mapping[str, bytes], options: ScaleDownOptions) -> Journal:
    """What a store has."""
    raw = store.get(ACTIVATION_KEY)
    folder = decode(raw, Activation, "lock file").folder if raw is not None else ""
    files = {key[len(folder) :]: value for key, value in store.items() if key.startswith(folder)}
    return from_files(files, options)


def name_of(duplicate_id: str) -> tuple[str, int]:
    """Which incarnation of which client sent a message, and as its how many-th."""
    member, incarnation, *_, number = duplicate_id.split(".")
    return f"{member}.{incarnation}", int(number)


class ScaleDownOracle:
    """Watches a run. `ledger`: the messages that clients sent, and what they were answered. `scaling`: who scales
    down just now, and where to. `interrupted`: how many scale-downs were begun and not finished. `targets`: who was
    moved to. `prepared`: branches that a client knows to be prepared, and not to be ended."""

    def __init__(self, members: tuple[Member, ...], options: ScaleDownOptions) -> None:
        self._options = options
        self._servers = tuple(member.name for member in members if member.role == "primary")
        self._members = members
        self.ledger = Ledger()
        self.scaling: dict[Name, Name] = {}
        self.interrupted = 0
        self.targets: dict[Name, None] = {}
        self.prepared: dict[str, None] = {}
        self._clients: dict[Name, str] = {}
        self._absorbed: set[tuple[Name, str]] = set()
        self._restarted: set[Name] = set()
        self._broken: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        event, fields = record.event, record.fields
        if event == "asked":
            self.ledger.requested(member, fields)
        elif event == "told":
            self.ledger.answered(fields)
            if fields["outcome"] == "ok":
                self.prepared.pop(fields["request"], None)
        elif event == "prepared":
            self.prepared[fields["branch"]] = None
        elif event == "scale_down_begun":
            self._begun(at_us, fields["server"], fields["target"])
        elif event == "scale_down_failed":
            if self.scaling.pop(fields["server"], None) is not None:
                self.interrupted += 1
        elif event == "scaled_down":
            self.scaling.pop(fields["server"], None)
        elif event == "stands_in":
            self._absorbed.update((member, node_id) for node_id in fields["nodes"])
        elif event == "connected":
            self._connected(at_us, member, fields)

    def _begun(self, at_us: int, server: Name, target: Name) -> None:
        self.scaling[server] = target
        self.targets[target] = None
        own = int(server.rpartition("-")[2]) - 1
        groups = [group_of(number, len(self._servers), self._options) for number in range(len(self._servers))]
        if groups[own] != groups[self._servers.index(target)]:
            self._broken.append(Broken("own-group", f"{server} scales down to {target}, of another group", at_us))

    def _connected(self, at_us: int, member: Name, fields: Mapping[str, str]) -> None:
        broker, before = fields["broker"], fields["of"]
        if before in ("", fields["node_id"]) or broker in self._restarted:
            return
        if (broker, before) not in self._absorbed:
            story = f"{member} was let in at {broker}, which has not got what {before} had"
            self._broken.append(Broken("state-is-there", story, at_us))

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self._restarted.add(member)
        for server in [name for name in self.scaling if name.partition("/")[0] == member]:
            del self.scaling[server]
            self.interrupted += 1
        for branch in [branch for branch in self.prepared if branch.partition(".")[0] == member]:
            del self.prepared[branch]  # nobody knows any more that it is to be committed

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        journals = {
            server: journal_of(durable[f"{STORE}-{number}"], self._options)
            for number, server in enumerate(self._servers, 1)
        }
        broken = self._broken[:3]
        present: Counter[str] = Counter()
        branches: set[str] = set()
        for server, journal in journals.items():
            present.update(stored.duplicate_id for stored in journal.messages.values())
            branches.update(journal.branches)
            if server not in self.targets:
                broken.extend(self._order(at_us, server, journal))
        broken.extend(self._kept(at_us, present, branches))
        serving = [name for name in self._servers if getattr(nodes.get(name), "serving", False)]
        if not serving and all(member.name in nodes for member in self._members):
            broken.append(Broken("serves-again", "no server serves", at_us))
        return broken

    def _kept(self, at_us: int, present: Counter[str], branches: set[str]) -> Iterator[Broken]:
        for name, _ in self.ledger.acknowledged():
            if not present[name]:
                yield lost(at_us, name)
        if not self.interrupted and not self.scaling:
            for name, times in present.items():
                if times > 1:
                    story = f"message {name} is there {times} times, and no scale-down was interrupted"
                    yield Broken("exactly-once", story, at_us)
        for name in self.prepared:
            if name not in branches and not present[name]:
                yield Broken("prepared-kept", f"transaction {name} was prepared, and nobody knows of it", at_us)

    def _order(self, at_us: int, server: Name, journal: Journal) -> Iterator[Broken]:
        last: dict[str, tuple[int, str]] = {}
        for stored in journal.messages.values():
            sender, number = name_of(stored.duplicate_id)
            before, earlier = last.get(sender, (0, ""))
            if number < before:
                story = f"at {server}, to which nothing was moved, {stored.duplicate_id} is behind {earlier}"
                yield Broken("order-kept", story, at_us)
            last[sender] = (number, stored.duplicate_id)
