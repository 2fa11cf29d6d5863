"""The commands of scenarios with sessions: clients that a scenario plays, the client library, servers that scale down
and processes that run backups for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hacheck.impl.node import Name, Unreachable
from hacheck.impl.protocols.artemis import messages, session_messages
from hacheck.impl.protocols.artemis.client_library.system import CLIENT
from hacheck.impl.protocols.artemis.colocated import messages as colocated_messages
from hacheck.impl.protocols.artemis.colocated.process import ColocatedProcess
from hacheck.impl.protocols.artemis.colocated.system import COLOCATED_BACKUPS
from hacheck.impl.protocols.artemis.scale_down import messages as scale_down_messages
from hacheck.impl.protocols.artemis.scale_down.oracle import journal_of
from hacheck.impl.protocols.artemis.scale_down.system import SCALE_DOWN
from hacheck.impl.system import System
from hacheck.wording import plural
from tests.impl.artemis.words import SHOWN, ArtemisWords, Show
from tests.impl.scenarios import seconds, settings_of, value_of
from tests.impl.stage import Stage

ANSWER_SECONDS = 0.01
"""A played client waits so long for the answer to a command."""


class Hand:
    """A client that a scenario plays. `session`: the one that it has; `node_id`: of the node that it had last."""

    def __init__(self, name: str, wanted: session_messages.Wanted, joins: int) -> None:
        self.name, self.wanted, self.joins = name, wanted, joins
        self.server = self.session = self.node_id = ""
        self.number = 0


class SessionWords(ArtemisWords):
    """`join CLIENT SERVER [KIND] [consumes=QUEUE] [temporary=QUEUE]` asks for a session for a client that the scenario
    plays, a new client where a KIND is given. `do CLIENT COMMAND [MESSAGE …]` performs a command in it, for each
    message if there are any, with `branch=NAME`, `delivery=N`, `to=QUEUE` and `volatile`. `until-command CLIENT
    COMMAND`: until a library sends it; `unreachable CLIENT SERVER`: its connection breaks."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.kinds = (*self.kinds, session_messages, scale_down_messages)
        self.hands: dict[str, Hand] = {}
        self._heard: list[str] = []
        self._outcomes_of_hands: dict[str, Counter[str]] = {}

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        match verb:
            case "join":
                self._join(*rest)
            case "do":
                self._perform(rest[0], rest[1], rest[2:])
            case "unreachable":
                self.stage.inform(rest[0], Unreachable(rest[1]))
            case "until-command":
                self._until_command(rest[0], rest[1])
            case "all-serving":
                return [f"serving: {' '.join(self.stage.serving()) or 'none'}"]
            case _:
                return super().do(command)
        return ()

    def _join(self, name: str, server: str, *rest: str) -> None:
        options = settings_of(word for word in rest if "=" in word)
        kind: Any = next((word for word in rest if "=" not in word), None)
        if name not in self.hands or kind is not None:
            consumes = (options["consumes"],) if "consumes" in options else ()
            wanted = session_messages.Wanted(kind or "plain", consumes, options.get("temporary", ""))
            before = self.hands.get(name)
            self.hands[name] = Hand(name, wanted, before.joins if before else 0)
        hand = self.hands[name]
        hand.server, hand.number, hand.joins = server, 0, hand.joins + 1
        wish = session_messages.JoinSession(f"{name}.{hand.joins}", hand.node_id, hand.wanted)
        self.stage.tell(server, wish, name)
        self.stage.run(ANSWER_SECONDS)
        self._hear(hand)

    def _perform(self, name: str, command: Any, rest: list[str]) -> None:
        options = settings_of(word for word in rest if "=" in word)
        names = [word for word in rest if "=" not in word and word != "volatile"]
        hand = self.hands[name]
        for one in names or [""]:
            hand.number += 1
            durable = "volatile" not in rest
            item = messages.Outgoing(options.get("to", "q"), one, f"{one} 1".encode(), durable)
            asked = session_messages.Perform(
                hand.session,
                hand.number,
                command,
                (item,) if one else (),
                int(options.get("delivery", 0)),
                str(options.get("branch", "")),
            )
            self.stage.tell(hand.server, asked, name)
            self.stage.run(ANSWER_SECONDS)
            self._hear(hand)

    def _until_command(self, name: Name, command: str) -> None:
        """Lets time go on until a client's library sends a command."""
        before = len(self.stage.sent)
        for _ in range(100_000):
            if any(
                who == name and isinstance(what, session_messages.Perform) and what.command == command
                for who, _, what in self.stage.sent[before:]
            ):
                return
            self.stage.run(0.0001)
        raise AssertionError(f"{name} does not send {command}")

    def answers(self) -> Iterator[str]:
        yield from super().answers()
        for hand in self.hands.values():
            self._hear(hand)
        for name, outcomes in self._outcomes_of_hands.items():
            self._heard.append(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items())}")
        yield from self._heard
        self._heard.clear()
        self._outcomes_of_hands.clear()

    def _hear(self, hand: Hand) -> None:
        """Takes what has arrived for a played client."""
        inbox: list[Any] = self.stage.inbox.get(hand.name, [])
        for message in inbox:
            match message:
                case session_messages.SessionJoined(node_id=node_id, temporary=temporary):
                    hand.session, hand.node_id = message.name, node_id
                    queue = ", with its queue" if temporary and hand.wanted.temporary else ""
                    self._heard.append(f"{hand.name} joins {hand.server}{queue}")
                case session_messages.Performed(outcome=outcome):
                    self._outcomes_of_hands.setdefault(hand.name, Counter())[outcome] += 1
                case session_messages.Delivery(incoming=incoming):
                    self._heard.append(f"{hand.name} gets {incoming.duplicate_id}")
                case scale_down_messages.ScalingDown(target=target):
                    self._heard.append(f"{hand.name} is sent to {target}")
                case messages.SessionRefused():
                    self._heard.append(f"{hand.name} is refused by {hand.server}")
                case messages.SessionClosed():
                    self._heard.append(f"{hand.name}'s session is over")
        inbox.clear()


