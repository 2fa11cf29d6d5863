"""Carries out `hacheck admin` for clusters of message brokers: how each stands, what is on a queue, a message sent.

The tool is a client like others: it speaks to brokers in their own messages, has no more rights, and finds the one that
serves by queries to all of them.

**Source**: Qpid's HA guide, "Managing and Controlling the Cluster with qpid-ha", for `status`; Artemis' manual, "Client
Fail-over", for the topology that clients get; Fiorano's "HA Locking Mechanism", for the states of servers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

from hacheck.cli.console import visible
from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis import messages as artemis
from hacheck.impl.protocols.fiorano import messages as fiorano
from hacheck.impl.protocols.qpid import messages as qpid
from hacheck.impl.protocols.qpid.objects import Content
from hacheck.impl.protocols.qpid.orders import StatusAnswer, StatusQuery
from hacheck.impl.protocols.qpid.status import PRIMARY_LIKE
from hacheck.impl.runtime.control import Guest, Line, Silent

Read = TypeVar("Read")

STATUS_SECONDS_MAX = 2.0
ATTEMPT_SECONDS_MAX = 5.0
PAUSE_SECONDS = 0.1
EVERYTHING = 1_000_000_000
"""More messages than a queue holds."""


class NotServing(Exception):
    """This broker is not the one that serves: why."""


class Refusal(Exception):
    """A request was refused for good: why."""


class Unsure(Exception):
    """Nobody has said what came of a request."""


class Talk:
    """A conversation with one broker. `name`: of the session, or connection, that the tool asks for."""

    def __init__(self, guest: Guest, line: Line, name: str, seconds_max: float) -> None:
        self._guest, self._line, self.name = guest, line, name
        self._until = time.monotonic() + seconds_max
        self._seconds_max = seconds_max
        self.sent = False

    def say(self, message: Message) -> None:
        """Sends a message. Errors: `Silent`."""
        self._line.send(message)

    def hear(self) -> Message:
        """The next message. Errors: `Silent`."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise Silent(f"{self._line.to} does not answer within {self._seconds_max:g} s")
        return self._guest.read(self._line.receive(left))


class Speech(Protocol):
    """How brokers of one kind are spoken to."""

    def stands(self, talk: Talk) -> str:
        """How a broker stands. Errors: `Silent`."""
        ...

    def browse(self, talk: Talk, queue: str) -> list[tuple[str, str]]:
        """The messages of a queue that no client holds: their ids, and what is in them, if brokers say it. They stay.
        Errors: `NotServing`, `Refusal`, `Silent`."""
        ...

    def send(self, talk: Talk, queue: str, text: str) -> None:
        """Sends a message, and waits until it is acknowledged. Errors: `NotServing`, `Refusal`, `Silent`."""
        ...


class QpidSpeech:
    """Connections of numbered frames; a broker that is no primary takes none."""

    def stands(self, talk: Talk) -> str:
        """As `qpid-ha status`: the status, and the term of the last promotion that it knows."""
        answer = self._status(talk)
        return f"{answer.about.status}, term {answer.term}"

    def _status(self, talk: Talk) -> StatusAnswer:
        talk.say(StatusQuery(1))
        answer = talk.hear()
        assert isinstance(answer, StatusAnswer), "brokers answer this query with nothing else"
        return answer

    def _hear(self, talk: Talk) -> Message:
        while True:
            heard = talk.hear()
            if isinstance(heard, qpid.Closed):
                raise NotServing(heard.reason)
            if isinstance(heard, qpid.Frame):
                return heard.body
            assert isinstance(heard, qpid.Opened | qpid.Heartbeat), "nothing else is said on connections"

    def browse(self, talk: Talk, queue: str) -> list[tuple[str, str]]:
        """Consumes without accepting. What a consumer gets at once comes before the answer to its next request."""
        talk.say(qpid.Open(talk.name, "client"))
        for number in (1, 2):
            talk.say(qpid.Frame(talk.name, number, qpid.Consume(str(number), queue, EVERYTHING)))
        found = []
        while (body := self._hear(talk)) != qpid.Done("2"):
            if isinstance(body, qpid.Failed):
                raise Refusal(body.reason)
            if isinstance(body, qpid.Delivery):
                found.append((body.content.message, body.content.body))
        return found

    def send(self, talk: Talk, queue: str, text: str) -> None:
        """To the exchange without a name; it is completed when all backups have it."""
        if self._status(talk).about.status not in PRIMARY_LIKE:
            raise NotServing("not the primary")
        talk.say(qpid.Open(talk.name, "client"))
        publish = qpid.Publish(Content(talk.name, text, True), "", queue)
        talk.sent = True
        talk.say(qpid.Frame(talk.name, 1, publish))
        body = self._hear(talk)
        if isinstance(body, qpid.Failed):
            raise Refusal(body.reason)


