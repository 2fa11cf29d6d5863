"""The role of a primary: which backups there are, which it waits for, who is ready, what it informs them.

A new primary first waits, `recovering`, for the backups that the old one had called ready: nothing sent to it is
completed while one of them is missing. It is `active` when each is ready again or has been given up.

**Source:** overview of the HA module, "Overview of HA classes"; survey of broker failover protocols, sections 1.3, 1.4.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.configuration_source import ConfigurationSource
from hacheck.impl.protocols.qpid.messages import Members, SubscribeQueue
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import Register
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Queue, Wiring
from hacheck.impl.protocols.qpid.source import QueueGuard, Source
from hacheck.impl.protocols.qpid.transactions import Transactions

BACKUP_TIMEOUT = "backup-timeout"
REGISTER = "register"


class RemoteBackup:
    """A backup as the primary sees it. `catchup`: the queues that it has not caught up with. `guards`: those made for
    it before it subscribed, by queue. `is_reported`: it has been listed as ready."""

    __slots__ = ("catchup", "channel", "guards", "info", "is_reported")

    def __init__(self, info: Info) -> None:
        self.info = info
        self.channel: Channel | None = None
        self.catchup: dict[str, None] = {}
        self.guards: dict[str, QueueGuard] = {}
        self.is_reported = False

    @property
    def is_ready(self) -> bool:
        """Everything that was ever acknowledged is there, or waits for it."""
        return self.channel is not None and not self.catchup


class Primary:
    """A broker that has been promoted. `backups`: those it knows, by id. `expected`: those it waits for before it is
    active. `members`: the cluster as it shows it to the backups.

    `registering`, `registered`: the last list of backups that the resource manager was informed, and has confirmed, by
    number; `leaving`: guards that are to go when a number has been confirmed; `arriving`: backups that are to be called
    ready then (only with `registered_backups`).
    """

    __slots__ = (
        "_enter",
        "_manager",
        "_options",
        "_process",
        "_wiring",
        "arriving",
        "backups",
        "configuration",
        "expected",
        "leaving",
        "members",
        "myself",
        "registered",
        "registering",
        "source",
        "term",
        "transactions",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        source: Source,
        transactions: Transactions,
        configuration: ConfigurationSource,
        myself: Callable[[], Info],
        enter: Callable[[str], None],
        manager: Name,
        term: int,
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._enter = enter
        self._manager = manager
        self.term = term
        self.source = source
        self.transactions = transactions
        transactions.caught_up = self._caught_up
        transactions.ended = self._transaction_ended
        self.myself = myself
        self.backups: dict[str, RemoteBackup] = {}
        self.expected: dict[str, None] = {}
        self.members: dict[str, Info] = {}
        self.configuration = configuration
        self.registering = 0
        self.registered = 0
        self.leaving: list[tuple[int, list[QueueGuard]]] = []
        self.arriving: list[tuple[int, RemoteBackup]] = []

    def begin(self, expected: list[Info]) -> None:
        """Promoted: guard every queue for each backup that the old primary had called ready, then wait for them."""
        self.members = {self.myself().system: self.myself()}
        for info in expected:
            backup = RemoteBackup(info)
            self.backups[info.system] = backup
            self.expected[info.system] = None
            for queue in self._replicated():
                backup.guards[queue.name] = self.source.guard(queue, info.system)
        if expected:
            self._process.record("recovering_backups", backups=[info.address for info in expected])
            self._process.set_timer(BACKUP_TIMEOUT, self._options.backup_timeout_us)
        self._register()
        self._check_recovered()

    def _replicated(self) -> list[Queue]:
        return [queue for queue in self._wiring.queues.values() if queue.arguments.replicate == "all"]

    def is_impostor(self, info: Info) -> bool:
        """Whether a backup says it has an id that this broker, or a member elsewhere, has."""
        known = self.members.get(info.system)
        return known is not None and known.address != info.address

    # ---- backups come and go ----------------------------------------------------------------------------------------

    def opened(self, channel: Channel) -> None:
        """A backup has connected. One that says it is joining is listed as catching up, any other as it says."""
        assert channel.about is not None
        info = channel.about
        backup = self.backups.get(info.system)
        if backup is not None and backup.channel is not None:
            self._process.record("backup_overlaps", backup=info.address, claimed=info.status)
            self._replaced(backup, backup.channel)
            backup = None
        else:
            self._process.record("backup_connected", known=backup is not None, backup=info.address, claimed=info.status)
        if backup is None:
            backup = self.backups[info.system] = RemoteBackup(info)
        backup.channel = channel
        given_up = self.members.get(info.system)  # a time-out has listed it as catching up, whatever it says
        if info.status == statuses.JOINING or (given_up is not None and given_up.status == statuses.CATCHUP):
            info = structs.replace(info, status=statuses.CATCHUP)
        backup.info = info
        self.members[info.system] = info
        backup.catchup = {queue.name: None for queue in self._replicated()}
        self._broadcast()
        if not self._options.bug_no_recheck:
            self._check_ready(backup)

    def _replaced(self, backup: RemoteBackup, old: Channel) -> None:
        """A backup has another connection: the one before counts as closed."""
        self._process.close(old, "another connection of this backup")
        self.transactions.lost(old)
        self._cancel(backup, self.source.disconnected(old))
        self.configuration.closed(old)
        self._check_recovered()

    def closed(self, channel: Channel) -> None:
        """A connection of a backup is gone: nothing waits for that backup any more."""
        assert channel.about is not None
        self.configuration.closed(channel)
        self.transactions.lost(channel)
        guards = self.source.disconnected(channel)
        backup = self.backups.get(channel.about.system)
        if backup is None or backup.channel is not channel:
            for guard in guards:
                self.source.cancel_guard(guard)
            return
        self._process.record("backup_disconnected", backup=backup.info.address)
        self._cancel(backup, guards)
        self._broadcast()
        self._check_recovered()

    def _cancel(self, backup: RemoteBackup, guards: list[QueueGuard]) -> None:
        """Let go of a backup. With `registered_backups` its guards stay until nobody can promote it any more."""
        system = backup.info.system
        self.backups.pop(system, None)
        self.expected.pop(system, None)
        self.members.pop(system, None)
        going = [*guards, *backup.guards.values()]
        if self._options.registered_backups:
            self._register()
            self.leaving.append((self.registering, going))
            return
        for guard in going:
            self.source.cancel_guard(guard)

    def timed_out(self) -> None:
        """Expected backups that have not connected by now are given up, and have to catch up when they come. Those
        that are connected are waited for, however long it takes (Q-W4)."""
        if self.myself().status != statuses.RECOVERING:
            return
        for system in tuple(self.expected):
            backup = self.backups[system]
            if backup.channel is None:
                self._process.record("backup_timed_out", backup=backup.info.address)
                self._cancel(backup, [])
                self.members[system] = structs.replace(backup.info, status=statuses.CATCHUP)
        self._broadcast()
        self._check_recovered()

    # ---- ready ------------------------------------------------------------------------------------------------------

    def subscribe(self, channel: Channel, request: SubscribeQueue) -> None:
        """A backup wants a queue: the guard that was made for it beforehand is now that of its subscription."""
        assert channel.about is not None
        backup = self.backups.get(channel.about.system)
        mine = backup if backup is not None and backup.channel is channel else None
        guard = mine.guards.pop(request.queue, None) if mine is not None else None
        self.source.subscribe(channel, request, self._wiring.queues.get(request.queue), guard)

    def queue_ready(self, channel: Channel, queue: Queue) -> None:
        """A backup has caught up with a queue."""
        backup = self._of(channel)
        if backup is not None:
            backup.catchup.pop(queue.name, None)
            self._check_ready(backup)

    def _of(self, channel: Channel) -> RemoteBackup | None:
        backup = self.backups.get(channel.about.system) if channel.about is not None else None
        return backup if backup is not None and backup.channel is channel else None

    def _check_ready(self, backup: RemoteBackup) -> None:
        if backup.is_reported or not backup.is_ready or self.transactions.lacks(backup.channel):
            return
        backup.is_reported = True
        self._register()
        if self._options.registered_backups:
            self.arriving.append((self.registering, backup))
        else:
            self._report_ready(backup)

    def _caught_up(self) -> list[Channel]:
        """Backups that can have a transaction from its beginning."""
        return [one.channel for one in self.backups.values() if one.channel is not None and one.is_ready]

    def _transaction_ended(self) -> None:
        """Nobody has to wait for it any more in order to be ready."""
        for backup in tuple(self.backups.values()):
            self._check_ready(backup)

    def _report_ready(self, backup: RemoteBackup) -> None:
        """A backup has everything, and may be promoted: say so."""
        system = backup.info.system
        backup.info = structs.replace(backup.info, status=statuses.READY)
        self.members[system] = backup.info
        self._process.record("backup_known_ready", recovering=system in self.expected, backup=backup.info.address)
        self.expected.pop(system, None)
        self._broadcast()
        self._check_recovered()

    def _check_recovered(self) -> None:
        if not self.expected and self.is_confirmed and self.myself().status == statuses.RECOVERING:
            self._enter(statuses.ACTIVE)
            self._process.record("all_recovered")
            self.members[self.myself().system] = self.myself()
            self._broadcast()

    def _broadcast(self) -> None:
        members = list(self.members.values())
        self._process.record(
            "membership",
            members=[info.address for info in members],
            ready=[info.address for info in members if info.status == statuses.READY],
            expected=[self.backups[system].info.address for system in self.expected],
        )
        self.configuration.announce(Members(tuple(self.members.values())))

    # ---- queues -----------------------------------------------------------------------------------------------------

    def queue_created(self, queue: Queue) -> None:
        """A new queue is guarded for every backup at once. None need catch up with it: there is nothing on it yet."""
        if queue.arguments.replicate == "all":
            for backup in self.backups.values():
                backup.guards[queue.name] = self.source.guard(queue, backup.info.system)

    def queue_destroyed(self, queue: Queue) -> None:
        """Nobody has to catch up with a queue that is gone."""
        for backup in tuple(self.backups.values()):
            backup.guards.pop(queue.name, None)
            backup.catchup.pop(queue.name, None)
            self._check_ready(backup)

    # ---- with `registered_backups`: who may be promoted next ---------------------------------------------------------

    @property
    def is_confirmed(self) -> bool:
        """The resource manager promotes nobody but those this primary has named."""
        return self.registered > 0 or not self._options.registered_backups

    def _register(self) -> None:
        if self._options.registered_backups:
            self.registering += 1
            self.register_again()

    def register_again(self) -> None:
        """Report to the resource manager who is in step, until it has heard it."""
        if self.registered >= self.registering:
            return
        in_step = tuple(
            system for system, backup in self.backups.items() if backup.is_reported or system in self.expected
        )
        self._process.send(self._manager, Register(self.term, self.registering, in_step))
        self._process.set_timer(REGISTER, self._options.check_interval_us)

    def confirmed(self, number: int) -> None:
        """The resource manager has heard it: backups that are not named any more hold up nothing, and those that are
        named are ready."""
        self.registered = max(self.registered, number)
        waiting, self.leaving = self.leaving, []
        for needed, guards in waiting:
            if needed > self.registered:
                self.leaving.append((needed, guards))
                continue
            for guard in guards:
                self.source.cancel_guard(guard)
        ready, self.arriving = self.arriving, []
        for needed, backup in ready:
            if self.backups.get(backup.info.system) is not backup:
                continue
            if needed > self.registered:
                self.arriving.append((needed, backup))
            else:
                self._report_ready(backup)
        self._check_recovered()
