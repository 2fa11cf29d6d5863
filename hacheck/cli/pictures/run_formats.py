"""A run in the formats of other tools: sequence diagrams, a log for ShiViz, a drawing, ITF, and the view itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from hacheck.checker.blame.blamed import Blamed
from hacheck.checker.pictures.lanes import CLIENTS
from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views, places_of
from hacheck.cli.page.report_data import blame_of
from hacheck.cli.pictures.run_svg import svg
from hacheck.model.ir import Property, System
from hacheck.model.itf import run_to_itf
from hacheck.model.language import Specification
from hacheck.model.runs import Run

WORLD = "environment"
"""Where a step is drawn that happens on no node."""


def in_format(
    form: str,
    specification: Specification,
    system: System,
    run: Run,
    about: Property | None,
    check: str | None,
    blamed: Blamed | None = None,
) -> str:
    """The run as text of a format: svg, mermaid, plantuml, shiviz, itf or json. `blamed`: what it needs, for json."""
    if form == "itf":
        return json.dumps(run_to_itf(system, run), indent=1) + "\n"
    view = Views(system, places_of(system, specification.place_of)).view(run, about).to_json()
    if form == "json":
        name = PurePath(specification.path.replace("\\", "/")).name
        about_run = {"spec": name, "check": check, "settings": dict(system.settings)}
        added = {} if blamed is None else blame_of(blamed, view["story"])
        return json.dumps({**view, **added, **about_run}, ensure_ascii=False) + "\n"
    return drawing(form, view)


def drawing(form: str, view: Any) -> str:
    """A view as text of a drawing's format: svg, mermaid, plantuml, shiviz."""
    reader = ViewReader(view)
    writers: dict[str, Callable[[ViewReader], str]] = {
        "mermaid": mermaid, "plantuml": plantuml, "shiviz": shiviz, "svg": svg,
    }  # fmt: skip
    return writers[form](reader)


# ---- sequence diagrams ----


def mermaid(reader: ViewReader) -> str:
    """A sequence diagram as Mermaid draws it."""
    lines = ["sequenceDiagram"]
    lines += [f"    participant {alias} as {_plain(name)}" for name, alias in _aliases(reader).items()]
    aliases = _aliases(reader)
    for step, caption, arrows in _steps(reader):
        if reader.loop is not None and step == reader.loop + 1:
            lines.append("    loop for ever")
        actor = aliases[reader.actor(step) or WORLD]
        lines.append(f"    Note over {actor}: {step} {_plain(caption)}")
        for start, end, name, call, arrived in arrows:
            arrow = ("->>" if call else "-)") if arrived else "-x"
            lines.append(f"    {aliases[start]}{arrow}{aliases[end]}: {_plain(name)}")
    if reader.loop is not None and reader.last > reader.loop:
        lines.append("    end")
    return "\n".join(lines) + "\n"


def plantuml(reader: ViewReader) -> str:
    """A sequence diagram as PlantUML draws it."""
    aliases = _aliases(reader)
    lines = ["@startuml"]
    lines += [f'participant "{_plain(name)}" as {alias}' for name, alias in aliases.items()]
    for step, caption, arrows in _steps(reader):
        if reader.loop is not None and step == reader.loop + 1:
            lines.append("loop for ever")
        colour = " #FFDDDD" if reader.is_fault(step) else ""
        lines.append(f"rnote over {aliases[reader.actor(step) or WORLD]}{colour} : {step} {_plain(caption)}")
        for start, end, name, call, arrived in arrows:
            arrow = ("->" if call else "->>") if arrived else "->x"
            lines.append(f"{aliases[start]} {arrow} {aliases[end]} : {_plain(name)}")
    if reader.loop is not None and reader.last > reader.loop:
        lines.append("end")
    return "\n".join([*lines, "@enduml"]) + "\n"


def _aliases(reader: ViewReader) -> dict[str, str]:
    """A word for each participant; the environment is one where a step happens on no node, clients where something is
    acknowledged to them."""
    names = list(reader.nodes)
    if reader.acknowledges:
        names.append(CLIENTS)
    if any(not reader.actor(step) for step in range(1, reader.last + 1)):
        names.append(WORLD)
    return {name: re.sub(r"\W", "_", name) for name in names}


Arrow = tuple[str, str, str, bool, bool]
"""From, to, name, whether it is a call, whether it arrived."""


def _steps(reader: ViewReader) -> Iterator[tuple[int, str, list[Arrow]]]:
    """Each step with its caption and what goes from node to node in it."""
    captions = StepCaptions(reader, short=False)
    for step in range(1, reader.last + 1):
        head, body = captions.caption(step)
        arrows: list[Arrow] = [
            (one["from"], one["to"], one["name"], False, one["t"] == "take")
            for one in reader.effects(step, "take", "lost", "cleared")
            if one["from"] != one["to"]
        ]
        arrows += [
            (one["from"], one["to"], one["op"], True, one["outcome"] == "answered")
            for one in reader.effects(step, "call")
        ]
        arrows += [
            (reader.actor(step), CLIENTS, f"{one['what']} {one['item']}", False, True)
            for one in reader.effects(step, "acknowledged")
            if reader.actor(step)
        ]
        yield step, f"{head}: {body}" if head and body else head + body, arrows


def _plain(words: str) -> str:
    """Text in which these languages see no marks of their own."""
    return re.sub(r"[;#\"\n<>]", " ", words).replace("  ", " ").strip()


# ---- ShiViz ----

SHIVIZ = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
"""The expression with which ShiViz reads such a log."""


def shiviz(reader: ViewReader) -> str:
    """A log with vector clocks, as ShiViz reads it: after its expression, two lines for each step."""
    clocks: dict[str, dict[str, int]] = {}
    sent: dict[tuple[str, str, str, int], dict[str, int]] = {}
    lines = [SHIVIZ, ""]
    for step, caption, arrows in _steps(reader):
        actor = (reader.actor(step) or WORLD).replace(" ", "_")
        clock = clocks.setdefault(actor, {})
        for one in reader.effects(step, "take"):
            _merge(clock, sent.get((one["from"], one["to"], one["name"], one.get("sent", 0)), {}))
        for _, end, _, call, arrived in arrows:
            if call and arrived:  # a call that is answered in one step happens after what its callee did before
                _merge(clock, clocks.get(end.replace(" ", "_"), {}))
        clock[actor] = clock.get(actor, 0) + 1
        for one in reader.effects(step, "send"):
            sent[one["from"], one["to"], one["name"], step] = dict(clock)
        lines += [f"{step} {_plain(caption)}", f"{actor} {json.dumps(clock)}"]
        for number, (start, end, name, call, arrived) in enumerate(arrows):
            if call and arrived and start.replace(" ", "_") == actor and end != start:
                callee = end.replace(" ", "_")
                served = clocks.setdefault(callee, {})
                _merge(served, clock)
                served[callee] = served.get(callee, 0) + 1
                lines += [f"{step}.{number + 1} serves {name}", f"{callee} {json.dumps(served)}"]
    return "\n".join(lines) + "\n"


def _merge(clock: dict[str, int], other: dict[str, int]) -> None:
    for name, count in other.items():
        clock[name] = max(clock.get(name, 0), count)
