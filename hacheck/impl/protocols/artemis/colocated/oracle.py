"""What is promised of servers that back each other up: as of any brokers, and where their backups are.

No backup runs in the process of its own live server, no process has more than it may, no two of one process have the
same name, and no two servers on one machine the same port. Source: HornetQ manual, "Colocated Backup Servers"; broker
facts 2.11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.artemis.colocated.options import ColocatedOptions, configuration_of
from hacheck.impl.protocols.artemis.colocated.process import ColocatedProcess
from hacheck.impl.protocols.artemis.colocated.server_host import process_of
from hacheck.impl.protocols.artemis.oracle import BrokerOracle
from hacheck.impl.system import Broken, Member


class ColocatedOracle(BrokerOracle):
    """Watches a run. `running`: the backups that run, by address: their ports."""

    def __init__(self, members: tuple[Member, ...], options: ColocatedOptions) -> None:
        super().__init__(members)
        self._options = options
        self._processes = self._brokers
        self._own = {
            name: configuration_of(number, options).ports[:1] for number, name in enumerate(self._processes, 1)
        }
        self.running: dict[Name, tuple[int, ...]] = {}
        self._addresses: dict[Name, None] = dict.fromkeys(self._processes)
        self._placed: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member, or of a server in it."""
        server = record.fields.get("server", member)
        if record.event == "colocated_backup":
            self._started(at_us, member, server, record)
        elif record.event == "colocated_backup_ended":
            self.running.pop(f"{member}/colocated_backup_{record.fields['number']}", None)
        super().saw(at_us, server, record)

    def _started(self, at_us: int, member: Name, address: Name, record: Record) -> None:
        fields = record.fields
        self._addresses[address] = None
        ports = tuple(fields["ports"])
        if fields["live"] == member:
            self._placed.append(Broken("own-process", f"{address} is a backup of the server beside it", at_us))
        if address in self.running:
            self._placed.append(Broken("names-differ", f"there are two backups {address}", at_us))
        for other, theirs in (*self.running.items(), *self._own.items()):
            if self._one_machine(other, member) and set(ports[:1]).intersection(theirs[:1]):
                story = f"{address} and {other} have port {ports[0]} on one machine"
                self._placed.append(Broken("ports-differ", story, at_us))
        self.running[address] = ports
        here = sum(process_of(other) == member for other in self.running)
        if here > self._options.max_backups:
            self._placed.append(Broken("room-kept", f"{member} runs {here} backups", at_us))

    def _one_machine(self, other: Name, member: Name) -> bool:
        return self._options.port_spacing > 0 or process_of(other) == member

    def crashed(self, at_us: int, member: Name) -> None:
        """A process lost its memory, with everything in it."""
        for address in [address for address in self.running if process_of(address) == member]:
            del self.running[address]
            super().crashed(at_us, address)
        super().crashed(at_us, member)

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        servers: dict[Name, Node] = {}
        for name in self._processes:
            process = nodes.get(name)
            if isinstance(process, ColocatedProcess):
                servers.update(process.nodes)
        self._brokers = (*self._processes, *(address for address in servers if address not in self._processes))
        return [*self._placed[:3], *super().verdict(at_us, durable, servers)]
