"""What a client does in transactions: one at a time, a message at each turn, then the commit, or a rollback.

When its connection fails, a client is in one of two cases, and knows which: it had not requested the commit, then the
transaction is `aborted`, and nothing is left of it; or it had, then the outcome is `unknown`. An application that does
such a transaction again (`repeats_unknown`) may find what it did the first time.

**Source:** survey of broker failover protocols, section 1.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid.process import Channel

if TYPE_CHECKING:
    from hacheck.impl.protocols.qpid.client import Client


class ClientTransactions:
    """The transactions of one client. `name`: of the one that is open, if any; `sent`: its messages so far; `taken`:
    deliveries that it accepts, with their messages; `again`: what is to be done once more. `begun`: how many there
    were. `requests`: commits (`True`) and rollbacks that were not answered, with their transactions and messages."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._options = client.options
        self.name = ""
        self.sent: list[wire.Publish] = []
        self.taken: list[tuple[int, str]] = []
        self.again: list[wire.Publish] = []
        self.begun = 0
        self.requests: dict[str, tuple[str, tuple[wire.Publish, ...], bool]] = {}

    @property
    def is_open(self) -> bool:
        """Whether what is sent or accepted now is in a transaction."""
        return bool(self.name)

    def is_due(self, serial: int) -> bool:
        """Whether the next thing to do is a transaction."""
        options = self._options
        if self.is_open or self.again:
            return True
        if not options.transaction_every or (options.transactions_max and self.begun >= options.transactions_max):
            return False
        return serial % options.transaction_every == options.transaction_every - 1

    def step(self, channel: Channel) -> None:
        """The next message of a transaction, or its end."""
        client, options = self._client, self._options
        if not self.name:
            self.name = client.process.fresh()
            self.begun += 1
            self.sent, self.taken = [], []
        if len(self.sent) < options.transaction_size:
            self._send(channel)
        elif options.roll_back_every and self.begun % options.roll_back_every == 0:
            self._ask(channel, commits=False)
        else:
            self._ask(channel, commits=True)

    def _send(self, channel: Channel) -> None:
        client = self._client
        made = self.again.pop(0) if self.again else client.made(client.queue)
        publish = wire.Publish(made.content, made.exchange, made.key, self.name)
        name = publish.content.message
        client.process.record(
            "asked", request=name, operation="tx-send", transaction=self.name, queue=publish.key, messages=[name]
        )
        self.sent.append(publish)
        client.process.say(channel, publish)

    def accept(self, channel: Channel, body: wire.Delivery) -> None:
        """A message is taken off its queue by the open transaction."""
        client, request = self._client, self._client.process.fresh()
        self.taken.append((body.tag, body.content.message))
        client.process.say(channel, wire.Accept(request, body.queue, (body.tag,), self.name))

    def _ask(self, channel: Channel, *, commits: bool) -> None:
        client, request = self._client, self._client.process.fresh()
        messages = [one.content.message for one in self.sent]
        client.process.record(
            "asked",
            request=request,
            operation="commit" if commits else "roll-back",
            transaction=self.name,
            queue=client.queue,
            messages=messages,
            taken=[name for _, name in self.taken] if commits else [],
        )
        self.requests[request] = (self.name, tuple(self.sent), commits)
        order = wire.Commit(request, self.name) if commits else wire.RollBack(request, self.name)
        client.process.say(channel, order)
        if not commits and self.taken:
            client.process.say(channel, wire.Release(client.queue, tuple(tag for tag, _ in self.taken)))
        self.name = ""

    def answered(self, request: str, ok: bool, by: Name) -> bool:
        """A commit or rollback is answered. False: it is about something else."""
        known = self.requests.pop(request, None)
        if known is None:
            return False
        _, _, commits = known
        outcome = ("ok" if ok else "failed") if commits else "rolled_back"
        self._client.process.record("told", request=request, outcome=outcome, by=by, transaction=known[0])
        if commits and not ok and self.taken:
            self._client.release([tag for tag, _ in self.taken])
        return True

    def disconnected(self, by: Name) -> None:
        """The connection is gone."""
        process = self._client.process
        if self.name:
            process.record("told", request=self.name, outcome="aborted", by=by, transaction=self.name)
            self.name = ""
        for request, (name, sent, commits) in self.requests.items():
            outcome = "unknown" if commits else "aborted"  # what was not committed never will be
            process.record("told", request=request, outcome=outcome, by=by, transaction=name)
            if commits and self._options.repeats_unknown:
                self.again.extend(sent)
        self.requests = {}
