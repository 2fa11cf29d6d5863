"""`hacheck admin`: asks a running cluster how it stands, and uses its topics or queues."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, option
from hacheck.cli.commands.cluster import DIRECTORY, FOLDER
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

ACTIONS = (
    *("replica", "topics", "links", "subscribers", "create", "destroy", "link", "unlink"),
    *("subscribe", "unsubscribe", "publish"),
    *("status", "topology", "state", "browse", "send"),
)

EPILOG = """
[bold]IceStorm[/]

  replica                  how each replica stands

  topics                   the names of all topics

  links TOPIC…             where these topics are linked to, and at which cost

  subscribers TOPIC…       who subscribes to them

  create TOPIC…            create topics

  destroy TOPIC…           destroy them

  link FROM TO \\[COST]     link a topic to another, for messages of no more than this cost (0)

  unlink FROM TO           end that link

  subscribe TOPIC          subscribe, print what arrives until Ctrl-C, and end the subscription

  unsubscribe TOPIC NAME…  end subscriptions

  publish TOPIC MESSAGE…   publish messages

[bold]Brokers with queues[/]

  status                   Qpid: the status of each broker

  topology                 Artemis: who serves which node, and who would after it

  state                    Fiorano: the states of both servers, and what they know of the lock

  browse QUEUE…            the messages that no client holds, at the serving broker; Fiorano's topics: TOPIC/SUBSCRIBER

  send QUEUE MESSAGE…      send messages, and wait until they are acknowledged

[bold]Examples[/]

  hacheck admin create sports/results

  hacheck admin subscribe sports/results --as reader --qos reliability=ordered

  hacheck admin replica --dir my-cluster

  hacheck admin send orders first second

[bold]Exit codes[/]

  0 done   2 refused   3 unknown: no answer in time, or the server ended   4 a bug in hacheck
"""


def actions_beginning(incomplete: str) -> list[str]:
    """What a shell offers for an action."""
    return [name for name in ACTIONS if name.startswith(incomplete)]


TIME = "How long to try one member after the other; by default 30s."
AS = "Identity of the subscriber; by default a new one."
COUNT = "End after this many messages."
QOS = "A quality of the subscription: retryCount=-1, reliability=twoway. Repeatable."

Action = Annotated[str, Argument("ACTION", "replica, topics, status, send, …: see below.", actions_beginning)]
Words = Annotated[list[str] | None, Argument("[WORD]...", "Topics or queues, and what else the action is about.")]
Directory = Annotated[str, option("--dir", "-d", metavar="DIR", help=DIRECTORY, reads="file")]
Time = Annotated[str, option("--time", metavar="TIME", help=TIME)]
Named = Annotated[str | None, option("--as", metavar="NAME", help=AS, panel="subscribe")]
Qualities = Annotated[list[str] | None, option("--qos", metavar="NAME=VALUE", help=QOS, panel="subscribe")]
Count = Annotated[
    int | None, option("--count", metavar="N", help=COUNT, panel="subscribe", least=1, most=1_000_000_000)
]


@guarded
def admin(
    action: Action,
    words: Words = None,
    directory: Directory = FOLDER,
    wait: Time = "30s",
    named: Named = None,
    qualities: Qualities = None,
    count: Count = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Administer a running cluster: its state, topics, links, subscribers, queues, messages."""
    from hacheck.cli.options import all_known, parse_seconds

    all_known("action", (action,), ACTIONS)
    from hacheck.cli.running.administration import Request, carried_out

    return carried_out(
        Request(
            action=action,
            words=tuple(words or ()),
            directory=directory,
            seconds_max=parse_seconds(wait),
            named=named,
            qualities=tuple(qualities or ()),
            count=count,
        )
    )
