"""One run of a system under test beside its model: what was done, what was shown, and whether the model agrees."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf, isnan
from operator import itemgetter
from typing import TypeAlias

from hacheck.testing.adapter import Adapter, does
from hacheck.testing.driven_system import Move
from hacheck.testing.line_encoding import Event, UnfitEvent
from hacheck.testing.possible_orders import Failure, Orders
from hacheck.testing.run_options import current
from hacheck.testing.scenarios import Sight
from hacheck.testing.state_tracker import Broken, Track
from hacheck.testing.stimuli import SETTLE, WAIT, Step
from hacheck.testing.tested_model import Model
from hacheck.traces.conformance.record_encoding import NO_NODE

Entry: TypeAlias = Step | Event

ROLE_WAITS = 100
"""So often the shortest wait of an adapter is done until somebody plays the role that a step names."""

LOOK_SECONDS = 0.01
"""Of real time between two looks, where time passes by itself."""


class Disagreement(AssertionError):
    """A system under test did what its model does not allow.

    `entries`: what was done and shown, up to there; `broken`: the line that no run explains, or `violated`: the
    invariants that every run that explains the lines violates, or `owed`: what it does not do though nothing is wrong.
    """

    __module__ = "hacheck.testing"  # where people find it

    def __init__(self, session: Session, broken: Broken | None, violated: tuple[str, ...], owed: str = "") -> None:
        super().__init__(broken, violated, owed)
        self.entries, self.broken, self.violated, self.owed = tuple(session.entries), broken, violated, owed
        self._session, self._story = session, ""
        session.ask_for_story()

    def __str__(self) -> str:
        """The story of it, worked out when it is read: reducing a run makes it fail a hundred times."""
        if not self._story:
            from hacheck.testing.failure_stories import story

            self._story = story(self._session, self.broken, self.violated, self.owed)
        return self._story

    @property
    def what(self) -> str:
        """What disagrees, in a line."""
        return self.broken.event.text if self.broken is not None else ", ".join(self.violated) or self.owed

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done."""
        return tuple(one for one in self.entries if isinstance(one, Step))


class Undecided(Exception):
    """It is open whether a run follows its model; says why, and what to do."""

    __module__ = "hacheck.testing"  # where people find it


