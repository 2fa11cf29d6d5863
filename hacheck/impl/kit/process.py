"""The shell of a process: its name, its clock, what it is about to do, and which input goes where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Halt,
    Input,
    Message,
    Name,
    ReadShared,
    Record,
    Send,
    SetTimer,
    Setup,
    TryLock,
    Unlock,
    Unreachable,
    Write,
)

Purpose = TypeVar("Purpose")
Changes: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Values to write, by key; `None`: erase."""


class Process(Generic[Purpose]):
    """The outside of a process as its parts see it: the effects they ask for are carried out, in order, after this
    input.

    `now_us`: the process's own clock, at this input. `prefix`: fields that every record shows. `purposes`: what to do
    when a write or a read is answered, by its token. `last_token`: of the last write or read. `halted`: the process has
    ended itself.
    """

    __slots__ = (
        *("_counter", "effects", "halted", "incarnation", "last_token", "member", "now_us", "prefix"),
        "purposes",
    )

    def __init__(self, setup: Setup) -> None:
        self.member = setup.member
        self.incarnation = setup.incarnation
        self.now_us = 0
        self.effects: list[Effect] = []
        self.prefix: Mapping[str, Any] = {}
        self.purposes: dict[int, Purpose] = {}
        self.halted = False
        self.last_token = 0
        self._counter = 0

    def begin(self, now_us: int) -> list[Effect]:
        """An input has come. Returns the list of its effects, to be filled."""
        self.now_us = now_us
        self.effects = []
        return self.effects

    def fresh(self) -> str:
        """A name that no process ever gave before."""
        self._counter += 1
        return f"{self.member}.{self.incarnation}.{self._counter}"

    def fresh_number(self) -> int:
        """A number that this process has not used before, in this incarnation or another; never 0."""
        self._counter += 1
        return (self.incarnation << 32) + self._counter

    def send(self, to: Name, message: Message) -> None:
        """Sends a message."""
        self.effects.append(Send(to, message))

    def set_timer(self, timer: str, after_us: int) -> None:
        """Sets a timer, or sets it anew."""
        self.effects.append(SetTimer(timer, after_us))

    def cancel_timer(self, timer: str) -> None:
        """Cancels a timer, if it is set."""
        self.effects.append(CancelTimer(timer))

    def try_lock(self, lock: str) -> None:
        """Tries to take a lock."""
        self.effects.append(TryLock(lock))

    def unlock(self, lock: str) -> None:
        """Releases a lock."""
        self.effects.append(Unlock(lock))

    def record(self, event: str, fields: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Writes a record, with fields by name or as a mapping."""
        self.effects.append(Record(event, {**self.prefix, **(fields or {}), **more}))

    def write(self, changes: Changes, purpose: Purpose | None = None, shared: Name = "", *, sync: bool = True) -> int:
        """Writes to the process's own disk or a shared one. Returns the token of the answer. `purpose`: what to do when
        it is answered, if anything."""
        token = self._token(purpose)
        self.effects.append(Write(token, changes, sync, shared))
        return token

    def read(self, shared: Name, key: str, purpose: Purpose) -> int:
        """Reads from a shared disk. Returns the token of the answer."""
        token = self._token(purpose)
        self.effects.append(ReadShared(token, shared, key))
        return token

    def dispatch(
        self, inputs: Mapping[type[Input], Callable[[Any, Any], None]], part: Any, given: Input, now_us: int
    ) -> list[Effect]:
        """What to do about an input, by the function for its kind; nothing more once the process has ended itself."""
        effects = self.begin(now_us)
        if not self.halted:
            handler = inputs.get(type(given))
            assert handler is not None or type(given) is Unreachable, f"{self.member} never requested {given}"
            if handler is not None:
                handler(part, given)
        return effects

    def halt(self, reason: str) -> None:
        """Ends the process."""
        self.halted = True
        self.effects.append(Halt(reason))

    def _token(self, purpose: Purpose | None) -> int:
        self.last_token += 1
        if purpose is not None:
            self.purposes[self.last_token] = purpose
        return self.last_token


ProcessT = TypeVar("ProcessT", bound=Process[Any])


class ProcessNode(Generic[ProcessT]):
    """A node that is one process. `inputs`: the method for each kind of input."""

    __slots__ = ()

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]]
    process: ProcessT

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What to do about an input, in this order."""
        effects = self.process.dispatch(self.inputs, self, given, now_us)
        self.conclude()
        return effects

    def conclude(self) -> None:
        """What to do after every input."""


def ignore(node: object, given: Input) -> None:
    """For inputs that need no reaction, such as that a write is done for which nothing waits."""
