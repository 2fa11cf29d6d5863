"""hacheck: one text of a high-availability protocol, to verify, draw, test against and compare with logs.

What programs use is here, loaded on first use (docs/api.md): `import hacheck` itself imports nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hacheck.api.conformance import Conformance, conform
    from hacheck.api.errors import InputError
    from hacheck.api.proof import ProofResult, prove
    from hacheck.api.run import Counterexample, Run, SimulatedRun, Witness
    from hacheck.api.simulation import simulate
    from hacheck.api.specification import Spec, SpecError, load, loads
    from hacheck.api.verification import CheckVerdicts, Verdict, Verification, verify
    from hacheck.checker.engine import Limits, Progress

__version__ = "0.1.0"

__all__ = [
    "CheckVerdicts",
    "Conformance",
    "Counterexample",
    "InputError",
    "Limits",
    "Progress",
    "ProofResult",
    "Run",
    "SimulatedRun",
    "Spec",
    "SpecError",
    "Verdict",
    "Verification",
    "Witness",
    "conform",
    "load",
    "loads",
    "prove",
    "simulate",
    "verify",
]

_MODULES = {
    "hacheck.api.conformance": ("Conformance", "conform"),
    "hacheck.api.errors": ("InputError",),
    "hacheck.api.proof": ("ProofResult", "prove"),
    "hacheck.api.run": ("Counterexample", "Run", "SimulatedRun", "Witness"),
    "hacheck.api.simulation": ("simulate",),
    "hacheck.api.specification": ("Spec", "SpecError", "load", "loads"),
    "hacheck.api.verification": ("CheckVerdicts", "Verdict", "Verification", "verify"),
    "hacheck.checker.engine": ("Limits", "Progress"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'hacheck' has no attribute {name!r}")
    found: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
