"""A server that scales down when it is stopped, or a backup that does so instead of serving, as a process sees it.

It is a broker over a shared store, alone or with a backup, with one state more; `scale_down` says what is done in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from hacheck.impl.node import Effect, Input, Received, Setup, Unreachable
from hacheck.impl.protocols.artemis.messages import StopServer
from hacheck.impl.protocols.artemis.scale_down import message_moves as scale_down
from hacheck.impl.protocols.artemis.scale_down.broker import Plan, ScalingBroker
from hacheck.impl.protocols.artemis.shared_store import active
from hacheck.impl.protocols.artemis.shared_store.broker import PRIMARY_LOCK, Broker
from hacheck.impl.protocols.artemis.shared_store.server import INPUTS, TABLES, SharedStoreBroker
from hacheck.impl.protocols.artemis.shared_store.states import Cause, State
from hacheck.impl.system import Member

Of = Callable[[Any], None]

_ENTER: Mapping[State, Of] = {State.ACTIVE: scale_down.open_to_clients, State.SCALING: scale_down.begin}
_STEPS: Mapping[State, Of] = {State.SCALING: scale_down.step_due}
_READ: Mapping[str, Callable[[Any, str, Any], None]] = {"absorbed": scale_down.absorbed_read}
_WRITTEN: Mapping[str, Of] = {
    "folder": scale_down.read_absorbed,
    "paused": scale_down.stopped,
    "adopted": scale_down.let_in,
    "given-up": scale_down.given_up,
}

SCALING_TABLES = replace(
    TABLES,
    enter={**TABLES.enter, **_ENTER},
    steps={**TABLES.steps, **_STEPS},
    read={**TABLES.read, **_READ},
    written={**TABLES.written, **_WRITTEN},
    locks={**TABLES.locks, (State.SCALING, PRIMARY_LOCK): active.lock_confirmed},
)


class ScaleDownBroker(SharedStoreBroker):
    """Such a server."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup, plan: Plan) -> None:
        self.broker: Broker
        self.scaling = self.broker = ScalingBroker(member, members, setup, SCALING_TABLES, plan)

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        broker = self.scaling
        process = broker.process
        process.begin(now_us)
        if process.halted:
            return process.effects
        if isinstance(given, Received) and type(given.message) in scale_down.MESSAGES:
            scale_down.MESSAGES[type(given.message)](broker, given.sender, given.message)
        elif isinstance(given, Received) and type(given.message) is StopServer and broker.state is State.ACTIVE:
            broker.go(Cause.STOP if given.message.failover else Cause.SCALE_DOWN)
        else:
            if isinstance(given, Received) and broker.state is State.SCALING and scale_down.waits(broker, given):
                return process.effects
            INPUTS[type(given)](broker, given)
            if isinstance(given, Unreachable):
                scale_down.unreachable(broker, given.peer)
            scale_down.look(broker)
        return process.effects
