"""The engines a user can choose, and how much memory one may take by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hacheck.cli.options import all_known

if TYPE_CHECKING:
    from hacheck.checker.engine import Engine
    from hacheck.model.ir import System

NAMES = ("python", "simulation")


def engine_named(name: str) -> Engine:
    """The engine of that name. Errors: `BadInput` when there is none."""
    all_known("engine", (name,), NAMES)
    if name == "simulation":
        from hacheck.checker.explicit.portable.simulation import SimulationEngine

        return SimulationEngine()
    from hacheck.checker.explicit.portable.engine import PortableEngine

    return PortableEngine()


def generated_code(system: System) -> str:
    """The Python code with which the portable engine explores a system, as it runs for all its properties."""
    from hacheck.checker.explicit.portable.finders import wanted_by
    from hacheck.checker.explicit.portable.program import bounds_of, expansion_source
    from hacheck.checker.explicit.questions import pose
    from hacheck.model.lowering.system import lower
    from hacheck.model.semantics import Interpreter

    lowered = lower(system, Interpreter(system).initial_states())
    return expansion_source(lowered, wanted_by(pose(lowered, ())), bounds_of(lowered))


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
