"""The commands of Artemis's scenarios: what operators and a client do by hand, and what brokers and clients show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import LockLost, Message, Record
from hacheck.impl.protocols.artemis import messages
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.lock_manager import messages as lock_messages
from hacheck.impl.protocols.artemis.lock_manager.broker import SEQUENCE_KEY
from hacheck.impl.protocols.artemis.lock_manager.manager import KEPT, Kept
from hacheck.impl.protocols.artemis.lock_manager.system import LOCK_MANAGED
from hacheck.impl.protocols.artemis.replication.broker import SAVED
from hacheck.impl.protocols.artemis.shared_store.broker import STATE_KEY, STORE
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from tests.impl.scenarios import Words, settings_of, value_of
from tests.impl.stage import Stage

SYSTEMS = {"shared-store": SHARED_STORE, "replication": REPLICATION, "lock-manager": LOCK_MANAGED}
HAND = "hand"
"""The client that a scenario plays."""

Show: TypeAlias = Callable[[Mapping[str, Any]], str]
"""A record's fields in a few words."""

SHOWN: Mapping[str, Show] = {
    "state": lambda fields: str(fields["new"]),
    "critical_io": lambda _: "critical I/O error",
    "replica_gone": lambda _: "loses its replica",
    "isolated": lambda _: "is isolated",
    "possible_split_brain": lambda _: "sees a split brain",
    "old_replica_removed": lambda _: "removes old data",
    "connected": lambda fields: f"connects to {fields['broker']}",
    "sequence_claimed": lambda fields: f"claims {fields['sequence']}",
    "sequence_forced": lambda fields: f"is forced to {fields['sequence']}",
    "lock_expired": lambda _: "lets a lock expire",
    "failback_begun": lambda _: "fails back",
}


