"""A whole search by compiled code, kept on disk if the caller wants a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.checkpoint import Keeper, Keeping
from hacheck.checker.explicit.search.early_runs import EarlyRuns
from hacheck.checker.explicit.search.state_log import Log
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled

LARGE_SECONDS = 15.0
"""From this time on a search counts as large: what makes it so is looked for once."""


def explore(
    search: Search,
    system: System,
    initial: Sequence[int],
    goal: frozenset[str] | None = None,
    keeping: Keeping | None = None,
    wanted: tuple[Property, ...] = (),
    *,
    exact: bool = True,
    measure: Callable[[Search], None] = lambda search: None,
    reconstructing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Log:
    """Explores until nothing is new, a limit is met, the report says no, or everything of the goal was met; what it
    leaves, which is to be closed. `initial`: packed states. `wanted`: the properties whose runs are reconstructed as
    soon as they are met, each inside `reconstructing`; `exact`: what is found is a run; `measure`: called once when the
    search has taken `LARGE_SECONDS`. A search by fingerprints that is not kept on disk gives back its states once they
    are expanded. Errors: `CheckpointError`, and then nothing is left."""
    search.forgets = search.kernels.fingerprint and keeping is None
    keeper = None
    try:
        keeper = _keeper(search, keeping)
        if search.stopped is None and not (keeper is not None and keeper.resumes):
            search.begin(initial)
        early = EarlyRuns(search, system, wanted, exact, reconstructing)
        rest = _Rest(search, measure, None if keeper is None else keeper.at_rest)
        if keeper is None:
            search.run(goal, rest.take, early.take)
            log = Log(search, system)
            log.traced = early.known
            return log
        search.run(goal, rest.take, early.take)
        log = Log(search, system)
        log.traced = early.known
        keeper.finish()
        log.trouble = keeper.trouble
        return log
    except BaseException:
        if keeper is not None:
            keeper.abandon()
        search.free()
        raise


class _Rest(Struct):
    """What is done between slices. `keeping`: what keeps the search on disk."""

    search: Search
    measure: Callable[[Search], None]
    keeping: Callable[[], None] | None
    is_measured: bool = False

    def take(self) -> None:
        """To be called when no thread works and no successor waits."""
        if not self.is_measured and self.search.bounds.seconds() >= LARGE_SECONDS:
            self.is_measured = True
            self.measure(self.search)
        if self.keeping is not None:
            self.keeping()


def _keeper(search: Search, keeping: Keeping | None) -> Keeper | None:
    if keeping is None:
        return None
    exact = "fingerprints" if search.kernels.fingerprint else "exact"
    try:
        return Keeper(replace(keeping, identity=f"{keeping.identity}, {exact}"), search)
    except Cancelled as given_up:
        search.stopped = given_up.reason
        return None
