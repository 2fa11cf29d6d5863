"""Runs that are reconstructed while a search goes on, so that an interrupted search has them.

The run to what was met on a level needs the levels before it only. It is found as soon as the level is complete, when
there are the fewest states to look at: that costs what it would cost at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from msgspec import Struct, field

from hacheck.checker.explicit.property_conditions import NO_VALUE
from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.search_result import SPEC_ERROR, StatePath
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled


class EarlyRuns(Struct):
    """The runs known so far. `wanted`: the properties that a run decides; `exact`: what is found is a run;
    `phase`: what reconstructing counts as."""

    search: Search
    system: System
    wanted: tuple[Property, ...]
    exact: bool = True
    phase: Callable[[], AbstractContextManager[None]] = nullcontext
    known: dict[str, StatePath] = field(default_factory=dict)

    def take(self) -> None:
        """Reconstructs the runs to what was met since it was last called. To be called when a level is complete."""
        search = self.search
        if search.forgets:
            return
        names = [one.name for one in self.wanted]
        keys = [*names, *(NO_VALUE + name for name in names), SPEC_ERROR]
        new = [key for key in keys if key in search.tally.met_at and key not in self.known]
        if not new:
            return
        log, phase = Log(search, self.system), search.bounds.phase
        try:
            with self.phase(), suppress(Cancelled):  # the search sees for itself that it is to stop
                for key in new:
                    self.known[key] = log.path_to(log.closest(key))
        finally:
            log.release()
            search.bounds.phase = phase
        if self.exact:
            search.bounds.violated = tuple(
                (one.name, len(self.known[one.name].states) - 1 + (one.kind == "step"))
                for one in self.wanted
                if one.kind != "reachable" and one.name in self.known
            )
