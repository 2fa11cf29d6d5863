"""A few IceStorm processes in one room: messages and writes pass at once unless they are held or fail."""

from __future__ import annotations

from typing import Any, Self

from hacheck.impl.node import Message
from hacheck.impl.protocols.icestorm.messages import Reply, Request
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import ClientOperation
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.replica_state import State
from hacheck.impl.protocols.icestorm.system import SYSTEM
from tests.impl.stage import Stage


class Room(Stage):
    """Replicas `replica-1` to `replica-N`, called by their numbers, and the one that writes to them."""

    unstarted_is_silent = False

    def __init__(self, replicas: int = 3, clients: int = 0, **options: Any) -> None:
        settings = Options(**{"workload": "none", **options})
        super().__init__(SYSTEM, replicas, clients, hop_us=0, write_us=0, options=settings)
        self._count = 0

    def start(self, *who: int | str) -> Self:
        """Starts replicas, or starts them again. Without any: all members."""
        return super().start(*map(_name, who))

    def crash(self, *who: int | str) -> Self:
        """Replicas lose their memory; those that wrote to them find out."""
        return super().crash(*map(_name, who))

    def replica(self, ident: int) -> Replica:
        """A replica that runs."""
        node = self.nodes[_name(ident)]
        assert isinstance(node, Replica)
        return node

    def hold(self, sender: int | str, to: int | str) -> None:
        """Messages on this way wait until `release`."""
        super().hold(_name(sender), _name(to))

    def isolate(self, ident: int) -> None:
        """Nothing passes between a replica and the other members, until `release`."""
        for member in self.members:
            if member.name != _name(ident):
                self.hold(ident, member.name)
                self.hold(member.name, ident)

    def write(self, sender: int | str, to: int, message: Message) -> None:
        """A message from somebody."""
        self.tell(_name(to), message, _name(sender))
        self.settle()

    def ask(self, ident: int, operation: ClientOperation, client: str = "somebody") -> Reply | None:
        """Ask a replica; what it answers at once, if it does."""
        self._count += 1
        request = f"request-{self._count}"
        self.write(client, ident, Request(request, 1, operation))
        return self.reply(request, client)

    def reply(self, request: str, client: str = "somebody") -> Reply | None:
        """What a client was answered to a request."""
        replies = [m for m in self.inbox.get(client, []) if isinstance(m, Reply) and m.request == request]
        return replies[-1] if replies else None

    def states(self) -> dict[int, str]:
        """The states of those that run."""
        return {r.standing.ident: r.standing.state.value for r in self.nodes.values() if isinstance(r, Replica)}

    def coordinator(self) -> int | None:
        """Whom all that run follow, if they all serve."""
        standings = [node.standing for node in self.nodes.values() if isinstance(node, Replica)]
        if any(standing.state is not State.NORMAL for standing in standings) or len({s.group for s in standings}) != 1:
            return None
        return standings[0].coord

    def topics(self, ident: int) -> list[str]:
        """The topics that a replica has, in the order of their names."""
        return sorted(self.replica(ident).store.topics)


def _name(who: int | str) -> str:
    return f"replica-{who}" if isinstance(who, int) else who


def formed(replicas: int = 3, **options: Any) -> Room:
    """A room whose replicas have started and form one group."""
    room = Room(replicas, **options)
    room.start()
    room.run(1)
    assert room.coordinator() == replicas, room.states()
    return room
