"""How a live server gets a backup in another process, and how a process answers who asks it for one.

All others say on request how many backups they have. One with the fewest gets a request, with that number: it starts a
backup only if it has room, and as many as it said. Source: HornetQ manual, "Colocated Backup Servers"; broker facts
2.11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.colocated.messages import (
    AskStanding,
    BackupAnswered,
    Hosts,
    RequestBackup,
    Standing,
)
from hacheck.impl.protocols.artemis.colocated.server_host import process_of

if TYPE_CHECKING:
    from hacheck.impl.protocols.artemis.colocated.process import ColocatedProcess


class RequestState(Enum):
    """Where a live server is."""

    IDLE = "not asking"
    """It does not serve, or is not to have a backup."""
    COUNTING = "asking who has how many"
    REQUESTING = "waiting for an answer"
    REFUSED = "waiting to ask again"
    GRANTED = "has a backup"
    BEREFT = "waiting to ask for another backup"
    GIVEN_UP = "asks no more"


class Cause(Enum):
    """Why that changes."""

    SERVES = "it serves"
    SERVES_NO_MORE = "it serves no more"
    COUNTED = "one is chosen"
    NOBODY = "nobody has room"
    GRANTED = "a backup was started"
    REFUSED = "no backup was started, or nobody says so"
    AGAIN = "it is time"
    ENOUGH = "it has asked often enough"
    GONE = "the backup is gone"


REQUEST = StateTable(
    "A live server's request for a backup",
    'HornetQ manual, "Colocated Backup Servers"',
    RequestState.IDLE,
    {
        (RequestState.IDLE, Cause.SERVES): RequestState.COUNTING,
        (RequestState.COUNTING, Cause.COUNTED): RequestState.REQUESTING,
        (RequestState.COUNTING, Cause.NOBODY): RequestState.REFUSED,
        (RequestState.REQUESTING, Cause.GRANTED): RequestState.GRANTED,
        (RequestState.REQUESTING, Cause.REFUSED): RequestState.REFUSED,
        (RequestState.REFUSED, Cause.AGAIN): RequestState.COUNTING,
        (RequestState.REFUSED, Cause.ENOUGH): RequestState.GIVEN_UP,
        (RequestState.GRANTED, Cause.GONE): RequestState.BEREFT,
        (RequestState.BEREFT, Cause.AGAIN): RequestState.COUNTING,
        **{
            (state, Cause.SERVES_NO_MORE): RequestState.IDLE for state in RequestState if state is not RequestState.IDLE
        },
    },
)


class BackupRequests:
    """What a process knows of its request. `round`: the one under way. `open`: who has not answered; `able`: who has
    room, and how many backups. `target`: the chosen one; `backup`: the address of the backup that was granted. `tries`:
    how often it was refused. `heard_us`: when each process last said which backups it has."""

    def __init__(self, process: ColocatedProcess) -> None:
        self._process = process
        self._options = process.settings.colocated
        self.state = RequestState.IDLE
        self.round = ""
        self.open: dict[Name, None] = {}
        self.able: dict[Name, int] = {}
        self.target = ""
        self.backup = ""
        self.tries = 0
        self.heard_us: dict[Name, int] = {}

    def go(self, cause: Cause) -> None:
        """Changes the state."""
        old, self.state = self.state, REQUEST.next(self.state, cause)
        self._process.cancel("asking")
        self._process.record("asking", {"old": old.value, "new": self.state.value, "cause": cause.value})
        enter = ENTER.get(self.state)
        if enter is not None:
            enter(self)

    def look(self, *, serves: bool) -> None:
        """The live server may serve since now, or no more."""
        if serves and self.state is RequestState.IDLE and self._options.request_backup:
            self.tries = 0
            self.go(Cause.SERVES)
        elif not serves and self.state is not RequestState.IDLE:
            self.go(Cause.SERVES_NO_MORE)

    # ---- requests ----------------------------------------------------------------------------------------------------

    def _count(self) -> None:
        process = self._process
        self.round = process.fresh()
        self.open = dict.fromkeys(name for name in process.processes if name != process.name)
        self.able = {}
        self.target = self.backup = ""
        for name in self.open:
            process.send(name, AskStanding(self.round))
        process.timer("asking", self._options.standing_wait_us)

    def _standing(self, sender: Name, message: Standing) -> None:
        if self.state is not RequestState.COUNTING or message.round != self.round or sender not in self.open:
            return
        del self.open[sender]
        if message.room:
            self.able[sender] = message.backups
        if not self.open:
            self._choose()

    def _choose(self) -> None:
        """One with the fewest backups."""
        if not self.able:
            self.go(Cause.NOBODY)
            return
        order = self._process.processes
        self.target = min(self.able, key=lambda name: (self.able[name], order.index(name)))
        self.go(Cause.COUNTED)

    def _request(self) -> None:
        process = self._process
        server = process.main.server
        assert server is not None, "it serves"
        seen = self.able[self.target]
        process.record("backup_requested", {"target": self.target, "seen": seen})
        request = RequestBackup(self.round, seen, server.node_id, process.group, process.number)
        process.send(self.target, request)
        process.timer("asking", process.settings.servers.call_timeout_us)

    def _answered(self, sender: Name, message: BackupAnswered) -> None:
        if self.state is not RequestState.REQUESTING or message.round != self.round:
            return
        if message.granted:
            self.backup = message.address
            self.heard_us[sender] = self._process.now_us
            self._process.record("backup_granted", {"target": sender})
            self.go(Cause.GRANTED)
        else:
            self._denied()

    def _denied(self) -> None:
        self._process.record("backup_refused", {"target": self.target})
        self.go(Cause.REFUSED)

    def _refused(self) -> None:
        retries = self._options.backup_request_retries
        if self.tries >= retries >= 0:
            self.go(Cause.ENOUGH)
            return
        self.tries += 1
        self._wait()

    def _wait(self) -> None:
        self._process.timer("asking", self._options.backup_request_retry_interval_us)

    def _due(self) -> None:
        """An answer is late, or it is time to ask again."""
        match self.state:
            case RequestState.COUNTING:
                self._choose()
            case RequestState.REQUESTING:
                self._denied()
            case RequestState.REFUSED | RequestState.BEREFT:
                self.go(Cause.AGAIN)
            case _:
                pass

    def unreachable(self, peer: Name) -> None:
        """A process is gone, and with it its backups."""
        self.heard_us.pop(peer, None)
        if self.state is RequestState.COUNTING and peer in self.open:
            del self.open[peer]
            if not self.open:
                self._choose()
        elif self.target == peer and self.state is RequestState.REQUESTING:
            self._denied()
        elif self.target == peer and self.state is RequestState.GRANTED:
            self._gone()

    def _gone(self) -> None:
        self.tries = 0
        self._process.record("backup_gone", {"target": self.target})
        self.go(Cause.GONE)

    def _hosts(self, sender: Name, message: Hosts) -> None:
        process = self._process
        self.heard_us[sender] = process.now_us
        process.strangers = {of: None for of in process.strangers if process_of(of) != sender}
        if process.directory.get(sender) != message.backups:
            process.directory[sender] = message.backups
            process.introduce()
        there = any(one.address == self.backup for one in message.backups)
        if self.state is RequestState.GRANTED and sender == self.target and not there:
            self._gone()

    def _tick(self) -> None:
        """Says which backups run here, and gives up a process that has been silent for too long."""
        process = self._process
        servers = process.settings.servers
        process.timer("tick", servers.check_period_us)
        process.announce()
        heard_us = self.heard_us.get(self.target, process.now_us)
        if self.state is RequestState.GRANTED and process.now_us - heard_us > servers.connection_ttl_us:
            self._gone()

    # ---- requests of others ------------------------------------------------------------------------------------------

    def _room(self) -> bool:
        return len(self._process.hosted) < self._options.max_backups

    def _on_query(self, sender: Name, message: AskStanding) -> None:
        self._process.send(sender, Standing(message.round, len(self._process.hosted), self._room()))

    def _requested(self, sender: Name, message: RequestBackup) -> None:
        process = self._process
        fits = self._room() and len(process.hosted) == message.seen
        if not process.settings.shared_store:
            fits = fits and message.group == process.group
        address = process.start_backup(sender, message) if fits else ""
        process.send(sender, BackupAnswered(message.round, fits, address))


ENTER: Mapping[RequestState, Callable[[BackupRequests], None]] = {
    RequestState.COUNTING: BackupRequests._count,
    RequestState.REQUESTING: BackupRequests._request,
    RequestState.REFUSED: BackupRequests._refused,
    RequestState.BEREFT: BackupRequests._wait,
}
TIMERS: Mapping[str, Callable[[BackupRequests], None]] = {"tick": BackupRequests._tick, "asking": BackupRequests._due}
FROM_OTHERS: Mapping[type[Message], Callable[[BackupRequests, Name, Any], None]] = {
    AskStanding: BackupRequests._on_query,
    Standing: BackupRequests._standing,
    RequestBackup: BackupRequests._requested,
    BackupAnswered: BackupRequests._answered,
    Hosts: BackupRequests._hosts,
}
