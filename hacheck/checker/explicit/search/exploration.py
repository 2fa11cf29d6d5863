"""A whole search by compiled code, kept on disk if that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.checkpoint import Keeper, Keeping
from hacheck.checker.explicit.search.early_runs import EarlyRuns
from hacheck.checker.explicit.search.state_log import Log
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled


def explore(
    search: Search,
    system: System,
    initial: Sequence[int],
    goal: frozenset[str] | None = None,
    keeping: Keeping | None = None,
    wanted: tuple[Property, ...] = (),
    *,
    exact: bool = True,
) -> Log:
    """Explores until nothing is new, a limit is met, the report says no, or everything of the goal was met; what it
    leaves, which is to be closed. `initial`: packed states. `wanted`: the properties whose runs are reconstructed as
    soon as they are met; `exact`: what is found is a run. A search by fingerprints that is not kept on disk gives back
    its states once they are expanded. Errors: `CheckpointError`, and then nothing is left."""
    search.forgets = search.kernels.fingerprint and keeping is None
    keeper = None
    try:
        keeper = _keeper(search, keeping)
        if search.stopped is None and not (keeper is not None and keeper.resumes):
            search.begin(initial)
        early = EarlyRuns(search, system, wanted, exact)
        if keeper is None:
            search.run(goal, at_level=early.take)
            log = Log(search, system)
            log.traced = early.known
            return log
        search.run(goal, keeper.at_rest, early.take)
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


def _keeper(search: Search, keeping: Keeping | None) -> Keeper | None:
    if keeping is None:
        return None
    exact = "fingerprints" if search.kernels.fingerprint else "exact"
    try:
        return Keeper(replace(keeping, identity=f"{keeping.identity}, {exact}"), search)
    except Cancelled as given_up:
        search.stopped = given_up.reason
        return None
