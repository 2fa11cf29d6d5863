"""Pictures of runs: no line is too long, the story names steps that exist, and a wrong belief is found."""

from __future__ import annotations

import re

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.explicit.portable.random_walks import simulate
from hacheck.checker.pictures.glyphs import ASCII, UNICODE, Glyphs
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.run_view.broken_part import broken_parts
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.pictures.run_formats import mermaid, plantuml, shiviz
from hacheck.cli.pictures.run_svg import svg
from hacheck.model.interpreter import Interpreter
from hacheck.model.language import load
from hacheck.model.runs import Run

SPEC = """system Standby "x"
node Server[2] symmetric { state mode: { passive, activating, active } = passive }
message hello() from Server to Server
lock LockFile held by Server
action take_over(s: Server) when s.mode == passive do acquire LockFile then s.mode := activating
action serve(s: Server) when s.mode == activating do
  s.mode := active
  send hello() to other(s)
on hello() at s from p do s.mode := passive
on lost LockFile at s do s.mode := passive
faults { crash Server up to 2, pause Server up to 1, cut Server - Server up to 1, lose LockFile up to 1 }
invariant one_active "one serves": at most one s: Server where s.mode == active
"""


@pytest.fixture(scope="module")
def readers() -> list[ViewReader]:
    """Views of random runs, with the property."""
    specification = load(SPEC, "standby.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    made = []
    for seed in range(25):
        run = simulate(system, seed, 25)
        assert run is not None
        made.append(ViewReader(Views(system, {}).view(run, system.properties[0]).to_json()))
    return made


@pytest.mark.parametrize("glyphs", [ASCII, UNICODE], ids=["ascii", "unicode"])
@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_longer_than_the_width(readers: list[ViewReader], glyphs: Glyphs, width: int) -> None:
    for reader in readers:
        lines = picture_lines(reader, width, glyphs)
        assert max(len(line.plain) for line in lines) <= width
        assert glyphs is UNICODE or all(line.plain.isascii() for line in lines)


def test_every_step_has_its_row_and_fault_its_words(readers: list[ViewReader]) -> None:
    for reader in readers:
        lines = [line.plain for line in picture_lines(reader, 80, ASCII)]
        numbered = [line for line in lines if line[:4].strip().isdigit()]
        rows = {int(line[:4]): line for line in numbered}
        folded = {
            step: int(found[1])
            for step, line in rows.items()
            if (found := re.search(r" to (\d+): nothing changes", line))
        }
        covered = [number for step in rows for number in range(step, folded.get(step, step) + 1)]
        assert covered == list(range(reader.last + 1))
        for step, last in folded.items():
            assert not any(reader.steps[number - 1]["delta"] for number in range(step, last + 1))
        for step in range(1, reader.last + 1):
            if reader.effects(step, "crash"):
                assert "CRASHES" in rows[step]


def test_story_names_only_steps_that_exist_and_in_words(readers: list[ViewReader]) -> None:
    for reader in readers:
        for sentence in reader.view["story"]:
            for step in sentence["steps"]:
                assert 1 <= step <= reader.last
                assert str(step) in sentence["text"]


def test_wrong_belief_is_one_that_the_states_show(readers: list[ViewReader]) -> None:
    found = [(reader, one) for reader in readers for one in reader.view["beliefs"] if one["rule"] == "lock"]
    assert found
    for reader, one in found:
        for state in range(one["wrong"], one["until"] + 1):
            assert reader.value(state, "", f"LockFile.believed[{one['holder']}]") == "true"
            assert reader.value(state, "", "LockFile.holder") != one["holder"]


def test_formats_have_every_step(readers: list[ViewReader]) -> None:
    for reader in readers:
        for text in (mermaid(reader), plantuml(reader), shiviz(reader), svg(reader)):
            assert text.endswith("\n")
            assert text.count("CRASHES") == sum(bool(reader.effects(n, "crash")) for n in range(1, reader.last + 1))


def test_fact_says_a_node_once() -> None:
    led = 'invariant led "only who leads": no s: Server where s.mode == active and lead != s\n'
    specification = load(SPEC + "shared lead: Server? = none\n" + led, "standby.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    asked = next(prop for prop in system.properties if prop.name == "led")
    interpreter = Interpreter(system)
    for seed in range(200):
        run = simulate(system, seed, 25)
        assert run is not None
        steps = next((n for n, one in enumerate(run.steps, 1) if not interpreter.holds(asked, one.state)), 0)
        if steps:
            view = Views(system, {}).view(Run(run.initial, run.steps[:steps]), asked)
            (part,) = broken_parts(ViewReader(view.to_json()))
            assert part.facts
            assert not [fact for fact in part.facts if f"{part.instance} {part.instance}" in fact]
            assert [fact for fact in part.facts if fact.startswith("lead none")]
            return
    pytest.fail("no run breaks it")


CALLS = """system Calls "x"
node Server[2] ranked { has: set of 1..2 = {} asked: bool = false }
operation store(m: 1..2, by: Server) from Server to Server returns bool
  atomic when true
operation ping() from Server to Server
  atomic when true
serve store(m, by) at s from p do
  s.has := s.has with m
  answer m == 1
serve ping() at s from p do s.asked := true
action copy(s: Server) when s == Server(1) and s.has == {} do
  for m: 1..2 do {
    choose t in others(s)
    call store(m, s) at t as done
    if done == none then s.asked := true
  }
action greet(s: Server) when not s.asked do
  s.asked := true
  call ping() at each others(s)
faults { crash Server up to 1, cut Server - Server up to 1 }
invariant kept "nothing is stored": no s: Server where s.has == {1, 2}
"""


def test_calls_within_a_step_say_callee_arguments_and_answer() -> None:
    specification = load(CALLS, "calls.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    answers, outcomes = set(), set()
    for seed in range(40):
        run = simulate(system, seed, 6)
        assert run is not None
        reader = ViewReader(Views(system, {}).view(run, None).to_json())
        for step in range(1, reader.last + 1):
            for call in reader.effects(step, "call"):
                outcomes.add(call["outcome"])
                if call["op"] == "ping":
                    assert (call["arguments"], call["answer"]) == ([], "")
                    continue
                (_, item), (_, by) = call["arguments"]
                assert by == call["from"] == "Server 1"
                assert call["to"] == "Server 2"
                assert (call["answer"] != "") == (call["outcome"] == "answered")
                answers.add((item, call["answer"]))
            if reader.steps[step - 1]["action"] == "copy":
                assert reader.steps[step - 1]["choices"] == ["t: Server 2 for m: 1", "t: Server 2 for m: 2"]
    assert {("1", "true"), ("2", "false"), ("1", "")} <= answers
    assert {"answered", "not done", "answer lost"} >= outcomes > {"answered"}


NESTED = """system Nested "x"
node Client { done: bool = false }
node Server[2] ranked { kept: set of 1..2 = {} }
operation publish(m: 1..2) from Client to Server returns bool
  atomic when true
operation copy(m: 1..2) from Server to Server returns bool
  atomic when true
serve publish(m) at s from c do
  s.kept := s.kept with m
  if s == Server(1) then {
    call copy(m) at Server(2) as copied
    answer copied == true
  } else answer true
serve copy(m) at s from p do
  s.kept := s.kept with m
  answer true
action send_it(c: Client) when not c.done do
  call publish(1) at Server(1) as first
  call publish(2) at Server(2) as second
  c.done := true
"""


def test_who_calls_while_it_serves_is_the_caller() -> None:
    specification = load(NESTED, "nested.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    run = simulate(system, 1, 1)
    assert run is not None
    reader = ViewReader(Views(system, {}).view(run, None).to_json())
    calls = [(call["op"], call["from"], call["to"]) for call in reader.effects(1, "call")]
    assert calls == [
        ("publish", "Client 1", "Server 1"),
        ("copy", "Server 1", "Server 2"),
        ("publish", "Client 1", "Server 2"),
    ]
    text = "\n".join(line.plain for line in picture_lines(reader, 200, ASCII))
    assert "calls publish(1) at Server 1: true; Server 1 calls copy(1) at Server 2: true" in " ".join(text.split())


WAITS_FOR_EVER = """system Waits "A server that nobody answers asks again for ever."
node S[2] ranked { state mode: { waiting, serving } = waiting  asked: bool = false }
message hello() from S to S
action ask(s: S) when s == S(1) and s.mode == waiting and not s.asked do
  s.asked := true
  send hello() to S(2)
action wait(s: S) when s.asked do s.asked := false
on hello() at s from p do s.asked := s.asked
faults { crash S up to 1 for good }
leads_to serves "server 1 serves":
  up(S(1)) ~> (every s: S satisfies s == S(2) or s.mode == serving or not up(s))
  fair all
"""


def test_an_endless_run_names_who_never_gets_there() -> None:
    specification = load(WAITS_FOR_EVER, "waits.ha").specification
    assert specification is not None
    system = specification.instantiate().system
    assert system is not None
    (answer,) = PortableEngine().check(system, ("serves",), Limits(), lambda _: True).properties
    assert answer.run is not None
    reader = ViewReader(Views(system, {}).view(answer.run, system.properties[0]).to_json())
    assert reader.loop is not None
    (part,) = broken_parts(reader)
    assert (part.instance, part.facts) == ("S 1", ("mode is waiting, not serving", "S 1 is up"))
    text = "\n".join(line.plain for line in picture_lines(reader, 80, UNICODE))
    assert "serves never comes true" in text
    assert "S 1: mode is waiting, not serving" in text
    assert "it stays so" in text
    assert "for ever" in text
    assert "here it breaks" not in text
