"""The engines, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from hacheck.api.errors import require_known
from hacheck.supervise.resources import usable_cores

if TYPE_CHECKING:
    from hacheck.checker.engine import Engine

EngineName: TypeAlias = Literal["native", "python", "simulation", "bmc", "induction"]


def engine_named(name: str, threads: int | None, *, exhaustive: bool = False) -> Engine:
    """The engine of a name. `threads`: how many explore, by default one on each core; for `native` only.
    `exhaustive`: `native` and `python` explore every state, also where every property is decided before.

    Errors: `InputError` for a name that there is not.
    """
    require_known("engine", (name,), get_args(EngineName))
    if name == "native":
        from hacheck.checker.explicit.native_engine import NativeEngine

        return NativeEngine(threads=threads or usable_cores(), stop_early=not exhaustive)
    if name == "bmc":
        from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine

        return BoundedEngine()
    if name == "induction":
        from hacheck.checker.symbolic.k_induction import InductionEngine

        return InductionEngine()
    if name == "simulation":
        from hacheck.checker.explicit.portable.random_walks import SimulationEngine

        return SimulationEngine()
    from hacheck.checker.explicit.portable.portable_engine import PortableEngine

    return PortableEngine(stop_early=not exhaustive)
