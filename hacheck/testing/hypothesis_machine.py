"""A Hypothesis state machine made of a model: it does to a system what the model allows, and compares what it shows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from random import Random, SystemRandom
from typing import Any
from unittest import TestCase
from warnings import warn

from hypothesis import HealthCheck, Phase, core, seed, settings
from hypothesis.errors import Flaky, StopTest
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from hypothesis.strategies import integers, sampled_from, tuples
from msgspec import Struct, field

from hacheck.testing.adapter import Adapter, settles
from hacheck.testing.directed_runs import Direction, Plan, directions
from hacheck.testing.driven_system import DONE
from hacheck.testing.failing_runs import TRIES, BadRun, Recorded, Tries, why_not_compared
from hacheck.testing.failure_stories import beside
from hacheck.testing.json_process import ProcessFailure
from hacheck.testing.line_encoding import Event, UnfitEvent
from hacheck.testing.run_coverage import RunCoverage, coverage_text, write_coverage
from hacheck.testing.run_options import current
from hacheck.testing.run_reduction import failure, reduced
from hacheck.testing.scenarios import never_met
from hacheck.testing.service_code import code_digest
from hacheck.testing.session import Disagreement, Session, Undecided
from hacheck.testing.stalled_runs import Stall, stall_lines, stalled, waited_enough
from hacheck.testing.stimuli import SETTLE, WAIT, Step
from hacheck.testing.stream_priorities import Priorities, stream
from hacheck.testing.tested_model import BadModel, Model, is_fault, model_for, require_methods

SETTINGS = settings(
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    print_blob=False,
    report_multiple_bugs=False,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
"""What Hypothesis does by default: a step of a system may take any time. It neither keeps nor reduces runs
that fail, which is done here by steps, nor looks for the lines of code that only such runs come to. Every run is
a new one: to change the best run a little, number by number, takes half of all runs, and finds less."""

CHANCE = tuples(*[integers(0, 119)] * 8)
"""All chance that there is in a run. Of larger ranges Hypothesis draws small numbers far more often than large ones,
and of many numbers it repeats some from run to run: what is repeated finds nothing new."""

AIMED_MOST = 10
"""So many times as many runs as usual at most, where scenarios are to be met more often."""

NOTHING, EVERYTHING = "nothing goes wrong", "everything may go wrong"


def state_machine(adapter: type[Adapter], how: settings | None = None) -> type[TestCase]:
    """A test that does random things to a system, as its model allows, and fails when the system does what the model
    does not: with the shortest story of it that Hypothesis finds.

    To be given a name that begins with `Test` in a test module. `how`: Hypothesis' settings, such as
    `settings(SETTINGS, max_examples=1000)`. The model is read when the test runs.

    A failing run is written down as soon as it fails, again when it was made shorter, and done first the next time
    (`hacheck.testing.failing_runs`). Errors, when it runs:
    `BadModel`; `Undecided` where it is open whether a run is right.
    """

    class TestModel(TestCase):
        """Made of a model."""

        settings = SETTINGS if how is None else how

        def runTest(self) -> None:  # noqa: N802  # what unittest calls it
            """Does what failed the last time, then random things."""
            __tracebackhide__ = True
            run_state_machine(adapter, self.settings)

    TestModel.__name__ = TestModel.__qualname__ = f"Test{adapter.__name__}"
    TestModel.__module__ = adapter.__module__
    return TestModel


def run_state_machine(adapter: type[Adapter], how: settings = SETTINGS) -> None:
    """The same, as a function. Errors: those of `state_machine`; `Disagreement`."""
    __tracebackhide__ = True
    watch = Watch(Recorded(adapter))
    try:
        require_methods(adapter)
        watch.kept.replay()
        found = _tried(adapter, watch, how)
        for batch in range(1, AIMED_MOST):
            if found is not None or not watch.covered.missed(adapter.aims):
                break
            found = _tried(adapter, watch, settings(how, derandomize=False), batch)
        if found is None:
            watch.report()
            _show_coverage(adapter, watch)
            return
        watch.kept.keep(found, confirmed(adapter, found))
    except PLAIN as error:
        raise error.with_traceback(None) from None
    finally:
        adapter.finish()
    raise found.with_traceback(None) from None  # where in this code it was noticed helps nobody


def _show_coverage(adapter: type[Adapter], watch: Watch) -> None:
    """Prints what a test that passes has covered, which pytest keeps with the test, and writes it where the user
    wants that."""
    content = watch.covered.content(model_for(adapter), adapter.besides, adapter.__name__)
    print(coverage_text(content))
    folder = current().coverage
    if folder is not None:
        write_coverage(folder, content)


PLAIN = (BadModel, BadRun, ProcessFailure, Undecided, UnfitEvent)
"""Errors that say everything."""


def _tried(adapter: type[Adapter], watch: Watch, how: settings, batch: int = 0) -> Disagreement | None:
    """The shortest failing run, if random things lead to one. `batch`: of how many tries with other chance this is one.
    Errors: whatever the system raises."""
    __tracebackhide__ = True
    from hypothesis.stateful import run_state_machine_as_test

    made, begun = _seeded(machine(adapter, watch), how, batch)
    seed_note = "" if begun is None else f"Found with pytest --hacheck-seed {begun}"
    try:
        run_state_machine_as_test(made, settings=how)
        return None
    except Exception as caught:
        error = caught
    # What a system does by chance Hypothesis calls flaky; it was seen all the same.
    by_chance, found = isinstance(error, Flaky), watch.found
    if found is None:
        raise watch.seen(error, [FLAKY] * by_chance + [seed_note] * bool(seed_note))
    least = reduced(adapter, found)
    if by_chance and least is found:
        least.add_note(FLAKY)
    if seed_note:
        least.add_note(seed_note)
    return least


BOUNDS_SHOWN = 3
"""So many bounds are named that runs have reached."""

CONFIRMING_SECONDS = 10.0
"""No further repetition of a run that was found begins after so long."""


def confirmed(adapter: type[Adapter], found: Disagreement) -> Tries:
    """Does a run that was found again, a few times, and says in a note how often it failed, unless it always did."""
    model, until = model_for(adapter), time.monotonic() + CONFIRMING_SECONDS
    tried = failed = 1
    while tried < TRIES and time.monotonic() < until:
        tried += 1
        failed += failure(adapter, model, found.steps) is not None
    if failed < tried:
        found.add_note(f"Done {tried} times, it failed {failed} times.")
    return Tries(code_digest(adapter), tried, failed)


FLAKY = """Done again, the same did not show the same: something in the system is left to chance, or to the time that
things take. With a clock and dice of the test's own, runs that fail are made small, and fail again."""


