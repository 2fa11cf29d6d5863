"""What clients read, compared with what they were acknowledged before: all that is known of data where logs show no
database."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.traces.data.client_calls import Call, Calls
from hacheck.traces.data.contradictions import GONE, KEPT, Contradiction, listed


def contradicted_reads(calls: Calls, noun: str, skew_ns: int) -> Iterator[Contradiction]:
    """Of each read: what had been added and is missing, what had been removed and is there. A name whose last change is
    under way, or of unknown outcome, may be either."""
    for read in calls.reads:
        names = read.names or frozenset()
        missing = _last_acknowledged(calls.adds, calls.removes, read, skew_ns)
        lost = {name: call for name, call in missing.items() if name not in names}
        if lost:
            first = min(lost.values(), key=lambda call: call.ended)
            text = f"a client read {read.node} without the acknowledged {listed(noun, lost)}"
            yield Contradiction(KEPT, text, read.place, first.place, read.node)
        removed = _last_acknowledged(calls.removes, calls.adds, read, skew_ns)
        back = {name: call for name, call in removed.items() if name in names}
        if back:
            first = min(back.values(), key=lambda call: call.ended)
            text = f"a client read {listed(noun, back)} at {read.node}, removed before"
            yield Contradiction(GONE, text, read.place, first.place, read.node)


def _last_acknowledged(
    changes: dict[str, list[Call]], opposite: dict[str, list[Call]], read: Call, skew_ns: int
) -> dict[str, Call]:
    """The last change of each name that its client knew to be done when the read began, and that no call of the
    opposite kind may have undone since."""
    found: dict[str, Call] = {}
    for name, held in changes.items():
        done = [call for call in held if call.done and call.ended + skew_ns < read.called]
        last = max(done, key=lambda call: call.ended, default=None)
        if last is None:
            continue
        others = opposite.get(name, ())
        if not any(other.ended >= last.called and other.called <= read.ended + skew_ns for other in others):
            found[name] = last
    return found
