"""The folder of a sweep: what each task has found, so that the same command again goes on where it was.

`tasks.jsonl` has a line for each task that is done, written at once. A line counts where the spec and the check mean
the same, to the same hacheck, and more time, states or memory could not find more. One that was cut off counts for
nothing.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from hacheck.checker.engine import Limits
from hacheck.checker.sweep.sweep_plan import Task
from hacheck.checker.sweep.sweep_task import TaskResult
from hacheck.checker.verify import Question
from hacheck.cli.checking.kept_trials import sources_digest
from hacheck.cli.guard import BadInput
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import digest

TASKS = "tasks.jsonl"


class KeptLine(Struct, frozen=True):
    """A task that is done. `system`: the name of the spec; `meaning`: a digest of what the spec, the check and hacheck
    were; `explore_all`: whether nothing was to follow from other tasks."""

    system: str
    meaning: str
    task: Task
    explore_all: bool
    limits: Limits
    result: TaskResult

    def suffices(self, limits: Limits, *, explore_all: bool) -> bool:
        """Whether running the task again would find nothing else."""
        if explore_all and any(one.follows_from is not None for one in self.result.properties):
            return False
        return self.result.is_decided or bool(self.result.error) or self.limits == limits


class KeptTasks:
    """The tasks of a sweep that are kept in a folder; `done`: those that count, as they were found.

    Errors: `BadInput` where the folder cannot be read, or is that of another spec.
    """

    def __init__(
        self,
        folder: Path,
        specification: Specification,
        questions: tuple[Question, ...],
        limits: Limits,
        *,
        explore_all: bool,
    ) -> None:
        self._path = folder / TASKS
        self._system, self._limits, self._explore_all = specification.name, limits, explore_all
        spec = f"{digest(specification)} {sources_digest()}"
        self._meanings = {one.name: _digest(f"{spec} {_meaning(one)}") for one in questions}
        self.done: dict[Task, TaskResult] = {}
        self._read()

    def _read(self) -> None:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadInput(f"{self._path}: cannot be read: {error.strerror}") from None
        others: set[str] = set()
        for line in lines:
            try:
                kept = msgspec.json.decode(line, type=KeptLine)
            except msgspec.MsgspecError:  # cut off, or of an older hacheck
                continue
            others |= {kept.system} - {self._system}
            same = kept.meaning == self._meanings.get(kept.task.check)
            if same and kept.suffices(self._limits, explore_all=self._explore_all):
                self.done[kept.task] = kept.result
        if others:
            raise BadInput(
                f"{self._path.parent} holds a sweep of {sorted(others)[0]}", "give another folder: --out DIR"
            )

    def add(self, task: Task, result: TaskResult) -> None:
        """Keeps what a task has found. Errors: `OSError`."""
        self.done[task] = result
        kept = KeptLine(self._system, self._meanings[task.check], task, self._explore_all, self._limits, result)
        line = msgspec.json.encode(kept) + b"\n"
        with self._path.open("ab") as file:
            if file.tell() and not _ends_a_line(self._path):
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _meaning(question: Question) -> str:
    return repr((question.name, sorted(question.settings), question.only, question.expect_violated))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
