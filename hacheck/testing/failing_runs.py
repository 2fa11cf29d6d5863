"""Runs that failed, written down and done again: the last one of each kind of adapter, and any a test gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from warnings import warn

from hacheck.atomic_files import replace_text
from hacheck.testing.adapter import Adapter, settles
from hacheck.testing.run_options import current
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
                where = f"became larger than the model at {session.bound}"
                return session, f"the run of {adapter.__name__} {where}; enlarge the model by `settings`"
            return session, ""
        except BaseException as error:
            failed = error
            raise
        finally:
            session.end(failed)
    finally:
        adapter.finish()


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


class Recorded:
    """The last run of an adapter that failed, in a file that travels with the tests if one lets it.

    `apart`: whether the file holds a run that could not be done to its end this time; it is kept beside a newer one."""

    def __init__(self, adapter: type[Adapter]) -> None:
        self.adapter = adapter
        module, name = adapter.__module__.rpartition(".")[2], adapter.__qualname__.replace("<locals>.", "")
        self.path = kept_in(adapter) / f"{module}.{name}.json"
        self.apart = False

    def keep(self, failure: Disagreement) -> None:
        """Writes a run down, in place of the one before; one that could not be done to its end is kept beside it, as
        `NAME.before.json`. Where that cannot be done, a note of the failure says why."""
        run = {"hacheck.run": 1, "steps": [[one.method, dict(one.arguments)] for one in failure.steps]}
        try:
            content = json.dumps(run)
            _make_folder(self.path.parent)
            if self.apart:
                os.replace(self.path, self.path.with_suffix(".before.json"))
            replace_text(self.path, content + "\n")
            self.apart = False
        except (OSError, TypeError, ValueError) as error:
            failure.add_note(f"The run could not be written down as {self.path}: {error}")

    def replay(self) -> None:
        """Does the run again that was written down, as far as the model allows it: the system has changed. One that is
        done to its end and does not fail is forgotten; one that cannot be done to its end stays, with a warning.

        Errors: `Disagreement`, `BadModel`, whatever the system raises; `BadRun` for a file that is none."""
        __tracebackhide__ = True
        try:
            text = self.path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, UnicodeDecodeError) as error:
            raise BadRun(f"{self.path}: cannot be read: {error}") from None
        steps = steps_from(text, str(self.path))
        model_for(self.adapter)  # what is wrong with it has nothing to do with the run
        try:
            _, left = _done(self.adapter, steps)
        except (BadRun, Undecided) as error:
            left = str(error)
        except Exception as error:
            error.add_note(f"It is the run that failed the last time: {self.path}")
            if isinstance(error, Disagreement):
                raise error.with_traceback(None) from None
            raise
        if left:
            self.apart = True
            kept = f"the run that failed the last time is kept, and could not be done to its end: {left}"
            warn(f"{kept}. If it is of no use any more, delete {self.path}", stacklevel=2)
            return
        with suppress(OSError):
            self.path.unlink()


def steps_from(text: str, where: str) -> list[Step]:
    """The steps of a run from its text. Errors: `BadRun`."""
    try:
        content = json.loads(text)
        if content["hacheck.run"] != 1:
            raise BadRun(f"{where}: written by a later hacheck; delete it, or update")
        return [Step(str(method), tuple(dict(arguments).items())) for method, arguments in content["steps"]]
    except (ValueError, TypeError, KeyError):
        raise BadRun(f"{where}: not a run that was written down; delete it") from None
