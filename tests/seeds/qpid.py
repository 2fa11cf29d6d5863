"""Stories that many tests about Qpid high availability begin with."""

from __future__ import annotations

from hacheck.model.ir import System
from tests.seeds.driving import Cluster, system

QUIET = {"brokers": "2", "faults_from": "start", "crashes": "0", "messages": "2"}


class Brokers(Cluster):
    """The brokers of a cluster, and a client."""

    def __init__(self, driven: System) -> None:
        super().__init__(driven)
        self.members = range(1, next(kind.size for kind in driven.nodes if kind.name == self.kind) + 1)

    @property
    def statuses(self) -> tuple[str, ...]:
        """The status of every broker."""
        return tuple(self[broker].status for broker in self.members)

    @property
    def unsettled(self) -> frozenset[int]:
        """The messages that nobody has acknowledged yet."""
        kept = self.of("Client").unsettled
        assert isinstance(kept, frozenset)
        return kept

    def content(self, broker: int) -> tuple[int, ...]:
        """The messages on a broker's queue, in the order of their ids."""
        return tuple(message for message in self[broker].queue if message is not None)

    def of_backup(self, field: str, primary: int, backup: int) -> object:
        """What a primary keeps of one backup."""
        return getattr(self[primary], field)[backup - 1]

    def use(self, broker: int) -> None:
        """The client tries the address of a broker."""
        self.take("find_broker", 1, choices=(broker, "answered"))

    def send(self, *acknowledging: int) -> None:
        """The client sends its next message; these brokers acknowledge one each."""
        self.take("send_next", 1)
        for broker in acknowledging:
            self.take("acknowledge", broker)

    def changes(self, action: str, *arguments: int) -> bool:
        """Whether a step, which is the only one with these arguments, changes anything."""
        before = self.state
        self.take(action, *arguments)
        return self.state != before

    def restart(self, broker: int) -> None:
        """A broker crashes and is started again."""
        self.take("crash Broker", broker)
        self.take("restart Broker", broker)

    def part(self, first: int, second: int) -> None:
        """The link between two brokers fails; each of them notices if it relied on it."""
        self.take("cut Broker - Broker", first, second)
        self.notice(first)
        self.notice(second)

    def notice(self, broker: int) -> None:
        """A broker misses heartbeats, where it does."""
        for action in ("watch_backups", "watch_primary"):
            if self.can(action, broker):
                self.take(action, broker)


def brokers(**settings: str) -> Brokers:
    """Brokers that have just been started, where nothing goes wrong but what the settings allow."""
    return Brokers(system("qpid_ha", tuple(sorted({**QUIET, **settings}.items()))))


def shake_hands(cluster: Brokers, primary: int, backup: int) -> None:
    """A backup that is linked hears of the queue, and subscribes to it."""
    if cluster.can("read_response", backup):
        cluster.take("read_response", backup)
    if cluster.can("subscribe", backup):
        cluster.take("subscribe", backup)
        cluster.take("first_guarded_position", primary, backup)
        cluster.take("take_snapshot", primary, backup)


def fill(cluster: Brokers, primary: int, backup: int) -> None:
    """A backup that is linked gets all that its primary has, and hears the members' list."""
    if cluster.can("send_queue_event", primary, backup):
        cluster.take("send_queue_event", primary, backup)
    shake_hands(cluster, primary, backup)
    while cluster.can("deliver", primary, backup):
        cluster.take("deliver", primary, backup)
    tell(cluster, primary)


def tell(cluster: Brokers, primary: int) -> None:
    """Every backup that has to hear the members' list does."""
    for backup in cluster.members:
        if cluster.can("send_membership", primary, backup):
            cluster.take("send_membership", primary, backup)


def join(cluster: Brokers, primary: int, backup: int) -> None:
    """A backup finds the primary, and is filled."""
    cluster.take("find_primary", backup)
    fill(cluster, primary, backup)


def linked(**settings: str) -> Brokers:
    """Broker 1 is the primary and has acknowledged message 1; broker 2 has just found it."""
    cluster = brokers(**settings)
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.send(1)
    cluster.take("find_primary", 2)
    cluster.take("read_response", 2)
    return cluster


def formed(**settings: str) -> Brokers:
    """Broker 1 is the primary, has acknowledged message 1, and all others are ready."""
    cluster = brokers(**settings)
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.send(1)
    for backup in cluster.members[1:]:
        join(cluster, 1, backup)
    return cluster


def recovering(**settings: str) -> Brokers:
    """Of three, broker 1 has crashed for now, and broker 2 is promoted and expects broker 3."""
    cluster = formed(**{"brokers": "3", "crashes": "1", **settings})
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    return cluster
