"""In what the states differ that explain a trace, where there are too many of them: what no line decides."""

from __future__ import annotations

from hacheck.checker.multipliers import SAMPLE, multipliers, multiplying
from hacheck.model.observing.record_layout import PREFIX
from hacheck.traces.conformance.follower import Memory

REMEDY = "a `log` line that shows it, or fewer values (an age that stops at its limit for a clock), keeps them few"


def too_many(memory: Memory, what: str) -> str:
    """That more states explain `what` than there is room for, and in what those differ that were there last."""
    said = f"more than {memory.capacity:,} states of the model explain {what} up to here"
    rows = memory.closed()
    program = memory.compiled.program
    states = [int.from_bytes(row.tobytes(), "little") for row in rows[:: max(len(rows) // SAMPLE, 1)]]
    found = multipliers(memory.compiled.shape.system, program.layout, states)
    hidden = multiplying([one for one in found if not one.variable.startswith(PREFIX)])
    return f"{said}, and differ in what no line decides: {hidden}; {REMEDY}" if hidden else said
