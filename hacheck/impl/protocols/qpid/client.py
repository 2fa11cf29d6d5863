"""A client: it finds the primary among the addresses, sends, consumes, and sends again what is in doubt.

What it has sent stays with it until the broker completes it. On every new connection it declares its queues, sends all
that is unsettled again, under the same ids and in the same order, and goes on. So no message is lost, and one that the
old primary had taken without saying so comes twice: an application has to bear that (Q-G2). An accept that was not
answered is unknown, and is not repeated: the message comes again if it is still there.

**Source:** overview of the HA module, "Locating the Primary", "At-least-once and delayed completion"; survey of broker
failover protocols, sections 1.8 and 1.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.node import Fired, Input, Message, Name, Received, Setup, Started, Unreachable
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid.client_transactions import ClientTransactions
from hacheck.impl.protocols.qpid.objects import Arguments, Content
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import HEARTBEAT, Channel, Process

CONNECT = "connect"
SEND = "send"
CHURN = "churn"


class Client(ProcessNode[Process]):
    """One client. `live`: it is connected to a broker that serves it. `unsettled`: what it has sent and has not been
    answered, by id, in order. `doubtful`: accepts that were not answered, with their messages. `transactions`: those
    that it does. `serial`: how many messages it has made."""

    def __init__(self, setup: Setup, options: Options, addresses: tuple[Name, ...], index: int) -> None:
        self.options = options
        self.process = Process(setup, options.heartbeat_us)
        self.addresses = addresses
        self.next = index % len(addresses)
        self.tried = 0
        self.queue = f"queue-{index % options.queues + 1}"
        self.own_queue = f"own-{setup.member}"
        self.consumes = index % 2 == 1
        self.channel: Channel | None = None
        self.live = False
        self.unsettled: dict[str, wire.Publish] = {}
        self.doubtful: dict[str, tuple[str, ...]] = {}
        self.serial = 0
        self.declaring = ""
        self.transactions = ClientTransactions(self)
        self._messages: dict[type[Message], Callable[[Name, Any], None]] = {
            wire.Frame: self._frame,
            wire.Heartbeat: self.process.heartbeat,
            wire.Opened: self._opened,
            wire.Closed: self._closed,
        }
        self._bodies: dict[type, Callable[[Channel, Any], None]] = {
            wire.Completed: self._completed,
            wire.Done: self._done,
            wire.Failed: self._failed,
            wire.Delivery: self._delivered,
        }

    def _received(self, given: Received) -> None:
        handler = self._messages.get(type(given.message))
        if handler is not None:
            handler(given.sender, given.message)

    def _unreachable(self, given: Unreachable) -> None:
        if self.channel is not None and self.channel.peer == given.peer:
            self._disconnected("the connection broke")

    def _started(self, given: Started) -> None:
        self.process.start_heartbeats()
        self.process.set_timer(SEND, max(self.options.send_interval_us, self.options.send_from_us))
        if self.options.churn_us:
            self.process.set_timer(CHURN, self.options.churn_us)
        self._connect()

    def _fired(self, given: Fired) -> None:
        timer = given.timer
        if timer == SEND:
            self._send()
        elif timer == CONNECT:
            self._connect()
        elif timer == CHURN:
            self._churn()
        elif timer == HEARTBEAT:
            for channel in self.process.beat():
                if channel is self.channel:
                    self._disconnected("silent, or frames are missing")

    # ---- connection -------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Try the next address; if nobody has served this client until the timer, the one after it."""
        if self.live:
            return
        if self.channel is not None:
            self.process.close(self.channel, "no answer")
        self.channel = self.process.connect(self.addresses[self.next], "client")
        self.next = (self.next + 1) % len(self.addresses)
        self.tried += 1
        self.process.set_timer(CONNECT, self.options.reconnect_interval_us)

    def _opened(self, sender: Name, given: wire.Opened) -> None:
        channel = self.channel
        if channel is None or channel.connection != given.connection:
            self.process.send(sender, wire.Closed(given.connection, "no such connection"))
        elif not channel.is_up:
            channel.is_up = True
            channel.heard_us = self.process.now_us
            self.declaring = self._declare(channel, self.queue)

    def _declare(self, channel: Channel, queue: str) -> str:
        request = self.process.fresh()
        arguments = Arguments(durable=self.options.store)
        self.process.say(channel, wire.DeclareQueue(request, queue, arguments))
        return request

    def _closed(self, sender: Name, given: wire.Closed) -> None:
        """Not the primary: the next address is tried at once, until all of them have been."""
        if self.channel is None or self.channel.connection != given.connection:
            return
        self._disconnected(given.reason)
        if self.tried % len(self.addresses):
            self._connect()

    def _disconnected(self, reason: str) -> None:
        assert self.channel is not None
        channel, self.channel = self.channel, None
        self.process.close(channel, "disconnected")
        if self.live:
            self.process.record("client_disconnected", broker=channel.peer, reason=reason)
            self.live = False
            self.tried = 0
        self.transactions.disconnected(channel.peer)
        for request in self.doubtful:
            self.process.record("told", request=request, outcome="unknown", by=channel.peer)
        self.doubtful = {}
        self.process.set_timer(CONNECT, self.options.reconnect_interval_us)

    def _frame(self, sender: Name, frame: wire.Frame) -> None:
        channel, bodies = self.process.heard(sender, frame)
        if channel is not None:
            for body in bodies:
                if channel is self.channel:
                    self._bodies[type(body)](channel, body)

    def _begin_session(self, channel: Channel) -> None:
        """The broker serves: send again what is in doubt, and consume."""
        self.live = True
        self.tried = 0
        self.process.record("client_connected", broker=channel.peer, resent=list(self.unsettled))
        if any(publish.key == self.own_queue for publish in self.unsettled.values()):
            self._declare(channel, self.own_queue)
        for publish in self.unsettled.values():
            self.process.say(channel, publish)
        if self.consumes:
            self.process.say(channel, wire.Consume(self.process.fresh(), self.queue, self.options.credit))

    # ---- work -------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        options = self.options
        self.process.set_timer(SEND, options.send_interval_us)
        in_one = self.transactions.is_open or self.transactions.again
        if len(self.unsettled) >= options.window:
            return
        if not in_one and options.messages_max and self.serial >= options.messages_max:
            return
        if not self.transactions.is_due(self.serial):
            self._publish(self.queue)
        elif self.channel is not None and self.live:  # without a broker there is none to begin it at
            self.transactions.step(self.channel)

    def made(self, queue: str) -> wire.Publish:
        """The next message."""
        self.serial += 1
        name = self.process.fresh()
        return wire.Publish(Content(name, f"message {self.serial}", self.options.store), "", queue)

    def _publish(self, queue: str) -> None:
        publish = self.made(queue)
        name = publish.content.message
        self.process.record("asked", request=name, operation="send", queue=queue, messages=[name])
        self.unsettled[name] = publish
        if self.channel is not None and self.live:
            self.process.say(self.channel, publish)

    def _churn(self) -> None:
        """Delete the own queue, make another of the same name, put something on it."""
        self.process.set_timer(CHURN, self.options.churn_us)
        if self.channel is None or not self.live:
            return
        request = self.process.fresh()
        self.process.record("asked", request=request, operation="delete", queue=self.own_queue, messages=[])
        self.unsettled = {name: one for name, one in self.unsettled.items() if one.key != self.own_queue}
        self.doubtful[request] = ()
        self.process.say(self.channel, wire.DeleteQueue(request, self.own_queue))
        self._declare(self.channel, self.own_queue)
        self._publish(self.own_queue)

    def _completed(self, channel: Channel, body: wire.Completed) -> None:
        for name in body.messages:
            if self.unsettled.pop(name, None) is not None:
                self.process.record("told", request=name, outcome="ok", by=channel.peer)

    def _done(self, channel: Channel, body: wire.Done) -> None:
        if body.request == self.declaring:
            self.declaring = ""
            self._begin_session(channel)
        elif self.transactions.answered(body.request, True, channel.peer):
            pass
        elif self.doubtful.pop(body.request, None) is not None:
            self.process.record("told", request=body.request, outcome="ok", by=channel.peer)

    def _failed(self, channel: Channel, body: wire.Failed) -> None:
        """A send fails when its queue is not there: a failover has lost it, so declare it and send again."""
        publish = self.unsettled.get(body.request)
        if publish is not None:
            self.process.record("failed", request=body.request, reason=body.reason, by=channel.peer)
            self._declare(channel, publish.key)
            self.process.say(channel, publish)
        elif self.transactions.answered(body.request, False, channel.peer):
            pass
        elif self.doubtful.pop(body.request, None) is not None:
            self.process.record("told", request=body.request, outcome="failed", by=channel.peer)

    def _delivered(self, channel: Channel, body: wire.Delivery) -> None:
        name = body.content.message
        request = self.process.fresh()
        self.process.record("received", queue=body.queue, message=name, redelivered=body.redelivered, by=channel.peer)
        if self.transactions.is_open and self.options.transaction_takes:
            self.transactions.accept(channel, body)
            return
        self.process.record("asked", request=request, operation="accept", queue=body.queue, messages=[name])
        self.doubtful[request] = (name,)
        self.process.say(channel, wire.Accept(request, body.queue, (body.tag,)))

    def release(self, tags: list[int]) -> None:
        """Gives deliveries back."""
        if self.channel is not None and self.live:
            self.process.say(self.channel, wire.Release(self.queue, tuple(tags)))

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _fired,
        Unreachable: _unreachable,
    }