SCALING: Mapping[str, Show] = {
    "scale_down_begun": lambda fields: f"scales down to {fields['target']}",
    "scaled_down": lambda fields: f"has moved {plural(fields['messages'], 'message')}" if "messages" in fields else "",
    "scale_down_failed": lambda fields: f"keeps {plural(fields['left'], 'message')}",
    "stands_in": lambda _: "stands in for a node",
    "sent_away": lambda fields: f"is sent to {fields['target']}",
    "gave_up": lambda fields: f"gives {fields['target']} up",
    "connected": lambda fields: f"connects to {fields['broker']}",
    "duplicate_rejected": lambda _: "rejects a duplicate",
}


class ScaleDownWords(SessionWords):
    """`queue SERVER`: the messages on its disk in their order, and the branches that are prepared there; `asks-targets
    SERVER`: whom it has asked whether it may scale down to them."""

    shown = SCALING

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        stage = self.stage
        match verb:
            case "queue":
                journal = journal_of(stage.shared[f"store-{rest[0].removeprefix('server-')}"], stage.options)
                has = [stored.duplicate_id for stored in journal.messages.values()]
                prepared = f"; prepared: {' '.join(journal.branches)}" if journal.branches else ""
                return [f"{rest[0]} has on disk: {' '.join(has) or 'nothing'}{prepared}"]
            case "asks-targets":
                kind = scale_down_messages.FindTarget
                asked = sorted({to for by, to, what in stage.sent if by == rest[0] and isinstance(what, kind)})
                return [f"{rest[0]} asks {' '.join(asked)}"]
        return super().do(command)


COLOCATED: Mapping[str, Show] = {
    "backup_granted": lambda fields: f"has its backup in {fields['target']}",
    "backup_refused": lambda fields: f"is refused a backup by {fields['target']}",
    "backup_gone": lambda fields: f"loses its backup in {fields['target']}",
    "colocated_backup": lambda fields: f"runs backup {fields['number']}",
    "colocated_backup_ended": lambda fields: f"ends backup {fields['number']}",
    "connected": lambda fields: f"connects to {fields['broker']}",
}


class ColocatedWords(SessionWords):
    """`hosts`: whose backups each process runs; `servers PROCESS`: the servers in it, and which ones serve; `lines`, as
    for other systems. `asking PROCESS`: how often its server has asked which process has how many backups, and whether
    it still does. `ask PROCESS BY REQUEST` is a request of another process, `folders PROCESS` what its disk has."""

    shown = COLOCATED

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.kinds = (*self.kinds, colocated_messages)

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        stage = self.stage
        match verb:
            case "hosts":
                runs = {
                    name: ", ".join(one.live for one in node.hosted.values()) or "none"
                    for name, node in sorted(stage.nodes.items())
                    if isinstance(node, ColocatedProcess)
                }
                return [f"backups: {'; '.join(f'{name} runs {lives}' for name, lives in runs.items())}"]
            case "servers":
                node: Any = stage.nodes[rest[0]]
                servers = (f"{name}{' serves' if one.serving else ''}" for name, one in node.nodes.items())
                return [f"{rest[0]}: {', '.join(servers)}"]
            case "asking":
                states = [fields["new"] for fields in stage.fields("asking", rest[0])]
                return [f"{rest[0]} asked {states.count('asking who has how many')} times; now: {states[-1]}"]
            case "ask":
                before = len(stage.sent)
                stage.tell(rest[0], value_of(" ".join(rest[2:]), colocated_messages), rest[1])
                kind = colocated_messages.BackupAnswered
                found = [what for _, _, what in stage.sent[before:] if isinstance(what, kind)]
                return [f"{rest[0]} answers {'yes: ' + one.address if one.granted else 'no'}" for one in found]
            case "folders":
                folders = sorted({key.partition("/")[0] for key in stage.disks[rest[0]] if "/" in key})
                return [f"{rest[0]} has on disk: {' '.join(folders) or 'nothing'}"]
        return super().do(command)


