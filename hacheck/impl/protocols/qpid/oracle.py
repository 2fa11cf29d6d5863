"""What a cluster of brokers has promised its clients, and whether a run kept it.

| promise | means |
|---|---|
| `kept` | what was completed to its publisher, and no client wanted to accept, is on its queue at the primary (Q-G1) |
| `one-primary` | no broker completes messages when another has been promoted since (P1) |
| `replicated` | a ready backup has the queues and messages of the primary (P9) |
| `doubt-only` | no message is on a queue more often than it was sent (Q-G2) |
| `redundant` | a broker that runs is ready again (P11) |
| `serves-again` | if a broker can be promoted, one is active (P10) |
| `completes` | what was sent is completed, or held up only by what just happened (P11) |

A message is kept only as long as a broker that holds all that was acknowledged runs: the primary, and the backups that
it calls ready or waits for. When the last of them is gone, so is what was promised until then: that is a total failure,
which the protocol does not promise to survive (Q-G3). With one broker and a store, its disk holds it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.broker import Broker
from hacheck.impl.protocols.qpid.client import Client
from hacheck.impl.protocols.qpid.manager import STOPPED, Manager
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.queues import Queue
from hacheck.impl.protocols.qpid.transactions_oracle import TransactionsOracle
from hacheck.impl.system import Broken, Member

RECENT_US = 3_000_000
"""What happened so short a time before the end may still be on its way."""


class SentMessage:
    """A message that a client sent: when, to which queue, how often. `is_completed`: a broker said that it is safe;
    `is_safe`: the client heard it."""

    __slots__ = ("at_us", "is_completed", "is_safe", "queue", "times")

    def __init__(self, at_us: int, queue: str) -> None:
        self.at_us = at_us
        self.queue = queue
        self.times = 1
        self.is_completed = False
        self.is_safe = False


class ClusterOracle:
    """Watches a cluster. `copies`: who holds everything that was acknowledged. `messages`: what clients sent.
    `accepted`: what consumers wanted to accept, and when. `statuses`: those of brokers that run. `reported`:
    backups that the primary has found ready."""

    def __init__(self, members: tuple[Member, ...], options: Options) -> None:
        self.brokers = tuple(member.name for member in members if member.role == "replica")
        self.options = options
        self.outlives_restarts = options.store and len(self.brokers) == 1
        self.copies: dict[Name, None] = {}
        self.statuses: dict[Name, str] = {}
        self.reported: dict[Name, None] = {}
        self.primary: Name = ""
        self.term = 0
        self.terms: dict[Name, int] = {}
        self.messages: dict[str, SentMessage] = {}
        self.requests: dict[str, list[str]] = {}
        self.accepted: dict[str, int] = {}
        self.broken: list[Broken] = []
        self.transactions = TransactionsOracle(options)
        self._events = {
            "asked": self._requested,
            "told": self._outcome,
            "client_connected": self._connected,
            "failed": self._failed,
            "completed": self._completed,
            "promoted": self._promoted,
            "membership": self._membership,
            "backup_known_ready": self._backup_ready,
            "status_change": self._status_change,
            "received": self._received,
        }

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        handler = self._events.get(record.event)
        if handler is not None:
            handler(at_us, member, record.fields)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self.terms.pop(member, None)
        self.statuses.pop(member, None)
        self.reported.pop(member, None)
        if not self.outlives_restarts and self.copies.pop(member, 0) is None and not self.copies:
            self._forget()

    def _forget(self) -> None:
        """Nobody is left who had everything: what was acknowledged so far, heard or not, is not promised any more."""
        self.messages = {name: sent for name, sent in self.messages.items() if not sent.is_completed}
        self.transactions.forget()

    # ---- clients ----------------------------------------------------------------------------------------------------

    def _requested(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        names = fields["messages"]
        operation = fields["operation"]
        if "transaction" in fields:
            self.transactions.requested(fields)
            self._accepted(at_us, fields.get("taken", ()))
            if operation != "commit":
                return
        if operation == "accept":
            self._accepted(at_us, names)
        elif operation == "delete":
            queue = fields["queue"]
            self.messages = {name: sent for name, sent in self.messages.items() if sent.queue != queue}
        else:
            self.requests[fields["request"]] = names
            for name in names:
                known = self.messages.get(name)
                if known is None:
                    self.messages[name] = SentMessage(at_us, fields["queue"])
                else:
                    known.times += 1

    def _accepted(self, at_us: int, names: Iterable[str]) -> None:
        for name in names:
            self.accepted[name] = at_us
            self.messages.pop(name, None)

    def _received(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        self.broken.extend(self.transactions.received(at_us, member, fields))

    def _outcome(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if "transaction" in fields:
            self.transactions.ended(fields)
        names = self.requests.pop(fields["request"], ())
        if fields["outcome"] == "ok":
            for name in names:
                if name in self.messages:
                    self.messages[name].is_safe = True

    def _connected(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        for name in fields.get("resent", ()):
            if name in self.messages:
                self.messages[name].times += 1

    def _failed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["request"] in self.messages:
            self.messages[fields["request"]].times += 1

    # ---- brokers ----------------------------------------------------------------------------------------------------

    def _promoted(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        """The old primary, if it still runs, does not count any more. If nobody else had everything, that was a total
        failure; if somebody had, and another is promoted, it is a loss. The new one waits for those it expects."""
        if self.primary != member:
            self.copies.pop(self.primary, None)
        if not self.copies and not self.outlives_restarts:
            self._forget()
        self.primary = member
        self.term = self.terms[member] = fields["term"]
        self.copies = {member: None, **{name: None for name in fields["expected"] if name in self.copies}}

    def _membership(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        """The one that the primary does not list lacks what it acknowledges from now on. Who is listed need not have it
        all yet: a backup that comes back says that it is ready, and is listed so (Q-W1)."""
        if member == self.primary:
            listed = {member, *fields["ready"], *fields["expected"]}
            self.copies = {name: None for name in self.copies if name in listed}
            self.reported = {name: None for name in self.reported if name in listed}

    def _backup_ready(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        """A backup has everything, if it still runs. One without queues may be joining yet: it counts when it hears."""
        backup = fields["backup"]
        if member == self.primary:
            self.reported[backup] = None
            if self.statuses.get(backup) in (statuses.CATCHUP, statuses.READY):
                self.copies[backup] = None

    def _status_change(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        self.statuses[member] = fields["new"]
        if fields["new"] == statuses.READY and member in self.reported:
            self.copies[member] = None

    def _completed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        for request in fields["messages"]:
            for name in self.requests.get(request, ()):
                if name in self.messages:
                    self.messages[name].is_completed = True
        own = self.terms.get(member, 0)
        if own < self.term and not any(one.promise == "one-primary" for one in self.broken):
            story = f"{member}, primary of term {own}, completed {fields['messages'][0]} after {self.primary} was"
            self.broken.append(Broken("one-primary", f"{story} promoted for term {self.term}", at_us))

    # ---- the end ----------------------------------------------------------------------------------------------------

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end of a run."""
        brokers = {name: node for name, node in nodes.items() if isinstance(node, Broker)}
        active = [broker for broker in brokers.values() if broker.status == statuses.ACTIVE]
        found = list(self.broken)
        if len(active) > 1:
            names = ", ".join(broker.process.member for broker in active)
            found.append(Broken("one-primary", f"several brokers are active: {names}", at_us))
        if len(active) != 1:
            if not active and (reason := self._could_serve(brokers, nodes)):
                found.append(Broken("serves-again", reason, at_us))
            return found
        primary = active[0]
        found += self._lost(at_us, primary)
        found += self._repeated(at_us, primary)
        for name, broker in brokers.items():
            if broker.status == statuses.CATCHUP:
                found.append(Broken("redundant", f"{name} is still catching up", at_us))
            if broker.status == statuses.READY:
                recent = {message for message, at in self.accepted.items() if at > at_us - RECENT_US}
                for story in differences(primary, broker, recent):
                    found.append(Broken("replicated", f"{name}: {story}", at_us))
        found += self.transactions.compared(at_us, primary, brokers, self.accepted.keys())
        found += self._held_up(at_us, nodes)
        return found

    def _could_serve(self, brokers: Mapping[Name, Broker], nodes: Mapping[Name, Node]) -> str:
        """Why somebody should be active, if somebody should."""
        recovering = [name for name, broker in brokers.items() if broker.status == statuses.RECOVERING]
        if recovering:
            return f"{recovering[0]} is recovering, and never became active"
        if brokers and not self.term:
            return "nobody was ever promoted"
        managers = [node for node in nodes.values() if isinstance(node, Manager)]
        if not managers or managers[0].service not in (STOPPED,):
            return "nobody is active, though the resource manager still decides" if managers else ""
        for name, broker in brokers.items():
            joining = broker.status == statuses.JOINING and broker.backup is not None and not broker.backup.objections
            if (broker.status == statuses.READY or joining) and managers[0].may_have_it(name):
                return f"{name} is {broker.status} and could be promoted, and nobody is active"
        return ""

    def _lost(self, at_us: int, primary: Broker) -> list[Broken]:
        there = {
            stored.content.message for queue in primary.wiring.queues.values() for stored in queue.messages.values()
        }
        lost = [name for name, sent in self.messages.items() if sent.is_safe and name not in there]
        if not lost:
            return []
        first = self.messages[lost[0]]
        story = (
            f"{len(lost)} completed messages are not at {primary.process.member}, the first {lost[0]} of {first.queue}"
        )
        return [Broken("kept", story, at_us)]

    def _repeated(self, at_us: int, primary: Broker) -> list[Broken]:
        for queue in primary.wiring.queues.values():
            for name, times in _counted(queue).items():
                sent = self.messages.get(name)
                if sent is not None and times > sent.times:
                    story = f"{name} is {times} times on {queue.name}, and was sent {sent.times} times"
                    return [Broken("doubt-only", story, at_us)]
        return []

    def _held_up(self, at_us: int, nodes: Mapping[Name, Node]) -> list[Broken]:
        found = []
        for name, client in nodes.items():
            if not isinstance(client, Client):
                continue
            for message in client.unsettled:
                sent = self.messages.get(message)
                if sent is not None and sent.at_us < at_us - RECENT_US - 4 * self.options.heartbeat_us:
                    found.append(Broken("completes", f"{message} of {name} was never completed", at_us))
                    break
        return found


