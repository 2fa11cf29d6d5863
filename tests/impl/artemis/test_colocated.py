"""Live servers that run backups for each other: who asks whom, what a backup is called, and who serves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hacheck.impl.node import Effect, Fired, Input, LockAnswered, TryLock, Unlock
from hacheck.impl.protocols.artemis.colocated.configuration import Configuration, Connector, inherited
from hacheck.impl.protocols.artemis.colocated.messages import RequestBackup
from hacheck.impl.protocols.artemis.colocated.process import ColocatedProcess
from hacheck.impl.protocols.artemis.colocated.server_host import Server, ServerHost
from hacheck.impl.protocols.artemis.colocated.system import COLOCATED_BACKUPS
from hacheck.impl.system import Refused
from tests.impl.stage import Stage

WAYS = ("replication", "shared_store")
QUICK = {"check_wait_us": 1_000_000, "vote_retries": 1, "vote_retry_wait_us": 500_000}


def cluster(replicas: int = 2, way: str = "replication", clients: int = 0, seconds: float = 8, **more: object) -> Stage:
    """Processes that have been running for a while."""
    settings = {"way": way, **(QUICK if way == "replication" else {}), **more}
    stage = Stage(COLOCATED_BACKUPS, replicas, clients, **settings)
    stage.start()
    stage.run(seconds)
    return stage


def process(stage: Stage, number: int) -> ColocatedProcess:
    found = stage.nodes[f"server-{number}"]
    assert isinstance(found, ColocatedProcess)
    return found


def hosts(stage: Stage) -> dict[str, list[str]]:
    """Whose backups each process runs."""
    return {
        name: [one.live for one in node.hosted.values()]
        for name, node in stage.nodes.items()
        if isinstance(node, ColocatedProcess)
    }


# ---- requests ------------------------------------------------------------------------------------------------------


def test_an_answer_that_is_lost_may_cost_a_second_backup() -> None:
    """A request that is not answered is refused, for all the server knows."""
    stage = Stage(COLOCATED_BACKUPS, 3, 0, max_backups=2, **QUICK)
    stage.start()
    stage.run_until_sent(RequestBackup)
    target = next(to for by, to, message in stage.sent if by == "server-1" and isinstance(message, RequestBackup))
    stage.run(0.00015)
    stage.part("server-1", target)
    stage.run(20)
    stage.heal()
    stage.run(20)
    assert sum(backups.count("server-1") for backups in hosts(stage).values()) == 2


# ---- names, ports, directories -------------------------------------------------------------------------------------

OWN = Configuration("live", (Connector("netty", 5445), Connector("remote", 5446), Connector("in-vm", 0, "0")))


def test_a_backup_has_a_name_and_ports_of_its_own() -> None:
    """HornetQ manual, "Configuring Connectors and Acceptors": 5445 becomes 5545 for the first one, then 5645."""
    first, second = (inherited(OWN, number, 100, ("remote",), shared_store=False) for number in (1, 2))
    assert (first.name, first.ports) == ("colocated_backup_1", (5545, 5446))
    assert (second.name, second.ports) == ("colocated_backup_2", (5645, 5446))


def test_connectors_within_the_process_have_the_name_appended_and_excluded_ones_stay() -> None:
    """HornetQ manual: INVM connectors, "Remote Connectors"."""
    backup = inherited(OWN, 2, 100, ("remote",), shared_store=False)
    assert backup.connectors[1:] == (Connector("remote", 5446), Connector("in-vm", 0, "0colocated_backup_2"))
    moved = inherited(OWN, 2, 100, (), shared_store=False)
    assert moved.connectors[1] == Connector("remote", 5646)


def test_directories_have_the_name_appended_with_replication_only() -> None:
    """HornetQ manual, "Configuring Directories": over a shared store they are those of the live server."""
    assert inherited(OWN, 1, 100, (), shared_store=False).folder == "colocated_backup_1/"
    assert inherited(OWN, 1, 100, (), shared_store=True).folder == ""
    stage = cluster(clients=1)
    folders = {key.partition("/")[0] for key in stage.disks["server-2"]}
    assert {"colocated_backup_1", "identity"} <= folders
    shared = cluster(way="shared_store")
    assert not shared.disks["server-2"]


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(Refused, match="2 replicas at least"):
        COLOCATED_BACKUPS.members(1, 0, COLOCATED_BACKUPS.options({}))
    with pytest.raises(Refused, match="65535 is the highest"):
        COLOCATED_BACKUPS.members(2, 0, COLOCATED_BACKUPS.options({"port": "65500"}))
    with pytest.raises(Refused, match="did you mean `max_backups`"):
        COLOCATED_BACKUPS.options({"max_backup": "2"})
    with pytest.raises(Refused, match="there is no setting `vote_retries`"):
        COLOCATED_BACKUPS.options({"way": "shared_store", "vote_retries": "2"})


def test_a_backup_is_configured_as_the_process_that_it_runs_in() -> None:
    """HornetQ manual, "Colocated Backup Servers": it inherits its configuration from the live server creating it."""
    stage = Stage(COLOCATED_BACKUPS, 2, 0, **QUICK)
    own = stage.options
    for number, size in ((1, 11), (2, 22)):
        stage.options = replace(own, servers=replace(own.servers, id_cache_size=size))
        stage.start(f"server-{number}")
    stage.run(8)
    assert hosts(stage) == {"server-1": ["server-2"], "server-2": ["server-1"]}
    for number, size in ((1, 11), (2, 22)):
        host = process(stage, number)
        (backup,) = (node for address, node in host.nodes.items() if address != host.name)
        assert backup.broker.options == replace(own.servers, id_cache_size=size, restart_backup=False)


@pytest.mark.parametrize("interval_us", [1_000_000, 3_000_000])
def test_a_server_waits_between_two_requests(interval_us: int) -> None:
    """HornetQ manual, table: backup-request-retry-interval."""
    stage = cluster(2, max_backups=0, backup_request_retry_interval_us=interval_us, seconds=20)
    changes = [(at, one.fields["new"]) for at, who, one in stage.log if (who, one.event) == ("server-1", "asking")]
    asked = [at for at, new in changes if new == "asking who has how many"]
    answered = [at for at, new in changes if new == "waiting to ask again"]
    assert len(answered) > 4
    assert all(again - before == interval_us for before, again in zip(answered, asked[1:], strict=False))


# ---- locks of one process ------------------------------------------------------------------------------------------


class Locking:
    """A server that takes its lock, or gives it back, when it is ordered to. `heard`: whether it was granted."""

    def __init__(self) -> None:
        self.heard: list[bool] = []

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """Takes an input."""
        if isinstance(given, LockAnswered):
            self.heard.append(given.granted)
            return []
        return [
            TryLock("primary.lock") if isinstance(given, Fired) and given.timer == "take" else Unlock("primary.lock")
        ]


def test_a_lock_that_one_server_of_a_process_has_is_refused_to_another_one_of_it() -> None:
    """HornetQ manual, "Shared Store": one server of a store has the lock. The one that keeps locks knows processes
    only, and grants a process again what it has."""
    hosting, nodes = ServerHost("server-1"), [Locking(), Locking()]
    first, second = (
        Server(f"server-1/backup_{number}", node, places={"primary.lock": "store-2.primary"})
        for number, node in enumerate(nodes)
    )
    for server in (first, second):
        hosting.add(server)
        hosting.give(server, Fired("take"), 0)
    for _ in nodes:
        hosting.take(LockAnswered("store-2.primary", granted=True), 1)
    assert [node.heard for node in nodes] == [[True], [False]]
    hosting.effects.clear()
    hosting.give(second, Fired("give back"), 2)
    assert hosting.effects == [], "it is not this one's to give back"
    hosting.give(first, Fired("give back"), 3)
    assert hosting.effects == [Unlock("store-2.primary")]
    hosting.give(second, Fired("take"), 4)
    hosting.take(LockAnswered("store-2.primary", granted=True), 5)
    assert nodes[1].heard == [False, True]
