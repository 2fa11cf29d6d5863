"""The orders in which a run's lines and steps may have come about: one, as long as no line was written while a step was
done.

A line that carries its time is before a step, behind it, or, where it was written while the step was done, on either
side. Each order that the model explains is followed, so what is uncertain about a step's place is never held against a
system.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hacheck.testing.line_encoding import Event
from hacheck.testing.state_tracker import Broken, Track, Tracker

ORDERS_MAX = 64
"""So many orders are followed at once. With more, what comes of a run is open."""


class Order(Struct):
    """Lines in one order, and how far the model follows them."""

    lines: list[Event]
    track: Track


class Failure(Struct, frozen=True):
    """Why no order goes on: the line that breaks it, or the invariants that are violated; in `order`, up to there.
    `unsure`: an order that was given up early might have gone on, for this reason."""

    order: Order
    broken: Broken | None
    violated: tuple[str, ...] = ()
    unsure: str = ""


class Orders:
    """The orders of one run that the model explains. `listed`: at least one."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.listed = [Order([], tracker.start)]
        self._unsure = ""

    def follow(self, event: Event) -> Failure | None:
        """A line that comes behind all others. Returns why no order explains it."""
        return self._advance(((event,),), None)

    def place(self, done: Event, lines: Sequence[Event]) -> Failure | None:
        """A step, as the line `done`, that was done while these lines were written, which keep their order: the step is
        before all of them, between two, or behind. Returns why no order explains it."""
        places = range(len(lines) + 1)
        return self._advance(tuple((*lines[:place], done, *lines[place:]) for place in places), done)

    def _advance(self, continuations: Sequence[Sequence[Event]], done: Event | None) -> Failure | None:
        alive: list[Order] = []
        failed: list[Failure] = []
        for order in self.listed:
            for following in continuations:
                lines = order.lines if len(continuations) == 1 else list(order.lines)
                found = self._followed(lines, order.track, following)
                if isinstance(found, Failure):
                    failed.append(found)
                elif all(found.track != other.track for other in alive):
                    alive.append(found)
        several = len(failed) + len(alive) > 1
        for one in failed:
            if one.broken is not None and several and (one.broken.kind != "deviates" or one.broken.event is done):
                self._unsure = self._unsure or f"{one.broken.event.text}: {one.broken.reason}"
            elif one.broken is not None and done is not None and one.broken.event is done:
                self._unsure = self._unsure or f"{done.text}: it was done when the model no longer allows it"
        if len(alive) > ORDERS_MAX:
            del alive[ORDERS_MAX:]
            self._unsure = self._unsure or f"more than {ORDERS_MAX} orders of lines and steps are possible"
        if alive:
            self.listed = alive
            return None
        worst = max(failed, key=lambda one: len(one.order.lines))
        self.listed = [worst.order]
        return Failure(worst.order, worst.broken, worst.violated, self._unsure)

    def _followed(self, lines: list[Event], track: Track, following: Sequence[Event]) -> Order | Failure:
        for event in following:
            lines.append(event)
            found = self.tracker.after(track, event)
            if isinstance(found, Broken):
                return Failure(Order(lines, track), found)
            track = found
            violated = self.tracker.violated(track)
            if violated:
                return Failure(Order(lines, track), None, violated)
        return Order(lines, track)
