"""Runs that failed, written down and done again: the last one of each kind of adapter, and any a test gives."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import ceil, log
from pathlib import Path
from typing import Any
from warnings import warn

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict

from hacheck.atomic_files import replace_text
from hacheck.testing.adapter import Adapter, settles
from hacheck.testing.run_options import current
from hacheck.testing.service_code import code_digest
from hacheck.testing.session import Disagreement, Session, Undecided
from hacheck.testing.stalled_runs import stalled
from hacheck.testing.stimuli import SETTLE, WAIT, Step
from hacheck.testing.tested_model import folder_of, model_for

FOLDER = ".hacheck-runs"
"""Beside the file of an adapter: the runs that failed."""


class BadRun(Exception):
    """A run that was written down cannot be done; says why."""

    __module__ = "hacheck.testing"  # where people find it


def do(method: str, /, **arguments: Any) -> Step:
    """A step of a run, for `replay`: a method of the adapter with its arguments, `do("crash", n="Server-1")`, or
    `do("wait", seconds=1.0)`."""
    return Step(method, tuple(arguments.items()))


def replay(adapter: type[Adapter], steps: Iterable[Step]) -> None:
    """Does a run, and compares what the system shows with the model. Warns where a line that the last step owes has
    not come at its end.

    Errors: `Disagreement`; `Undecided` where it is not done to its end, as the model does not allow a step there, or
    the run became larger than the model; `BadModel`; `BadRun` for steps that the model never has.
    """
    __tracebackhide__ = True
    try:
        session, left = _done(adapter, tuple(steps))
    except Disagreement as error:
        raise error.with_traceback(None) from None  # where in this code it was noticed helps nobody
    stall = stalled(session)
    if left:
        if stall is not None:
            left = f"{left}: the run stands still {stall.why(session.model)}"
        raise Undecided(left)
    if stall is not None:
        warn(f"a run of {adapter.__name__} stood still at its end, {stall.why(session.model)}", stacklevel=2)


def _done(adapter: type[Adapter], steps: Sequence[Step]) -> tuple[Session, str]:
    """Does a run as far as the model allows it. Returns why it did not come to its end; nothing if it did. Errors: as
    `replay`, but for that."""
    __tracebackhide__ = True
    model = model_for(adapter)
    failed: BaseException | None = None
    try:
        session = Session(model, adapter())
        try:
            session.begin()
            for number, step in enumerate(steps, start=1):
                if step.method == WAIT:
                    _check_wait(step)
                elif step.method == SETTLE and settles(adapter):
                    pass
                elif step.method not in model.actions and step not in adapter.besides:
                    known = ", ".join([*model.actions, WAIT, *[SETTLE] * settles(adapter)])
                    raise BadRun(f"{adapter.__name__} cannot do `{step.text}`: it has {known}")
                if not session.take(step):
                    place = f"step {number} of {len(steps)}, `{step.text}`, was not done"
                    return session, f"{place}: {model.system.name} does not allow it there"
            if session.bound:
                cause, hint = why_not_compared(out_of_step=session.out_of_step)
                return session, f"the run of {adapter.__name__} {cause} at {session.bound}; {hint}"
            return session, ""
        except BaseException as error:
            failed = error
            raise
        finally:
            session.end(failed)
    finally:
        adapter.finish()


def why_not_compared(*, out_of_step: bool) -> tuple[str, str]:
    """Why a run was not compared to its end, and what to do about it."""
    if out_of_step:
        return "went on while a step was done", "let the adapter refuse a step, by `False`, while lines are unread"
    return "became larger than the model", "enlarge the model by `settings`"


def _check_wait(step: Step) -> None:
    given = dict(step.arguments)
    seconds = given.get("seconds")
    if set(given) != {"seconds"} or not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
        raise BadRun(f"`{step.text}`: `wait` needs `seconds`, a number")


def kept_in(adapter: type[Adapter]) -> Path:
    """Where runs of an adapter are kept: where an option of the test run says, else beside its file."""
    given = current().runs
    return folder_of(adapter) / FOLDER if given is None else given


def _make_folder(folder: Path) -> None:
    """Makes the folder of runs. git ignores one that is made here, until its `.gitignore` is removed."""
    if not folder.exists():
        folder.mkdir(parents=True)
        if folder.name == FOLDER:
            replace_text(folder / ".gitignore", "*\n")


TRIES = 5
"""A run that was written down is tried so many times: what a service does may be left to chance."""

TRIES_MAX = 100
"""After so many tries without a failure it is removed, however rarely it failed before."""

TRIES_SECONDS = 30.0
"""No further try begins after so long."""

DOUBT = 0.01
"""A run is removed when chance alone would let so few runs pass that often."""


class Tries(Struct, frozen=True):
    """How often a run was tried in all on the code with which it failed the last time, whose digest is `code`; how many
    of these tries `failed`; and how often it `passed` in a row on other code, whose digest is `passed_on`."""

    code: str = ""
    tried: int = 1
    failed: int = 1
    passed: int = 0
    passed_on: str = ""

    @property
    def enough(self) -> int:
        """So many times it must pass on changed code before it is removed."""
        rate = self.failed / self.tried if self.tried else 1.0
        if not 0.0 < rate < 1.0:
            return TRIES if rate else TRIES_MAX
        return min(max(TRIES, ceil(log(DOUBT) / log(1.0 - rate))), TRIES_MAX)

    def after(self, passed: int, failed: int, code: str) -> Tries:
        """With tries more, of which the last one failed if any did."""
        if failed and code == self.code:
            return Tries(code, self.tried + passed + failed, self.failed + failed)
        if failed:
            return Tries(code, passed + failed, failed)
        if code == self.code:
            return Tries(code, self.tried + passed, self.failed)
        before = self.passed if code == self.passed_on else 0
        return Tries(self.code, self.tried, self.failed, before + passed, code)


class Recorded:
    """The last run of an adapter that failed, in a file that travels with the tests if one lets it.

    `apart`: whether the file holds a run that could not be done to its end this time, or did not fail; it is kept
    beside a newer one."""

    def __init__(self, adapter: type[Adapter]) -> None:
        self.adapter = adapter
        module, name = adapter.__module__.rpartition(".")[2], adapter.__qualname__.replace("<locals>.", "")
        self.path = kept_in(adapter) / f"{module}.{name}.json"
        self.apart = False

    def keep(self, failure: Disagreement, tries: Tries | None = None) -> None:
        """Writes a run down, in place of the one before; one that could not be done to its end is kept beside it, as
        `NAME.before.json`. Where that cannot be done, a note of the failure says why."""
        try:
            if self.apart:
                _make_folder(self.path.parent)
                os.replace(self.path, self.path.with_suffix(".before.json"))
            self._write(failure.steps, tries or Tries(code_digest(self.adapter)))
            self.apart = False
        except (OSError, TypeError, ValueError) as error:
            failure.add_note(f"The run could not be written down as {self.path}: {error}")

    def _write(self, steps: Iterable[Step], tries: Tries) -> None:
        run = {"hacheck.run": 1, "steps": [[one.method, dict(one.arguments)] for one in steps], "tries": asdict(tries)}
        content = json.dumps(run)
        _make_folder(self.path.parent)
        replace_text(self.path, content + "\n")

    def replay(self) -> None:
        """Does the run again that was written down, several times, as far as the model allows it. It is removed when it
        has passed often enough on code that has changed since it failed. One that passes on the same code, or not yet
        often enough, stays, with a warning that says how often it failed; so does one that cannot be done to its end.

        Errors: `Disagreement`, `BadModel`, whatever the system raises; `BadRun` for a file that is none."""
        __tracebackhide__ = True
        try:
            text = self.path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, UnicodeDecodeError) as error:
            raise BadRun(f"{self.path}: cannot be read: {error}") from None
        steps, tries = steps_from(text, str(self.path)), tries_from(text)
        model_for(self.adapter)  # what is wrong with it has nothing to do with the run
        until = time.monotonic() + TRIES_SECONDS
        code, passed = code_digest(self.adapter), 0
        while passed < TRIES and (not passed or time.monotonic() < until):
            try:
                _, left = _done(self.adapter, steps)
            except (BadRun, Undecided) as error:
                left = str(error)
            except Exception as error:
                self._failed_again(error, steps, tries.after(passed, 1, code))
                raise error.with_traceback(None) if isinstance(error, Disagreement) else error from None
            if left:
                self._stays(f"and could not be done to its end: {left}")
                return
            passed += 1
        self._passed(steps, tries.after(passed, 0, code))

    def _failed_again(self, error: Exception, steps: Sequence[Step], tries: Tries) -> None:
        often = f", in {tries.failed} of {tries.tried} tries" if tries.failed < tries.tried else ""
        error.add_note(f"It is the run that failed the last time{often}: {self.path}")
        if isinstance(error, Disagreement):
            with suppress(OSError):
                self._write(steps, tries)

    def _passed(self, steps: Sequence[Step], tries: Tries) -> None:
        often = f"it failed in {tries.failed} of {tries.tried} tries"
        if tries.passed >= tries.enough:
            with suppress(OSError):
                self.path.unlink()
            return
        with suppress(OSError):
            self._write(steps, tries)
        if tries.passed:
            self._stays(f"and passed {tries.passed} times since the code changed, {tries.enough} are needed; {often}")
        else:
            self._stays(f"and did not fail this time, with the same code: something is left to chance; {often}")

    def _stays(self, why: str) -> None:
        self.apart = True
        kept = f"the run that failed the last time is kept, {why}"
        warn(f"{kept}. If it is of no use any more, delete {self.path}", stacklevel=3)


def steps_from(text: str, where: str) -> list[Step]:
    """The steps of a run from its text. Errors: `BadRun`."""
    try:
        content = json.loads(text)
        if content["hacheck.run"] != 1:
            raise BadRun(f"{where}: written by a later hacheck; delete it, or update")
        return [Step(str(method), tuple(dict(arguments).items())) for method, arguments in content["steps"]]
    except (ValueError, TypeError, KeyError):
        raise BadRun(f"{where}: not a run that was written down; delete it") from None


def tries_from(text: str) -> Tries:
    """How often the run of a text was tried; one that failed once, on unknown code, where it does not say."""
    try:
        return convert(json.loads(text)["tries"], Tries)
    except (KeyError, ValidationError):
        return Tries()
