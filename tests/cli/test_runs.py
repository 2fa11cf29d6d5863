"""A run is told so that one can follow it: where, what, with what, and only what it changed."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from hacheck.checker.described_run import call_of, run_title, step_views
from hacheck.checker.step_effects import StepEffect, step_effects
from hacheck.cli.checking import run_rendering
from hacheck.cli.console import THEME
from hacheck.cli.guard import ExitCode
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.render import spoken
from hacheck.model.runs import Run, Step
from tests.cli.command import hacheck
from tests.cli.pair import FAILOVER, PAIR, PROPERTIES, SPLIT_BRAIN, WEDGED

BEAT = """
system Beat "A primary tells a backup that it lives."
node Server[2] ranked {
  state mode : { backup, primary, deciding, asking } = backup
  stored : 0..2 = 0
}
message beat(stored: 0..2) from Server to Server
operation store(stored: 0..2) from Server to Server returns bool
lock Disk held by Server
serve store(stored) at s from p "the other stores it, too" do
  s.stored := stored
  answer true
action copy(s: Server) when s.mode == backup do
  s.mode := asking
  call store(2) at other(s) as heard
  if heard == true then s.mode := primary else s.mode := backup
action write(s: Server) "a client writes" when s.mode == backup do
  s.stored := 1
  send beat(s.stored) to other(s)
on beat(stored) at s from p "the backup learns what is stored" do s.stored := stored
action suspect(s: Server) "nothing is heard" when s.mode == backup do
  s.mode := deciding
  step sure:
  s.mode := primary
