"""Every counterexample of every shipped spec as a picture: no line is too long, and no name of the model that is none
of the spec reaches a reader. By night all of them; in every run those of the cheapest spec."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.checker.pictures.glyphs import ASCII, UNICODE
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.run_view.view_reader import Json, ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.checking.saved_runs import saved_run
from hacheck.cli.sources import load_specification
from hacheck.model.counters.value_distances import unbounded
from hacheck.model.ir import System
from hacheck.model.run_json import run_from_json
from tests.cli.command import hacheck
from tests.nightly import by_night

NUMBERED = re.compile(r"\b[A-Za-z]\w*_\d+\b|\w\$\d")
"""How the model tells locals of one name apart."""

WIDTHS = (80, 200)


@pytest.mark.parametrize("name", by_night(shipped.names(), lambda name: name == "fiorano_shared"))
def test_pictures_of_its_counterexamples_fit_and_speak_as_the_spec_does(name: str, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    hacheck("verify", name, "--quiet", "--json", str(found))
    count = 0
    for system, view in counterexamples(name, json.loads(found.read_text(encoding="utf-8"))):
        count += 1
        reader = ViewReader(view)
        for width in WIDTHS:
            for glyphs in (ASCII, UNICODE):
                lines = [line.plain for line in picture_lines(reader, width, glyphs)]
                assert [line for line in lines if len(line) > width] == []
        assert inner_names(system, view, load_specification(name).text) == []
    assert count, "there are counterexamples"


def counterexamples(name: str, document: Json) -> Iterator[tuple[System, Json]]:
    """The views of all runs that violate a property."""
    specification = load_specification(name)
    known = specification.known_handlers()
    for check in document["checks"]:
        system = specification.instantiate(check["settings"], known=known).system
        assert system is not None
        system = unbounded(system)
        views = Views(system, {})
        for found in check["properties"]:
            if found["verdict"] == "violated" and found["run"] is not None:
                saved = saved_run(document, check, check["name"], found["name"], found)
                asked = next(one for one in system.properties if one.name == found["name"])
                yield system, views.view(run_from_json(system, saved.run), asked).to_json()


def inner_names(system: System, view: Json, text: str) -> list[str]:
    """What a reader of the view is shown that is a name of the model and none of the spec."""
    shown = [one["text"] for one in view["story"]]
    shown += [str(part) for step in view["steps"] for part in step["caption"]]
    inner = [one.name for one in system.variables if one.role in ("channel", "frame", "status", "budget", "lock")]
    found = [name for line in shown for name in inner if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", line)]
    found += [word for line in shown for word in NUMBERED.findall(line)]
    return [word for word in dict.fromkeys(found) if word not in text]
