"""What a server that is stopped does with all that it has, and what the one does that gets it.

A server finds another one of its group, informs its clients where to go, and moves each message there; what is moved is
removed here in a step of its own, so that a crash in between leaves it on both. Caches of duplicate ids and prepared
transactions follow; only then are the clients let in there. A server that finds nobody, or whose target fails, ends
with what it has left. Source: HornetQ manual, "Scaling Down"; broker facts 2.12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.node import Message, Name, Received, SharedRead
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.scale_down.broker import ABSORBED_KEY, Scaling, ScalingBroker
from hacheck.impl.protocols.artemis.scale_down.messages import (
    Adopt,
    FindTarget,
    Move,
    Moved,
    MoveRefused,
    PreparedBranch,
    TargetFound,
)
from hacheck.impl.protocols.artemis.scale_down.target_server import ScalingServer
from hacheck.impl.protocols.artemis.shared_store.active import monitor, monitored, serve
from hacheck.impl.protocols.artemis.shared_store.broker import BACKUP_LOCK, NODE_ID_KEY, PRIMARY_LOCK, STORE
from hacheck.impl.protocols.artemis.shared_store.states import Cause, State
from hacheck.impl.system import Refused

# ---- beginning -----------------------------------------------------------------------------------------------------


def read_absorbed(broker: ScalingBroker) -> None:
    """The journal is there; whose clients are let in besides its own?"""
    if broker.state is State.LOADING:
        broker.read(ABSORBED_KEY, "absorbed")


def absorbed_read(broker: ScalingBroker, _: str, given: SharedRead) -> None:
    """All is loaded. A backup that is to scale down does so instead of serving."""
    if given.failed:
        broker.fail(f"the store cannot be read: {given.failed}")
        return
    try:
        broker.load_absorbed(given.value)
    except Refused as refused:
        broker.fail(str(refused))
        return
    broker.go(Cause.SCALE_DOWN if broker.plan.instead else Cause.LOADED)


def open_to_clients(broker: ScalingBroker) -> None:
    """As any server; and it may be scaled down to."""
    serve(broker)
    server_of(broker).absorbed = dict(broker.absorbed)


def begin(broker: ScalingBroker) -> None:
    """Serves no more, or not at all. What was begun is finished first."""
    broker.scaling = None
    if broker.loading is not None:  # a backup, which has not served
        broker.server = ScalingServer(broker.process, broker, broker.loading.journal, broker.node_id, broker.options)
        broker.loading = None
        broker.announcing = False
        broker.unconfirmed.clear()
        broker.unlock(BACKUP_LOCK)
        if monitored(broker):
            monitor(broker)
    look(broker)


def look(broker: ScalingBroker) -> None:
    """When everything is on the disk: who is there to take all of it?"""
    if broker.state is not State.SCALING or broker.scaling is not None or not server_of(broker).idle():
        return
    scaling = broker.scaling = Scaling(broker.process.fresh(), broker.plan.targets)
    for target in scaling.unanswered:
        broker.process.send(target, FindTarget(scaling.name))
    if scaling.unanswered:
        broker.step_after(broker.plan.wait_us)
    else:
        nowhere(broker)


def waits(broker: ScalingBroker, given: Received) -> bool:
    """Whether a request comes in a session that will be ordered where to go: it is not answered any more."""
    session = getattr(given.message, "session", "")
    return session in server_of(broker).sessions


def server_of(broker: ScalingBroker) -> ScalingServer:
    """What it serves with, or scales down."""
    assert isinstance(broker.server, ScalingServer)
    return broker.server


def scaling_of(broker: ScalingBroker, name: str) -> Scaling | None:
    """The scale-down of that name, if it is under way."""
    scaling = broker.scaling
    return scaling if broker.state is State.SCALING and scaling is not None and scaling.name == name else None


def target_found(broker: ScalingBroker, sender: Name, message: TargetFound) -> None:
    """Somebody serves. It is of use only if it is of the same group."""
    scaling = scaling_of(broker, message.scaling)
    if scaling is None or scaling.target:
        return
    scaling.unanswered.pop(sender, None)
    if message.group == broker.plan.group:
        scaling.found[sender] = None
    if not scaling.unanswered:
        choose(broker, scaling)


def choose(broker: ScalingBroker, scaling: Scaling) -> None:
    """The likeliest of those who serve; clients are informed, and sent away."""
    target = next((name for name in broker.plan.targets if name in scaling.found), "")
    if not target:
        nowhere(broker)
        return
    scaling.target = target
    server = server_of(broker)
    broker.process.record("scale_down_begun", {"target": target, "messages": len(server.journal.messages)})
    server.send_away(target)
    held = server.journal.held()
    kept = sorted(server.journal.messages.values(), key=lambda stored: (stored.queue, stored.number))
    scaling.left.extend(stored.number for stored in kept if stored.number not in held)
    next_one(broker, scaling)


# ---- moving --------------------------------------------------------------------------------------------------------


def next_one(broker: ScalingBroker, scaling: Scaling) -> None:
    """The next message, or all the rest."""
    scaling.number += 1
    if not scaling.left:
        adopt(broker, scaling)
    else:
        scaling.sent = scaling.left.popleft()
        stored = server_of(broker).journal.messages[scaling.sent]
        outgoing = Outgoing(stored.queue, stored.duplicate_id, stored.body)
        broker.process.send(scaling.target, Move(scaling.name, scaling.number, outgoing))
    broker.step_after(broker.options.call_timeout_us)


def moved(broker: ScalingBroker, sender: Name, message: Moved) -> None:
    """The target has it."""
    scaling = scaling_of(broker, message.scaling)
    if scaling is None or message.number != scaling.number:
        return
    if scaling.adopting:
        if not scaling.finished:
            adopted(broker, scaling)
        return
    journal = server_of(broker).journal
    stored = journal.messages[scaling.sent]
    broker.process.record("message_moved", {"message": stored.duplicate_id, "target": scaling.target})
    scaling.moved.append(scaling.sent)
    scaling.total += 1
    interval = broker.plan.commit_interval
    ends = not scaling.left or journal.messages[scaling.left[0]].queue != stored.queue
    if ends or len(scaling.moved) == interval:
        broker.store(server_of(broker).give_up(tuple(scaling.moved)))
        scaling.moved.clear()
    next_one(broker, scaling)


def adopt(broker: ScalingBroker, scaling: Scaling) -> None:
    """Duplicate ids and prepared transactions."""
    scaling.adopting = True
    journal = server_of(broker).journal
    ids = tuple((address, name) for address, names in journal.duplicates.items() for name in names)
    branches = tuple(
        PreparedBranch(
            branch.name,
            branch.outgoing,
            tuple(
                Outgoing(stored.queue, stored.duplicate_id, stored.body)
                for stored in (journal.messages[number] for number in branch.acknowledged)
            ),
        )
        for branch in journal.branches.values()
    )
    nodes = dict.fromkeys((broker.node_id, *broker.absorbed))
    message = Adopt(scaling.name, scaling.number, tuple(nodes), ids, branches)
    broker.process.send(scaling.target, message)


def adopted(broker: ScalingBroker, scaling: Scaling) -> None:
    """All is there. The node lives on at the target: if this server is started again, it is a new one."""
    server = server_of(broker)
    for branch in server.journal.branches:
        broker.process.record("branch_moved", {"branch": branch, "target": scaling.target})
    changes = (*server.give_up_everything(), (NODE_ID_KEY, None), (ABSORBED_KEY, None))
    scaling.finished = True
    broker.process.cancel_timer("step")
    broker.process.write(changes, "given-up", STORE)


def given_up(broker: ScalingBroker) -> None:
    """And nothing is here any more."""
    scaling = broker.scaling
    if broker.state is not State.SCALING or scaling is None:
        return
    broker.process.line(221078, messages=scaling.total, target=scaling.target)
    if broker.plan.instead:
        broker.process.line(221047, target=scaling.target)
    broker.go(Cause.SCALED)


# ---- ending --------------------------------------------------------------------------------------------------------


def nowhere(broker: ScalingBroker) -> None:
    """Nobody is there: it ends with all that it has."""
    broker.process.record("scale_down_failed", {"left": len(server_of(broker).journal.messages)})
    broker.go(Cause.SCALED)


def fail(broker: ScalingBroker, scaling: Scaling) -> None:
    """The target has failed: it ends with what it has left."""
    left = len(scaling.left) + len(scaling.moved) + (not scaling.adopting)
    broker.process.record("scale_down_failed", {"target": scaling.target, "left": left})
    broker.go(Cause.SCALED)


def step_due(broker: ScalingBroker) -> None:
    """An answer is late."""
    scaling = broker.scaling
    assert scaling is not None
    if scaling.target:
        fail(broker, scaling)
    else:
        choose(broker, scaling)


def move_refused(broker: ScalingBroker, sender: Name, message: MoveRefused) -> None:
    """The target serves no more."""
    scaling = scaling_of(broker, message.scaling)
    if scaling is not None and scaling.target == sender and not scaling.finished:
        fail(broker, scaling)


def unreachable(broker: ScalingBroker, peer: Name) -> None:
    """A server that was to answer, or the target, is gone."""
    scaling = broker.scaling
    if broker.state is not State.SCALING or scaling is None or scaling.finished:
        return
    if scaling.target == peer:
        fail(broker, scaling)
    elif peer in scaling.unanswered and not scaling.target:
        del scaling.unanswered[peer]
        if not scaling.unanswered:
            choose(broker, scaling)


def stopped(broker: ScalingBroker) -> None:
    """A backup that has nothing left to stand in for is one again; others end."""
    if broker.state is not State.STOPPING:
        return
    if broker.scaling is not None and broker.plan.instead and broker.options.restart_backup:
        broker.process.line(221002, reason="scaled down")
        broker.unlock(PRIMARY_LOCK)
        broker.scaling = None
        broker.go(Cause.SCALED_BACKUP)
    else:
        broker.go(Cause.DRAINED)


# ---- what the other one does ---------------------------------------------------------------------------------------


def find_target(broker: ScalingBroker, sender: Name, message: FindTarget) -> None:
    """Somebody looks for a server that serves."""
    if broker.state is State.ACTIVE:
        broker.process.send(sender, TargetFound(message.scaling, broker.node_id, broker.plan.group))


def move(broker: ScalingBroker, sender: Name, message: Move) -> None:
    """A message of another server."""
    if broker.state is State.ACTIVE:
        server_of(broker).take(sender, Moved(message.scaling, message.number), message.outgoing)
    else:
        broker.process.send(sender, MoveRefused(message.scaling))


def take_over(broker: ScalingBroker, sender: Name, message: Adopt) -> None:
    """All else of another server; from now on its clients are let in."""
    if broker.state is State.ACTIVE:
        server = server_of(broker)
        changes = (*server.adopt(message.ids, message.branches), broker.absorb(message.nodes))
        token = broker.process.write(changes, "adopted", STORE)
        server.answer_after(token, sender, Moved(message.scaling, message.number))
    else:
        broker.process.send(sender, MoveRefused(message.scaling))


def let_in(broker: ScalingBroker) -> None:
    """It is on the disk that this one stands in for others: their clients may come."""
    nodes = broker.adopting.popleft()
    broker.process.record("stands_in", {"nodes": list(nodes)})
    if broker.server is not None:
        server_of(broker).absorbed.update(dict.fromkeys(nodes))


MESSAGES: Mapping[type[Message], Callable[[ScalingBroker, Name, Any], None]] = {
    FindTarget: find_target,
    TargetFound: target_found,
    Move: move,
    Moved: moved,
    MoveRefused: move_refused,
    Adopt: take_over,
}
