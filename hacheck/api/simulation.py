"""`simulate`: a random run of a protocol."""

from __future__ import annotations

import os

from hacheck.api.errors import InputError
from hacheck.api.run import SimulatedRun
from hacheck.api.specification import Settings, Spec, load
from hacheck.checker.explicit.portable.random_walks import simulate as random_run
from hacheck.model.interpreter import EvaluationError, replay
from hacheck.model.ir import System
from hacheck.model.runs import Run


def simulate(
    spec: str | os.PathLike[str] | Spec,
    *,
    check: str | None = None,
    settings: Settings | None = None,
    seed: int = 0,
    steps: int = 30,
) -> SimulatedRun:
    """A run of at most `steps` steps, each chosen among the possible ones with equal chance; shorter where no step is
    possible any more, or the next one is an error of the spec (`Run.error`). The same for the same seed.

    Errors: `InputError` where the system cannot begin; `SpecError` for errors of the spec's text.
    """
    loaded = load(spec)
    system, _ = loaded.system(check, settings)
    return SimulatedRun(system, drawn_run(system, seed, steps), loaded, seed)


def drawn_run(system: System, seed: int, steps: int) -> Run:
    """A random run of a system, which replays. Errors: `InputError` where the system cannot begin."""
    try:
        run = random_run(system, seed, steps)
    except EvaluationError as error:
        raise InputError(f"{system.name} cannot begin: {error.message}") from None
    if run is None:
        raise InputError(f"{system.name} has no initial state under these settings")
    problem = replay(system, run)
    assert problem is None, f"the simulated run (seed {seed}) does not replay: {problem}"
    return run
