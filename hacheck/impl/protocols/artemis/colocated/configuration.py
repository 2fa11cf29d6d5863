"""What a colocated backup is called, and which ports and directories it has: those of its process, moved.

Source: HornetQ manual, "Colocated Backup Servers", "Configuring Connectors and Acceptors", "Remote Connectors",
"Configuring Directories"; broker facts 2.11.
"""

from __future__ import annotations

from msgspec import Struct

from hacheck.impl.node import Name

PORT_MAX = 65_535


class Connector(Struct, frozen=True):
    """A connector, or an acceptor. `port`: 0 for one within the process, which has an `id` instead."""

    name: str
    port: int
    id: str = ""


class Configuration(Struct, frozen=True):
    """What a server has of its own. `folder`: what the names of its directories begin with."""

    name: str
    connectors: tuple[Connector, ...]
    folder: str = ""

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports that others may connect to."""
        return tuple(connector.port for connector in self.connectors if connector.port)


def backup_name(number: int) -> Name:
    """The name of the `number`-th backup that a process has started."""
    return f"colocated_backup_{number}"


def inherited(
    own: Configuration, number: int, offset: int, excludes: tuple[str, ...], *, shared_store: bool
) -> Configuration:
    """The configuration of the `number`-th backup that a process starts whose own one this is. Connectors to servers
    elsewhere (`excludes`) are not moved. With a shared store its directories are those of its live server."""
    name = backup_name(number)
    moved = tuple(
        connector
        if connector.name in excludes
        else Connector(connector.name, connector.port + offset * number)
        if connector.port
        else Connector(connector.name, 0, f"{connector.id}{name}")
        for connector in own.connectors
    )
    return Configuration(name, moved, "" if shared_store else f"{own.folder}{name}/")
