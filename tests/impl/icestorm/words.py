"""The commands of IceStorm's scenarios: what replicas are asked for by hand, and what they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hacheck.impl.node import Name, Record
from hacheck.impl.protocols.icestorm import messages, records
from hacheck.impl.protocols.icestorm.replica_state import ReplicaState
from hacheck.impl.protocols.icestorm.store import decoded
from tests.impl.icestorm.rooms import Room, formed
from tests.impl.scenarios import Words, settings_of, value_of


class RoomWords(Words):
    """Replicas are called by their numbers. `ask 3 Create('A')` as a client, `tell FROM TO MESSAGE` as anybody, where
    `@3` is the group of a replica; `view` says of each replica its state, group and members; `has N` what its memory
    and its disk have."""

    stage: Room

    def name(self, word: str) -> Name:
        return f"replica-{word}" if word.isdecimal() else word

    def do(self, command: str) -> Iterable[str]:
        verb, _, rest = command.partition(" ")
        match verb:
            case "ask":
                to, _, operation = rest.partition(" ")
                self.stage.ask(int(to), value_of(operation, records))
            case "tell":
                sender, to, text = rest.split(maxsplit=2)
                for number, standing in self._standings():
                    text = text.replace(f"@{number}", f"'{standing.group}'")
                self.stage.write(self.name(sender), int(to), value_of(text, messages, records))
            case "isolate":
                self.stage.isolate(int(rest))
            case "view":
                return self._view()
            case "has":
                return [f"{rest} has {self._content(int(rest))}"]
            case _:
                return super().do(command)
        return ()

    def _view(self) -> list[str]:
        """The replicas with one standing on one line, with those that their coordinator counts."""
        same: dict[str, list[str]] = {}
        for number, one in self._standings():
            text = f"{one.state.value} in {one.group} of {one.coord}, generation {one.generation}"
            members = f" with {' '.join(map(str, sorted(one.members)))}" if one.members else ""
            same.setdefault(text, []).append(f"{number}{members}")
        return [f"{', '.join(who)}: {text}" for text, who in same.items()]

    def _standings(self) -> list[tuple[int, ReplicaState]]:
        return [(number, self.stage.replica(number).standing) for number in self._running()]

    def _running(self) -> list[int]:
        return sorted(int(name.removeprefix("replica-")) for name in self.stage.nodes if name.startswith("replica"))

    def _content(self, number: int) -> str:
        disk = decoded(self.stage.disks[self.name(str(number))], "")
        there = number in self._running()
        memory = self.stage.replica(number).store.topics if there else {}
        shown = " ".join(
            f"{name}({','.join(one.identity for one in topic.subscribers)})" for name, topic in sorted(memory.items())
        )
        stamp = f"{disk.stamp.generation}/{disk.stamp.iteration}"
        return f"{shown or 'nothing'}; on disk {' '.join(sorted(disk.topics)) or 'nothing'} of {stamp}"

    def shows(self, record: Record) -> str:
        fields = record.fields
        match record.event:
            case "state_change":
                return str(fields["new"])
            case "commenced":
                return f"commences {fields['generation']} with {fields['size']} of {fields['total']}"
            case "not_enough_nodes":
                return f"not enough with {fields['size']}"
            case "coordinators_found":
                return f"finds {fields['highest']}"
            case "merge_scheduled":
                return f"waits {fields['delay'] / 1e6:g} s"
            case "invitation_ignored":
                return "ignores an invitation"
            case "asked":
                return f"asks {fields['replica']}"
            case "told":
                return f"{fields['outcome']} {fields['detail']}".strip()
        return ""

    def answers(self) -> Iterator[str]:
        for name, inbox in sorted(self.stage.inbox.items()):
            for message in inbox:
                if isinstance(message, messages.Reply):
                    names = f" {' '.join(message.names)}" if message.names else ""
                    yield f"{message.request}: {message.outcome}{names}"
                else:
                    yield f"{name} hears {message!r}"
            inbox.clear()


def begin(command: str) -> RoomWords:
    """`room N` before its replicas start, `formed N` when they are one group, with settings."""
    kind, number, *rest = command.split()
    options = settings_of(rest)
    stage = formed(int(number), **options) if kind == "formed" else Room(int(number), **options)
    words = RoomWords(stage, (messages, records))
    list(words.news())
    return words
