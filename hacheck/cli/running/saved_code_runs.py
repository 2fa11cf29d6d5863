"""A saved run of code, shown by `hacheck show`: as a picture, in another format, or on a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.cli.console import output_console
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.page.html_page import html_page
from hacheck.cli.pictures.run_formats import drawing
from hacheck.cli.pictures.run_picture import RunPicture
from hacheck.cli.running.simulation import replayed

Json: TypeAlias = Any


def show_code_run(file: str, content: Json, form: str | None, out: str | None, *, no_color: bool) -> ExitCode:
    """Runs it again, and draws it, or writes it in a format for other tools. Errors: `BadInput`."""
    if form == "itf":
        raise BadInput(f"{file}: is a run of code, and ITF has states of a model", "use --format json, or a drawing")
    target = open_target(out or "-") if form is not None else None
    view = _view(file, content)
    if form is None or target is None:
        output_console(no_color=no_color).print(RunPicture(ViewReader(view)))
        for one in view["story"]:
            if one["rule"] == "broken promise":
                output_console(no_color=no_color).print(f"\n{one['text']}", style="bad", markup=False)
        return ExitCode.AS_EXPECTED
    target.save(json.dumps(view, ensure_ascii=False) + "\n" if form == "json" else drawing(form, view))
    return ExitCode.AS_EXPECTED


def report_code_run(file: str, content: Json, report: str) -> ExitCode:
    """Runs it again, and writes a page to step through it. Errors: `BadInput`."""
    target = open_target(report)
    view = _view(file, content)
    target.save(code_page(view["spec"], "a run of the reference implementation", {"run": view}))
    return ExitCode.AS_EXPECTED


def code_page(code: str, description: str, views: Mapping[str, Json]) -> str:
    """A page to step through runs of code, by their names."""
    frame: dict[str, Json] = {
        "hacheck": version(),
        "system": code,
        "description": description,
        "spec": code,
        "checks": [],
        "not_run": [],
        "texts": {},
        "diagrams": {},
        "conform": None,
    }
    keys = {name: [part.replace("/", "_") for part in (code, view["check"], name)] for name, view in views.items()}
    return html_page(frame, [("/".join(keys[name]), view | {"name": name}) for name, view in views.items()])


def _view(file: str, content: Json) -> Json:
    found = replayed(file, msgspec.json.encode(content))
    seed, settings = found.plan.seed, dict(found.plan.settings)
    return found.view | {"spec": found.system, "check": f"seed {seed}", "settings": settings}