class Session:
    """A run.

    - `entries`: what was done and shown so far; `lines`: all that the model has seen, what was done among it, in an
      order that the model explains;
    - `track`: how far it has followed; `passed`: the sets of states that explained it on the way;
    - `bound`: why it follows no more, though nothing is wrong: the run has become larger than the model, or it is
      `out_of_step`: something was done that the model may not have allowed any more then;
    - `started`: the system is;
    - `idle_seconds`, `idle_looks`: for how long it has been given time, and how often it has been looked at, since the
      model saw something;
    - `refused`: the steps that the adapter did not do after all;
    - `certain`: by number of entries, the conditions of scenarios that held behind so many;
    - `story`: what the adapter says of the run besides its lines, once it was called.
    """

    def __init__(self, model: Model, adapter: Adapter) -> None:
        self.model, self.adapter = model, adapter
        self.entries: list[Entry] = []
        self.orders = Orders(model.tracker)
        self.unread: list[Event] = []
        self.refused: list[Step] = []
        self.certain: dict[int, frozenset[str]] = {}
        self._noticed = self.track
        self.passed: set[int] = set()
        self.bound, self.out_of_step = "", False
        self.started = False
        self.idle_seconds, self.idle_looks = 0.0, 0
        self.story: str | None = None

    @property
    def lines(self) -> list[Event]:
        """See above."""
        return self.orders.listed[0].lines

    @property
    def track(self) -> Track:
        """See above."""
        return self.orders.listed[0].track

    @property
    def owes(self) -> bool:
        """Whether a step has begun to be shown, in every run that explains the lines, and has lines to come. Until they
        do nothing can be done but to wait."""
        tracks = [order.track for order in self.orders.listed]
        return not self.bound and all(one.owing and not self.model.tracker.owes_nothing(one) for one in tracks)

    def begin(self) -> None:
        """Starts the system. Errors: as `take`."""
        current().begun(type(self.adapter).__name__)
        self.adapter.start()
        self.started = True
        self.certain[0] = self.model.tracker.certain(self.track)
        self._look_at_invariants()
        self.look()

    def end(self, failed: BaseException | None = None) -> None:
        """Ends the system. `failed`: what the run ended with. That is what matters, and not what `stop` raises then,
        which becomes a note of it; likewise where the system did not even start."""
        try:
            self.adapter.stop()
        except Exception as error:
            if failed is not None and self.started:
                failed.add_note(f"Then `stop` of {type(self.adapter).__name__} failed: {_said(error)}")
            elif self.started:
                raise

    def ask_for_story(self) -> str:
        """What the adapter says of the run; called once, when the run fails, before the system is ended. Where `story`
        raises, that is said instead: the run is what matters."""
        if self.story is None:
            try:
                self.story = str(self.adapter.story() or "")
            except Exception as error:
                self.story = f"`story` of {type(self.adapter).__name__} failed: {_said(error)}"
        return self.story

    def moves(self) -> tuple[Move, ...]:
        """What may be done now, by the model: in whatever order things have come about."""
        first, *others = (self.model.offers.at(order.track) for order in self.orders.listed)
        return tuple(move for move in first if all(move in other for other in others))

    def offers(self) -> list[tuple[Move, Step]]:
        """What may be done now, and the step that does it: by role where a node plays one."""
        roles = {node: role for role, node in self.adapter.roles().items()}
        return [(move, by_role(move.step, roles)) for move in self.moves()]

    def take(self, step: Step) -> bool:
        """Does a step, and looks at what the system shows. Returns whether the model allows it: if not, nothing was
        done. Errors: `Disagreement`, `Undecided`, `UnfitEvent`, and whatever the adapter raises."""
        if step.method == SETTLE:
            self._settle(step)
            return True
        self.look()  # where time passes by itself, something may have happened since
        if self.bound:
            return True
        if step.method == WAIT:
            self._wait(step)
            return True
        if step in self.adapter.besides:
            done = Step(step.method, step.arguments)
            self.entries.append(done)
            if self.adapter.act(step.method, dict(step.arguments)) is False:
                self.refused.append(done)
            self.look()
            return True
        move = self._offered(step)
        if move is None and self.model.names_role(step):
            move = self._awaited(step)
        if move is None:
            return bool(self.bound)  # while somebody was awaited it has become larger than the model
        self._do(move, Step(step.method, step.arguments))
        return True

    def _offered(self, step: Step) -> Move | None:
        return next((move for move, named in self.offers() if step in (named, move.step)), None)

    def _awaited(self, step: Step) -> Move | None:
        """The move that a step by role means, once somebody plays it: so much time is given to the service."""
        waits = self.adapter.waits
        for _ in range(ROLE_WAITS):
            if waits:
                self.adapter.wait(min(waits))
            else:
                time.sleep(LOOK_SECONDS)
            self.look()
            move = self._offered(step)
            if move is not None or self.bound:
                return move
        return None

    def _do(self, move: Move, step: Step) -> None:
        place = len(self.entries)
        self.entries.append(step)
        begun = self.adapter.clock()
        if not does(self.adapter, move.method, dict(move.arguments)):
            self.refused.append(step)
            self.look()
            return
        ended = self.adapter.clock()
        done = Event(NO_NODE, move.event, move.arguments)
        self.idle_looks += 1
        lines = self._read()
        before = _leading(lines, lambda at: at < begun)
        during = _leading(lines[len(before) :], lambda at: at <= ended)
        for event in before:
            self.entries.insert(place, event)
            place += 1
            if not self._follow(event):
                return
        self.entries += during
        if self._went_on(self.orders.place(done, during), done):
            self._follow_all(lines[len(before) + len(during) :])

    def _wait(self, step: Step) -> None:
        self.entries.append(step)
        self.idle_seconds += dict(step.arguments)["seconds"]
        self.adapter.wait(**dict(step.arguments))
        self.look()

    def _settle(self, step: Step) -> None:
        """Also of a run that has become larger than the model: its lines are not compared, but it must serve. What the
        model can end of what is wrong is ended first, step by step, so that the model is informed of it."""
        self._end_faults()
        self.entries.append(step)
        self.idle_seconds = inf  # it takes as long as the system ever needs
        owed = self.adapter.settle()
        self.look()
        self._follow_all(self.unread)
        self.unread = []
        if owed:
            raise Disagreement(self, None, (), owed)

    def _end_faults(self) -> None:
        """Does each repair of the model that an adapter has a method for."""
        self.look()
        ended: set[Step] = set()
        while not self.bound:
            actions = self.model.system.actions
            repairs = (one for one in self.moves() if actions[one.index].kind == "repair")
            move = next((one for one in repairs if one.step not in ended), None)
            if move is None:
                return
            ended.add(move.step)
            self._do(move, move.step)

    def look(self) -> None:
        """Compares what the system shows now. Errors: as `take`."""
        if self.bound:
            return
        self.idle_looks += 1
        self._follow_all(self._read())

    def _read(self) -> list[Event]:
        """The lines that the system has shown, by their times where all have some. One that was written while they were
        read is kept for the next time: another node may have written something before it, and be read already."""
        until = self.adapter.clock()
        lines = [*self.unread, *self.adapter.events()]
        for event in lines:
            if event.at is not None and not _is_time(event.at):
                raise UnfitEvent(f"`at` of `{event.name}` is {event.at!r}: when a line was written is a number")
        self.unread = [event for event in lines if event.at is not None and event.at > until]
        read = [event for event in lines if event.at is None or event.at <= until]
        times = [event.at for event in read if event.at is not None]
        if len(times) < len(read):
            return read
        return [event for _, event in sorted(zip(times, read, strict=True), key=itemgetter(0))]

    def _look_at_invariants(self) -> None:
        """Errors: `Disagreement`, where one is violated whatever the hidden steps were."""
        violated = self.model.tracker.violated(self.track)
        if violated:
            raise Disagreement(self, None, violated)

    def _follow_all(self, lines: Sequence[Event]) -> None:
        for event in lines:
            self.entries.append(event)
            if not self._follow(event):
                return

    def _follow(self, event: Event) -> bool:
        """Whether the model follows on; behind each line the invariants are looked at. Errors: as `take`."""
        return self._went_on(self.orders.follow(event), event)

    def _went_on(self, failure: Failure | None, event: Event) -> bool:
        """What comes of a line or a step, which is `event`. Errors: as `take`."""
        if failure is None:
            return self._noted()
        if failure.unsure:
            self.bound, self.out_of_step = failure.unsure, True
        elif failure.broken is None or failure.broken.kind == "deviates":
            raise Disagreement(self, failure.broken, failure.violated)
        elif failure.broken.kind == "bound":
            self.bound = f"{event.text}: {failure.broken.reason}"
        else:
            hint = "raise `capacity`" if failure.broken.kind == "full" else "say how the model calls it with `called`"
            raise Undecided(f"{event.text}: {failure.broken.reason}; {hint} in {type(self.adapter).__name__}")
        return False

    def _noted(self) -> bool:
        """Notes how far the model has come."""
        if self.track is not self._noticed:
            self.idle_seconds, self.idle_looks = 0.0, 0
        self._noticed = self.track
        self.passed.update(order.track.sets[-1] for order in self.orders.listed)
        if self.model.tracker.conditions:
            tracks = [order.track for order in self.orders.listed]
            held = frozenset.intersection(*map(self.model.tracker.certain, tracks))
            self.certain[len(self.entries)] = held
        return True

    def sights(self) -> Iterator[Sight]:
        """What was done and shown, each with the conditions of scenarios that held behind it. What was refused did not
        happen."""
        refused = {id(step) for step in self.refused}
        held = self.certain.get(0, frozenset())
        yield None, held
        for number, entry in enumerate(self.entries, start=1):
            held = self.certain.get(number, held)
            yield (None if id(entry) in refused else entry), held


def by_role(step: Step, roles: Mapping[str, str]) -> Step:
    """The step with the role in place of a node that plays one. `roles`: by node."""
    arguments = tuple(
        (name, roles.get(value, value) if isinstance(value, str) else value) for name, value in step.arguments
    )
    return Step(step.method, arguments)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not isnan(value)


def _leading(lines: Sequence[Event], early: Callable[[float], bool]) -> list[Event]:
    """The first lines, as long as they carry times and these are early."""
    return list(takewhile(lambda event: event.at is not None and early(event.at), lines))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
