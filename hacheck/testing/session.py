"""One run of a system under test beside its model: what was done, what was shown, and whether the model agrees."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from hacheck.testing.adapter import Adapter, does
from hacheck.testing.driven_system import Move
from hacheck.testing.line_encoding import Event
from hacheck.testing.state_tracker import Broken, Track
from hacheck.testing.stimuli import SETTLE, WAIT, Step
from hacheck.testing.tested_model import Model
from hacheck.traces.conformance.record_encoding import NO_NODE

Entry: TypeAlias = Step | Event


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

    - `entries`: what was done and shown so far; `lines`: all that the model has seen, what was done among it;
    - `track`: how far it has followed; `passed`: the sets of states that explained it on the way;
    - `bound`: why it follows no more, though nothing is wrong: the run has become larger than the model;
    - `started`: the system is;
    - `idle_seconds`, `idle_looks`: for how long it has been given time, and how often it has been looked at, since the
      model saw something;
    - `story`: what the adapter says of the run besides its lines, once it was asked.
    """

    def __init__(self, model: Model, adapter: Adapter) -> None:
        self.model, self.adapter = model, adapter
        self.entries: list[Entry] = []
        self.lines: list[Event] = []
        self.track: Track = model.tracker.start
        self.passed: set[int] = set()
        self.bound = ""
        self.started = False
        self.idle_seconds, self.idle_looks = 0.0, 0
        self.story: str | None = None

    @property
    def owes(self) -> bool:
        """Whether a step has begun to be shown, in every run that explains the lines, and has lines to come. Until they
        do nothing can be done but to wait."""
        return not self.bound and self.track.owing and not self.model.tracker.settled(self.track)

    def begin(self) -> None:
        """Starts the system. Errors: as `take`."""
        self.adapter.start()
        self.started = True
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
        """What the adapter says of the run; asked once, when the run fails, before the system is ended. Where `story`
        raises, that is said instead: the run is what matters."""
        if self.story is None:
            try:
                self.story = str(self.adapter.story() or "")
            except Exception as error:
                self.story = f"`story` of {type(self.adapter).__name__} failed: {_said(error)}"
        return self.story

    def moves(self) -> tuple[Move, ...]:
        """What may be done now, by the model."""
        return self.model.offers.at(self.track)

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
            self.entries.append(step)
            self.adapter.act(step.method, dict(step.arguments))
            self.look()
            return True
        move = next((one for one in self.moves() if one.step == step), None)
        if move is not None:
            self._do(move)
        return move is not None

    def _do(self, move: Move) -> None:
        self.entries.append(move.step)
        if does(self.adapter, move.method, dict(move.arguments)):
            self._follow(Event(NO_NODE, move.event, move.arguments))
        self.look()

    def _wait(self, step: Step) -> None:
        self.entries.append(step)
        self.idle_seconds += dict(step.arguments)["seconds"]
        self.adapter.wait(**dict(step.arguments))
        self.look()

    def _settle(self, step: Step) -> None:
        """Also of a run that has become larger than the model: its lines are not compared, but it must serve."""
        self.entries.append(step)
        self.idle_seconds = inf  # it takes as long as the system ever needs
        owed = self.adapter.settle()
        self.look()
        if owed:
            raise Disagreement(self, None, (), owed)

    def look(self) -> None:
        """Compares what the system shows now. Errors: as `take`."""
        if self.bound:
            return
        self.idle_looks += 1
        for event in self.adapter.events():
            self.entries.append(event)
            if not self._follow(event):
                return

    def _look_at_invariants(self) -> None:
        """Errors: `Disagreement`, where one is violated whatever the hidden steps were."""
        violated = self.model.tracker.violated(self.track)
        if violated:
            raise Disagreement(self, None, violated)

    def _follow(self, event: Event) -> bool:
        """Whether the model follows on; behind each line the invariants are looked at. Errors: as `take`."""
        self.lines.append(event)
        found = self.model.tracker.after(self.track, event)
        if isinstance(found, Track):
            if found is not self.track:
                self.idle_seconds, self.idle_looks = 0.0, 0
            self.track = found
            self.passed.add(found.sets[-1])
            self._look_at_invariants()
        elif found.kind == "deviates":
            raise Disagreement(self, found, ())
        elif found.kind == "bound":
            self.bound = f"{event.text}: {found.reason}"
        else:
            hint = "raise `capacity`" if found.kind == "full" else "say how the model calls it with `called`"
            raise Undecided(f"{event.text}: {found.reason}; {hint} in {type(self.adapter).__name__}")
        return not self.bound


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
