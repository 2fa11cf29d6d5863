"""The document of `simulate`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hacheck import __version__
from hacheck.api.run_rows import run_rows
from hacheck.documents.run import SimulateDocument

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.model.runs import Run


def simulate_document(specification: Specification, spec: str, system: System, seed: int, run: Run) -> SimulateDocument:
    """A random run. `spec`: as the user named it."""
    return SimulateDocument(
        hacheck=__version__,
        spec=spec,
        path=os.path.abspath(specification.path),
        system=system.name,
        settings=dict(system.settings),
        seed=seed,
        run=run_rows(system, run),
        loop=None,
    )
