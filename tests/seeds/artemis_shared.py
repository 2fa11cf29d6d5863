"""Stories that many tests about Artemis' shared store begin with. Server 1 is the primary, the others are backups."""

from __future__ import annotations

from tests.seeds.driving import Cluster, system

QUIET = {"crashes": "0"}
PRIMARY, BACKUP, SECOND_BACKUP = 1, 2, 3


class Store(Cluster):
    """A primary, its backups, their clients, and the file system they share."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The states of the primary and the first backup."""
        return self[PRIMARY].mode, self[BACKUP].mode

    @property
    def possible(self) -> frozenset[str]:
        """The actions that the settings do not rule out."""
        return frozenset(action.name for action in self.system.actions)

    @property
    def byte(self) -> str:
        """The state byte of the lock file."""
        return str(self.of("FileSystem").byte)

    @property
    def journal(self) -> frozenset[int]:
        """What the journal has on disk."""
        kept = self.of("FileSystem").journal
        assert isinstance(kept, frozenset)
        return kept

    @property
    def unsent(self) -> frozenset[int]:
        """The messages that nobody has acknowledged yet."""
        kept = self.of("Client").unsent
        assert isinstance(kept, frozenset)
        return kept

    @property
    def holder(self) -> int | None:
        """Who has the PrimaryLock, by the file system."""
        holder = self.value("lock.PrimaryLock.holder")
        assert holder is None or isinstance(holder, int)
        return holder

    def send(self, server: int, *failed: str) -> bool:
        """The oldest message goes to a server; whether it is acknowledged.

        All calls on its way are answered but the last one, if `failed` says how that one fails.
        """
        before = self.unsent
        told = [one.step.choices for one in self._outcomes("send_next", (1,)) if one.step.choices[0] == server]
        outcomes = {one: tuple(x for x in one if isinstance(x, str) and x != "answered") for one in told}
        (choices,) = (one for one in told if outcomes[one] == failed)
        self.take("send_next", 1, choices=choices)
        return self.unsent != before

    def request(self) -> None:
        """The primary is started, writes `F` and waits for the lock."""
        if self.can("start", PRIMARY):
            self.take("start", PRIMARY)
        self.take("start_as_primary", PRIMARY)
        self.take("start_as_primary.write_f", PRIMARY)

    def activate(self, server: int) -> None:
        """A server that has the lock reads the journal and becomes fully active."""
        self.take("load_journal", server)
        self.take("complete_activation", server)

    def crash(self, server: int) -> None:
        """A server crashes, and the file system frees its locks."""
        self.take("crash Server", server)
        self.free(server)

    def free(self, server: int) -> None:
        """The file system frees the locks of a process that has ended."""
        for lock in ("free PrimaryLock", "free BackupLock"):
            if self.can(lock, server):
                self.take(lock, server)

    def take_over(self, server: int = BACKUP) -> None:
        """The passive backup gets the lock, finds an `L`, and becomes fully active."""
        self.take("take_over", server)
        self.take("take_over.locked", server)
        self.activate(server)

    def cut(self, server: int) -> None:
        """A server's mount fails."""
        self.take("cut Server - FileSystem", server, 1)

    def heal(self, server: int) -> None:
        """A server's mount comes back."""
        self.take("heal Server - FileSystem", server, 1)

    def look_after_lock(self, server: int) -> bool:
        """The lock monitor runs; whether its server decides to stop."""
        self.take("watch_lock", server)
        return self.can("watch_lock.stopping", server)


def store(**settings: str) -> Store:
    """Nobody is started yet, and nothing goes wrong but what the settings allow."""
    return Store(system("artemis_shared_store", tuple(sorted({**QUIET, **settings}.items()))))


def active_and_passive(**settings: str) -> Store:
    """The primary serves, and the first backup is passive."""
    pair = store(**settings)
    pair.request()
    pair.take("lock_primary", PRIMARY)
    pair.activate(PRIMARY)
    pair.take("start", BACKUP)
    pair.take("join", BACKUP)
    return pair


def failed_over(**settings: str) -> Store:
    """The primary crashed, and the first backup serves."""
    pair = active_and_passive(**{"crashes": "1", **settings})
    pair.crash(PRIMARY)
    pair.take_over()
    return pair


def failing_back(**settings: str) -> Store:
    """The backup serves, and the primary is back and waits; the backup has heard of it."""
    pair = failed_over(**settings)
    pair.take("restart Server", PRIMARY)
    pair.request()
    pair.take("tell_others", PRIMARY)
    return pair


def lock_lost(**settings: str) -> Store:
    """The primary was cut off for so long that the backup serves by now; its mount is back."""
    pair = active_and_passive(
        **{"mount_cuts": "1", "lock_losses": "1", "monitor_in_time": "off", **settings},
    )
    pair.cut(PRIMARY)
    pair.take("lose PrimaryLock")
    pair.take_over()
    pair.heal(PRIMARY)
    return pair
