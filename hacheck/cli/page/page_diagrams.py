"""The state diagrams on the page: the changes of mode that some run makes, as far as they are found quickly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from hacheck.api.diagram_document import state_diagram
from hacheck.checker.state_diagram import diagrams, explore, mode_fields
from hacheck.cli.page.report_data import ShownRun
from hacheck.model.evaluation import EvaluationError
from hacheck.model.ir import System
from hacheck.supervise.resources import usable_cores

Json: TypeAlias = Any

SECONDS = 4.0
"""So long at most it is explored for the diagrams of a page; checks left over show the changes of their runs only."""

STATES_MAX = 1_000_000


def diagrams_of(shown: Sequence[ShownRun]) -> dict[str, Json]:
    """The diagrams of each check that has a run, by its name. Cost: at most about `SECONDS`."""
    until = time.monotonic() + SECONDS
    systems: dict[str, System] = {}
    for one in shown:
        systems.setdefault(one.check, one.system)
    found: dict[str, Json] = {}
    for check, system in systems.items():
        fields = mode_fields(system)
        left = until - time.monotonic()
        if not fields or left <= 0:
            continue
        try:
            sightings = explore(system, fields, STATES_MAX, left, lambda *_: True, usable_cores())
        except EvaluationError:  # then the spec has an error, and the page says where
            continue
        drawn = diagrams(system, fields, sightings)
        found[check] = [msgspec.to_builtins(state_diagram(one, unseen=False)) for one in drawn]
    return found
