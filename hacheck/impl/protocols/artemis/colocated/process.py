"""A process with a live server, which runs backups of live servers of other processes.

This module takes the inputs; `server_host` translates between the servers and the process, and
`backup_requests` asks for a backup and starts those that others ask for.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Halt,
    Input,
    Message,
    Name,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    Unreachable,
)
from hacheck.impl.protocols.artemis.colocated.backup_requests import FROM_OTHERS, TIMERS, BackupRequests
from hacheck.impl.protocols.artemis.colocated.configuration import Configuration, inherited
from hacheck.impl.protocols.artemis.colocated.messages import Backup, Carried, Hosts, RequestBackup
from hacheck.impl.protocols.artemis.colocated.options import REMOTE, Settings, configuration_of, group_of
from hacheck.impl.protocols.artemis.colocated.server_host import SEPARATOR, Server, ServerHost
from hacheck.impl.protocols.artemis.lines import line
from hacheck.impl.protocols.artemis.messages import CreateSession, SessionRefused
from hacheck.impl.protocols.artemis.replication.server import ReplicationBroker
from hacheck.impl.protocols.artemis.scale_down.system import places
from hacheck.impl.protocols.artemis.shared_store.server import SharedStoreBroker
from hacheck.impl.protocols.artemis.shared_store.states import State
from hacheck.impl.system import Member

BACKUPS = "colocated_backup_"
OUT_OF_PLACE = (State.STARTING, State.WAITING_FOR_BACKUP_LOCK, State.STOPPED)


class Hosted:
    """A backup that runs here. `live`: whose it is; `number`: it was the so many-th that this process started.
    `in_sync`: it may take over, `serves`: it has, as far as it was said."""

    __slots__ = ("configuration", "in_sync", "live", "number", "serves")

    def __init__(self, live: Name, number: int, configuration: Configuration) -> None:
        self.live = live
        self.number = number
        self.configuration = configuration
        self.in_sync = False
        self.serves = False


def may_take_over(node: ReplicationBroker | SharedStoreBroker) -> bool:
    """Whether a backup has everything that it needs to take over: with replication a copy that is up to date, over a
    shared store the place of the one that waits for the lock."""
    if isinstance(node, ReplicationBroker):
        return node.broker.up_to_date
    return node.broker.state not in OUT_OF_PLACE


class ColocatedProcess:
    """Such a process. `started`: how many backups it has started. `hosted`: those that run, by address; `nodes`: these
    and the live server. `directory`: the backups that run in other processes, as they said last; `strangers`: those
    that were heard of since. `live`: its own server serves, as far as it was said."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        self.settings: Settings = setup.options
        self.name = member.name
        self.incarnation = setup.incarnation
        self.processes = tuple(one.name for one in members if one.role == "primary")
        self.number = self.processes.index(member.name) + 1
        self.configuration = configuration_of(self.number, self.settings.colocated)
        self.group = group_of(self.number, len(self.processes), self.settings.colocated)
        self.started = 0
        self.hosted: dict[Name, Hosted] = {}
        self.nodes: dict[Name, ReplicationBroker | SharedStoreBroker] = {}
        self.directory: dict[Name, tuple[Backup, ...]] = {}
        self.strangers: dict[Name, None] = {}
        self.now_us = 0
        self.live = False
        self._durable = setup.durable
        self._names = 0
        self.hosting = ServerHost(member.name)
        self.requesting = BackupRequests(self)
        live = tuple(Member(name, "primary") for name in self.processes)
        own = Setup(self.name, setup.incarnation, self._files(""), self.settings.servers)
        if self.settings.shared_store:
            only = (Member(self.name, "primary"),)
            node: ReplicationBroker | SharedStoreBroker = SharedStoreBroker(only[0], only, own)
            self.hosting.add(Server(self.name, node, "", places(self.number)))
        else:
            node = ReplicationBroker(Member(self.name, "primary"), live, own, self.group)
            self.hosting.add(Server(self.name, node))
        self.nodes[self.name] = node

    # ---- what others look at ---------------------------------------------------------------------------------------

    @property
    def main(self) -> ReplicationBroker | SharedStoreBroker:
        """The live server."""
        return self.nodes[self.name]

    @property
    def serving(self) -> bool:
        """Whether any of its servers serves."""
        return any(node.serving for node in self.nodes.values())

    # ---- inputs ----------------------------------------------------------------------------------------------------

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input. The process ends with its live server, and everything in it."""
        hosting = self.hosting
        hosting.effects = []
        self.now_us = now_us
        match given:
            case Started():
                hosting.give(hosting.servers[self.name], given, now_us)
                self.timer("tick", self.settings.servers.check_period_us)
            case Fired(timer) if timer in TIMERS:
                TIMERS[timer](self.requesting)
            case Received(sender, message) if type(message) in FROM_OTHERS:
                FROM_OTHERS[type(message)](self.requesting, sender, message)
            case Received(sender, CreateSession(session, node_id)) if there := self._stands_in(node_id):
                self.send(sender, SessionRefused(session, (there,)))
            case _:
                self._heard(given)
                hosting.take(given, now_us)
        self._look()
        return hosting.effects

    def _heard(self, given: Input) -> None:
        """Who says something is there, before its process says so; who does not answer is not."""
        match given:
            case Unreachable(peer):
                self.directory.pop(peer, None)
                self.requesting.unreachable(peer)
            case Received(sender, Carried(_, of, _)) if sender in self.processes and not self._knows(sender, of):
                self.strangers[of] = None
                self.introduce()

    def _knows(self, process: Name, address: Name) -> bool:
        listed = any(one.address == address for one in self.directory.get(process, ()))
        return listed or address == process or address in self.strangers

    def _stands_in(self, node_id: str) -> Name:
        """The backup here that serves a node, or empty."""
        for address, node in self.nodes.items():
            server = node.server
            if address != self.name and server is not None and server.node_id == node_id:
                return address
        return ""

    def _look(self) -> None:
        """What has changed: who has ended, and whether the live server serves."""
        hosting = self.hosting
        for address in [address for address in self.hosted if address not in hosting.servers]:
            gone = self.hosted.pop(address)
            del self.nodes[address]
            reason = hosting.ended.pop(address, "")
            self.record("colocated_backup_ended", {"number": gone.number, "live": gone.live, "reason": reason})
            self.announce()
        if self.name in hosting.ended:
            hosting.effects.append(Halt(hosting.ended[self.name]))
            return
        for address, one in self.hosted.items():
            self._look_at(one, self.nodes[address])
        serves = self.main.serving
        if serves != self.live:
            self.live = serves
            self.record("live_serves" if serves else "live_serves_no_more", {})
        self.requesting.look(serves=serves)

    def _look_at(self, one: Hosted, node: ReplicationBroker | SharedStoreBroker) -> None:
        about = {"number": one.number, "live": one.live}
        in_sync, serves = may_take_over(node), node.serving
        if in_sync != one.in_sync:
            one.in_sync = in_sync
            self.record("backup_may_take_over" if in_sync else "backup_may_not_take_over", about)
        if serves != one.serves:
            one.serves = serves
            self.record("backup_serves" if serves else "backup_serves_no_more", about)

    # ---- what its parts ask for ------------------------------------------------------------------------------------

    def send(self, to: Name, message: Message) -> None:
        """A message of the process itself."""
        self.hosting.effects.append(Send(to, message))

    def timer(self, timer: str, after_us: int) -> None:
        """A timer of the process itself."""
        self.hosting.effects.append(SetTimer(timer, after_us))

    def cancel(self, timer: str) -> None:
        """And without it."""
        self.hosting.effects.append(CancelTimer(timer))

    def record(self, event: str, fields: Mapping[str, object]) -> None:
        """A record of the process itself."""
        self.hosting.effects.append(Record(event, fields))

    def fresh(self) -> str:
        """A name that nobody ever had."""
        self._names += 1
        return f"{self.name}.{self.incarnation}.colocated.{self._names}"

    def announce(self) -> None:
        """Informs all processes which backups run here, and its own servers who else there is."""
        backups = tuple(Backup(address, one.live) for address, one in self.hosted.items())
        for process in self.processes:
            if process != self.name:
                self.send(process, Hosts(backups))
        self.introduce()

    def introduce(self) -> None:
        """Informs its own servers who else there is: with replication all, over a shared store those of one store."""
        pairs = [(one.address, one.live) for backups in self.directory.values() for one in backups]
        pairs.extend((address, one.live) for address, one in self.hosted.items())
        for address, node in self.nodes.items():
            if self.settings.shared_store:
                of = self.hosted[address].live if address in self.hosted else self.name
                known = (of, *(other for other, live in pairs if live == of))
            else:
                known = tuple(dict.fromkeys((*self.processes, *(other for other, _ in pairs), *self.strangers)))
            node.broker.others = tuple(other for other in known if other != address)

    # ---- backups ---------------------------------------------------------------------------------------------------

    def start_backup(self, live: Name, wanted: RequestBackup) -> Name:
        """Starts a backup, with the configuration of this process and a name of its own. Returns its address."""
        self.started += 1
        options = self.settings.colocated
        shared = self.settings.shared_store
        excludes = (REMOTE,) if options.excludes_remote else ()
        configuration = inherited(
            self.configuration, self.started, options.backup_port_offset, excludes, shared_store=shared
        )
        address = f"{self.name}{SEPARATOR}{configuration.name}"
        servers = replace(self.settings.servers, restart_backup=False)
        setup = Setup(address, self.incarnation, self._files(configuration.folder), servers)
        member = Member(address, "backup")
        if shared:
            pair = (Member(live, "primary"), member)
            node: ReplicationBroker | SharedStoreBroker = SharedStoreBroker(member, pair, setup)
            server = Server(address, node, "", places(wanted.number))
        else:
            others = tuple(Member(name, "primary") for name in self.processes)
            node = ReplicationBroker(member, (*others, member), setup, wanted.group)
            node.broker.pairs_with = wanted.node_id
            server = Server(address, node, configuration.folder)
        self.hosted[address] = Hosted(live, self.started, configuration)
        event, fields = line(221050 if shared else 221049, {})
        about = {"number": self.started, "live": live, "seen": wanted.seen, "ports": list(configuration.ports)}
        self.record(event, {**fields, **about, "server": address})
        self.hosting.add(server)
        self.nodes[address] = node
        self.introduce()
        self.hosting.give(server, Started(), self.now_us)
        self.announce()
        return address

    def _files(self, folder: str) -> Mapping[str, bytes]:
        """What the disk had in a folder when the process started. What is in folders of backups is theirs."""
        if folder:
            return {key[len(folder) :]: value for key, value in self._durable.items() if key.startswith(folder)}
        return {key: value for key, value in self._durable.items() if not key.startswith(BACKUPS)}