action grab(s: Server) when s.mode == backup do acquire Disk then s.mode := primary
faults { lose beat up to 1, crash Server up to 1 }
invariant fine : every s: Server satisfies s.stored <= 2
"""


def printed(what: RenderableType, columns: int = 80) -> str:
    """What is printed on a console of some width, without the blanks at the ends of lines."""
    out = StringIO()
    Console(file=out, width=columns, theme=THEME, highlight=False).print(what)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.fixture(scope="module")
def beat() -> System:
    """The system of two servers that send each other messages."""
    loaded = load(BEAT, "beat.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}).system
    assert system is not None
    return system


def run_of(system: System, *calls: tuple[str, int]) -> Run:
    """The run that takes the named actions, each on the node with the number given."""
    interpreter = Interpreter(system)
    state = initial = interpreter.initial_states()[0]
    steps: list[Step] = []
    for name, node in calls:
        number = next(index for index, action in enumerate(system.actions) if action.name == name)
        taken = [
            outcome.step
            for outcome in interpreter.outcomes_of(number, state)
            if isinstance(outcome, Taken) and outcome.step.arguments[:1] == (node,)
        ]
        assert taken, f"{name} cannot happen on node {node}"
        steps.append(taken[0])
        state = taken[0].state
    return Run(initial, tuple(steps))


def test_each_step_has_its_number_node_action_description_and_changes() -> None:
    assert printed(run_rendering.full_run(Console(width=80), PAIR, SPLIT_BRAIN, PROPERTIES[0])) == (
        "   0          initially\n"
        "              every Server  mode = dead\n"
        "              LockFile.holder = none\n"
        "   1 Server 1 start\n"
        "              a server comes up\n"
        "              mode  dead → passive\n"
        "   2 Server 1 take_over\n"
        "              the lock is free: a standby takes it\n"
        "              mode  passive → activating\n"
        "              LockFile held by  none → Server 1\n"
        "   3 Server 1 services_up\n"
        "              mode  activating → active\n"
        "   4 Server 2 start\n"
        "              mode  dead → passive\n"
        "↯  5 Server 1 lose_lock\n"
        "              LockFile held by  Server 1 → none\n"
        "   6 Server 2 take_over\n"
        "              mode  passive → activating\n"
        "              LockFile held by  none → Server 2\n"
        "   7 Server 2 services_up\n"
        "              mode  activating → active\n"
        "  so  mode  Server 1: active, Server 2: active"
    )


def test_on_a_wide_console_changes_stand_beside_the_steps() -> None:
    lines = printed(run_rendering.full_run(Console(width=140), PAIR, FAILOVER, None), 140).splitlines()
    assert any("services_up" in line and "activating → active" in line for line in lines)


def test_the_part_of_a_lasso_that_repeats_is_in_a_bracket() -> None:
    lines = printed(run_rendering.full_run(Console(width=80), PAIR, WEDGED, None)).splitlines()
    begin = lines.index("╭ from here on, again and again for ever")
    end = lines.index("╰ back to the state after step 5")
    assert all(line.startswith("│") for line in lines[begin + 1 : end])
    assert [line for line in lines[begin + 1 : end] if "restart" in line]
    assert "5 Server 1 crash" in "\n".join(lines[:begin])


def test_a_run_that_ends_in_standstill_says_that_nothing_happens_any_more() -> None:
    still = Run(SPLIT_BRAIN.initial, SPLIT_BRAIN.steps, loop=len(SPLIT_BRAIN.steps))
    assert "nothing happens any more" in printed(run_rendering.full_run(Console(width=80), PAIR, still, None))
    assert "then nothing any more" in run_title(PAIR, still)


def test_the_title_counts_steps_and_faults() -> None:
    assert run_title(PAIR, SPLIT_BRAIN) == "7 steps, 1 fault"
    assert run_title(PAIR, WEDGED) == "8 steps, 2 faults, the last 3 for ever"


def test_a_terminal_without_unicode_gets_ascii() -> None:
    class Plain(StringIO):
        encoding = "ascii"

    out = Plain()
    console = Console(file=out, width=80, theme=THEME)
    console.print(run_rendering.full_run(console, PAIR, WEDGED, PROPERTIES[0]))
    assert out.getvalue().isascii()


def test_a_message_is_sent_and_taken(beat: System) -> None:
    views = step_views(beat, run_of(beat, ("write", 1), ("beat", 2)))
    assert StepEffect("Server 1", "sends beat(stored: 1) to Server 2") in views[0].changes
    assert views[1].call == "beat(from Server 1)"
    assert StepEffect("Server 2", "takes beat(stored: 1) from Server 1") in views[1].changes
    assert StepEffect("Server 2", "stored", "0", "1") in views[1].changes


def test_a_message_lost_is_gone_and_no_node_did_it(beat: System) -> None:
    views = step_views(beat, run_of(beat, ("write", 1), ("lose beat", 1)))
    assert views[1].kind == "fault"
    assert views[1].node == ""
    assert StepEffect("", "gone: beat(stored: 1) from Server 1 to Server 2") in views[1].changes
    assert not [told for told in views[1].changes if "budget" in told.what]


def test_the_steps_of_a_handler_say_where_it_stands(beat: System) -> None:
    views = step_views(beat, run_of(beat, ("suspect", 1), ("suspect.sure", 1)))
    assert [view.call for view in views] == ["suspect", "suspect.sure"]
    assert StepEffect("Server 1", "is now at suspect.sure") in views[0].changes
    assert StepEffect("Server 1", "suspect.sure is over") in views[1].changes
    assert [view.description for view in views] == ["nothing is heard", ""]


def test_a_lock_taken_is_told_of_its_holder_and_of_what_the_holder_believes(beat: System) -> None:
    views = step_views(beat, run_of(beat, ("grab", 2)))
    assert StepEffect("", "Disk held by", "none", "Server 2") in views[0].changes
    assert StepEffect("Server 2", "believes it holds Disk") in views[0].changes


def test_a_crash_is_named_once(beat: System) -> None:
    view = step_views(beat, run_of(beat, ("crash Server", 1)))[0]
    assert (view.node, view.call, view.description) == ("Server 1", "crash", "")


def test_nothing_changed_is_nothing_told() -> None:
    state = SPLIT_BRAIN.initial
    assert step_effects(PAIR, state, state) == ()


def calls_of(text: str, name: str) -> set[str]:
    """How the steps of an action are told that are possible in the first state."""
    loaded = load(text, "calls.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}).system
    assert system is not None
    interpreter = Interpreter(system)
    state = interpreter.initial_states()[0]
    number = next(index for index, action in enumerate(system.actions) if action.name == name)
    outcomes = interpreter.outcomes_of(number, state)
    return {call_of(system, state, outcome.step) for outcome in outcomes if isinstance(outcome, Taken)}


def test_choices_are_told_by_their_names_even_where_not_all_are_made() -> None:
    assert calls_of(
        """
system Draw "Numbers are drawn."
node Server[1] {
  drawn: 0..3 = 0
  more: bool = false
}
action draw(s: Server) do
  choose n: 1..2
  if n == 2 then { choose m: 3..3  s.drawn := m }
  for x: 1..2 do { choose again: bool where again  s.more := again }