def _counted(queue: Queue) -> dict[str, int]:
    times: dict[str, int] = {}
    for stored in queue.messages.values():
        times[stored.content.message] = times.get(stored.content.message, 0) + 1
    return times


def differences(
    primary: Broker, replica: Broker, recent: Set[str], names: frozenset[str] | None = None
) -> Iterator[str]:
    """Each in words. `recent`: messages that may just be on their way from the queues. `names`: the queues that are
    compared; none: those that are replicated."""
    for name, queue in primary.wiring.queues.items():
        if name in names if names is not None else queue.arguments.replicate == "all":
            other = replica.wiring.queues.get(name)
            if other is None:
                yield f"no queue {name}"
            elif other.arguments.uuid != queue.arguments.uuid:
                yield f"{name} is another queue of that name"
            else:
                yield from _messages(queue, other, recent)
    for name, other in replica.wiring.queues.items():
        is_meant = other.arguments.replicate != "none" if names is None else name in names
        if is_meant and name not in primary.wiring.queues:
            yield f"{name} is not a queue any more"


def _messages(queue: Queue, other: Queue, recent: Set[str]) -> Iterator[str]:
    here = {stored.content.message for stored in queue.messages.values() if not stored.outstanding}
    everything = {stored.content.message for stored in queue.messages.values()}
    there = {stored.content.message for stored in other.messages.values()}
    missing = [message for message in sorted(here - there) if message not in recent]
    excess = [message for message in sorted(there - everything) if message not in recent]
    if missing:
        yield f"{queue.name} lacks {len(missing)} messages, the first {missing[0]}"
    if excess:
        yield f"{queue.name} has {len(excess)} messages too many, the first {excess[0]}"
