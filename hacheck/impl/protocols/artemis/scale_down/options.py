"""Settings of brokers that scale down, and where each of them scales down to."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, FromMinusOne, OrUnlimited, OrZero
from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.options import SharedStoreOptions
from hacheck.impl.protocols.artemis.scale_down.broker import Plan
from hacheck.impl.system import Member


class ScaleDownOptions(SharedStoreOptions, frozen=True, kw_only=True):
    """Scaling down. Source: HornetQ manual, "Scaling Down"; broker facts 2.12.

    `found_by`: how a server knows where to: it asks all (`discovery`), it was informed one (`connector`: the next one),
    or it takes the one in whose process it is (`in_process`). `groups`: 0: none; otherwise servers are dealt out to so
    many groups, and scale down to their own only. `backups`: each server has a backup, over the same store, that scales
    down instead of serving; with `in_process` it runs in the process of the next server. `commit_interval`: so many
    messages that were moved are removed at a time; -1: those of a queue at its end. `discovery_wait_us`: so long
    answers are waited for.

    For the operator: `stops`: how many servers it stops; -1: no end. `stop_every_us`: and how far apart. For clients:
    `spread_every`: after so many sends it turns to the next server; 0: never. `reconnect_attempts`: how often it asks
    to be let in where it was sent; -1: for ever. After that it looks for its old server again. `prepared_us`: so
    long the transactions of every second client stay prepared; 0: there are none.
    """

    found_by: Literal["discovery", "connector", "in_process"] = "discovery"
    groups: OrZero = 0
    backups: bool = False
    commit_interval: OrUnlimited = 1
    discovery_wait_us: int = 1 * SECOND_US
    stops: OrUnlimited = -1
    stop_every_us: int = 15 * SECOND_US
    spread_every: OrZero = 4
    pause_us: OrZero = 100_000
    reconnect_attempts: FromMinusOne = 10
    prepared_us: OrZero = 2 * SECOND_US


def group_of(number: int, servers: int, options: ScaleDownOptions) -> str:
    """The group of the `number`-th of so many servers, from 0: the first ones are of the first group."""
    if not options.groups:
        return ""
    return f"group-{number * options.groups // servers + 1}"


def plan_of(number: int, servers: tuple[Member, ...], options: ScaleDownOptions, *, instead: bool) -> Plan:
    """Where a server, or its backup (`instead`), scales down to."""
    own = servers[number].name
    after = servers[(number + 1) % len(servers)].name
    targets: tuple[Name, ...]
    match options.found_by:
        case "discovery":
            targets = tuple(server.name for server in servers if server.name != own)
        case "connector":
            targets = (after,)
        case "in_process":
            targets = (after,) if instead else ()  # a live server is the first one in its own process
    interval, wait_us = options.commit_interval, options.discovery_wait_us
    return Plan(targets, group_of(number, len(servers), options), instead, interval, wait_us)
