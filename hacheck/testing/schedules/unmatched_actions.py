"""Which actions of a model nothing that its code did leads to: over all schedules that were explored."""

from __future__ import annotations

import time

import numpy as np

from hacheck.testing.state_tracker import Tracker
from hacheck.traces.conformance.interleavings import taken_by

SECONDS = 20.0
"""After so many of this process's CPU it is not known."""


def unshown_actions(tracker: Tracker, seconds: float = SECONDS) -> list[str] | None:
    """The actions, by name and without those that are faults, that were possible at no moment of any log that was
    followed: those without a line in no state that explains what was shown so far, those with lines nowhere where the
    code wrote them. `None`: it takes longer than this to know."""
    actions, compiled, memory = tracker.system.actions, tracker.compiled, tracker.memory
    missing = {index for index, action in enumerate(actions) if action.kind != "fault"}
    until = time.process_time() + seconds
    instances = compiled.program.instances
    for rows, window, count in tracker.followed():
        if not missing:
            break
        if time.process_time() > until:
            return None
        for _ in memory.close(rows, window):
            pass
        for _, numbers, after in memory.steps(memory.closed(), window):
            real = taken_by(compiled, after)[:, 0] <= count
            missing -= {instances[number][0] for number in np.unique(numbers[real]).tolist()}
    return sorted(
        {actions[index].name for index in missing} - {a.name for i, a in enumerate(actions) if i not in missing}
    )
