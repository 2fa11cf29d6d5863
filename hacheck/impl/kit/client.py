"""What clients have in common: one session with one server at a time, which is found, watched, and given up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from hacheck.impl.kit.process import Process, ProcessNode
from hacheck.impl.node import Fired, Input, Message, Name, Received, Started, Unreachable, WriteFailed, Written

Outside = TypeVar("Outside", bound=Process[Any])


class Client(ProcessNode[Outside]):
    """A client. `servers`: those it may turn to, in this order; `next`: the one that it is connected to, or tries.

    `session`: a name of its own for each attempt, empty between them; messages of other sessions are not for it.
    `connected`: a server has taken it. `heard_us`: when that one last gave a sign of life.

    A protocol says what it does with messages (`messages`) and when its timers fire (`timers`: `connect`, `ping` and
    others), what it says to open a session (`_hello`) and to keep it (`_sign_of_life`), and what it does when the one
    it is connected to, or tries, is gone (`_gone`).
    """

    messages: ClassVar[Mapping[type[Message], Callable[[Any, Any], None]]]
    timers: ClassVar[Mapping[str, Callable[[Any], None]]]

    def __init__(
        self, process: Outside, servers: tuple[Name, ...], *, ping_us: int, silence_us: int, connect_us: int
    ) -> None:
        self.process: Outside = process
        self.servers = servers
        self.next = 0
        self.session = ""
        self.connected = False
        self.heard_us = 0
        self._ping_us = ping_us
        self._silence_us = silence_us
        self._connect_us = connect_us

    @property
    def server(self) -> Name:
        """Whom it is connected to, or tries."""
        return self.servers[self.next]

    def _began(self, given: Started) -> None:
        self.process.set_timer("ping", self._ping_us)
        self._started()

    def _fired(self, given: Fired) -> None:
        self.timers[given.timer](self)

    def _unreachable(self, given: Unreachable) -> None:
        if given.peer == self.server and self.session:
            self._gone()

    def _write_failed(self, given: WriteFailed) -> None:
        self._not_written(given.reason)

    def _input(self, given: Received) -> None:
        self._received(given.message)

    def _received(self, message: Message) -> None:
        handler = self.messages.get(type(message))
        if handler is not None and message.session == self.session:  # type: ignore[attr-defined]
            self.heard_us = self.process.now_us
            handler(self, message)

    def connect(self) -> None:
        """Tries the next server."""
        self.connected = False
        self.session = self.process.fresh()
        self.process.send(self.server, self._hello())
        self.process.set_timer("connect", self._connect_us)

    def connect_due(self) -> None:
        """No server has taken it so far."""
        if self.session:
            if not self.connected:
                self._gone()
        else:
            self.connect()

    def ping_due(self) -> None:
        """Gives a sign of life, and gives up a server that gave none for too long."""
        self.process.set_timer("ping", self._ping_us)
        if not self.connected:
            return
        if self.process.now_us - self.heard_us > self._silence_us:
            self._gone()
        else:
            self.process.send(self.server, self._sign_of_life())

    def _started(self) -> None:
        self.connect()

    def _hello(self) -> Message:
        raise NotImplementedError

    def _sign_of_life(self) -> Message:
        raise NotImplementedError

    def _gone(self) -> None:
        raise NotImplementedError

    def _not_written(self, reason: str) -> None:
        """Nothing, for a client without a disk of its own."""

    def _written(self, given: Written) -> None:
        """Nothing, where nothing waits for it."""

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _began,
        Received: _input,
        Fired: _fired,
        Unreachable: _unreachable,
        Written: lambda client, given: client._written(given),
        WriteFailed: _write_failed,
    }