class ArtemisSpeech:
    """Sessions at a broker that serves; others say who does."""

    def _open(self, talk: Talk) -> artemis.SessionCreated | artemis.SessionRefused:
        talk.say(artemis.CreateSession(talk.name, ""))
        answer = talk.hear()
        assert isinstance(answer, artemis.SessionCreated | artemis.SessionRefused), "so it is answered"
        return answer

    def _session(self, talk: Talk) -> None:
        answer = self._open(talk)
        if isinstance(answer, artemis.SessionRefused):
            raise NotServing("it does not serve")

    def stands(self, talk: Talk) -> str:
        """The topology that a client gets."""
        answer = self._open(talk)
        if isinstance(answer, artemis.SessionRefused):
            known = f"; it knows of {', '.join(answer.connectors)}" if answer.connectors else ""
            return f"does not serve{known}"
        after = ", ".join(answer.connectors[1:]) or "none"
        return f"serves node {answer.node_id}; after it {after}"

    def browse(self, talk: Talk, queue: str) -> list[tuple[str, str]]:
        """Fetches without acknowledging."""
        self._session(talk)
        talk.say(artemis.Fetch(talk.name, 1, queue, EVERYTHING))
        answer = talk.hear()
        if not isinstance(answer, artemis.Delivered):
            raise NotServing("it does not serve any more")
        return [(message.duplicate_id, message.body.decode(errors="replace")) for message in answer.messages]

    def send(self, talk: Talk, queue: str, text: str) -> None:
        """With a duplicate id, so that it may be sent again."""
        self._session(talk)
        talk.say(artemis.Produce(talk.name, 1, artemis.Outgoing(queue, talk.name, text.encode())))
        answer = talk.hear()
        if not isinstance(answer, artemis.Answered):
            raise NotServing("it does not serve any more")
        if answer.outcome != "ok":
            raise Refusal(answer.outcome)


class FioranoSpeech:
    """Sessions at the server that is active."""

    def _session(self, talk: Talk) -> None:
        talk.say(fiorano.Connect(talk.name))
        if not isinstance(talk.hear(), fiorano.Connected):
            raise NotServing("it does not serve")

    def stands(self, talk: Talk) -> str:
        """Its states."""
        talk.say(fiorano.StateQuery())
        answer = talk.hear()
        assert isinstance(answer, fiorano.StateAnswer), "servers answer this query with nothing else"
        return f"{answer.present}, before {answer.previous}; peer {answer.peer}; lock {answer.lock}"

    def browse(self, talk: Talk, queue: str) -> list[tuple[str, str]]:
        """Fetches without acknowledging. `queue`: that, or a topic and its subscriber with a `/` between them."""
        self._session(talk)
        place = f"pubsub/{queue}/" if "/" in queue else f"ptp/{queue}/"
        talk.say(fiorano.Fetch(talk.name, 1, place, EVERYTHING))
        answer = talk.hear()
        if not isinstance(answer, fiorano.Delivered):
            raise NotServing("it does not serve any more")
        return [(request, name) for name, request in answer.objects]

    def send(self, talk: Talk, queue: str, text: str) -> None:
        """One request."""
        self._session(talk)
        talk.sent = True
        message = fiorano.SendMessage(queue, text.encode())
        talk.say(fiorano.Ask(talk.name, talk.name, time.time_ns(), message))
        answer = talk.hear()
        if not isinstance(answer, fiorano.Answer):
            raise NotServing("it does not serve any more")
        if answer.outcome != "ok":
            raise Refusal(answer.outcome)


