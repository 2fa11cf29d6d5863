"""The engines a user can choose, and how much memory and how many threads one takes by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hacheck.cli.guard import BadInput
from hacheck.cli.options import ENGINES, all_known, parse_count, parse_folders
from hacheck.model.data import dataclass

if TYPE_CHECKING:
    from hacheck.checker.engine import Engine
    from hacheck.model.ir import System


@dataclass(frozen=True, slots=True)
class Exploring:
    """How to explore. `threads`: `None` for one on each core. `checkpoint`: the folder to keep what was explored in;
    `resume`: to go on from what is kept there."""

    engine: str = "native"
    threads: int | None = None
    fingerprint: bool = False
    reductions: bool = True
    checkpoint: Path | None = None
    resume: bool = False


def parse_exploring(
    engine: str, threads: str | None, fingerprint: bool, no_reductions: bool, checkpoint: str | None, resume: str | None
) -> Exploring:
    """How to explore, from the words of a command line. Errors: `BadInput`."""
    return Exploring(
        engine=engine,
        threads=None if threads is None else parse_count("--threads", threads),
        fingerprint=fingerprint,
        reductions=not no_reductions,
        checkpoint=parse_folders(checkpoint, resume),
        resume=resume is not None,
    )


def engine_for(exploring: Exploring) -> Engine:
    """The engine that explores so. Errors: `BadInput` when there is none of that name, or it cannot do what is
    asked."""
    all_known("engine", (exploring.engine,), ENGINES)
    if exploring.engine == "native":
        from hacheck.checker.explicit.native.engine import NativeEngine

        return NativeEngine(
            threads=exploring.threads or usable_cores(),
            fingerprint=exploring.fingerprint,
            reductions=exploring.reductions,
            checkpoint=exploring.checkpoint,
            resume=exploring.resume,
        )
    asked = {
        "--threads": exploring.threads is not None,
        "--fingerprint": exploring.fingerprint,
        "--checkpoint": exploring.checkpoint is not None,
    }
    for name, is_asked in asked.items():
        if is_asked:
            raise BadInput(f"{name} is for the native engine", "leave --engine out")
    if exploring.engine == "simulation":
        from hacheck.checker.explicit.portable.simulation import SimulationEngine

        return SimulationEngine()
    from hacheck.checker.explicit.portable.engine import PortableEngine

    return PortableEngine()


def usable_cores() -> int:
    """How many cores this process may keep busy: those it may run on, fewer where its group has less time."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # no such limit
        pass
    return max(cores, 1)


def generated_code(system: System) -> str:
    """The Python code with which the portable engine explores a system, as it runs for all its properties."""
    from hacheck.checker.explicit.portable.finders import wanted_by
    from hacheck.checker.explicit.portable.program import bounds_of, expansion_source
    from hacheck.checker.explicit.questions import pose
    from hacheck.model.lowering.system import lower
    from hacheck.model.semantics import Interpreter

    lowered = lower(system, Interpreter(system).initial_states())
    return expansion_source(lowered, wanted_by(pose(lowered, ())), bounds_of(lowered))


def machine_code(system: System) -> str:
    """The LLVM IR with which the native engine explores a system, as it runs for all its properties."""
    from hacheck.checker.explicit.native.building import printed

    return printed(system)


def memory_default() -> int | None:
    """Three quarters of the memory this process may use, or `None` where that cannot be found out."""
    found = []
    try:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        pass
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found) * 3 // 4 if found else None
