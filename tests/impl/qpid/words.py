"""The commands of Qpid's scenarios: what clients and the resource manager do by hand, and what they see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hacheck.impl.node import Record
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects, orders
from hacheck.impl.protocols.qpid.broker import Place
from hacheck.impl.protocols.qpid.options import Options
from tests.impl.qpid.stage import MANAGER, Hand, Stage, cluster
from tests.impl.scenarios import Words, settings_of, value_of

SHOWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "status_change": lambda fields: str(fields["new"]),
    "backup_timed_out": lambda fields: f"gives up {fields['backup']}",
    "subscribed": lambda fields: (
        f"keeps {fields['keep']} and drops {fields['drop']} of {fields['queue']}"
        if fields["keep"] or fields["drop"]
        else ""
    ),
    "tx_prepared": lambda fields: f"{'prepares' if fields['ok'] else 'cannot prepare'} {fields['transaction']}",
    "tx_committed": lambda fields: f"commits {fields['transaction']}",
    "tx_rolled_back": lambda fields: f"rolls {fields['transaction']} back",
    "tx_dropped": lambda fields: f"drops {fields['transaction']}",
}


class BrokerWords(Words):
    """`CLIENT connect BROKER` makes a client; then `CLIENT declare | publish | consume | accept | commit | roll-back |
    delete`. `promote BROKER` as the resource manager, `order BROKER MESSAGE` as the same. `standalone BROKER` starts a
    broker on its own, with what it copies from which brokers. `queues` shows what is on each queue, `ids` their ids,
    `status` the status of each broker, `known BROKER` the status of backups as their primary has it, `exchanges` the
    bindings, `on-disk` how many messages each disk has, `copies` the messages that were
    copied to backups since."""

    stage: Stage

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage, (wire, orders))
        self.hands: dict[str, Hand] = {}
        self._heard: dict[str, int] = {}
        self._copied = 0

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        stage, settings = self.stage, settings_of(word for word in rest if "=" in word)
        plain = [word for word in rest if "=" not in word]
        match verb:
            case "promote":
                answer = stage.promote(rest[0])
                return [f"{rest[0]} {'is primary' if answer.ok else 'is not primary: ' + answer.reason}"]
            case "order":
                seen = len(stage.to_manager)
                stage.order(rest[0], value_of(" ".join(rest[1:]), orders))
                return [f"{MANAGER} hears {message!r}" for message in stage.to_manager[seen:]]
            case "standalone":
                sources, names = (tuple(filter(None, settings.get(one, "").split(","))) for one in ("of", "copies"))
                stage.start_as(rest[0], Place(sources=sources, names=frozenset(names)))
            case "hold-from":
                stage.hold_from(rest[0], rest[1], self.kind(rest[2]))
            case "release" if len(rest) == 2:
                stage.release((rest[0], rest[1]))
            case "disconnect":
                self._disconnect(rest[0], rest[1])
            case "forget-transactions":
                stage.nodes[rest[0]].backup.transactions.parts.clear()
            case "known":
                members = stage.nodes[rest[0]].primary.members.values()
                return [f"{rest[0]} knows {', '.join(f'{one.address} as {one.status}' for one in members)}"]
            case "copies":
                copies = [what.body for _, _, what in stage.sent[self._copied :] if isinstance(what, wire.Frame)]
                self._copied = len(stage.sent)
                names = [body.content.message for body in copies if isinstance(body, wire.Copy)]
                return [f"copies sent: {' '.join(names) or 'none'}"]
            case "on-disk":
                return [self._on_disk()]
            case "options":
                stage.options = Options(**settings)
            case "disks-as":
                stage.disks[rest[0]].update(stage.disks[rest[1]])
            case "queues" | "ids":
                return self._queues(verb, plain)
            case "exchanges":
                return self._exchanges()
            case "status":
                return [_shared((node.status, name) for name, node in self._brokers())]
            case _ if rest and rest[0] == "connect":
                self.hands[verb] = stage.hand(verb).connect(rest[1])
            case _ if verb in self.hands:
                self._client(self.hands[verb], plain, settings)
            case _:
                shown = list(super().do(command))
                stage.settle()
                return shown
        stage.settle()
        return ()

    def _client(self, hand: Hand, words: list[str], settings: dict[str, Any]) -> None:
        verb, *rest = words
        transaction = str(settings.pop("transaction", ""))
        match verb:
            case "declare":
                hand.declare(rest[0], **settings)
            case "delete":
                hand.say(wire.DeleteQueue(hand.fresh(), rest[0]))
            case "exchange":
                hand.say(wire.DeclareExchange(hand.fresh(), rest[0], "direct", objects.Arguments(**settings)))
            case "bind":
                hand.say(wire.Bind(hand.fresh(), objects.BindingObject(*rest)))
            case "publish":
                hand.publish(rest[0], *rest[1:], transaction=transaction, **settings)
            case "consume":
                hand.consume(rest[0], *map(int, rest[1:]))
            case "accept":
                hand.accept(rest[0], *map(int, rest[1:]), transaction=transaction)
            case "commit":
                hand.commit(rest[0])
            case "roll-back":
                hand.say(wire.RollBack(f"roll-back/{rest[0]}", rest[0]))
            case _:
                raise ValueError("no such command of a client")

    def _brokers(self) -> list[tuple[str, Any]]:
        return sorted((name, node) for name, node in self.stage.nodes.items() if hasattr(node, "wiring"))

    def _queues(self, what: str, names: list[str]) -> list[str]:
        """Each content of a queue on one line, with the brokers that have it."""
        of = self.stage.ids if what == "ids" else self.stage.on_queue
        shown = []
        for queue in sorted({queue for _, node in self._brokers() for queue in node.wiring.queues}):
            contents = [
                (" ".join(map(str, of(name, queue))) or "nothing" if queue in node.wiring.queues else "no queue", name)
                for name, node in self._brokers()
                if not names or name in names
            ]
            shown.append(f"{queue}: {_shared(contents)}")
        return shown or ["no queues"]

    def _on_disk(self) -> str:
        """How many messages are on whose disk."""
        names = self.stage.names
        counts = [sum(key.startswith("message/") for key in self.stage.disks[name]) for name in names]
        return f"messages on disk: {', '.join(f'{name} {count}' for name, count in zip(names, counts, strict=True))}"

    def _disconnect(self, broker: str, peer: str) -> None:
        """A broker gives up its connections with another one, which does not know of it."""
        node = self.stage.nodes[broker]
        for channel in node.process.with_peer(peer):
            node.process.forget(channel)
            node.primary.closed(channel)

    def _exchanges(self) -> list[str]:
        return [
            f"{name}: {exchange} {' '.join(f'{one.queue}/{one.key}' for one in it.bound()) or 'nothing'}"
            for name, node in self._brokers()
            for exchange, it in sorted(node.wiring.exchanges.items())
        ]

    def shows(self, record: Record) -> str:
        show = SHOWN.get(record.event)
        return show(record.fields) if show else ""

    def answers(self) -> Iterator[str]:
        for name, hand in self.hands.items():
            heard = [body for body in hand.heard[self._heard.get(name, 0) :] if not isinstance(body, wire.Opened)]
            self._heard[name] = len(hand.heard)
            if heard:
                yield f"{name}: {', '.join(map(_heard, heard))}"


def _heard(body: Any) -> str:
    match body:
        case wire.Completed(messages):
            return f"completed {' '.join(messages)}"
        case wire.Delivery():
            return f"gets {body.content.message}{' again' if body.redelivered else ''}"
        case wire.Done(request):
            return f"done {request}" if request.startswith(("commit", "roll")) else "done"
        case wire.Failed():
            return f"failed: {body.reason}"
        case wire.Closed():
            return f"closed: {body.reason}"
    return repr(body)


def _shared(pairs: Iterable[tuple[str, str]]) -> str:
    """What each has, once, with those that have it."""
    having: dict[str, list[str]] = {}
    for what, name in pairs:
        having.setdefault(what, []).append(name)
    return "; ".join(f"{what} ({' '.join(names)})" for what, names in having.items())


def begin(command: str) -> BrokerWords:
    """`cluster N` with a primary and backups that are ready, or `brokers N` that are not started yet, with settings."""
    kind, number, *rest = command.split()
    options = settings_of(rest)
    match kind:
        case "cluster":
            stage = cluster(int(number), **options)
        case "brokers":
            stage = Stage(int(number), **{"fencing": "none", **options})
        case _:
            raise ValueError("a scenario begins with a cluster, or with brokers")
    words = BrokerWords(stage)
    list(words.news())
    return words
