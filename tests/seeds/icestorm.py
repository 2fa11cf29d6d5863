"""Stories that many tests about HA IceStorm begin with."""

from __future__ import annotations

from tests.seeds.driving import Cluster, system


def replicas(**settings: str) -> Cluster:
    """Three replicas that have just been started, where nothing goes wrong but what the settings allow."""
    return Cluster(system("icestorm", tuple(sorted({"crashes": "0", **settings}.items()))))


def gather(cluster: Cluster, coordinator: int, slaves: tuple[int, ...]) -> None:
    """The coordinator looks around and invites, and the slaves accept, in this order."""
    cluster.take("check", coordinator)
    cluster.take("merge", coordinator)
    for slave in slaves:
        cluster.take("invitation", slave, coordinator)


def commence(cluster: Cluster, coordinator: int) -> None:
    """The coordinator spreads the database to those that accepted, and starts everyone."""
    cluster.take("merge_continue", coordinator)
    cluster.take("merge_continue.push", coordinator)
    for _ in cluster[coordinator].members:
        cluster.take("merge_continue.report", coordinator)


def form(cluster: Cluster, coordinator: int, slaves: tuple[int, ...]) -> None:
    """A group forms and replication commences."""
    gather(cluster, coordinator, slaves)
    commence(cluster, coordinator)


def change(cluster: Cluster, coordinator: int) -> None:
    """A client's change, carried out to its end."""
    cluster.take("update", coordinator)
    cluster.take("update.replicate", coordinator)


def restart(cluster: Cluster, *nodes: int) -> None:
    """Replicas crash and are started again."""
    for node in nodes:
        cluster.take("crash Replica", node)
    for node in nodes:
        cluster.take("restart Replica", node)


def formed(**settings: str) -> Cluster:
    """All three in one group, led by replica 3."""
    cluster = replicas(**settings)
    form(cluster, 3, (1, 2))
    return cluster


def alone(cluster: Cluster, node: int) -> bool:
    """Whether a replica is inactive and a group of its own, as after its start and after recovery."""
    replica = cluster[node]
    return replica.mode == "inactive" and replica.coordinator is None and replica.members == frozenset()
