"""How a primary sends backups its configuration: pages of what there was at their request, and every change.

**Source:** survey of broker failover protocols, section 1.7: answers and changes come independently of each other.
"""

from __future__ import annotations

from hacheck.impl.protocols.qpid.messages import BindingsPage, Body, BrokerState, ExchangesPage, QueuesPage
from hacheck.impl.protocols.qpid.objects import BindingObject, ExchangeObject, Info, QueueObject
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Wiring


class Answers:
    """What is left to send on one connection of what there was when the question came."""

    __slots__ = ("bindings", "exchanges", "queues")

    def __init__(self) -> None:
        self.queues: list[QueueObject] = []
        self.exchanges: list[ExchangeObject] = []
        self.bindings: list[BindingObject] = []


class ConfigurationSource:
    """Who follows the configuration, and what each has yet to be informed."""

    __slots__ = ("_options", "_process", "_wiring", "followers")

    def __init__(self, process: Process, options: Options, wiring: Wiring) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self.followers: dict[Channel, Answers] = {}

    def subscribed(self, channel: Channel) -> None:
        """From now on this backup is informed of every change."""
        self.followers[channel] = Answers()

    def closed(self, channel: Channel) -> None:
        """It is informed no more."""
        self.followers.pop(channel, None)

    def announce(self, event: Body) -> None:
        """Something has changed."""
        for channel in self.followers:
            self._process.say(channel, event)

    def query(self, channel: Channel, kind: str, members: tuple[Info, ...]) -> None:
        """A backup asks what there is. It gets the first page now, each other one when it asks for it."""
        answers = self.followers.get(channel)
        if answers is None:
            return
        wiring = self._wiring
        if kind == "broker":
            self._process.say(channel, BrokerState(members, self._options.replicate))
        elif kind == "queues":
            answers.queues = [queue.described() for queue in wiring.queues.values()]
            self.next_page(channel, kind)
        elif kind == "exchanges":
            answers.exchanges = [exchange.described() for exchange in wiring.exchanges.values()]
            self.next_page(channel, kind)
        elif kind == "bindings":
            answers.bindings = [binding for exchange in wiring.exchanges.values() for binding in exchange.bound()]
            self.next_page(channel, kind)

    def next_page(self, channel: Channel, kind: str) -> None:
        """Go on with an answer."""
        answers = self.followers.get(channel)
        if answers is None:
            return
        size = self._options.page_objects
        if kind == "queues":
            queues, answers.queues = answers.queues[:size], answers.queues[size:]
            self._process.say(channel, QueuesPage(tuple(queues), not answers.queues))
        elif kind == "exchanges":
            exchanges, answers.exchanges = answers.exchanges[:size], answers.exchanges[size:]
            self._process.say(channel, ExchangesPage(tuple(exchanges), not answers.exchanges))
        elif kind == "bindings":
            bindings, answers.bindings = answers.bindings[:size], answers.bindings[size:]
            self._process.say(channel, BindingsPage(tuple(bindings), not answers.bindings))
