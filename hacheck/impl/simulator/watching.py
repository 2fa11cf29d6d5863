"""What somebody may see of a run while it runs."""

from __future__ import annotations

from typing import Protocol

from hacheck.impl.node import Input, Message, Name, Record
from hacheck.impl.simulator.faults import Fault


class Watcher(Protocol):
    """Informed of everything, in true order of time. Times are true times in microseconds since the start."""

    def sent(self, at_us: int, sender: Name, to: Name, message: Message) -> None:
        """A message sets out; whether it arrives, `given` shows."""
        ...

    def given(self, at_us: int, member: Name, what: Input) -> None:
        """A process gets an input."""
        ...

    def recorded(self, at_us: int, local_us: int, member: Name, record: Record) -> None:
        """A process wrote a record; `local_us`: by its own clock."""
        ...

    def started(self, at_us: int, member: Name, incarnation: int) -> None:
        """A process has been started."""
        ...

    def ended(self, at_us: int, member: Name, why: str) -> None:
        """A process is gone: `crash`, `power`, or the reason it gave itself."""
        ...

    def fault(self, at_us: int, fault: Fault, begins: bool) -> None:
        """A fault begins, or is over."""
        ...
