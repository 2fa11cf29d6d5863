"""Liveness on what a search left: its states, its visited set, and functions of its own for their successors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.checker.explicit.liveness.liveness_verdicts import Searched, check_liveness
from hacheck.checker.explicit.liveness.working_memory import EXPORTED, KERNELS, Kernels, StateSpace
from hacheck.checker.explicit.native_program import Builder
from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.search_result import LivenessVerdict
from hacheck.compile.kernels.compiled_kernels import compiled_kernels
from hacheck.compile.machine.compiler import link
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.ir import Property
from hacheck.supervise.task import Cancelled

PHASE = "checking liveness"


def liveness_verdicts(
    builder: Builder, search: Search, log: Log, properties: Sequence[Property]
) -> Sequence[LivenessVerdict]:
    """What there is to say about each property. Errors: `Cancelled`."""
    if not log.size:
        return [None for _ in properties]  # no run begins
    bounds, built = search.bounds, builder.for_liveness(log.size)

    def kernels(constants: Mapping[str, int]) -> Kernels:
        return builder.watch.supervised("compiling", lambda: _kernels(constants, builder.cache))

    def poll() -> None:
        bounds.poll(PHASE)
        reason = bounds.reason(0, search.taken)
        if reason is not None:
            raise Cancelled(reason)

    space = StateSpace(
        words=log.words,
        log=log.address,
        spans=log.spans,
        levels=log.levels,
        shared=log.shared,
        expand=built.expand,
        canonical=search.functions.canonical,
        new_notes=built.program.notes.new,
        successors_max=built.program.successors_max,
    )
    searched = Searched(
        builder.system,
        built.program.instances,
        space,
        built.marks,
        kernels,
        log.path_to,
        search.options.threads,
        bounds.bytes_free(search.taken),
        bounds.out_of_memory(search.taken),
    )
    return check_liveness(searched, properties, poll)


def _kernels(constants: Mapping[str, int], cache: ObjectCache) -> Kernels:
    linked = link([compiled_kernels(KERNELS, constants, EXPORTED, cache)])
    return {name: linked.function(name, arguments) for name, arguments in EXPORTED.items()}
