"""Settings of processes that run backups for each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.impl.kit import settings
from hacheck.impl.kit.settings import SECOND_US, FromMinusOne, OrZero
from hacheck.impl.protocols.artemis.colocated.configuration import Configuration, Connector
from hacheck.impl.protocols.artemis.options import ReplicationOptions, SharedStoreOptions

Servers: TypeAlias = ReplicationOptions | SharedStoreOptions

KINDS: Mapping[str, type[Servers]] = {"replication": ReplicationOptions, "shared_store": SharedStoreOptions}
REMOTE = "remote"
"""The connector to a server elsewhere, such as those that vote."""


class ColocatedOptions(settings.Settings, frozen=True, kw_only=True):
    """Colocated backups. Source of the defaults: HornetQ manual, "Colocated Backup Servers"; broker facts 2.11. All
    other settings are those of the servers (`servers`): with replication, or over shared stores, by `way`.

    `request_backup`: live servers ask for a backup; the product's default is false. `max_backups`: so many a process
    starts for others; 0: none. `backup_request_retries`: so often a live server asks again; -1: for ever.
    `backup_request_retry_interval_us`: and so far apart. `standing_wait_us`: so long the answers of others are waited
    for. `groups`: with replication; 0: none; otherwise live servers are dealt out to so many groups, the first
    ones to the first, and are backed up within theirs.

    `port`: of the acceptor of the first process. `port_spacing`: how far apart those of processes are that share a
    machine; 0: each has a machine of its own. `backup_port_offset`: of a backup, times its number. `excludes_remote`:
    the connector to a server elsewhere, at `remote_port`, is left as it is.
    """

    way: Literal["replication", "shared_store"] = "replication"
    request_backup: bool = True
    max_backups: OrZero = 1
    backup_request_retries: FromMinusOne = -1
    backup_request_retry_interval_us: int = 5 * SECOND_US
    standing_wait_us: int = 1 * SECOND_US
    groups: OrZero = 0
    port: int = 5_445
    port_spacing: OrZero = 0
    backup_port_offset: int = 100
    remote_port: int = 5_446
    excludes_remote: bool = True


class Settings(Struct, frozen=True):
    """All of them. `servers`: those of the servers themselves."""

    colocated: ColocatedOptions
    servers: Servers

    @property
    def shared_store(self) -> bool:
        """Whether journals are on shared disks."""
        return self.colocated.way == "shared_store"


PAUSE_US = "200000"
"""Between two operations of a client, if no setting says otherwise."""


def read(given: Mapping[str, str]) -> Settings:
    """Settings of the processes and of their servers from text. Errors: `Refused`."""
    fields = ColocatedOptions.__struct_fields__
    own = {name: text for name, text in given.items() if settings.field_of(name, fields)}
    colocated = settings.read_settings(ColocatedOptions, own)
    rest = {name: text for name, text in given.items() if name not in own}
    if not any(settings.field_of(name, ("pause_us",)) for name in rest):
        rest["pause_us"] = PAUSE_US
    servers = settings.read_settings(KINDS[colocated.way], rest, without=("pairs",), others=fields)
    return Settings(colocated, servers)


def configuration_of(number: int, options: ColocatedOptions) -> Configuration:
    """What the live server of the `number`-th process has, from 1."""
    connectors = (
        Connector("netty", options.port + (number - 1) * options.port_spacing),
        Connector(REMOTE, options.remote_port),
        Connector("in-vm", 0, "0"),
    )
    return Configuration(f"server-{number}", connectors)


def group_of(number: int, servers: int, options: ColocatedOptions) -> str:
    """The group of the `number`-th of so many servers, from 1."""
    if not options.groups:
        return ""
    return f"group-{(number - 1) * options.groups // servers + 1}"
