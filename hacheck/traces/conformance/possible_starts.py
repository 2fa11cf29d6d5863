"""Where a trace may begin whose first records are missing: in any state that the system reaches."""

from __future__ import annotations

import numpy as np

from hacheck.compile import from_words
from hacheck.model.ir import System
from hacheck.model.observing.line_writers import lines_of, without_lines
from hacheck.model.observing.record_conditions import observed
from hacheck.model.runs import State
from hacheck.traces.conformance.follower import Memory
from hacheck.traces.conformance.trace_compiler import compiled


def reachable(system: System, most: int) -> tuple[tuple[State, ...], bool]:
    """The states that a system reaches, of which it is looked for so many at most, and whether these are all. A state
    behind a bound of the system is not among them, and then they are not all."""
    silent = without_lines(system, {line.event for action in system.actions for line in lines_of(action)})
    made = compiled(observed(silent), whole=True)
    memory = Memory(made, most)
    window = np.zeros((1, made.shape.places, made.record.words), np.uint64)
    complete = all(found is not None for found in memory.close(memory.starts, window))
    states = tuple(made.state(from_words(row)) for row in memory.closed().tolist())
    return states, complete and memory.limited() == 0
