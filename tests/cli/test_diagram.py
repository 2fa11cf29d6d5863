"""State diagrams: the edges the text allows, what a walk saw of them, and how they are drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from hacheck.checker.diagram_edges import DOWN, possible_edges
from hacheck.checker.state_diagram import Diagram, diagrams, explore, mode_fields, walk
from hacheck.cli.console import THEME
from hacheck.cli.diagrams.markup import dot, mermaid
from hacheck.cli.diagrams.svg import svg
from hacheck.cli.diagrams.terminal_diagram import text_diagram
from hacheck.cli.diagrams.view import ANY, SEVERAL, View, view_of
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.cli.pair import PAIR

GATED = """
system Gated "A door that opens for a key, and never for anything else."
param keys = 0 in 0..1
node Door[2] {
  state at : { shut, ajar, open, gone } = shut
  tried : bool = false
}
action push(d: Door) "somebody pushes" when d.at == shut and keys > 0 and not d.tried do d.at := ajar
action swing(d: Door) when d.at == ajar do
  if d.tried then d.at := open else d.at := shut
action lift(d: Door) when d.at == open do d.at := gone
action knock(d: Door) when d.at == shut do d.tried := true
invariant closed : no d: Door where d.at == open
"""


def system_of(text: str, **settings: str) -> System:
    """The system that a text means."""
    loaded = load(text, "gated.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate(settings).system
    assert system is not None
    return system


def diagram_of(system: System, *, static: bool = False, states: int = 10_000, seconds: float = 20.0) -> Diagram:
    """The diagram of the system's only mode."""
    fields = mode_fields(system)
    sightings = None if static else walk(system, fields, states, seconds, lambda *_: True)
    return diagrams(system, fields, sightings)[0]


def edges(diagram: Diagram, seen: bool | None) -> set[tuple[str, str, str]]:
    """The edges that were seen, or not."""
    return {(item.source, item.target, item.action) for item in diagram.transitions if item.seen is seen}


def test_a_complete_walk_tells_which_edges_are_taken() -> None:
    diagram = diagram_of(system_of(GATED, keys="1"))
    assert edges(diagram, True) == {("shut", "ajar", "push"), ("ajar", "shut", "swing")}
    assert edges(diagram, False) == {("ajar", "open", "swing"), ("open", "gone", "lift")}
    assert diagram.unseen == ("open", "gone")
    assert diagram.initial == ("shut",)
    assert diagram.walk is not None
    assert diagram.walk.complete


def test_a_walk_that_was_cut_short_calls_nothing_unreachable() -> None:
    diagram = diagram_of(PAIR, states=3, seconds=0.2)
    assert diagram.walk is not None
    assert not diagram.walk.complete
    assert view_of(diagram).absent == "not seen"
    assert "not all of them" in view_of(diagram).footing


def test_without_a_walk_edges_come_from_the_text() -> None:
    diagram = diagram_of(system_of(GATED, keys="1"), static=True)
    assert edges(diagram, None) == {
        ("shut", "ajar", "push"),
        ("ajar", "shut", "swing"),
        ("ajar", "open", "swing"),
        ("open", "gone", "lift"),
    }


def test_a_crash_leads_down_and_a_restart_back_up() -> None:
    diagram = diagram_of(PAIR)
    assert (DOWN, "dead", "restart") in edges(diagram, True)
    assert ("active", DOWN, "crash") in edges(diagram, True)


@pytest.mark.parametrize("system", [PAIR, system_of(GATED, keys="1")], ids=["pair", "gated"])
def test_the_text_allows_every_edge_that_a_walk_takes(system: System) -> None:
    fields = mode_fields(system)
    sightings = walk(system, fields, 10_000, 20.0, lambda *_: True)
    for field, seen in zip(fields, sightings.edges, strict=True):
        up = f"{field.owner}.up" if field.up_place is not None else None
        assert seen <= possible_edges(system, field.variable, up)


def test_a_guard_is_shown_without_what_the_edge_says_already() -> None:
    taking = next(item for item in diagram_of(PAIR).transitions if item.action == "take_over")
    assert taking.guard == "LockFile.holder == none"
    pushing = next(item for item in diagram_of(system_of(GATED, keys="1")).transitions if item.action == "push")
    assert pushing.guard == "not d.tried"


def test_what_happens_in_every_state_is_told_once() -> None:
    view = view_of(diagram_of(PAIR))
    assert [(arrow.source, arrow.target) for arrow in view.arrows if arrow.target == DOWN] == [(ANY, DOWN)]


def drawn(view: View, columns: int = 80, encoding: str = "utf-8") -> str:
    """The diagram as text on a console."""

    class Stream(StringIO):
        pass

    Stream.encoding = encoding  # type: ignore[assignment]
    out = Stream()
    console = Console(file=out, width=columns, theme=THEME, highlight=False)
    console.print(text_diagram(console, view))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_as_text_each_state_has_a_box_and_beneath_it_its_ways_out() -> None:
    text = drawn(view_of(diagram_of(system_of(GATED, keys="1"))))
    assert " ╭──────╮\n │ shut │  starts here\n ╰┬─────╯\n  ╰─▶ ajar   push   when not d.tried\n" in text
    assert " │ open │  unreachable\n" in text
    assert "  ├─▶ shut   swing  when d.tried == false\n  ╰╌▷ open   swing  unreachable  when d.tried == true\n" in text


