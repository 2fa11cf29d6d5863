"""What transactions promise, beside what single messages do, and whether a run kept it.

| promise | means |
|---|---|
| `uncommitted-unseen` | nothing of a transaction is on a queue, or given to anybody, before its commit was requested |
| `rolled-back` | nothing is left of a transaction that was rolled back or aborted |
| `whole` | all of a transaction is there, or nothing; with `transactions=replicated`, or where a client relies on it |

All of a transaction that was committed is promised as each of its messages is (`kept`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid.broker import Broker
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.system import Broken


class Seen:
    """A transaction: its messages, and what is known of it: `open`, `committing`, or over as its client was
    answered."""

    __slots__ = ("messages", "state")

    def __init__(self) -> None:
        self.messages: dict[str, None] = {}
        self.state = "open"


class TransactionsOracle:
    """All transactions, by name; `of`: in which a message was sent last; `whole`: they must be there as a whole."""

    def __init__(self, options: Options) -> None:
        self.whole = options.transactions == "replicated" or options.relies_on_whole_transactions
        self.seen: dict[str, Seen] = {}
        self.of: dict[str, str] = {}

    def requested(self, fields: Mapping[str, Any]) -> None:
        """A client sends in a transaction, or ends one."""
        name = fields["transaction"]
        if fields["operation"] == "tx-send":
            seen = self.seen.setdefault(name, Seen())
            for message in fields["messages"]:
                seen.messages[message] = None
                self.of[message] = name
        elif name in self.seen:
            self.seen[name].state = "committing" if fields["operation"] == "commit" else "rolled-back"

    def ended(self, fields: Mapping[str, Any]) -> None:
        """A client hears what became of a transaction."""
        seen = self.seen.get(fields["transaction"])
        if seen is not None:
            seen.state = fields["outcome"]

    def forget(self) -> None:
        """A total failure: nobody can say what is left of what."""
        for seen in self.seen.values():
            if seen.state not in ("open", "aborted", "rolled-back"):
                seen.state = "lost"

    def received(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> Iterator[Broken]:
        """Somebody is given a message."""
        seen = self.seen.get(self.of.get(fields["message"], ""))
        if seen is not None and seen.state == "open":
            story = f"{member} was given {fields['message']} of a transaction that is not committed"
            yield Broken("uncommitted-unseen", story, at_us)

    def compared(self, at_us: int, primary: Broker, brokers: Mapping[Name, Broker], gone: Set[str]) -> Iterator[Broken]:
        """What the queues at the end have of which transaction. `gone`: messages that some client wanted to accept."""
        for name, broker in brokers.items():
            yield from self._excess(at_us, name, on_queues(broker))
        there = on_queues(primary)
        for transaction, seen in self.seen.items():
            if self.whole and seen.state != "lost":
                missing = [one for one in seen.messages if one not in there and one not in gone]
                if missing and len(missing) < len(seen.messages) and any(one in there for one in seen.messages):
                    story = f"{transaction} ({seen.state}): {missing[0]} is not at {primary.process.member}, others are"
                    yield Broken("whole", story, at_us)
                    return

    def _excess(self, at_us: int, name: Name, there: Set[str]) -> Iterator[Broken]:
        promises = {"open": "uncommitted-unseen", "aborted": "rolled-back", "rolled-back": "rolled-back"}
        for transaction, seen in self.seen.items():
            promise = promises.get(seen.state)
            if promise is not None:
                for message in seen.messages:
                    if message in there and self.of[message] == transaction:
                        story = f"{message} of {transaction} ({seen.state}) is on a queue of {name}"
                        yield Broken(promise, story, at_us)
                        return


def on_queues(broker: Broker) -> set[str]:
    """All messages that a broker has on its queues."""
    return {one.content.message for queue in broker.wiring.queues.values() for one in queue.messages.values()}
