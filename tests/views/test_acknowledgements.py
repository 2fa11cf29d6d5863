"""`acknowledged to clients`: a run says what clients were promised and where, and the mark changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.checker.explicit.portable.random_walks import simulate
from hacheck.checker.pictures.glyphs import ASCII
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.run_view.acknowledgements import acknowledged
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.pictures.run_formats import mermaid, plantuml, shiviz
from hacheck.cli.pictures.run_svg import svg
from hacheck.cli.sources import load_specification
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.language.tree_walk import parts
from hacheck.shipped import specs

MARK = " acknowledged to clients"

SPEC = f"""system Acks "x"
node Server[2] ranked {{ has: set of 1..2 = {{}} heard: 0..2? = none{MARK} "of a node" }}
node Client {{ unsent: set of 1..2 = {{ m: 1..2 }} }}
ghost items: set of 1..2 = {{}}{MARK} "each element"
ghost held: map Server to set of 1..2 = (each s: Server -> {{}}){MARK}
ghost flags: map Server to bool = (each s: Server -> false){MARK}
ghost row: sequence of 1..2 up to 4 = []{MARK}
ghost newest: 0..2 = 0{MARK}
ghost ever: bool = false{MARK}
define sent: set of 1..2 = {{ m: 1..2 where m not in Client.unsent }}{MARK}
operation store(m: 1..2) from Client to Server returns bool
  atomic when true
serve store(m) at s from c do
  s.has := s.has with m
  s.heard := m
  answer true
action send_it(c: Client) do
  choose m in c.unsent
  choose s: Server
  call store(m) at s as done
  require done == true
  c.unsent := c.unsent without m
  items := items with m
  held[s] := held[s] with m
  flags[s] := true
  row := [m]
  newest := m
  ever := true
faults {{ wipe Server up to 1 }}
invariant kept "what is acknowledged is kept": every m in items satisfies some s: Server where m in s.has
"""


def system_of(text: str) -> System:
    """The system of a spec without mistakes."""
    specification = load(text, "acks.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    return system


@pytest.fixture(scope="module")
def readers() -> list[ViewReader]:
    """Views of random runs."""
    system = system_of(SPEC)
    made = []
    for seed in range(12):
        run = simulate(system, seed, 8)
        assert run is not None
        made.append(ViewReader(Views(system, {}).view(run, system.properties[0]).to_json()))
    return made


def test_mark_changes_nothing_but_what_is_said_of_runs() -> None:
    marked, plain = system_of(SPEC), system_of(SPEC.replace(MARK, ""))
    assert [one.name for one in marked.promises] == [
        "heard", "items", "held", "flags", "row", "newest", "ever", "sent",
    ]  # fmt: skip
    assert plain.promises == ()
    columns = [replace(one, line=0) for one in marked.actions]
    assert columns == [replace(one, line=0) for one in plain.actions]
    assert (marked.variables, marked.initial) == (plain.variables, plain.initial)
    assert [one.goal for one in marked.properties] == [one.goal for one in plain.properties]


def test_each_kind_of_value_says_what_came_to_it() -> None:
    system = system_of(SPEC)
    run = simulate(system, 1, 3)
    assert run is not None
    before = run.initial
    for step in run.steps:
        said = list(acknowledged(system, before, step.state))
        if said:
            break
        before = step.state
    item = dict(said)["items"]
    server = next(words for name, words in said if name == "flags")
    assert said == [
        ("heard", f"{item} of {server}"), ("items", item), ("held", f"{item} of {server}"), ("flags", server),
        ("row", item), ("newest", item), ("ever", "yes"), ("sent", item),
    ]  # fmt: skip
    assert list(acknowledged(system, step.state, before)) == [], "what is taken back is not acknowledged"


def test_items_of_a_run_are_those_of_its_last_state(readers: list[ViewReader]) -> None:
    seen = 0
    for reader in readers:
        items = {
            one["item"]
            for step in range(1, reader.last + 1)
            for one in reader.effects(step, "acknowledged")
            if one["what"] == "items"
        }
        assert reader.value(reader.last, "", "items") == f"{{{', '.join(sorted(items))}}}"
        seen += len(items)
    assert seen > len(readers)


def test_pictures_have_a_lane_of_the_clients_and_captions_say_what(readers: list[ViewReader]) -> None:
    for reader in readers:
        lines = [line.plain for line in picture_lines(reader, 200, ASCII)]
        assert ("clients" in lines[0]) == reader.acknowledges
        captions = StepCaptions(reader, short=False)
        for step in range(1, reader.last + 1):
            items = [one["item"] for one in reader.effects(step, "acknowledged") if one["what"] == "items"]
            assert all(f"items to clients: {item}" in captions.caption(step)[1] for item in items)
        assert ("clients" in svg(reader)) == reader.acknowledges
        for form in (mermaid, plantuml):
            assert ("participant clients" in form(reader) or '"clients"' in form(reader)) == reader.acknowledges
        assert "items to clients" in shiviz(reader) or not reader.acknowledges


def test_story_says_what_was_promised_where_the_property_reads_it(readers: list[ViewReader]) -> None:
    for reader in readers:
        promised = [one for one in reader.view["story"] if one["rule"] == "promise"]
        steps = [step for step in range(1, reader.last + 1) if reader.effects(step, "acknowledged")]
        assert bool(promised) == bool(steps)
        assert {step for one in promised for step in one["steps"]} <= set(steps)


def test_mark_of_a_definition_with_parameters_is_refused() -> None:
    text = 'system X "x"\nnode S { has: set of 1..2 = {} }\n'
    text += f"define kept(m: 1..2): bool = some s: S where m in s.has{MARK}\naction go(s: S) do s.has := {{1}}\n"
    found = load(text, "x.ha")
    assert [one.code for one in found.diagnostics] == ["HA118"]


@pytest.mark.parametrize("path", specs(), ids=lambda path: path.stem)
def test_every_shipped_spec_says_what_clients_are_promised(path: Path) -> None:
    marked = [
        one
        for one in parts(load_specification(str(path), examined=False).declarations)
        if getattr(one, "promised", False)
    ]
    assert marked, f"{path.name} marks nothing as `acknowledged to clients`"
