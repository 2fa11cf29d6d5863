"""Another way on from a step of a run: `14~2.0` goes on from step 14 by the third possible step, then by the first.

Steps are counted as the page counts them: those that change something, in the interpreter's order.
"""

from __future__ import annotations

import re

from hacheck.checker.run_view.views import Views
from hacheck.model.runs import Run
from hacheck.wording import plural

PATH = re.compile(r"(?P<step>\d{1,9})(?:~(?P<taken>\d{1,9}(?:\.\d{1,9})*))?")


class BadPath(Exception):
    """There is no such path: what is wrong, and what there is."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def along(views: Views, run: Run, path: str) -> Run:
    """The run up to the step at which a path begins, and on by it. Errors: `BadPath`. Cost: the possible steps of each
    state on the way are worked out."""
    found = PATH.fullmatch(path)
    if found is None:
        raise BadPath(f"{path}: no path", "a step, and the possible steps taken from there: 14, or 14~2.0")
    start = int(found["step"])
    if start > len(run.steps):
        raise BadPath(f"{path}: there is no step {start}", f"the run has {plural(len(run.steps), 'step')}")
    steps = list(run.steps[:start])
    for place, index in enumerate(map(int, (found["taken"] or "").split(".") if found["taken"] else ())):
        possible = views.successors(steps[-1].state if steps else run.initial)
        if index >= len(possible):
            where = f"after step {start}" if place == 0 else f"after {place} more"
            names = ", ".join(
                f"{number} {views.system.actions[one.action].name}" for number, one in enumerate(possible)
            )
            raise BadPath(f"{path}: there is no step {index} {where}", f"possible are {names}" if names else "none is")
        steps.append(possible[index])
    return Run(run.initial, tuple(steps))
