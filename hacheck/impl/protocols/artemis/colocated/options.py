"""Settings of processes that run backups for each other."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.impl.protocols import settings
from hacheck.impl.protocols.artemis.colocated.configuration import Configuration, Connector
from hacheck.impl.protocols.artemis.options import SECOND, ReplicationOptions, SharedStoreOptions, read_options
from hacheck.impl.system import Refused

Servers: TypeAlias = ReplicationOptions | SharedStoreOptions

KINDS: Mapping[str, type[Servers]] = {"replication": ReplicationOptions, "shared_store": SharedStoreOptions}
REMOTE = "remote"
"""The connector to a server elsewhere, such as those that are asked for votes."""


class ColocatedOptions(Struct, frozen=True, kw_only=True):
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
    max_backups: int = 1
    backup_request_retries: int = -1
    backup_request_retry_interval_us: int = 5 * SECOND
    standing_wait_us: int = 1 * SECOND
    groups: int = 0
    port: int = 5_445
    port_spacing: int = 0
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
"""Between two operations of a client, if nothing else is asked for."""

MAY_BE_ZERO = ("max_backups", "backup_request_retries", "groups", "port_spacing")


def read_settings(given: Mapping[str, str]) -> Settings:
    """Settings from text. Errors: `Refused`."""
    own = set(ColocatedOptions.__struct_fields__)
    mine = {name: text for name, text in given.items() if name.replace("-", "_") in own}
    colocated = settings.read_options(ColocatedOptions, mine, MAY_BE_ZERO, ("backup_request_retries",))
    kind = KINDS[colocated.way]
    for name in given:
        field = name.replace("-", "_")
        known = own.union(kind.__struct_fields__) - {"pairs"}
        if field not in known:
            near = get_close_matches(field, sorted(known), 1)
            hint = f"; did you mean `{near[0]}`?" if near else f": there are {', '.join(sorted(known))}"
            raise Refused(f"there is no setting `{name}`{hint}")
    theirs = {name.replace("-", "_"): text for name, text in given.items() if name not in mine}
    return Settings(colocated, read_options(kind, {"pause_us": PAUSE_US, **theirs}))


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