class ArtemisWords(Words):
    """`states` shows the state of each broker and which ones serve, `lines BROKER` the numbers of what it has logged.
    `send BROKER NAME` is a message of a client by hand, `has BROKER` what messages a broker has. `stop BROKER` as an
    operator, `order BROKER MESSAGE` as anybody."""

    stage: Stage
    shown: ClassVar[Mapping[str, Show]] = SHOWN

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage, (messages, lock_messages))
        self._since = self._counted = 0

    def do(self, command: str) -> Iterable[str]:
        verb, *rest = command.split()
        stage = self.stage
        match verb:
            case "states":
                return [self._states()]
            case "lines":
                return [f"{rest[0]} logs {' '.join(map(str, stage.lines(rest[0], self._since)))}"]
            case "since":
                self._since = stage.now
            case "isolate":
                stage.part(rest[0], *(member.name for member in stage.members if member.name != rest[0]))
            case "stop":
                stage.tell(rest[0], messages.StopServer(rest[1:] == ["failover"]))
            case "order":
                text = " ".join(rest[1:]).replace("@node", repr(self._broker("primary-1").node_id))
                stage.tell(rest[0], value_of(text, messages, lock_messages), HAND)
            case "send":
                stage.tell(rest[0], messages.CreateSession(f"{HAND}.{rest[1]}", ""), HAND)
                sent = messages.Outgoing("q", rest[1], b"")
                stage.tell(rest[0], messages.Produce(f"{HAND}.{rest[1]}", 1, sent), HAND)
            case "has":
                server: Any = stage.nodes[rest[0]].server  # type: ignore[attr-defined]
                names = sorted(message.duplicate_id for message in server.journal.messages.values())
                return [f"{rest[0]} has {' '.join(names) or 'nothing'}"]
            case "has-serving":
                return [line for name in stage.serving() for line in self.do(f"has {name}")]
            case "until":
                stage.run_until(rest[0], rest[1].replace("-", " "))
            case "part":
                # `@primary`: the one whose copy the backup is
                one, *others = rest
                stage.part(one, *(self._broker(one).primary.primary if name == "@primary" else name for name in others))
            case "events":
                return [f"{rest[0]} records {' '.join(dict.fromkeys(stage.events(rest[0], self._since)))}"]
            case "votes-needed":
                needed = [str(fields["needed"]) for fields in stage.fields("vote_begun", rest[0])]
                return [f"{rest[0]} needs {' '.join(needed)} votes"]
            case _:
                return self._of_store(verb, rest)
        return ()

    def _of_store(self, verb: str, rest: list[str]) -> Iterable[str]:
        """Shared stores, locks and disks."""
        stage = self.stage
        match verb:
            case "byte":
                return [f"state byte: {stage.shared[STORE][STATE_KEY].decode()}"]
            case "lose-lock":
                stage.lose_lock(rest[0], tell=rest[1:] == ["noticed"])
            case "lock-is-lost":
                stage.inform(rest[0], LockLost(rest[1]))
            case "locks":
                return [f"{lock}: {holder}" for lock, holder in sorted(stage.holders.items())] or ["no lock is held"]
            case "numbers":
                return [self._numbers()]
            case "manager-has":
                (key,) = [key for key in stage.disks["manager-1"] if key.startswith(KEPT)]
                stage.disks["manager-1"][key] = encode(Kept(VERSION, int(rest[0])))
            case "saved":
                return [f"{rest[0]} keeps {' '.join(self._saved(rest[0])) or 'no old data'}"]
            case "same-disk":
                one, other = (self._copied(name) for name in rest)
                return [f"{' and '.join(rest)} have {'the same' if one == other else 'different'} data on disk"]
            case "sent":
                kind: Any = self.kind(rest[0])
                kinds = dict.fromkeys(what.kind for _, _, what in stage.sent if isinstance(what, kind))
                return [f"{rest[0]}: {' '.join(kinds)}"]
            case _:
                return super().do(" ".join((verb, *rest)))
        return ()

    def _broker(self, name: str) -> Any:
        return self.stage.nodes[name].broker  # type: ignore[attr-defined]

    def _states(self) -> str:
        """The states of brokers that run, and which ones serve."""
        states: dict[str, list[str]] = {}
        for name in sorted(self.stage.nodes):
            if hasattr(self.stage.nodes[name], "broker"):
                states.setdefault(self.stage.state(name), []).append(name)
        shown = "; ".join(f"{state} ({' '.join(names)})" for state, names in states.items())
        return f"serving: {' '.join(self.stage.serving()) or 'none'}; {shown}"

    def _numbers(self) -> str:
        """The sequence on each disk, and the one that the lock manager has."""
        numbers = [
            f"{name} {int(disk[SEQUENCE_KEY])}"
            for name, disk in sorted(self.stage.disks.items())
            if SEQUENCE_KEY in disk
        ]
        kept = [
            str(decode(raw, Kept, "lock manager's data").sequence)
            for key, raw in self.stage.disks["manager-1"].items()
            if key.startswith(KEPT)
        ]
        return f"numbers: {', '.join(numbers)}; manager {' '.join(kept) or 'none'}"

    def _saved(self, name: str) -> list[str]:
        return sorted({key.partition("/")[0] for key in self.stage.disks[name] if key.startswith(SAVED)})

    def _copied(self, name: str) -> dict[str, bytes]:
        disk = self.stage.disks[name]
        return {key: value for key, value in disk.items() if not key.startswith(("identity", SAVED))}

    def shows(self, record: Record) -> str:
        show = self.shown.get(record.event)
        return show(record.fields) if show else ""

    def answers(self) -> Iterator[str]:
        for outcomes, names in self._outcomes().items():
            yield f"{', '.join(names)}: {outcomes}"
        inbox: list[Message] = self.stage.inbox.get(HAND, [])
        for message in inbox:
            if isinstance(message, messages.Answered):
                yield f"{message.session}: {message.outcome}"
            elif isinstance(message, messages.SessionRefused | messages.SessionClosed | messages.Vote):
                yield f"{HAND} hears {message!r}"
        inbox.clear()

    def _outcomes(self) -> dict[str, list[str]]:
        """How often clients were answered with which outcomes, since it was shown the last time."""
        found: dict[str, Counter[str]] = {}
        for _, name, record in self.stage.log[self._counted :]:
            if record.event == "told":
                found.setdefault(name, Counter())[record.fields["outcome"]] += 1
        self._counted = len(self.stage.log)
        shown: dict[str, list[str]] = {}
        for name, counts in sorted(found.items()):
            shown.setdefault(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())), []).append(
                name
            )
        return shown


def begin(command: str) -> ArtemisWords:
    """`shared-store N`, `replication N` or `lock-manager N`, whose brokers are started by hand, or `… N formed`, with
    settings and `clients=N`."""
    kind, number, *rest = command.split()
    options = settings_of(word for word in rest if "=" in word)
    clients = options.pop("clients", 0)
    if kind != "lock-manager":
        options = {"pause_us": 50_000, **options}
    stage = Stage(SYSTEMS[kind], int(number), clients, **options)
    words = ArtemisWords(stage)
    if "formed" in rest and kind == "lock-manager":
        stage.start("manager-1", "primary-1").run(1)
        stage.start("backup-1").run_until("backup-1", "in sync")
        stage.run(0.01)
    elif "formed" in rest:
        stage.start().run(4.5)  # for a shared store: between two looks of the monitor
    if "formed" in rest:
        primaries = sum(member.role == "primary" for member in stage.members)
        assert stage.serving() == tuple(f"primary-{n}" for n in range(1, primaries + 1))
    list(words.news())
    return words
