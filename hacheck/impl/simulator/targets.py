"""Targets of faults: members and directions for a word such as `minority`, drawn for the cluster at that moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from hacheck.impl.node import Name
from hacheck.impl.simulator.faults import Direction, between
from hacheck.impl.system import Member

CLIENT = "client"


class Cluster:
    """The members of a cluster. `servers`: all but clients. `serving`: returns the servers that believe to serve now;
    `is_up`: whether a process runs."""

    def __init__(
        self,
        members: Sequence[Member],
        serving: Callable[[], tuple[Name, ...]] = tuple,
        is_up: Callable[[Name], bool] = bool,
    ) -> None:
        self.members = tuple(members)
        self.servers = tuple(member.name for member in members if member.role != CLIENT)
        self.clients = tuple(member.name for member in members if member.role == CLIENT)
        self.locks = tuple(dict.fromkeys(lock for member in members for lock in member.locks))
        self.shared = tuple(dict.fromkeys(disk for member in members for disk in member.shared))
        self.hosts = tuple(dict.fromkeys((*self.locks, *self.shared)))
        self._serving, self.is_up = serving, is_up

    def users(self, host: Name) -> tuple[Name, ...]:
        """Who may reach a host."""
        return tuple(member.name for member in self.members if host in member.locks or host in member.shared)

    def coordinator(self) -> Name | None:
        """One server that serves; of several the first."""
        return next((name for name in self._serving() if name in self.servers), None)


def drawn_from(names: Sequence[Name], number: int, random: Random) -> tuple[Name, ...]:
    """So many of these names, drawn, in their order."""
    chosen = set(random.sample(names, number))
    return tuple(name for name in names if name in chosen)


# ---- who, for faults of processes, clocks and disks ----

Members: TypeAlias = Callable[[Cluster, Random], tuple[Name, ...]]


def _one(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    return drawn_from(cluster.servers, 1, random)


def _coordinator(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    name = cluster.coordinator()
    return () if name is None else (name,)


def _minority(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    number = (len(cluster.servers) - 1) // 2
    return drawn_from(cluster.servers, random.randint(1, number), random) if number else ()


def _third(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    number = (len(cluster.servers) - 1) // 3
    return drawn_from(cluster.servers, random.randint(1, number), random) if number else ()


def _majority(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    least, number = len(cluster.servers) // 2 + 1, len(cluster.servers)
    return drawn_from(cluster.servers, random.randint(least, max(least, number - 1)), random) if number > 1 else ()


def _all(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    return cluster.servers


def _client(cluster: Cluster, random: Random) -> tuple[Name, ...]:
    return drawn_from(cluster.clients, 1, random) if cluster.clients else ()


MEMBERS: Mapping[str, Members] = {
    "one": _one,
    "coordinator": _coordinator,
    "minority": _minority,
    "third": _third,
    "majority": _majority,
    "all": _all,
    "client": _client,
}
"""Members, by word: `minority` is fewer than half of the servers, at least one; `third` fewer than a third;
`coordinator` is a server that serves. No member, where there are too few."""

# ---- which directions, for faults of the network ----

Directions: TypeAlias = Callable[[Cluster, Random], tuple[Direction, ...]]


def _with_clients(cluster: Cluster, left: list[Name], right: list[Name], random: Random) -> tuple[Direction, ...]:
    """Two sides that do not reach each other; each client and each host is on one of them."""
    for name in (*cluster.clients, *cluster.hosts):
        random.choice((left, right)).append(name)
    reached = {(name, host) for host in cluster.hosts for name in cluster.users(host)}
    known = {*reached, *((host, name) for name, host in reached)}
    hosts = set(cluster.hosts)
    return tuple(pair for pair in between(left, right) if not hosts.intersection(pair) or pair in known)


def _halves(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    if len(cluster.servers) < 2:
        return ()
    here = drawn_from(cluster.servers, random.randint(1, len(cluster.servers) - 1), random)
    return _with_clients(cluster, list(here), [name for name in cluster.servers if name not in here], random)


def _alone(cluster: Cluster, name: Name | None, random: Random) -> tuple[Direction, ...]:
    if name is None or len(cluster.servers) < 2:
        return ()
    return _with_clients(cluster, [name], [other for other in cluster.servers if other != name], random)


def _isolate(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    return _alone(cluster, random.choice(cluster.servers), random)


def _isolate_coordinator(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    return _alone(cluster, cluster.coordinator(), random)


def _bridge(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """Two sides, and one server that reaches both."""
    if len(cluster.servers) < 3:
        return ()
    bridge = random.choice(cluster.servers)
    others = [name for name in cluster.servers if name != bridge]
    here = drawn_from(others, random.randint(1, len(others) - 1), random)
    return _with_clients(cluster, list(here), [name for name in others if name not in here], random)


def _ring(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """Each server reaches a majority, and no two the same one; with three, one pair of them is cut."""
    servers = list(cluster.servers)
    number = len(servers)
    if number < 3:
        return ()
    random.shuffle(servers)
    if number == 3:
        return between(servers[:1], servers[1:2])
    reach = number // 2  # so many neighbours in the ring, which with itself are a majority
    cut = []
    for index, name in enumerate(servers):
        for step in range(1, number):
            if min(step, number - step) > (reach + 1) // 2:
                cut.append((name, servers[(index + step) % number]))
    return tuple(cut)


def _deaf(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """One server, mostly the one that serves, hears no other."""
    name = _important(cluster, random)
    return tuple((other, name) for other in cluster.servers if other != name)


def _mute(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """One server, mostly the one that serves, is heard by no other."""
    name = _important(cluster, random)
    return tuple((name, other) for other in cluster.servers if other != name)


def _important(cluster: Cluster, random: Random) -> Name:
    found = cluster.coordinator() if random.random() < 0.6 else None
    return found or random.choice(cluster.servers)


def _pair(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    if len(cluster.servers) < 2:
        return ()
    here, there = random.sample(cluster.servers, 2)
    return between([here], [there])


def _from_clients(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """A client no longer reaches the one that serves."""
    name = cluster.coordinator()
    if name is None or not cluster.clients:
        return ()
    return between([random.choice(cluster.clients)], [name])


def _from_host(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """One member, mostly the one that serves, no longer reaches a host; the rest of the network is well."""
    if not cluster.hosts:
        return ()
    host = random.choice(cluster.hosts)
    users, name = cluster.users(host), cluster.coordinator()
    return between([name if name in users and random.random() < 0.6 else random.choice(users)], [host])


def _host(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    """No member reaches a host."""
    if not cluster.hosts:
        return ()
    host = random.choice(cluster.hosts)
    return between(list(cluster.users(host)), [host])


def _everywhere(cluster: Cluster, random: Random) -> tuple[Direction, ...]:
    names = [member.name for member in cluster.members]
    return tuple((here, there) for here in names for there in names if here != there)


DIRECTIONS: Mapping[str, Directions] = {
    "halves": _halves,
    "isolate": _isolate,
    "isolate-coordinator": _isolate_coordinator,
    "bridge": _bridge,
    "ring": _ring,
    "deaf": _deaf,
    "mute": _mute,
    "pair": _pair,
    "client": _from_clients,
    "host": _host,
    "from-host": _from_host,
    "everywhere": _everywhere,
}
"""Directions, by word. None, where there are too few members."""
