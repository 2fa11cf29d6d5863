"""What a report is made of: verdicts as in the JSON of `verify`, the view of each run, and the text of the spec."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.checker.blame.blamed import Blamed
from hacheck.checker.run_view.views import View, Views, places_of
from hacheck.cli.sources import read_library
from hacheck.model.ir import Property, System
from hacheck.model.language import Specification
from hacheck.model.runs import Run

Json: TypeAlias = Any

AROUND_SECONDS = 6.0
"""So long at most it is explored around all runs of a report."""

AROUND_BYTES = 2_000_000
"""So much at most is written of what is around all runs of a report."""

AROUND_STATES = 200
"""So many states at most have their steps in the report, around one run."""

STEP_BYTES = 420
"""What a step takes in a report, about."""


class ShownRun(Struct, frozen=True):
    """A run to be shown: of which check, about which property, and what came out. `urgent`: not as expected."""

    check: str
    name: str
    system: System
    run: Run
    prop: Property | None
    verdict: str = ""
    outcome: str = ""
    scope: str = ""
    urgent: bool = False
    blamed: Blamed | None = None


def spec_name(specification: Specification) -> str:
    """What the spec is called on the page: the name of its file, without folders."""
    return PurePath(specification.path.replace("\\", "/")).name


def key_of(specification: Specification, check: str, name: str) -> str:
    """The key of a run in links: `icestorm.ha/default/acknowledged_survives`."""
    return "/".join(part.replace("/", "_") for part in (spec_name(specification), check, name))


def good_run_name(name: str) -> str:
    """What the nearest good run of a property's counterexample is called in links."""
    return f"{name}, nearest good run"


def frame(specification: Specification, hacheck: str) -> dict[str, Json]:
    """The report without verdicts, runs and logs."""
    return {
        "hacheck": hacheck,
        "system": specification.name,
        "description": specification.description,
        "spec": spec_name(specification),
        "checks": [],
        "not_run": [],
        "texts": texts_of(specification),
        "diagrams": {},
        "conform": None,
    }


def verdicts_of(document: Json) -> dict[str, Json]:
    """What the JSON of `verify` says of checks and properties, without the runs."""
    checks = []
    for check in document["checks"]:
        properties = [
            {name: found.get(name) for name in PROPERTY_PARTS if name in found} for found in check["properties"]
        ]
        fault = check.get("fault")
        checks.append(
            {name: check[name] for name in CHECK_PARTS if name in check}
            | {"properties": properties}
            | {"fault": fault and {"message": fault["message"], "place": PurePath(fault["place"]).name}}
        )
    return {"checks": checks, "not_run": list(document["not_run"])}


CHECK_PARTS = (
    "name", "description", "outcome", "settings", "faults", "assumptions", "engine", "states", "transitions", "depth",
    "seconds", "complete", "stopped", "notes", "bounds", "reductions", "never_happened",
)  # fmt: skip

PROPERTY_PARTS = (
    "name", "kind", "description", "source", "verdict", "scope", "expected_verdict", "outcome", "never_exercised",
)  # fmt: skip


def texts_of(specification: Specification) -> dict[str, list[str]]:
    """The lines of the spec and of the libraries that it uses, by the names of their files."""
    found = {spec_name(specification): specification.text.split("\n")}
    for declaration in specification.declarations:
        path = declaration.span.path
        name = PurePath(path.replace("\\", "/")).name
        if path != specification.path and name not in found and (text := read_library(path)) is not None:
            found[name] = text.split("\n")
    return found


def changed_settings(system: System, specification: Specification) -> dict[str, str]:
    """The settings of a system that are not at their defaults."""
    defaults = {parameter.name: parameter.default for parameter in specification.parameters}
    return {name: value for name, value in system.settings if defaults.get(name) != value}


class ViewMaker:
    """Makes the views of a report's runs; systems of one check share what is made once."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self._views: dict[int, tuple[System, Views]] = {}

    def views(self, system: System) -> Views:
        """What makes views of runs of a system."""
        if id(system) not in self._views:
            self._views[id(system)] = (system, Views(system, places_of(system, self.specification.place_of)))
        return self._views[id(system)][1]

    def view(self, shown: ShownRun) -> tuple[View, Json]:
        """The view of a run, and as data."""
        view = self.views(shown.system).view(shown.run, shown.prop)
        made = view.to_json() | {"spec": spec_name(self.specification), "check": shown.check}
        made["settings"] = changed_settings(shown.system, self.specification)
        if shown.blamed is not None:
            made |= blame_of(shown.blamed, made["story"])
            if made["good_run"] is not None:
                made["good_run"]["key"] = key_of(self.specification, shown.check, good_run_name(shown.name))
        if shown.prop is not None and shown.name != shown.prop.name:
            made["name"] = shown.name
        if made["property"] is not None:
            made["property"] |= {"verdict": shown.verdict, "outcome": shown.outcome, "scope": shown.scope}
        return view, made


def blame_of(blamed: Blamed, story: Sequence[Json]) -> dict[str, Json]:
    """The parts of a view that blame adds: what was tried, the nearest good run, and a sentence of the story."""
    sentence = {"rule": "blame", "text": blamed.sentence(), "steps": []}
    return {**blamed.to_json(), "story": [*story, sentence] if sentence["text"] else list(story)}


def views_of(specification: Specification, shown: Sequence[ShownRun]) -> list[tuple[str, Json]]:
    """The views of some runs by their keys, with the steps possible around each, those of unexpected runs first, as far
    as time and size allow."""
    maker = ViewMaker(specification)
    made = [(key_of(specification, one.check, one.name), *maker.view(one)) for one in shown]
    until, room = time.monotonic() + AROUND_SECONDS, AROUND_BYTES
    order: Iterable[int] = sorted(range(len(shown)), key=lambda number: (not shown[number].urgent, number))
    for number in order:
        _, view, content = made[number]
        states = AROUND_STATES if shown[number].urgent or number == 0 else len(shown[number].run.states)
        if room < len(shown[number].run.states) * STEP_BYTES * 4 or time.monotonic() >= until:
            continue
        content["graph"] = view.neighbourhood(states, until)
        room -= sum(len(edges) for edges in content["graph"]["edges"].values()) * STEP_BYTES
    return [(key, content) for key, _, content in made]
