"""`hacheck cluster`: runs a protocol as real processes, and lets one kill them, pause them, and cut them apart."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import MEMBERS_MAX, DebugOption, NoColorOption, SettingOptions

ACTIONS = ("start", "status", "kill", "stop", "cont", "restart", "cut", "heal", "stop-all")
FOLDER = "hacheck-cluster"

STARTING, CUTTING = "start", "cut"

EPILOG = """
[bold]What it does[/]

  start PROTOCOL   start a process for each member; what is on the disks of the folder is kept

  status           who runs, and which directions are cut; exit code 1 if anybody is down or paused, or anything is cut

  kill NAME…       kill -9

  stop NAME…       pause: kill -STOP

  cont NAME…       go on: kill -CONT

  restart NAME…    start again; one that runs is killed first

  cut NAME…        hold back all that goes between these and the others (or --from some), until it heals;
                   also between members and the hosts of locks and shared disks: --from gateway

  heal \\[NAME…]    end all cuts, or those that touch these

  stop-all         end everything that this cluster has started, and nothing else

[bold]Examples[/]

  hacheck cluster start icestorm --replicas 3 --clients 1 --record log/

  hacheck cluster kill replica-3

  hacheck cluster cut replica-1 --from replica-2,replica-3 --one-way

  hacheck cluster start fiorano-replicated --replicas 2; hacheck cluster cut primary --from gateway

  hacheck cluster stop-all

[bold]Exit codes[/]

  0 done   1 status: not all is well   2 it could not be done   3 interrupted   4 a bug in hacheck
"""


def actions_beginning(incomplete: str) -> list[str]:
    """What a shell offers for an action."""
    return [name for name in ACTIONS if name.startswith(incomplete)]


NAMES = "For start the protocol, for other actions members: replica-1, client-1, …"
DIRECTORY = f"The cluster's folder; by default {FOLDER}."
REPLICAS = "Number of replicas; by default those in the folder, else 3, or 2 for a protocol of pairs."
CLIENTS = "Number of clients, each of which sends one request after the other; by default none."
RECORD = "Write the logs of all members into this folder; stop-all adds their trace, cluster.jsonl."
PORT = "Listen on this port and the next ones; by default on any that are free."
FOREGROUND = "Stay in the foreground; Ctrl-C stops the cluster."
FROM = "Members and hosts of locks and disks to cut them off from: a,b,c. By default all."
ONE_WAY = "Hold back only what they send, not what they receive."

FILES = Writes(within=("*",))

Action = Annotated[
    str, Argument("ACTION", "start, status, kill, stop, cont, restart, cut, heal or stop-all.", actions_beginning)
]
Names = Annotated[list[str] | None, Argument("[NAME]...", NAMES)]
Directory = Annotated[str, option("--dir", "-d", metavar="DIR", help=DIRECTORY, writes=FILES)]
Replicas = Annotated[
    int | None, option("--replicas", metavar="N", help=REPLICAS, panel=STARTING, least=1, most=MEMBERS_MAX)
]
Clients = Annotated[
    int | None, option("--clients", metavar="N", help=CLIENTS, panel=STARTING, least=0, most=MEMBERS_MAX)
]
Recorded = Annotated[str | None, option("--record", metavar="DIR", help=RECORD, panel=STARTING, writes=FILES)]
Port = Annotated[int, option("--port", metavar="N", help=PORT, panel=STARTING, least=0, most=65_000)]
Foreground = Annotated[bool, flag("--foreground", help=FOREGROUND, panel=STARTING)]
From = Annotated[str | None, option("--from", metavar="LIST", help=FROM, panel=CUTTING)]
OneWay = Annotated[bool, flag("--one-way", help=ONE_WAY, panel=CUTTING)]


@guarded
def cluster(
    action: Action,
    names: Names = None,
    directory: Directory = FOLDER,
    replicas: Replicas = None,
    clients: Clients = None,
    settings: SettingOptions = None,
    record: Recorded = None,
    port: Port = 0,
    foreground: Foreground = False,
    cut_from: From = None,
    one_way: OneWay = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Run a protocol as real processes: start them, kill them, pause them, cut them apart."""
    from hacheck.cli.options import all_known, parse_settings

    all_known("action", (action,), ACTIONS)
    from hacheck.cli.running.cluster_control import Request, carried_out

    return carried_out(
        Request(
            action=action,
            names=tuple(names or ()),
            directory=directory,
            replicas=replicas,
            clients=clients,
            settings=parse_settings(settings or ()),
            record=record,
            port=port,
            foreground=foreground,
            cut_from=tuple(name.strip() for name in cut_from.split(",") if name.strip()) if cut_from else (),
            one_way=one_way,
        )
    )