LIBRARY: Mapping[str, Show] = {
    "state": SHOWN["state"],
    "connected": lambda fields: f"connects to {fields['to']}",
    "connection_failed": lambda _: "finds its connection failed",
    "reconnected": lambda fields: (
        f"reconnects to {fields['to']}, {'in the old session' if fields['attached'] else 'in a new session'}"
        f"{'' if fields['temporary'] else ' without its queue'}"
    ),
    "notified": lambda fields: f"notifies its application: {fields['code']}",
    "given_up": lambda _: "gives up",
    "handled": lambda fields: f"handles {fields['message']}",
    "duplicate_rejected": lambda _: "rejects a duplicate",
    "answered": lambda fields: f"{fields['command']} {fields['outcome']}",
    "unblocked": lambda fields: f"{fields['command']} unblocked",
    "timed_out": lambda fields: f"{fields['command']} timed out",
}


class LibraryWords(SessionWords):
    """`library CLIENT`: where its connection is, and which servers it knows; `kept`: the messages of the one that
    serves, by number, and branches that are prepared there; `sessions SERVER`: those that it has; `retry CLIENT`: how
    long it waits between two tries to connect."""

    shown = LIBRARY

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        match verb:
            case "library":
                library: Any = self.stage.nodes[rest[0]]
                at = f" to {library.server}" if library.connected else ""
                return [f"{rest[0]} is {library.phase.value}{at}, and knows {' '.join(library.servers)}"]
            case "kept":
                return [line for name in self.stage.serving() for line in self._kept(name)]
            case "sessions":
                held: Any = self.stage.nodes[rest[0]].server  # type: ignore[attr-defined]
                return [f"{rest[0]} has sessions: {' '.join(held.sessions)}"]
            case "retry":
                library = self.stage.nodes[rest[0]]
                return [f"{rest[0]} waits {library.retry_us // 1000} ms between two tries"]
        return super().do(command)

    def _kept(self, name: Name) -> Iterator[str]:
        server: Any = self.stage.nodes[name].server  # type: ignore[attr-defined]
        numbers = [message.body.decode().partition(" ")[2] for message in server.journal.messages.values()]
        branches = f"; prepared: {' '.join(server.journal.branches)}" if server.journal.branches else ""
        yield f"{name} has {' '.join(numbers) or 'nothing'}{branches}"


QUICK = {"check_wait_us": 1_000_000, "vote_retries": 1, "vote_retry_wait_us": 500_000}
"""Votes of colocated servers that replicate, sooner than as shipped."""

SYSTEMS: Mapping[str, tuple[System, Callable[[Stage], SessionWords]]] = {
    "scale-down": (SCALE_DOWN, ScaleDownWords),
    "colocated": (COLOCATED_BACKUPS, ColocatedWords),
    "library": (CLIENT, LibraryWords),
}


def begin(command: str) -> SessionWords:
    """`scale-down N`, `colocated N` or `library N`, with settings and `clients=N`; `formed` starts the servers and lets
    them run for a while, `formed=8s` for so long, and then the clients of a library."""
    kind, number, *rest = command.split()
    options = settings_of(word for word in rest if "=" in word)
    clients = options.pop("clients", 0)
    formed = options.pop("formed", "3s" if "formed" in rest else "")
    system, words = SYSTEMS[kind]
    if kind == "colocated" and options.get("way", "replication") == "replication":
        options = {**QUICK, **options}
    elif kind == "library":
        options = {"pause_us": 100_000, **options}
    stage = Stage(system, int(number), clients, **options)
    begun = words(stage)
    if formed:
        later = [f"client-{n}" for n in range(1, clients + 1)] if kind == "library" else []
        names = [member.name for member in stage.members if member.name not in later]
        if kind == "scale-down":
            names = [member.name for member in stage.members if member.role in ("primary", "backup", "client")]
        stage.start(*names).run(seconds(formed))
        if later:
            stage.start(*later)
    list(begun.news())
    return begun
