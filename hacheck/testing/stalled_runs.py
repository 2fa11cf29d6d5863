"""Runs that stand still: a step has begun to be shown, a line of it never comes, and until then nothing can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from hacheck.testing.driven_system import DONE
from hacheck.testing.line_encoding import Event
from hacheck.testing.session import Session
from hacheck.testing.tested_model import Model


class Stall(Struct, frozen=True):
    """Where a run stands still. `lines`: what the model saw; `unknown`: events that were shown and that the model
    does not know."""

    lines: tuple[Event, ...]
    unknown: tuple[str, ...]

    @property
    def after(self) -> str:
        """The action that was done last, or the event that was shown last."""
        return self.lines[-1].name.removeprefix(DONE)

    def why(self, model: Model) -> str:
        """Which line is missing, and what was there that nobody knows. Cost: as much as following the lines again."""
        owed = " or ".join(f"`{one}`" for one in model.tracker.owed(self.lines))
        what = f"its line {owed}" if owed else "the rest of its lines"
        shown = ", ".join(f"`{name}`" for name in self.unknown)
        instead = f"; it showed {shown}, which {model.system.name} does not know" if shown else ""
        return f"after `{self.after}`: {what} never came{instead}"


def stalled(session: Session) -> Stall | None:
    """Where a run stands still, if it does."""
    if not session.owes:
        return None
    knows = session.model.tracker.lines.knows
    unknown = dict.fromkeys(one.name for one in session.entries if isinstance(one, Event) and not knows(one))
    return Stall(tuple(one for one in session.lines if knows(one)), tuple(unknown))


def waited_enough(session: Session) -> bool:
    """Whether the system had time to show what it owes: as much as it is ever given at once."""
    return session.idle_looks > 1 and session.idle_seconds >= max(session.adapter.waits, default=0.0)


def stall_lines(stood: Iterable[Stall], runs: int, model: Model, name: str) -> Iterator[str]:
    """What is said of runs that stood still, a sentence for each action that they did it after. `runs`: how many there
    were; `name`: of what was tested."""
    by_place: dict[str, list[Stall]] = {}
    for one in stood:
        by_place.setdefault(one.after, []).append(one)
    for same in by_place.values():
        yield f"{len(same)} of {runs} runs of {name} stood still, the last {same[-1].why(model)}"
