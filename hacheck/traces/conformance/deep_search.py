"""Looks for one explanation of a trace, the furthest runs first.

The search by cuts keeps all states that explain a part of the trace, and gives up where these are too many. One run
that explains everything is enough to say that a trace conforms, as long as nothing else is to be said of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hacheck.traces.conformance.interleavings import Cut, CutSearch, InterleavingSearch, Streams, distinct

EXPANDED_MAX = 5_000_000
"""After so many states it is given up."""

STATES_AT_ONCE = 64
"""So many states of the furthest cut are expanded before the furthest cut is chosen anew, at most."""

HIDDEN = 8
"""For so many states that hidden steps lead to from each there is room."""


def found_deeply(
    search: InterleavingSearch,
    streams: Streams,
    report: Callable[[], bool] = lambda: True,
    expanded_max: int = EXPANDED_MAX,
) -> bool | None:
    """Whether a run was found that explains all records. If not, there may be one all the same. `None` if `report` says
    not to go on."""
    cuts, memory = CutSearch(search, streams, report), search.memory
    cuts.put((0,) * len(streams.words), memory.starts if search.starts is None else search.starts)
    known: dict[Cut, set[bytes]] = {}
    until = memory.expanded + expanded_max
    at_once = max(min(STATES_AT_ONCE, memory.capacity // HIDDEN), 1)
    while cuts.pending:
        cut = max(cuts.pending, key=lambda one: (sum(one), one))
        if cut == streams.lengths:
            return True
        done = known.setdefault(cut, set())
        states = distinct(np.concatenate(cuts.pending.pop(cut)))
        states = states[[one.tobytes() not in done for one in states]]
        if len(states) > at_once:
            cuts.pending[cut] = [states[at_once:]]
            states = states[:at_once]
        if not len(states):
            continue
        done.update(one.tobytes() for one in states)
        for emitted in memory.close(states, search.window(streams, cut)):
            if emitted is None:  # hidden steps lead to too many
                break
            cuts.sort(cut, emitted)
            if not report():
                return None
            if memory.expanded > until:
                return False
    return False