def _seeded(
    made: type[RuleBasedStateMachine], how: settings, batch: int
) -> tuple[type[RuleBasedStateMachine], int | None]:
    """A machine that begins with the seed that was given, else with one of its own; and that seed, unless Hypothesis
    was given another one or needs none. Further batches follow from the seed."""
    given = current().seed
    if batch:
        begun = batch + (given or 0)
        return seed(begun)(made), begun
    if given is None and (how.derandomize or core.global_force_seed is not None):
        return made, None
    begun = SystemRandom().getrandbits(32) if given is None else given
    return seed(begun)(made), begun


class Watch(Struct):
    """What is noted over all runs: where failing ones are written down; the first that failed; the last error of
    another kind, and what was said of it; how many runs there were, how many of them became larger than the model, and
    where the last of these did; those that stood still; the events that the system has shown."""

    kept: Recorded
    found: Disagreement | None = None
    error: Exception | None = None
    notes: tuple[str, ...] = ()
    runs: int = 0
    at_bound: int = 0
    bound: str = ""
    out_of_step: bool = False
    covered: RunCoverage = field(default_factory=RunCoverage)
    stalls: list[Stall] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)

    def seen(self, error: Exception, more: list[str]) -> Exception:
        """The error that a run ended with, if this is what Hypothesis makes of one: with our notes and these, and not
        with the steps as Hypothesis prints them."""
        shown = error
        if self.error is not None and isinstance(error, (type(self.error), Flaky)):
            shown = self.error
            shown.__notes__ = list(self.notes)
        for note in more:
            shown.add_note(note)
        return shown

    def report(self) -> None:
        """Says that runs were not compared, or not to their ends. Errors: `Undecided` where none was to its end."""
        self._report_lines()
        self._report_scenarios()
        self._report_violable()
        if not self.at_bound:
            return
        cause, hint = why_not_compared(out_of_step=self.out_of_step)
        text = (
            f"{self.at_bound} of {self.runs} runs of {self.kept.adapter.__name__} {cause} and "
            f"were not compared any further, the last at {self.bound}"
        )
        if self.at_bound == self.runs:
            raise Undecided(f"{text}; {hint}")
        tracker = model_for(self.kept.adapter).tracker
        met = (
            [] if self.out_of_step else [bound.replace("message.", "") for bound in tracker.bounds_met()[:BOUNDS_SHOWN]]
        )
        named = f"; bounds that were reached, those reached most often first: {', '.join(met)}" if met else ""
        warn(f"{text}{named}; {hint}", stacklevel=2)

    def _report_violable(self) -> None:
        """Says which invariants the model violates under these settings, and no run did: a rare run may."""
        adapter = self.kept.adapter
        for name in model_for(adapter).violable:
            check = adapter.check or "default"
            warn(
                f"check {check} expects {name} violated, and in {self.runs} runs of {adapter.__name__} it was not: "
                f'`directed = (Counterexample("{check}", "{name}"),)`, or steps of your own, lead nearer to it',
                stacklevel=3,
            )

    def _report_scenarios(self) -> None:
        """Says which scenarios no run came to, or fewer than was wanted."""
        for name, (met, aim) in self.covered.missed(self.kept.adapter.aims).items():
            if met:
                warn(f"scenario {name}: in {met:,} runs, and {aim:,} were wanted", stacklevel=3)
        for one in model_for(self.kept.adapter).scenarios:
            content = one.content(self.covered.reached.get(one.name, []))
            if not content["met"]:
                warn(f"scenario {never_met(content)}", stacklevel=3)

    def _report_lines(self) -> None:
        """Says that no line was compared, though the model has some, or that runs stood still for want of one: misspelt
        events look like that."""
        model = model_for(self.kept.adapter)
        known = {event.name for event in model.tracker.compiled.shape.events if not event.name.startswith(DONE)}
        name = self.kept.adapter.__name__
        if not known or not self.shown.isdisjoint(known):
            for text in stall_lines(self.stalls, self.runs, model, name):
                warn(text, stacklevel=3)
        else:
            shown = f"only {', '.join(sorted(self.shown))}" if self.shown else "nothing"
            warn(
                f"no line was compared in {self.runs} runs of {name}: it showed {shown}, and "
                f"{model.system.name} knows {', '.join(sorted(known))}",
                stacklevel=3,
            )


