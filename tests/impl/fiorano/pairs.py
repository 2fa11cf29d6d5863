"""Pairs for stories: the stage of the other brokers, with states and states gone through told by Fiorano's names."""

from __future__ import annotations

from typing import Any

from hacheck.impl.node import Received
from hacheck.impl.protocols.fiorano.messages import Action, Answer, Ask, Connect
from hacheck.impl.protocols.fiorano.system import REPLICATED, SHARED
from hacheck.impl.system import System
from tests.impl.stage import Stage


class Pair(Stage):
    """A pair. `primary` and `backup` are the servers."""

    def __init__(self, system: System = REPLICATED, clients: int = 0, **settings: object) -> None:
        super().__init__(system, 2, clients, **settings)
        self._asked = 0

    def node(self, name: str) -> Any:
        """A server."""
        return self.nodes[name]

    def state(self, name: str) -> str:
        """A server's state."""
        return str(self.node(name).role.value)

    def rules(self, name: str) -> list[str]:
        """The rules by which a server changed its state."""
        return [fields["rule"] for fields in self.fields("state_change", name)]

    def ask(self, to: str, action: Action, request: str = "", number: int = 0) -> str:
        """A client that is played by hand asks for something. Returns the request."""
        self._asked += 1
        request = request or f"request-{self._asked}"
        self.inform(to, Received("hand", Connect("session")))
        self.inform(to, Received("hand", Ask("session", request, number or self._asked, action)))
        return request

    def answers(self) -> list[str]:
        """The requests that were answered with `ok`."""
        return [m.request for _, to, m in self.sent if to == "hand" and isinstance(m, Answer) and m.outcome == "ok"]

    def objects(self, name: str) -> list[str]:
        """The names of what a server has."""
        return sorted(self.node(name).repository.objects)


def in_step(**settings: object) -> Pair:
    """A pair whose primary is active, with the backup in step."""
    pair = Pair(**settings)
    pair.start("primary")
    pair.run(2)
    assert pair.state("primary") == "STANDALONE"
    pair.start("backup")
    pair.run(2)
    assert (pair.state("primary"), pair.state("backup")) == ("ACTIVE", "PASSIVE")
    return pair


def sharing(clients: int = 0, **settings: object) -> Pair:
    """A pair with one database, whose primary is active."""
    pair = Pair(SHARED, clients, **settings)
    pair.start("primary")
    pair.run(0.5)
    pair.start(*(member.name for member in pair.members if member.name != "primary"))
    pair.run(1)
    assert (pair.state("primary"), pair.state("backup")) == ("ACTIVE", "PASSIVE")
    return pair
