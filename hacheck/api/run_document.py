"""A run in a document, as a list of rows or as one object; and the document of `simulate`, which is one run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from hacheck import __version__
from hacheck.documents.document import Json
from hacheck.documents.run import Run as RunObject
from hacheck.documents.run import RunRow, SimulateDocument
from hacheck.model.ir import System
from hacheck.model.run_json import run_to_json
from hacheck.model.runs import Run

if TYPE_CHECKING:
    from hacheck.model.language import Specification


def run_object(system: System, run: Run) -> RunObject:
    """The run as one object."""
    return msgspec.convert(run_to_json(system, run), type=RunObject)


def run_rows(system: System, run: Run) -> list[RunRow]:
    """The run as one list: the initial state, the steps, and the step that failed if there is one."""
    encoded: dict[str, Any] = run_to_json(system, run)
    found: list[Json] = [{"state": encoded["initial"]}, *encoded["steps"]]
    if encoded["fault"] is not None:
        found.append({"failed": encoded["fault"]})
    return msgspec.convert(found, type=list[RunRow])


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