def machine(adapter: type[Adapter], watch: Watch) -> type[RuleBasedStateMachine]:
    """The state machine of a model. `watch`: sees every run. Errors: `BadModel`.

    It has one rule, which does what the model allows at that moment or waits. Were there one for each method of the
    adapter, Hypothesis would leave some of them out of most runs, and a run in which nobody waits shows nothing; what
    is left out is drawn with the profile. Hypothesis draws what chance begins with, and nothing else: what may be
    chosen depends on what a real system did meanwhile, and Hypothesis refuses a test whose choices change when it is
    repeated.
    """
    model = model_for(adapter)
    body: dict[str, Any] = {
        "__doc__": f"{model.system.name}, done to {adapter.__name__}.",
        "__init__": _initialised(model, adapter, watch, directions(adapter)),
        "begin": initialize(profile=sampled_from(profiles(model, adapter)), chance=CHANCE)(_begin),
        "step": rule()(_step),
        "teardown": _teardown,
    }
    made: type[RuleBasedStateMachine] = type(f"{adapter.__name__}Machine", (RuleBasedStateMachine,), body)
    return made


def profiles(model: Model, adapter: type[Adapter]) -> tuple[str, ...]:
    """What may go wrong in a run: nothing, one kind of fault, everything. Simple ones first, to which runs that fail
    are reduced."""
    besides = dict.fromkeys(step.method for step in adapter.besides)
    faults = [*(method for method in model.actions if is_fault(model, method)), *besides]
    return (NOTHING, *faults, EVERYTHING) if faults else (NOTHING,)


