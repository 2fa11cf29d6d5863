"""Carries out `hacheck admin`: one request after the other, each sent to one replica after the other until it is
sure what came of it.

**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm", for what `replica` shows; "Client
Considerations for IceStorm Replication", for outcomes that are unknown.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hacheck.cli.console import visible
from hacheck.cli.guard import BadInput, ExitCode, Reported
from hacheck.cli.running.broker_administration import SPEECHES, Operator, Refusal, Unsure, summary_lines
from hacheck.cli.running.cluster_control import refusals
from hacheck.cli.running.subscriber import Listener
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.messages import Query, Reply, View
from hacheck.impl.protocols.icestorm.messages import Request as Wanted
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    FAILED,
    LINK_EXISTS,
    NO_SUCH_LINK,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    TOPIC_EXISTS,
    UNKNOWN,
    ClientOperation,
    Create,
    Destroy,
    GetPublisher,
    Link,
    Publish,
    Retrieve,
    RetrieveAll,
    Subscribe,
    Subscriber,
    Topic,
    Unlink,
    Unsubscribe,
)
from hacheck.impl.protocols.icestorm.system import identifier
from hacheck.impl.runtime.control import Guest, Silent
from hacheck.impl.runtime.folder import Folder

PROTOCOL = "icestorm"
ATTEMPT_SECONDS_MAX = 5.0
STATUS_SECONDS_MAX = 2.0
PAUSE_SECONDS = 0.1

DONE_BEFORE: dict[type, str] = {
    Create: TOPIC_EXISTS,
    Destroy: NO_SUCH_TOPIC,
    Subscribe: ALREADY_SUBSCRIBED,
    Unsubscribe: NOT_SUBSCRIBED,
    Link: LINK_EXISTS,
    Unlink: NO_SUCH_LINK,
}
"""What an update says that an earlier attempt, of unknown outcome, has done already."""

WORDS_MIN = {"create": 1, "destroy": 1, "links": 1, "subscribers": 1, "link": 2, "unlink": 2, "subscribe": 1}
WORDS_MIN |= {"unsubscribe": 2, "publish": 2, "replica": 0, "topics": 0}
WORDS_MIN |= {"status": 0, "topology": 0, "state": 0, "browse": 1, "send": 2}
WORDS_MAX = {"link": 3, "unlink": 2, "subscribe": 1, "replica": 0, "topics": 0}
WORDS_MAX |= {"status": 0, "topology": 0, "state": 0}
ON_QUEUES = ("browse", "send")
"""What brokers with queues have besides the action that shows how they stand."""

ELSEWHERE = {action for action, _ in SPEECHES.values()} | set(ON_QUEUES)
HERE = tuple(action for action in WORDS_MIN if action not in ELSEWHERE)


class Request(Struct, frozen=True):
    """What the command line asks for."""

    action: str
    words: tuple[str, ...]
    directory: str
    seconds_max: float
    named: str | None
    qualities: tuple[str, ...]
    count: int | None


class Administrator:
    """Asks the replicas of one cluster. `replicas`: their names, in the order in which they get a request."""

    def __init__(self, folder: Folder, seconds_max: float) -> None:
        """Errors: `Refused`, `Silent`, `BadInput`."""
        self.guest = Guest(folder)
        self.replicas = [member.name for member in self.guest.cluster.members if member.role == "replica"]
        self.seconds_max = seconds_max
        self._numbers = 0
        self._first = f"{self.guest.name}/{time.time_ns():x}"

    def ask(self, operation: ClientOperation, first: Name = "") -> Reply:
        """The outcome of a request, which is sent again until it is certain. Errors: `Unsure`."""
        self._numbers += 1
        request = f"{self._first}/{self._numbers}"
        until = time.monotonic() + self.seconds_max
        doubt, why, attempt = False, "", 0
        order = sorted(self.replicas, key=lambda name: name != first)
        while (left := until - time.monotonic()) > 0:
            replica = order[attempt % len(order)]
            attempt += 1
            try:
                port = self.guest.ports()[replica]
                seconds = min(left, ATTEMPT_SECONDS_MAX)
                reply = self.guest.call(replica, port, Wanted(request, attempt, operation), seconds)
            except Silent as silent:
                doubt, why = doubt or "does not answer" in str(silent) or "hung up" in str(silent), str(silent)
                time.sleep(PAUSE_SECONDS)
                continue
            assert isinstance(reply, Reply), "replicas answer requests with replies"
            if reply.outcome == UNKNOWN:
                doubt, why = True, f"{replica} lost its majority meanwhile"
            elif reply.outcome == FAILED:
                why = f"{replica}: {reply.detail}"
                time.sleep(PAUSE_SECONDS)
            elif doubt and reply.outcome == DONE_BEFORE.get(type(operation)):
                return Reply(reply.request, reply.attempt, OK)
            else:
                return reply
        raise Unsure(f"unknown whether it was done, or will be: {why}" if doubt else f"it was not done: {why}")

    def stands(self) -> Iterator[tuple[int, View | str]]:
        """How each replica stands, by identifier, or why it does not say."""
        ports = self.guest.ports()
        for replica in sorted(self.replicas, key=identifier):
            try:
                view = self.guest.call(replica, ports[replica], Query(1), STATUS_SECONDS_MAX)
            except Silent as silent:
                yield identifier(replica), str(silent)
                continue
            assert isinstance(view, View), "replicas answer queries with views"
            yield view.id, view


def carried_out(request: Request) -> ExitCode:
    """Carries the request out, and returns what the process is to return. Errors: `BadInput`."""
    least, most = WORDS_MIN[request.action], WORDS_MAX.get(request.action)
    if len(request.words) < least or (most is not None and len(request.words) > most):
        raise BadInput(f"{request.action} takes other words than these", "hacheck admin --help lists them")
    folder = Folder(Path(request.directory))
    try:
        with refusals():
            system = folder.load().system
            _fits(request.action, folder.place, system)
            if system != PROTOCOL:
                _at_brokers(request, Operator(Guest(folder), request.seconds_max))
                return ExitCode.AS_EXPECTED
            administrator = Administrator(folder, request.seconds_max)
            if request.action == "replica":
                _replica(administrator)
            elif request.action == "subscribe":
                _subscribe(administrator, request, folder)
            else:
                for operation in operations(request, administrator.guest.name):
                    _print_reply(request.action, operation, administrator.ask(operation))
    except Unsure as unsure:
        print(f"{request.action} {' '.join(request.words)}: {unsure}", flush=True)
        raise Reported(ExitCode.UNDECIDED) from None
    return ExitCode.AS_EXPECTED


def _fits(action: str, place: Path, system: str) -> None:
    """Errors: `BadInput`, for an action that clusters of this protocol do not have."""
    there = HERE if system == PROTOCOL else (SPEECHES[system][0], *ON_QUEUES) if system in SPEECHES else ()
    if action not in there:
        owners = [PROTOCOL] if action in HERE else [name for name, (own, _) in SPEECHES.items() if action == own]
        raise BadInput(
            f"{action} is for {', '.join(owners or SPEECHES)}, and {place} has a cluster of {system}",
            f"that has: {', '.join(there) or 'no administration'}",
        )


def _at_brokers(request: Request, operator: Operator) -> None:
    """Does the action on brokers with queues. Errors: `BadInput`, `Unsure`."""
    try:
        if request.action == "browse":
            for queue in request.words:
                for broker, message, text in operator.browse(queue):
                    print(f"{broker}: {visible(queue)}: {visible(message)} {visible(text)}".rstrip())
        elif request.action == "send":
            for text in request.words[1:]:
                print(f"acknowledged: {operator.send(request.words[0], text)}", flush=True)
        else:
            for line in summary_lines(operator):
                print(line)
    except Refusal as refusal:
        raise BadInput(f"{request.action} {request.words[0]}: {refusal}") from None


def operations(request: Request, publisher: str) -> Iterator[ClientOperation]:
    """The requests that an action makes. Errors: `BadInput`."""
    action, words = request.action, request.words
    match action:
        case "topics":
            yield RetrieveAll()
        case "create" | "destroy":
            yield from (Create(word) if action == "create" else Destroy(word) for word in words)
        case "links" | "subscribers":
            yield from (Retrieve(word) for word in words)
        case "link":
            cost = words[2] if len(words) > 2 else "0"
            if not (cost.isascii() and cost.isdigit() and len(cost) <= 9):
                raise BadInput(
                    f"a cost is a whole number from 0 to 999999999, not {cost}", "hacheck admin link FROM TO 5"
                )
            yield Link(words[0], words[1], int(cost))
        case "unlink":
            yield Unlink(words[0], words[1])
        case "unsubscribe":
            yield Unsubscribe(words[0], words[1:])
        case "publish":
            yield GetPublisher(words[0])
            yield from (Publish(words[0], publisher, number, word) for number, word in enumerate(words[1:], 1))


def _print_reply(action: str, operation: ClientOperation, reply: Reply) -> None:
    """Prints what was read. Errors: `BadInput`, for a request that was refused."""
    about = visible(getattr(operation, "topic", ""))
    match reply.outcome:
        case "ok":
            pass
        case "TopicExists":
            raise BadInput(f"topic {about} exists")
        case "NoSuchTopic":
            raise BadInput(f"there is no topic {about}" + (" or none to link it to" if action == "link" else ""))
        case _:
            raise BadInput(f"{action} at topic {about}: {reply.outcome}")
    if action == "topics":
        print("".join(f"{visible(name)}\n" for name in reply.names), end="")
    elif reply.topic is not None:
        _show(action, reply.topic)


def _show(action: str, topic: Topic) -> None:
    if action == "links":
        for edge in topic.links:
            print(f"{visible(topic.name)}: {visible(edge.to)} with cost {edge.cost}")
        return
    for subscriber in topic.subscribers:
        qos = " ".join(f"{name}={value}" for name, value in sorted(subscriber.qos.items()))
        print(f"{visible(topic.name)}: {visible(subscriber.identity)} {visible(qos)}".rstrip())


def _replica(administrator: Administrator) -> None:
    """How each replica stands, as the administration tool of IceStorm shows it."""
    stands = list(administrator.stands())
    print(f"replica count: {len(stands)}")
    for number, view in stands:
        if isinstance(view, str):
            print(f"{number}: {visible(view)}")
            continue
        shown = {"id": view.id, "coord": view.coord, "group name": view.group_name, "state": view.state}
        shown |= {"group": ",".join(map(str, view.group)), "max": view.max}
        for name, value in shown.items():
            print(f"{number}: {name + ':':<12}{value}".rstrip())


def _subscribe(administrator: Administrator, request: Request, folder: Folder) -> None:
    """Listens at every replica, then subscribes; ends the subscription when it is enough."""
    (topic,) = request.words
    qos = {}
    for text in request.qualities:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--qos {text}: expected NAME=VALUE", "for example --qos retryCount=-1")
        qos[name] = value
    identity = request.named or f"subscriber-{os.getpid()}"
    subscribe = Subscribe(topic, Subscriber(identity, identity, qos))
    with Listener(Guest(folder, identity), administrator.replicas) as listener:
        _print_reply("subscribe", subscribe, administrator.ask(subscribe))
        print(f"{visible(identity)} subscribes to {visible(topic)}; Ctrl-C ends that", flush=True)
        try:
            for heard, message in enumerate(listener.messages(), 1):
                print(f"{visible(message.origin)}: {visible(message.event)}", flush=True)
                if heard == request.count:
                    break
        except KeyboardInterrupt:
            pass
        administrator.ask(Unsubscribe(topic, (identity,)))
