"""A run in a document: as a list of rows, or as one object."""

from __future__ import annotations

from typing import Any

import msgspec

from hacheck.documents.document import Json
from hacheck.documents.run import Run as RunObject
from hacheck.documents.run import RunRow
from hacheck.model.ir import System
from hacheck.model.run_json import run_to_json
from hacheck.model.runs import Run


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
