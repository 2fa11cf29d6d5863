"""The view of a run is what its published schema says, in what commands write and around each run of a report.

After a change of `hacheck.documents.view`: `pytest tests/views/test_view_schema.py --update-golden`, then read the
difference. A key that went, or that has another type, needs a new format.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

from hacheck.documents.catalogue import view_schema_text
from hacheck.documents.view import Effect, RunView, view_of
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.running import Plan, run
from hacheck.testing.code_runs.code_view import CodeRun, code_view
from tests.cli.command import hacheck
from tests.simulation.toys import COUNTERS
from tests.views.test_run_view import SPECS, found_in

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "view-1.json"

TAKES_OVER = Path(__file__).parents[1] / "golden" / "specs" / "takes_over.ha"

GALLERY = """system Gallery "everything that can happen in a step"
node Server[2] ranked { state mode: { idle, busy } = idle  peer: Server? = none }
ghost acknowledged: set of 1..2 = {} acknowledged to clients
message note(n: 1..2) from Server to Server
message news(n: 1..2) from Server to Server latest
operation ask(m: 1..2) from Server to Server returns bool atomic when true
lock File held by Server
serve ask(m) at s from p do
  s.peer := p
  answer m == 1
action work(s: Server) do
  choose m: 1..2
  send note(m) to other(s)
  send news(m) to other(s)
  call ask(m) at other(s) as said
  if said == true then acknowledged := acknowledged with m
action take(s: Server) when s.mode == idle do acquire File then s.mode := busy
action stop(s: Server) when s.mode == busy do halt
on note(n) at s from p do s.peer := p
on news(n) at s from p do s.mode := idle
on lost File at s do s.mode := idle
faults { crash Server up to 2, wipe Server up to 1, pause Server up to 1, cut Server - Server up to 1
  lose note up to 1, lose File up to 1 }
invariant few "nothing is acknowledged": size(acknowledged) < 1
check default expect few violated
"""


def test_published_schema_is_that_of_the_data_classes(update_golden: bool) -> None:
    if update_golden:
        SCHEMA.write_text(view_schema_text(), encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == view_schema_text()
    Draft202012Validator.check_schema(json.loads(view_schema_text()))


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Views of runs with all kinds of effects, those of reports with what is around them."""
    made = list(_shown(tmp_path_factory.mktemp("views")))
    for spec in SPECS:
        for maker, found, asked in found_in(spec):
            view = maker.view(found, asked)
            made.append(view.to_json() | {"graph": view.neighbourhood(6, time.monotonic() + 5)})
    history, plan = History(standing=True), Plan(faults="locks", fault_us=1_000_000)
    run(COUNTERS, plan, history)
    members = COUNTERS.members(plan.replicas, plan.clients, COUNTERS.options({}))
    made.append(code_view(CodeRun(members, history.entries, until_us=300_000)))
    return [json.loads(json.dumps(one)) for one in made]


def _shown(folder: Path) -> Iterator[Any]:
    """What `show --format json` writes of a counterexample and of random runs."""
    spec, found = folder / "gallery.ha", folder / "found.json"
    spec.write_text(GALLERY, encoding="utf-8")
    commands = [
        ("verify", str(spec)),
        *(("simulate", str(spec), "--seed", str(seed), "--steps", "40") for seed in range(5)),
    ]
    blamed = ("verify", str(TAKES_OVER))
    for command in (*commands, blamed):
        ended = hacheck(*command, "--json", str(found))
        assert ended.code in (0, 1), ended.err
        shown = hacheck("show", str(found), "--format", "json", *(("--blame",) if command is blamed else ()))
        assert shown.code == 0, shown.err
        yield json.loads(shown.out)


def test_views_are_what_the_schema_says_and_it_names_every_key(views: list[Any]) -> None:
    strict = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for part in strict["$defs"].values():
        part["additionalProperties"] = False
    for view in views:
        assert [error.message for error in Draft202012Validator(strict).iter_errors(view)] == []


def test_views_can_be_read_into_the_data_classes(views: list[Any]) -> None:
    for view in views:
        assert json.loads(msgspec.json.encode(view_of(view))) == view


def test_the_runs_have_every_kind_of_effect(views: list[Any]) -> None:
    """Else a part of the schema would be compared with nothing."""
    seen = {effect["t"] for view in views for step in view["steps"] for effect in step["effects"]}
    assert seen >= {str(kind.__struct_config__.tag) for kind in get_args(Effect)}
    assert any(view["property"] and view["loop"] is not None for view in views)
    assert any(view["beliefs"] for view in views)
    assert any(view.get("blame", {}).get("trials") and "good_run" in view for view in views)


def test_wrong_content_is_refused(views: list[Any]) -> None:
    wrong = dict(views[0])
    del wrong["steps"]
    with pytest.raises(msgspec.ValidationError, match="steps"):
        msgspec.convert(wrong, type=RunView)
