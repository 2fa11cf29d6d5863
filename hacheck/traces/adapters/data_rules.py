"""What an adapter says of data: which events show what a node's database holds, and what clients were answered."""

from __future__ import annotations

from msgspec import Struct


class Shown(Struct, frozen=True):
    """An event and the field of it that is meant."""

    event: str
    field: str


NOWHERE = Shown("", "")
"""What no line shows."""


class ClientCalls(Struct, frozen=True):
    """How the calls of clients are recorded. `event`: that of a call, with the fields of the adapter `clients`; `add`,
    `remove`, `read`: the operations that add a name, remove one, and return all of them; `done`: the outcomes by which
    a client knows that its operation was carried out."""

    event: str
    add: tuple[str, ...]
    remove: tuple[str, ...]
    read: tuple[str, ...]
    done: tuple[str, ...]


class DataRules(Struct, frozen=True):
    """Which events say what of a replicated set of names, such as the topics of a database.

    - `noun`: what the names are names of;
    - `start`: a process begins; `load`: right after that, one event for each name that is on its disk;
    - `take`: all names of a database that replaced the one of the node; events of `add` and `remove` follow for what
      it lacked, and had beyond; `fetch`: from which node it is about to take one;
    - `add`, `remove`: a name more, a name less;
    - `lead`: the node begins to serve as the coordinator of the group in the field; `join`: as a member of it;
    - `leave`: an event, its field, and the value by which the node no longer serves;
    - `end`: the process of the node in the field was ended;
    - `calls`: what clients recorded.

    Where logs show no database, there is only what clients called and read: then `start` is empty, and `load`, `take`,
    `add` and `remove` are `NOWHERE`.
    """

    noun: str
    start: str = ""
    load: Shown = NOWHERE
    take: Shown = NOWHERE
    add: Shown = NOWHERE
    remove: Shown = NOWHERE
    lead: Shown | None = None
    join: Shown | None = None
    fetch: Shown | None = None
    leave: tuple[str, str, str] | None = None
    end: Shown | None = None
    calls: ClientCalls | None = None

    @property
    def logs_show_data(self) -> bool:
        """Whether lines of nodes say what their databases hold."""
        return self.load != NOWHERE

    @property
    def own_events(self) -> frozenset[str]:
        """Those that say something of data alone."""
        calls = frozenset() if self.calls is None else frozenset({self.calls.event})
        return calls | {self.load.event} if self.logs_show_data else calls

    @property
    def events(self) -> frozenset[str]:
        """All events that are meant."""
        places = (self.load, self.take, self.add, self.remove, self.lead, self.join, self.fetch, self.end)
        found = {self.start, *(place.event for place in places if place is not None)} - {""}
        found |= {self.leave[0]} if self.leave is not None else set()
        return frozenset(found | ({self.calls.event} if self.calls is not None else set()))