SPEECHES: Mapping[str, tuple[str, Speech]] = {
    "qpid": ("status", QpidSpeech()),
    "qpid-standalone": ("status", QpidSpeech()),
    "artemis-shared-store": ("topology", ArtemisSpeech()),
    "artemis-replication": ("topology", ArtemisSpeech()),
    "artemis-client": ("topology", ArtemisSpeech()),
    "artemis-lock-manager": ("topology", ArtemisSpeech()),
    "artemis-scale-down": ("topology", ArtemisSpeech()),
    "artemis-colocated": ("topology", ArtemisSpeech()),
    "fiorano-shared": ("state", FioranoSpeech()),
    "fiorano-replicated": ("state", FioranoSpeech()),
}
"""For each protocol the action that shows how brokers stand, and how they are spoken to."""

BROKERS = ("replica", "primary", "backup", "server")
"""The roles of members that serve clients."""


class Operator:
    """Speaks to the brokers of one cluster. `standing`: the action that shows how they stand."""

    def __init__(self, guest: Guest, seconds_max: float) -> None:
        self.standing, self._speech = SPEECHES[guest.cluster.system]
        self._guest = guest
        self._seconds_max = seconds_max
        self._first = f"{guest.name}/{time.time_ns():x}"
        self._numbers = 0
        self.brokers = [member.name for member in guest.cluster.members if member.role in BROKERS]

    def _fresh(self) -> str:
        self._numbers += 1
        return f"{self._first}/{self._numbers}"

    def _with(self, broker: Name, name: str, seconds_max: float, act: Callable[[Talk], Read]) -> Read:
        port = self._guest.ports()[broker]
        with self._guest.line(broker, port, seconds_max) as line:
            return act(Talk(self._guest, line, name, seconds_max))

    def stands(self) -> Iterator[tuple[Name, str]]:
        """How each broker stands, or why it does not say."""
        for broker in self.brokers:
            try:
                yield broker, self._with(broker, self._fresh(), STATUS_SECONDS_MAX, self._speech.stands)
            except Silent as silent:
                yield broker, str(silent)

    def browse(self, queue: str) -> list[tuple[Name, str, str]]:
        """The messages of a queue at every broker that serves: who, the id, what is in it. Errors: `Unsure`, if nobody
        serves in time; `Refusal`."""
        until = time.monotonic() + self._seconds_max
        while True:
            found, why = [], []
            for broker in self.brokers:
                try:
                    listed = self._with(
                        broker, self._fresh(), ATTEMPT_SECONDS_MAX, lambda talk: self._speech.browse(talk, queue)
                    )
                except (NotServing, Silent) as missing:
                    why.append(f"{broker}: {missing}")
                    continue
                found.append([(broker, message, text) for message, text in listed])
            if found:
                return [item for items in found for item in items]
            if time.monotonic() > until:
                raise Unsure(f"no broker serves: {'; '.join(why)}")
            time.sleep(PAUSE_SECONDS)

    def send(self, queue: str, text: str) -> str:
        """Sends a message, and returns its id once it is acknowledged. Errors: `Unsure`, if it is not in time, or may
        be there although nobody has said so; `Refusal`."""
        until = time.monotonic() + self._seconds_max
        message, why = self._fresh(), ""
        while True:
            for broker in self.brokers:
                talks: list[Talk] = []

                def act(talk: Talk, talks: list[Talk] = talks) -> None:
                    talks.append(talk)
                    self._speech.send(talk, queue, text)

                try:
                    self._with(broker, message, ATTEMPT_SECONDS_MAX, act)
                    return message
                except (NotServing, Silent) as missing:
                    why = f"{broker}: {missing}"
                if talks and talks[0].sent:
                    raise Unsure(f"unknown whether {message} is stored: {why}")
            if time.monotonic() > until:
                raise Unsure(f"{message} is not acknowledged: {why}")
            time.sleep(PAUSE_SECONDS)


def summary_lines(operator: Operator) -> Iterator[str]:
    """How all stand, in lines."""
    width = max(map(len, operator.brokers))
    for broker, standing in operator.stands():
        yield f"{broker:<{width}}  {visible(standing)}"
