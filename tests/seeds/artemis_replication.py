"""Stories that many tests about Artemis replication begin with."""

from __future__ import annotations

from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from tests.seeds.driving import Cluster, system

QUIET = {"crashes": "0", "cuts": "0"}
PRIMARY, BACKUP = 1, 2


class Brokers(Cluster):
    """A primary and its backups, servers 1, 2, …, and the voters of other pairs."""

    def __init__(self, driven: System, group: str = "fish") -> None:
        self.system = driven
        self.kind = "Server"
        self.interpreter = Interpreter(driven)
        self.state = self.interpreter.initial_states()[0]
        if group != "fish":
            groups, _ = self.interpreter.variables["Server.group"]
            wanted = ("fish", group)
            (self.state,) = (one for one in self.interpreter.initial_states() if one[groups] == wanted)

    def declares(self, action: str) -> bool:
        """Whether the settings leave such a step in the system at all."""
        return any(one.name == action for one in self.system.actions)

    @property
    def modes(self) -> tuple[str, ...]:
        """What the first two servers are."""
        return self[PRIMARY].mode, self[BACKUP].mode

    @property
    def outbox(self) -> frozenset[int]:
        """The messages that nobody has acknowledged yet."""
        kept = self.value("outbox")
        assert isinstance(kept, frozenset)
        return kept

    def known(self, voter: int = 1, node_id: int = PRIMARY) -> int | None:
        """Who is active for a node id, by the topology of a voter."""
        known = self.of("Voter", voter).active[node_id - 1]
        assert known is None or isinstance(known, int)
        return known

    def restart(self, server: int) -> None:
        """A server crashes, and is started again."""
        self.take("crash Server", server)
        self.take("restart Server", server)

    def forget(self, *voters: int) -> None:
        """Voters lose their connection to whom they took for active."""
        for voter in voters or range(1, self.voters + 1):
            self.take("forget", voter, PRIMARY)

    @property
    def voters(self) -> int:
        """How many voters there are."""
        place, _ = self.interpreter.variables["Voter.active"]
        voters = self.state[place]
        assert isinstance(voters, tuple)
        return len(voters)


def brokers(**settings: str) -> Brokers:
    """Everything has been started, and nobody serves yet; nothing goes wrong but what the settings allow."""
    return Brokers(system("artemis_replication", tuple(sorted({**QUIET, **settings}.items()))))


def grouped(group: str, **settings: str) -> Brokers:
    """The same with group names: the primary is in group fish."""
    told = {**QUIET, "grouped": "on", **settings}
    return Brokers(system("artemis_replication", tuple(sorted(told.items()))), group)


def serving(**settings: str) -> Brokers:
    """The primary serves, alone."""
    pair = brokers(**settings)
    pair.take("start_primary", PRIMARY)
    return pair


def registered(**settings: str) -> Brokers:
    """The backup has found the primary."""
    pair = serving(**settings)
    pair.take("locate", BACKUP)
    return pair


def synchronize(pair: Brokers, active: int = PRIMARY) -> None:
    """Whoever has registered with the active server becomes in sync."""
    for step in ("freeze_files", "copy_files", "finish_sync"):
        pair.take(step, active)


def in_sync(**settings: str) -> Brokers:
    """The backup is in sync."""
    pair = registered(**settings)
    synchronize(pair)
    return pair


def cut(pair: Brokers) -> None:
    """The link between primary and backup fails."""
    pair.take("cut Server - Server", PRIMARY, BACKUP)


def taken_over(**settings: str) -> Brokers:
    """The primary has crashed, and its backup serves."""
    pair = in_sync(**{"crashes": "1", **settings})
    pair.take("crash Server", PRIMARY)
    pair.take("watch_link", BACKUP)
    pair.forget()
    pair.take("ask_votes", BACKUP)
    return pair


def come_back(**settings: str) -> Brokers:
    """And the primary has come back, and is in sync with it."""
    pair = taken_over(**settings)
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    pair.take("locate", PRIMARY)
    synchronize(pair, BACKUP)
    return pair