def test_as_text_it_fits_the_width_and_needs_no_unicode() -> None:
    view = view_of(diagram_of(PAIR))
    assert all(len(line) <= 40 for line in drawn(view, 40).splitlines())
    assert drawn(view, encoding="ascii").isascii()


def test_mermaid_names_every_state_and_edge_without_signs_that_end_a_label() -> None:
    view = view_of(diagram_of(PAIR))
    text = mermaid([view])
    assert text.startswith("stateDiagram-v2\n")
    assert "take_over [LockFile.holder == none]" in text
    for line in text.splitlines():
        if " : " in line:
            assert not set(line.split(" : ", 1)[1]) & set(':;<>#"{}%')


def test_dot_quotes_what_it_says() -> None:
    text = dot([view_of(diagram_of(PAIR))])
    assert '"0:passive" -> "0:activating" [label="take_over [LockFile.holder == none]"' in text
    assert text.count("{") == text.count("}")


def test_svg_is_well_formed_and_shows_every_state_and_action() -> None:
    view = view_of(diagram_of(PAIR))
    tree = ElementTree.fromstring(svg([view, view]))
    texts = [list(element.itertext())[-1] for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    for state in view.states:
        assert texts.count(state) == 2
    for arrow in view.arrows:
        for label in arrow.labels:
            assert label.action in texts


BUSY = """
system Busy "A node with many states."
node N {
  state at: { a, b, c, d, e, f } = a
}
action on_to_b(n: N) when n.at == a do n.at := b
action on_to_c(n: N) when n.at == b do n.at := c
action on_to_d(n: N) when n.at == c do n.at := d
action on_to_e(n: N) when n.at == d do n.at := e
action on_to_f(n: N) when n.at == e do n.at := f
faults { crash N up to 1 when no n: N where n.at == f }
"""


def test_a_brief_view_does_not_tell_in_which_of_many_states_a_fault_was_seen() -> None:
    diagram = diagram_of(system_of(BUSY))
    crashes = [arrow.source for arrow in view_of(diagram).arrows if arrow.target == DOWN and arrow.seen]
    assert crashes == ["a", "b", "c", "d", "e"]
    brief = view_of(diagram, brief=True)
    assert [arrow.source for arrow in brief.arrows if arrow.target == DOWN and arrow.seen] == [SEVERAL]
    assert SEVERAL in brief.states
    assert SEVERAL in svg([brief])


# ---- the native engine ----

EXAMPLES = ("two_phase_commit", "lease", "vrrp")


@pytest.mark.parametrize("example", EXAMPLES)
def test_native_engine_takes_the_edges_that_a_walk_takes(example: str) -> None:
    text = (Path(__file__).parents[2] / "examples" / example / f"{example}.ha").read_text(encoding="utf-8")
    system = system_of(text)
    fields = mode_fields(system)
    walked = walk(system, fields, 4_000, 2.0, lambda *_: True)
    found = explore(system, fields, 200_000, 60.0, lambda *_: True, 1)
    assert found.walk.complete
    assert found.initial == walked.initial
    for number in range(len(fields)):
        assert walked.edges[number] <= found.edges[number]
        assert walked.modes[number] <= found.modes[number]
        if walked.walk.complete:
            assert (walked.edges[number], walked.modes[number]) == (found.edges[number], found.modes[number])


def test_a_search_that_is_not_finished_still_sees_what_lies_deep() -> None:
    system = system_of(GATED, keys="1")
    fields = mode_fields(system)
    found = explore(system, fields, 2, 0.2, lambda *_: True, 1)
    assert not found.walk.complete
    assert ("ajar", "shut") in {edge[:2] for edge in found.edges[0]}


CHOOSING = """
system Choosing "where a node goes depends on what is decided"
node A[2] {
  state mode: { idle, wise, rash } = idle
  tired: bool = false
}
message vote(yes: bool) from A to A
action ask(a: A) when a.mode == idle do send vote(true) to each all(A)
on vote(yes) at a from b do
  if a.mode == idle then a.mode := if yes and not a.tired then wise else rash
"""


def test_edges_that_differ_say_in_what() -> None:
    diagram = diagram_of(system_of(CHOOSING), static=True)
    said = {(one.source, one.target): one.condition for one in diagram.transitions}
    assert said["idle", "wise"] == "yes == true and a.tired == false"
    assert said["idle", "rash"] == "not (yes and not a.tired)"


def test_what_was_never_seen_is_left_out_unless_requested() -> None:
    diagram = diagram_of(system_of(GATED, keys="0"))
    brief, whole = view_of(diagram, unseen=False), view_of(diagram, unseen=True)
    assert brief.states == ("shut",)
    assert brief.arrows == ()
    assert "not drawn, because never taken: " in brief.footing
    assert {"ajar", "open", "gone"} <= set(whole.states)
