"""The engines a user can choose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.cli.guard import BadInput
from hacheck.cli.options import ENGINES, all_known, parse_count, parse_folders, parse_seconds
from hacheck.supervise.resources import usable_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hacheck.checker.engine import Engine
    from hacheck.checker.recheck_result import Recheck
    from hacheck.model.ir import System
    from hacheck.model.language import Specification


class Exploring(Struct, frozen=True):
    """How to explore. `threads`: `None` for one on each core. `checkpoint`: the folder to keep what was explored in;
    `resume`: to go on from what is kept there. `given`: look for no lemmas besides those of the spec.
    `recheck_seconds`: for how long a second interpreter computes states again. `exhaustive`: every state is explored,
    also where every property is decided before."""

    engine: str = "native"
    threads: int | None = None
    fingerprint: bool = False
    reductions: bool = True
    checkpoint: Path | None = None
    resume: bool = False
    given: bool = False
    recheck_seconds: float | None = None
    exhaustive: bool = False


def parse_exploring(
    engine: str,
    threads: str | None,
    fingerprint: bool,
    no_reductions: bool,
    checkpoint: str | None,
    resume: str | None,
    given: bool = False,
    recheck: str | None = None,
    exhaustive: bool = False,
) -> Exploring:
    """How to explore, from the words of a command line. Errors: `BadInput`."""
    return Exploring(
        engine=engine,
        threads=None if threads is None else parse_count("--threads", threads),
        fingerprint=fingerprint,
        reductions=not no_reductions,
        checkpoint=parse_folders(checkpoint, resume),
        resume=resume is not None,
        given=given,
        recheck_seconds=None if recheck is None else parse_seconds(recheck, "--recheck"),
        exhaustive=exhaustive,
    )


UNCOUNTED = {
    "bmc": "bmc looks at runs, and counts no states",
    "induction": "induction explores no states",
}
"""Engines that have no limit on states, and why."""


def refuse_ignored(exploring: Exploring, states_max: int | None) -> None:
    """Errors: `BadInput` when there is no engine of that name, or it has no such limit or option as the user gave: none
    is ignored without a word."""
    engine = exploring.engine
    all_known("engine", (engine,), ENGINES)
    if exploring.given and engine != "induction":
        raise BadInput("--given is for induction, which looks for lemmas", "leave it out, or say --engine induction")
    if states_max is not None and engine in UNCOUNTED:
        greatest = "how many steps, --depth N" if engine == "bmc" else "the greatest k, --depth N"
        raise BadInput(
            f"--states is not for {engine}: {UNCOUNTED[engine]}",
            f"say {greatest}, or how long and with how much memory, --time and --memory",
        )
    if exploring.recheck_seconds is not None:
        refuse_no_states(exploring)
    if exploring.exhaustive and engine not in ("native", "python"):
        raise BadInput(f"--exhaustive is not for {engine}, which does not explore every state", "leave --engine out")
    wanted = {
        "--threads": exploring.threads is not None,
        "--fingerprint": exploring.fingerprint,
        "--resume" if exploring.resume else "--checkpoint": exploring.checkpoint is not None,
    }
    given = [name for name, is_wanted in wanted.items() if is_wanted]
    if not given:
        return
    if engine != "native":
        raise BadInput(f"{given[0]} is for the native engine", "leave --engine out")
    from hacheck.compile.machine import compiler

    missing = compiler.is_available().reason
    if missing:
        raise BadInput(f"{given[0]} is for the native engine, which is not there: {missing}", f"leave {given[0]} out")


def refuse_no_states(exploring: Exploring) -> None:
    """Errors: `BadInput` when states are to be computed again after a search that does not keep them."""
    if exploring.engine not in ("native", "python"):
        raise BadInput(f"--recheck is not for {exploring.engine}, which keeps no states", "leave --engine out")
    if exploring.fingerprint:
        raise BadInput("--recheck looks states up, and --fingerprint keeps none", "leave one of the two out")


def refuse_no_exploration(exploring: Exploring) -> None:
    """Errors: `BadInput` when limits are to be raised by an engine that does not explore every state, and so never
    says that something holds within them."""
    if exploring.engine not in ("native", "python"):
        hint = "leave --engine out: the native engine explores every state"
        raise BadInput(f"--raise-bounds is not for {exploring.engine}, which does not explore every state", hint)


def recheck_for(
    exploring: Exploring, specification: Specification, settings: Mapping[str, str], check: str
) -> Recheck | None:
    """How states of a check are computed again by a second interpreter, if the user wants a recheck."""
    if exploring.recheck_seconds is None:
        return None
    from hacheck.checker.recheck.state_sample import Sampling

    return Sampling(specification, settings, check, exploring.recheck_seconds)


def engine_for(exploring: Exploring, recheck: Recheck | None = None) -> Engine:
    """The engine for these options, which has all of them (`refuse_ignored`). `recheck`: what is done with the states
    found. Errors: `BadInput` if there is none."""
    all_known("engine", (exploring.engine,), ENGINES)
    if exploring.engine == "native":
        from hacheck.checker.explicit.native_engine import NativeEngine

        return NativeEngine(
            threads=exploring.threads or usable_cores(),
            fingerprint=exploring.fingerprint,
            stop_early=not exploring.exhaustive,
            reductions=exploring.reductions,
            checkpoint=exploring.checkpoint,
            resume=exploring.resume,
            recheck=recheck,
        )
    if exploring.engine in ("bmc", "induction"):
        z3_is_there()
    if exploring.engine == "bmc":
        from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine

        return BoundedEngine(reductions=exploring.reductions)
    if exploring.engine == "induction":
        from hacheck.checker.symbolic.k_induction import InductionEngine

        return InductionEngine(finding=not exploring.given, reductions=exploring.reductions)
    if exploring.engine == "simulation":
        from hacheck.checker.explicit.portable.random_walks import SimulationEngine

        return SimulationEngine()
    from hacheck.checker.explicit.portable.portable_engine import PortableEngine

    return PortableEngine(stop_early=not exploring.exhaustive, recheck=recheck)


def z3_is_there() -> None:
    """Errors: `BadInput` where Z3 is not installed, so that a command which needs it ends before it has begun."""
    from hacheck.checker.engine import Refused
    from hacheck.checker.symbolic.z3_library import z3_module

    try:
        z3_module()
    except Refused as refused:
        raise BadInput(str(refused)) from None


def generated_code(system: System) -> str:
    """The Python code with which the portable engine explores a system, as it runs for all its properties."""
    from hacheck.checker.explicit.portable.condition_functions import wanted_by
    from hacheck.checker.explicit.portable.python_program import bounds_of, expansion_source
    from hacheck.checker.explicit.property_conditions import pose
    from hacheck.compile.lowering.system import lower
    from hacheck.model.interpreter import Interpreter

    lowered = lower(system, Interpreter(system).initial_states())
    return expansion_source(lowered, wanted_by(pose(lowered, ())), bounds_of(lowered))


def machine_code(system: System) -> str:
    """The LLVM IR with which the native engine explores a system, as it runs for all its properties."""
    from hacheck.checker.explicit.native_program import printed

    return printed(system)
