"""Runs `hacheck verify --raise-bounds`: the checks of specs again with each limit one higher, side by side in
processes, within one limit of time for all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.checker.engine import Engine, Limits, Progress, Refused, Report
from hacheck.checker.limit_trials import Explored, Plan, Trial, TrialResult, ended, fewer, plan, run_trial, together
from hacheck.checker.sent_specification import sent, specification_of
from hacheck.cli.checking.kept_trials import KeptTrials, Raised, kept_trials
from hacheck.cli.checking.side_by_side import (
    GRACE_SECONDS,
    WAIT_SECONDS,
    shared_limits,
    shared_threads,
)
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.guard import BadInput
from hacheck.cli.jobs import job_pool
from hacheck.cli.progress import Display
from hacheck.model.language import Specification
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Event, Failed, JobFailed, Message, ProcessPool

TOTAL_SECONDS = 600.0
"""How long all trials together may take, where the user does not say."""

SAVE_SECONDS = 5.0
"""How often what was found is written to disk at most, while trials run."""

SHARE = 30
"""A trial gets this part of the time of all."""

SECONDS_LEAST = 5.0
"""But at least this long."""

PATIENCE = 2
"""A trial may take so many times what each of those that are left would have if all took the same time."""

STATES_MAX = 3_000_000
"""Where a trial gives up, if the user does not say."""


class _Check(Struct):
    """One check with its trials: those that wait, and what the others found."""

    specification: Specification
    pickled: bytes
    kept: KeptTrials
    name: str
    plan: Plan
    waiting: list[Trial]
    found: dict[int, tuple[Trial, TrialResult]] = field(default_factory=dict)
    combined: list[tuple[Trial, TrialResult]] = field(default_factory=list)
    running: int = 0
    is_combined: bool = False

    @property
    def is_done(self) -> bool:
        return not (self.waiting or self.running)

    @property
    def singles(self) -> list[tuple[Trial, TrialResult]]:
        """What was found with one limit raised, in the order of the plan."""
        return [self.found[number] for number in sorted(self.found)]

    def raised(self) -> Raised:
        """What is known of it so far."""
        not_begun = tuple(one for number, one in enumerate(self.plan.trials) if number not in self.found)
        return Raised(self.plan, (*self.singles, *self.combined), not_begun)


class Raising:
    """The trials of several checks. `limits`: those of one trial by itself; `seconds`: for all of them together;
    `keeping`: whether what is found is kept for other runs, and what others found is used."""

    def __init__(
        self, jobs: int, exploring: Exploring, limits: Limits, seconds: float, display: Display,
        interruption: Interruption, *, keeping: bool = True,
    ) -> None:  # fmt: skip
        self._processes: ProcessPool[tuple[int, int]] = job_pool(jobs)
        self._exploring = shared_threads(replace(exploring, checkpoint=None, resume=False), jobs)
        self._limits, self._end = shared_limits(limits, jobs), time.monotonic() + seconds
        self._display, self._interruption, self._keeping = display, interruption, keeping
        self._checks: list[_Check] = []
        self._running: dict[tuple[int, int], Trial] = {}
        self._saved = time.monotonic()

    def add(
        self, specification: Specification, name: str, checks: Sequence[Explored], kept: KeptTrials | None = None,
        settings: tuple[tuple[str, str], ...] = (),
    ) -> None:  # fmt: skip
        """The checks of a spec whose limits are to be raised. `settings`: those that the user has given."""
        pickled = sent(specification)
        kept = kept or kept_trials(specification)
        for explored in checks:
            made = plan(specification, explored, settings)
            title = f"{name}: check {explored.question.name}"
            self._checks.append(_Check(specification, pickled, kept, title, made, list(made.trials)))

    def run(self) -> list[Raised]:
        """What was found for each check, in the order in which they were added.

        Errors: what a trial raised, as `BadInput` or `JobFailed`.
        """
        try:
            with self._processes:
                self._run()
        finally:
            self.save()
        return [one.raised() for one in self._checks]

    def save(self) -> None:
        """Keeps on disk what was found so far; what cannot be written costs the next run time and nothing else."""
        self._saved = time.monotonic()
        for kept in {id(one.kept): one.kept for one in self._checks}.values():
            if self._keeping and kept.results:
                with suppress(OSError):
                    kept.save()

    def _run(self) -> None:
        for index in range(len(self._checks)):
            self._look_up(index)
        while any(not one.is_done for one in self._checks):
            if self._interruption.requested or (time.monotonic() >= self._end and not self._processes.busy):
                break
            self._hand_out()
            for key, event in self._processes.wait(WAIT_SECONDS):
                self._take(key, event)
        if self._processes.busy:
            self._stop()

    def _look_up(self, index: int) -> None:
        """Takes what earlier runs found."""
        check = self._checks[index]
        for trial in list(check.waiting) if self._keeping else ():
            result = check.kept.lookup(trial)
            if result is not None and result.suffices(self._limits):
                check.waiting.remove(trial)
                check.found[check.plan.trials.index(trial)] = (trial, result)
        self._combine(check)

    def _hand_out(self) -> None:
        """Begins the cheapest trials that wait, one for each free process."""
        while self._processes.busy < self._processes.size and (left := self._end - time.monotonic()) > 0:
            waiting = [(check.waiting[0].weight, index) for index, check in enumerate(self._checks) if check.waiting]
            if not waiting:
                return
            index = min(waiting)[1]
            check = self._checks[index]
            trial = check.waiting.pop(0)
            number = check.plan.trials.index(trial) if trial in check.plan.trials else len(check.plan.trials)
            check.running += 1
            self._running[index, number] = trial
            limits = replace(self._limits, wall_seconds_max=self._seconds_of_one(left))
            self._display.update(self._title(index, trial), Progress(0, 0, 0, 0, 0.0, 0, "preparing"))
            job = partial(trial_job, check.pickled, trial, self._exploring, limits)
            self._processes.begin((index, number), job)

    def _seconds_of_one(self, left: float) -> float:
        """How long the next trial may take, of the seconds that are left for all."""
        waiting = 1 + sum(len(one.waiting) for one in self._checks)
        patience = PATIENCE * self._processes.size
        share = left * patience / (waiting + patience)
        return round(min(max(self._limits.wall_seconds_max or left, share), left), 1)

    def _title(self, index: int, trial: Trial) -> str:
        words = trial.words if len(trial.raises) == 1 else f"{len(trial.raises)} limits together"
        return f"{self._checks[index].name} with {words}"

    def _take(self, key: tuple[int, int], event: Event) -> None:
        check, trial = self._checks[key[0]], self._running[key]
        title = self._title(key[0], trial)
        if isinstance(event, Message):
            self._display.update(title, event.content)
            return
        check.running -= 1
        del self._running[key]
        self._display.end(title)
        match event:
            case Done(TrialResult() as result):
                self._note(check, key[1], trial, result)
            case Failed("MemoryError") | Died(signal="SIGKILL"):
                words = "its process ran out of memory" if isinstance(event, Failed) else "its process was ended"
                self._note(check, key[1], trial, self._out_of(trial, words))
            case Failed("BadInput"):
                raise BadInput(event.message, event.hint)
            case Failed():
                raise event.as_mistake(title)
            case Died() if not self._interruption.requested:
                raise JobFailed(f"{title}: its process {event.how}")

    def _out_of(self, trial: Trial, words: str) -> TrialResult:
        return ended(trial, words, self._limits, limited=True)

    def _note(self, check: _Check, number: int, trial: Trial, result: TrialResult) -> None:
        if result.stopped == "interrupted":
            return
        if number < len(check.plan.trials):
            check.found[number] = (trial, result)
        else:
            check.combined.append((trial, result))
        if self._keeping:
            check.kept.store(trial, result)
            if time.monotonic() >= self._saved + SAVE_SECONDS:
                self.save()
        self._combine(check)

    def _combine(self, check: _Check) -> None:
        """Adds the trial of all limits together once each was tried by itself; where it met a limit, one of fewer."""
        if check.waiting or check.running or not check.found:
            return
        if not check.is_combined:
            check.is_combined = True
            following = together(check.singles)
        elif check.combined and check.combined[-1][1].limited:
            following = fewer(check.combined[-1][0], check.singles)
        else:
            return
        if following is None:
            return
        result = check.kept.lookup(following) if self._keeping else None
        if result is not None and result.suffices(self._limits):
            check.combined.append((following, result))
            self._combine(check)
        else:
            check.waiting.append(following)

    def _stop(self) -> None:
        """Asks the trials that run to end, and takes what they say in time."""
        self._processes.ask_to_stop()
        until = time.monotonic() + GRACE_SECONDS
        while self._processes.busy and (left := until - time.monotonic()) > 0:
            for key, event in self._processes.wait(left):
                self._take(key, event)


def limits_of_trials(states_max: int | None, seconds: float, memory_max: int | None) -> Limits:
    """The limits of one trial, where all of them have so many seconds."""
    return Limits(states_max or STATES_MAX, max(seconds / SHARE, SECONDS_LEAST), memory_max)


def trial_job(pickled: bytes, trial: Trial, exploring: Exploring, limits: Limits, report: Report) -> TrialResult:
    """One trial, in a process of its own."""
    engine: Engine = engine_for(exploring)
    try:
        return run_trial(specification_of(pickled), trial, engine, limits, report)
    except Refused as refused:
        raise BadInput(str(refused)) from None
