"""How a broker with replication begins: which of the two it is now, and whether its node is served already.

Source: broker facts 2.4 `START`, 2.10; HornetQ manual, "Failing Back to live Server".
"""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.journal import from_files
from hacheck.impl.protocols.artemis.messages import CopyGivenUp, FindServer, ServerFound
from hacheck.impl.protocols.artemis.replication.broker import (
    ALONE,
    COPYING,
    EMPTY,
    IN_SYNC,
    REPLICATED,
    Broker,
)
from hacheck.impl.protocols.artemis.replication.states import Cause, State
from hacheck.impl.protocols.artemis.session_server import Server

ASK_AGAIN_US = 1_000_000


def begin(broker: Broker) -> None:
    """A start, of the process or after isolation."""
    broker.starting = True
    history = broker.identity.history
    if broker.options.last_server_starts and history in (ALONE, REPLICATED):
        broker.policy = "primary"  # the one that served may be the one who knows most
    if broker.policy == "backup":
        broker.failing_back = False
        broker.go(Cause.AS_BACKUP)
    elif history == EMPTY and not broker.node_id:
        broker.go(Cause.FIRST_START)
    elif not broker.options.check_for_active_server and history != COPYING:
        broker.go(Cause.UNCHECKED)
    else:
        broker.go(Cause.CHECK)


def check(broker: Broker) -> None:
    """Asks everybody for the one that serves its node."""
    broker.asks_left = -(-broker.options.check_wait_us // ASK_AGAIN_US)
    ask(broker)


def ask(broker: Broker) -> None:
    """Asks once more."""
    broker.broadcast(FindServer(broker.node_id))
    broker.step_after(min(ASK_AGAIN_US, broker.options.check_wait_us))


def check_again(broker: Broker) -> None:
    """Nobody has said that the node is served: at the end of the wait the broker serves it itself, whatever its data
    are, unless they are known to be incomplete."""
    broker.asks_left -= 1
    if broker.asks_left > 0 or broker.identity.history == COPYING:
        ask(broker)
    elif broker.options.last_server_starts and broker.identity.history in (REPLICATED, IN_SYNC):
        broker.go(Cause.REPLICA_MAY_KNOW_MORE)
    else:
        broker.go(Cause.NO_SERVER_FOUND)


def server_found(broker: Broker, sender: Name, message: ServerFound) -> None:
    """Somebody says who serves a node. It is certain when the one who serves it says so itself."""
    if broker.state not in (State.CHECKING, State.UNDECIDED) or message.node_id != broker.node_id:
        return
    if message.active == sender or (broker.options.bug_topology_unprobed and message.active != broker.process.member):
        found(broker)
    elif message.active != broker.process.member:
        broker.process.send(message.active, FindServer(broker.node_id))


def found(broker: Broker) -> None:
    """The node is served: this broker becomes its replica, and will ask for it back."""
    broker.failing_back = True
    broker.go(Cause.SERVER_FOUND)


def copy_given_up(broker: Broker, sender: Name, message: CopyGivenUp) -> None:
    """The other copy will never be served: this one is the best there is."""
    if broker.state is State.UNDECIDED and message.node_id == broker.node_id and sender == broker.identity.replica:
        broker.go(Cause.NO_SERVER_FOUND)


def activate(broker: Broker) -> None:
    """First its disk knows that it serves alone."""
    broker.policy = "primary"
    broker.failing_back = False
    broker.primary = None
    broker.ballot = None
    if not broker.starting:
        broker.process.line(221037, node_id=broker.node_id)
    node_id = broker.node_id or broker.process.fresh()
    broker.alone_token = broker.identify(ALONE, "activation", node_id=node_id)


def activated(broker: Broker, token: int, _: str) -> None:
    """Opens to clients."""
    if broker.state is not State.ACTIVATING or token != broker.alone_token:
        return
    journal = from_files(broker.files, broker.options)
    broker.server = Server(broker.process, broker, journal, broker.node_id, broker.options)
    broker.store(journal.open())
    broker.process.line(221007, node_id=broker.node_id)
    if broker.starting:
        broker.process.line(221001, server=broker.node_id)
    broker.go(Cause.ACTIVE)
    broker.announce()
