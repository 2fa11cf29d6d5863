"""What a plug-in provides, so that runs of a model can be carried out on its product.

Three parts: a wire reader (`relayed_connection.WireReader`), a table from actions of the model to functions that have
the product do them (`Session.steps`), and a query of the product's state in the model's terms (`Session.observe`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct

from hacheck.replay.model_run import Json, ModelRun, ModelStep
from hacheck.replay.outcomes import Awaited
from hacheck.replay.recording import Recording

PAUSE_SECONDS = 0.02


class Position(Struct):
    """Where in its run a replay is. `number`: of the step that is due, from 1; 0: before the first. `before`, `after`:
    the states of the model around it."""

    run: ModelRun
    number: int
    before: Mapping[str, Json]
    after: Mapping[str, Json]

    def move_to(self, number: int) -> None:
        """This step is due."""
        self.number = number
        self.before, self.after = self.run.state(number - 1), self.run.state(number)

    def done(self) -> None:
        """The step that was due has been taken."""
        self.before = self.after

    def following(self) -> Sequence[ModelStep]:
        """The steps after the one that is due."""
        return self.run.steps[self.number :]

    def of(self, variable: str, member: int, *, before: bool = False) -> Json:
        """The value of a variable of a node: `of("Replica.mode", 2)`."""
        return (self.before if before else self.after)[variable][str(member)]


class Session(Protocol):
    """One run being carried out on a product."""

    steps: Mapping[str, Callable[..., None]]
    """By the name of an action what has the product do it, called with the action's arguments by name. Errors: those
    of `outcomes`. A run with an action that is not here is not carried out."""

    def begin(self) -> None:
        """Brings the product to the first state of the run."""
        ...

    def observe(self) -> Mapping[str, Json]:
        """The product's state in the model's variables, as far as the product shows it now. What is left out is not
        compared."""
        ...

    def linger(self, seconds: float) -> None:
        """The run goes on without end in steps that change nothing: lets the product do so for that long. Errors:
        `Masked`, if it does something else."""
        ...

    def conclude(self) -> Sequence[str]:
        """After the last step: what the product shows of what was to be seen, line by line."""
        ...

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The lines of the logs of each process so far."""
        ...


class Product(Protocol):
    """A product that runs of a spec can be carried out on."""

    name: str
    description: str
    specs: tuple[str, ...]
    """The specs whose runs it can carry out, by name."""

    observed: tuple[str, ...]
    """The variables that are compared with the product, or are the replay's own doing: patterns as of `fnmatch`."""

    idle_actions: frozenset[str]
    """Actions that only repeat where a run goes on without end: it is watched then, instead of taken round by round."""

    def missing(self) -> str | None:
        """Why it cannot be started here, with the names of what to install; `None`, if it can."""
        ...

    def unfit(self, run: ModelRun) -> str | None:
        """Why a run cannot be carried out, whatever the product does; `None`, if it may be."""
        ...

    def session(self, position: Position, recording: Recording) -> AbstractContextManager[Session]:
        """Starts the product for one run. When it is left, none of its processes runs."""
        ...


def until(what: str, found: Callable[[], Any], seconds: float, meanwhile: Callable[[], None] | None = None) -> Any:
    """The first true value of `found`. `meanwhile`: what may go on while it is waited for. Errors: `Awaited`."""
    end = time.monotonic() + seconds
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() >= end:
            raise Awaited(what, seconds)
        if meanwhile is not None:
            meanwhile()
        time.sleep(PAUSE_SECONDS)


def until_line(
    lines: Callable[[], Sequence[str]], since: int, pattern: str, seconds: float, meanwhile: Callable[[], None]
) -> int:
    """Until a line after the first `since` of a log matches. Returns how many lines there are up to it. Errors:
    `Awaited`."""

    def found() -> int:
        for number, text in enumerate(lines()[since:], since + 1):
            if re.search(pattern, text):
                return number
        return 0

    return int(until(f"line /{pattern}/", found, seconds, meanwhile))