# ---- the methods of a machine ----


def _initialised(
    model: Model, adapter: type[Adapter], watch: Watch, directed: tuple[Direction, ...]
) -> Callable[[Any], None]:
    def initialised(self: Any) -> None:
        RuleBasedStateMachine.__init__(self)
        self.session, self.directed = Session(model, adapter()), directed
        self.watch, self.profile, self.failed = watch, EVERYTHING, None

    return initialised


def _watched(done: Callable[..., None]) -> Callable[..., None]:
    """A method that notes that the run has failed, and how."""

    def watched(self: Any, **given: Any) -> None:
        try:
            done(self, **given)
        except Disagreement as found:
            self.failed = found
            if self.watch.found is None:
                self.watch.found = found
                self.watch.kept.keep(found)  # before it is reduced, which takes time and may be interrupted
            raise
        except Exception as error:
            self.failed = error
            if self.session.entries and not isinstance(error, Undecided):
                error.add_note(beside(self.session))
            self.watch.error, self.watch.notes = error, tuple(getattr(error, "__notes__", ()))
            raise

    watched.__name__ = done.__name__
    return watched


@_watched
def _begin(self: Any, profile: str, chance: tuple[int, ...]) -> None:
    self.profile = profile
    self.dice = Random(repr(chance))
    self.priorities = Priorities(self.dice.getrandbits(32)) if self.dice.getrandbits(1) else None
    self.plan = Plan(self.directed, self.dice)
    self.session.begin()


@_watched
def _step(self: Any) -> None:
    step = _chosen(self)
    if step is None:
        self.session.look()
    else:
        self.session.take(step)


@_watched
def _settle(self: Any) -> None:
    self.session.take(Step(SETTLE, ()))


def _teardown(self: Any) -> None:
    # Hypothesis also ends runs before their time, of which it has drawn too little; they do not count.
    is_whole = not isinstance(sys.exc_info()[1], StopTest)
    try:
        if self.session.started and self.failed is None and settles(type(self.session.adapter)):
            _settle(self)
    finally:
        self.session.end(self.failed)
        self.watch.runs += is_whole
        self.watch.covered.add(self.session)
        if is_whole and self.session.started:
            self.watch.covered.add_plan(self.plan)
        self.watch.shown.update(one.name for one in self.session.entries if isinstance(one, Event))
        if self.session.bound:
            self.watch.at_bound += is_whole
            self.watch.bound, self.watch.out_of_step = self.session.bound, self.session.out_of_step
        stall = stalled(self.session) if is_whole and self.failed is None else None
        if stall is not None and waited_enough(self.session):
            self.watch.stalls.append(stall)


def _chosen(self: Any) -> Step | None:
    """What is done now: first by which method, then how. Waiting is as likely as everything else, also where priorities
    decide about the rest: most mistakes need time to pass in between. `None`: only to look, where nothing can be
    done."""
    by_method: dict[str, list[Step]] = {}
    waits = [Step(WAIT, (("seconds", seconds),)) for seconds in self.session.adapter.waits]
    offers = self.session.offers()
    plan: Plan = self.plan
    possible = {step for move, named in offers for step in (move.step, named)} | {*self.session.adapter.besides}
    planned = plan.next(
        lambda step: step in possible or self.session.model.names_role(step), waits, self.session.entries
    )
    if planned is not None:
        return planned
    for move, step in offers:
        if not is_fault(self.session.model, move.method) or self.profile in (move.method, EVERYTHING):
            by_method.setdefault(move.method, []).append(step)
    for step in self.session.adapter.besides:
        if self.profile in (step.method, EVERYTHING):
            by_method.setdefault(step.method, []).append(step)
    dice: Random = self.dice
    if waits and (not by_method or dice.getrandbits(1)):
        return dice.choice(waits)
    if not by_method:
        return None
    if self.priorities is not None and dice.getrandbits(1):
        steps = [step for some in by_method.values() for step in some]
        first = self.priorities.first(stream(step) for step in steps)
        return dice.choice([step for step in steps if stream(step) == first])
    return dice.choice(by_method[dice.choice(list(by_method))])
