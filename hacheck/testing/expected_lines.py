"""What the model would have allowed where code leaves it, in sentences: for stories of tests and of schedules."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.testing.driven_system import DONE
from hacheck.traces.conformance.diagnosis import Diagnosis


def instead(found: Diagnosis | None) -> Iterator[str]:
    """The lines that the model would have allowed, and what would mend the run; nothing where that is undecided."""
    if found is None:
        return
    if found.begun:
        yield "Here the model would have shown:"
        yield from (f"  {line}" for line in found.expected)
    could = found.sooner if found.begun else found.expected
    if could:
        yield "Before the last step it could have shown:" if found.begun else "The model could have shown next:"
        yield from (f"  {line}" for line in could)
    elif not found.begun:
        yield "The model could have written no further line by itself."
    yield from _impossible(found)
    yield from _mended(found)


def _impossible(found: Diagnosis) -> Iterator[str]:
    """Which action would have written what was shown, and what is false for it; nothing of what a test did."""
    reason = found.impossible
    if reason is None or reason.event.startswith(DONE):
        return
    yield f"`{reason.event}` would have been written by {reason.transition}; in the nearest state of the model:"
    yield from (f"  {one}" for one in reason.failing)


def _mended(found: Diagnosis) -> Iterator[str]:
    """What would mend it. Where a step had begun to be shown, that is not at the last line but at the step's first."""
    what, does, action = found.text.partition(f"`{DONE}")
    if found.repair == "missing line" and does:
        yield f"It would pass if the test had done `{action}."
    elif found.repair == "wrong field" and does:
        yield f"It would pass if the test had done `{action} with another {what.removesuffix(' of ')}."
    elif found.repair and not found.begun:
        yield f"The smallest change that the model accepts: {found.repair}: {found.text}."