""",
        "draw",
    ) == {
        "draw chooses n: 1, again: true for x: 1, again: true for x: 2",
        "draw chooses n: 2, m: 3, again: true for x: 1, again: true for x: 2",
    }


def test_of_calls_what_is_unusual_is_told_with_whom_was_called() -> None:
    told = calls_of(
        """
system Poll "One asks the others."
node Server[3] ranked { asked: bool = false }
operation alive() from Server to Server returns bool atomic when true timeout when true
serve alive() at s from p do answer s.asked
action poll(s: Server) when not s.asked do
  call alive() at each others(s) as answers
  s.asked := true
""",
        "poll",
    )
    assert {"poll", "poll; alive at Server 3: not done"} <= told
    assert "poll; alive at Server 1: not done; alive at Server 2: answer lost" in told


NEWS = """
system News "What is sent to all, and what only the latest of is under way."
node Server[3] ranked { n: 0..2 = 0 }
message news(n: 0..2) from Server to Server latest
message note() from Server to Server up to 2
action publish(s: Server) when s.n < 2 do
  s.n := s.n + 1
  send news(s.n) to each others(s)
  send note() to each others(s)
on news(n) at s from p do s.n := n
on note() at s from p do halt
faults { cut Server - Server up to 1 }
"""


def test_equal_sends_are_one_line_and_what_is_replaced_is_not_gone() -> None:
    loaded = load(NEWS, "news.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}).system
    assert system is not None
    views = step_views(system, run_of(system, ("publish", 1), ("publish", 1), ("cut Server - Server", 1)))
    first, second, cut = ([effect.what for effect in view.changes] for view in views)
    assert "sends news(n: 1) to Server 2, Server 3" in first
    assert "sends note to Server 2, Server 3" in first
    assert "replaced by a newer one: news(n: 1) from Server 1 to Server 2" in second
    assert not any("gone" in what for what in (*first, *second))
    assert cut == ["the link Server 1 - Server 2 is cut"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lock.Disk.holder", "Disk.holder"),
        ("cut.Server.Manager", "cut links Server - Manager"),
        ("Replica.merge.m to come_2", "Replica.merge.m still to come"),
        ("Replica.merge.m_2", "Replica.merge.m"),
        ("Replica.field_2", "Replica.field_2"),
        ("message.note", "note"),
    ],
)
def test_names_of_the_model_are_words_of_the_spec(name: str, words: str) -> None:
    assert spoken(name) == words


def test_a_call_is_made_taken_answered_and_heard_of(beat: System) -> None:
    views = step_views(beat, run_of(beat, ("copy", 1), ("store", 2), ("copy.store", 1)))
    assert StepEffect("Server 1", "calls store(stored: 2) at Server 2") in views[0].changes
    assert StepEffect("Server 2", "takes the call store(stored: 2) of Server 1") in views[1].changes
    assert StepEffect("Server 2", "answers store: true to Server 1") in views[1].changes
    assert StepEffect("Server 1", "gets the answer store: true from Server 2") in views[2].changes
    assert not [told for view in views for told in view.changes if "waiting" in told.what]


def test_what_a_handler_forgets_when_it_is_over_is_no_news() -> None:
    loaded = load(
        'system F "x"\nnode A[2] { state m : { a, b } = a }\n'
        "action go(n: A) when n.m == a do\n  var k: 0..3 = 1\n  step one:\n  if k == 1 then n.m := b\n",
        "f.ha",
    )
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}).system
    assert system is not None
    first, last = step_views(system, run_of(system, ("go", 1), ("go.one", 1)))
    assert StepEffect("A 1", "remembers go.k", "0", "1") in first.changes
    assert last.changes == (StepEffect("A 1", "m", "a", "b"), StepEffect("A 1", "go.one is over"))


@pytest.mark.parametrize("engine", ["native", "python", "bmc", "simulation"])
def test_a_property_without_a_value_is_told_with_the_run_to_where_it_has_none(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "pair.ha"
    path.write_text("""system Pair "A server that has lost its peer has no value for it."
node Server[2] { peer: Server? = none }
action meet(s: Server) do s.peer := other(s)
invariant apart: every s: Server satisfies (some t: Server where t.peer != none) implies value(s.peer) != s
""")
    ended = hacheck("verify", str(path), "--engine", engine)
    assert ended.code == ExitCode.BAD_INPUT
    said = " ".join(ended.out.split())
    assert "apart: no value in 1 step " in said
    assert re.search(r"after 1 step: s.peer is none where a value is needed \(s = Server [12]\)", said)
