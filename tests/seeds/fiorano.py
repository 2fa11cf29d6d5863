"""Stories that many tests about Fiorano's two high-availability modes begin with."""

from __future__ import annotations

from tests.seeds.driving import Cluster, system

QUIET = {"crashes": "0", "channel_cuts": "0"}
BOTH = (1, 2)


class Pair(Cluster):
    """Two servers, their clients, and what they share."""

    @property
    def modes(self) -> tuple[str, str]:
        """The states of both servers."""
        return self[1].mode, self[2].mode

    @property
    def repository(self) -> frozenset[int]:
        """The messages that nobody has acknowledged yet."""
        kept = self.of("Client").repository
        assert isinstance(kept, frozenset)
        return kept

    @property
    def holder(self) -> int | None:
        """Who has the lock, by the file system."""
        holder = self.value("lock.LockFile.holder")
        assert holder is None or isinstance(holder, int)
        return holder

    def send(self, server: int, *failed: str) -> bool:
        """The oldest message goes to a server; whether it is acknowledged.

        All calls on its way are answered but the last one, if `failed` says how that one fails.
        """
        before = self.repository
        told = [one.step.choices for one in self._outcomes("send_next", (1,)) if one.step.choices[0] == server]
        outcomes = {one: tuple(x for x in one if isinstance(x, str) and x != "answered") for one in told}
        (choices,) = (one for one in told if outcomes[one] == failed)
        self.take("send_next", 1, choices=choices)
        return self.repository != before

    def crash(self, server: int) -> None:
        """A server crashes, and the file system frees its lock."""
        self.take("crash Server", server)
        if self.holder == server:
            self.take("free LockFile", server)


def shared(**settings: str) -> Pair:
    """The shared mode, where nothing goes wrong but what the settings allow."""
    return Pair(system("fiorano_shared", tuple(sorted({**QUIET, "database_cuts": "0", **settings}.items()))))


def replicated(**settings: str) -> Pair:
    """The replicated mode, where nothing goes wrong but what the settings allow."""
    return Pair(system("fiorano_replicated", tuple(sorted({**QUIET, **settings}.items()))))


def active_and_passive(**settings: str) -> Pair:
    """The shared mode, with server 1 ACTIVE and server 2 PASSIVE."""
    pair = shared(**settings)
    pair.take("start", 1)
    pair.take("start", 2)
    pair.take("services_up", 1)
    return pair


def linked(**settings: str) -> Pair:
    """The replicated mode, with both servers in WAITING, and each knows this of the other."""
    pair = replicated(**settings)
    for server in BOTH:
        pair.take("start", server)
    link(pair)
    return pair


def link(pair: Pair, first: int = 1) -> None:
    """A server opens the channel, and both hear what the other is."""
    pair.take("connect", first)
    hear(pair)


def hear(pair: Pair) -> None:
    """Both servers receive what is under way to them."""
    for server in BOTH:
        if pair.can("state_is", server, 3 - server):
            pair.take("state_is", server, 3 - server)


def resolve(pair: Pair, active: int = 1) -> None:
    """One server resolves to ACTIVE SYNC and the other one to PASSIVE SYNC, and both hear of it."""
    pair.take("resolve_active", active)
    hear(pair)
    pair.take("resolve_passive", 3 - active)
    hear(pair)


def synchronize(pair: Pair, active: int = 1) -> None:
    """The database is copied, and both hear of it."""
    pair.take("begin_copy", active)
    pair.take("finish_copy", active)
    hear(pair)


def formed(**settings: str) -> Pair:
    """The replicated mode, with server 1 ACTIVE and server 2 PASSIVE."""
    pair = linked(**settings)
    resolve(pair)
    synchronize(pair)
    return pair


def alone(**settings: str) -> Pair:
    """The replicated mode: the channel is cut; server 1 went on as STANDALONE, and server 2 is in WAITING."""
    pair = formed(**{"channel_cuts": "1", **settings})
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 1)
    pair.take("watch_peer", 2)
    return pair
