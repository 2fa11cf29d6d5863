"""The view of a run says what the interpreter says: its states, the truth of its property, what else is possible."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.run_view.run_paths import BadPath, along
from hacheck.checker.run_view.views import Views, places_of
from hacheck.checker.verify import run_check
from hacheck.cli.selection import select
from hacheck.cli.sources import load_specification
from hacheck.model.interpreter import Taken, replay
from hacheck.model.language.reader_expressions import ReaderExpressions, WrongExpression

SPECS = sorted((Path(__file__).parents[1] / "browser" / "specs").glob("*.ha"))


def found_in(spec: Path) -> list[tuple[Views, Any, Any]]:
    """Every run that the checks of a spec find, with what makes views of it and its property."""
    specification = load_specification(str(spec))
    runs = []
    chosen = select(specification, (), {}, (), wide=False, no_color=True)
    for question in chosen.questions:
        result = run_check(chosen.prepare(question), PortableEngine(), Limits(), lambda _: True, replay)
        views = Views(result.system, places_of(result.system, specification.place_of))
        runs += [(views, one.answer.run, one.prop) for one in result.properties if one.answer.run is not None]
    return runs


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: spec.stem)
def runs(request: pytest.FixtureRequest) -> list[tuple[Views, Any, Any]]:
    return found_in(request.param)


def test_deltas_lead_through_the_states(runs: list[tuple[Views, Any, Any]]) -> None:
    for views, run, asked in runs:
        made = views.view(run, asked).to_json()
        state = list(made["initial"])
        for step, after in zip(made["steps"], run.states[1:], strict=True):
            for place, value in step["delta"]:
                assert state[place] != value
                state[place] = value
            assert tuple(made["strings"][number] for number in state) == views.slots.words(after)


def test_parts_are_true_where_the_interpreter_says_so(runs: list[tuple[Views, Any, Any]]) -> None:
    for views, run, asked in runs:
        made = views.view(run, asked).to_json()["property"]
        letters = made["truth"][made["tree"]["goal"]["id"]]
        assert {len(one) for one in made["truth"]} == {len(run.states)}
        if asked.kind == "deadlock":
            continue
        for number, (letter, state) in enumerate(zip(letters, run.states, strict=True)):
            value = views.interpreter.value(asked.goal, state, run.states[max(0, number - 1)])
            assert letter == ("-" if asked.kind == "step" and not number else str(int(bool(value))))
        for part in parts_of(made["tree"]["goal"]):
            combined = COMBINED.get(part["op"])
            terms = part.get("children") or part.get("instances")
            if combined is not None and terms:
                for number, letter in enumerate(made["truth"][part["id"]]):
                    values = [made["truth"][term["id"]][number] == "1" for term in terms]
                    assert letter == str(int(combined(values)))


COMBINED: dict[str, Any] = {
    "and": all,
    "or": any,
    "some": any,
    "every": all,
    "none": lambda values: not any(values),
    "not": lambda values: not values[0],
    "at_most_one": lambda values: sum(values) <= 1,
    "exactly_one": lambda values: sum(values) == 1,
    "majority": lambda values: 2 * sum(values) > len(values),
}


def parts_of(part: Any) -> list[Any]:
    inner = [*part.get("children", ()), *part.get("instances", ())]
    return [part, *(one for child in inner for one in parts_of(child))]


def test_around_a_run_are_the_steps_of_the_interpreter(runs: list[tuple[Views, Any, Any]]) -> None:
    for views, run, asked in runs:
        view = views.view(run, asked)
        edges = view.neighbourhood(len(run.states) + 10, time.monotonic() + 60)["edges"]
        for number, found in edges.items():
            before = view.states[int(number)]
            after = [one.step.state for one in views.interpreter.outcomes(before) if isinstance(one, Taken)]
            assert {view.states[edge["to"]] for edge in found} == set(after) - {before}
        for number, (before, after) in enumerate(zip(run.states, run.states[1:], strict=False)):
            assert number + 1 in [edge["to"] for edge in edges[str(number)]] or before == after


def test_every_message_taken_was_sent_before(runs: list[tuple[Views, Any, Any]]) -> None:
    taken = 0
    for views, run, asked in runs:
        under_way: list[tuple[str, str, str]] = []
        for step in views.view(run, asked).to_json()["steps"]:
            for event in step["effects"]:
                if event["t"] in ("take", "lost", "cleared"):
                    under_way.remove((event["item"], event["from"], event["to"]))
                    taken += 1
            under_way += [(one["item"], one["from"], one["to"]) for one in step["effects"] if one["t"] == "send"]
    assert taken or views.system.name == "Standby"


def test_a_lock_is_drawn_from_its_holder_to_its_loss() -> None:
    views, run, asked = next(one for one in found_in(SPECS[0]) if one[2].name == "one_active")
    effects = [event for step in views.view(run, asked).to_json()["steps"] for event in step["effects"]]
    holders = [(one["before"], one["after"]) for one in effects if one["t"] == "lock"]
    assert holders == [("none", "Server 1"), ("Server 1", "none"), ("none", "Server 2")]


def test_expressions_of_a_reader_are_those_of_the_language() -> None:
    specification = load_specification(str(SPECS[0]))
    reader = ReaderExpressions(specification, "default", {})
    views, run, _ = next(one for one in found_in(SPECS[0]) if one[2].name == "one_active")
    last = run.states[-1]
    for text, value in (
        ("count s: Server where s.mode == active", 2),
        ("(some s: Server where not up(s)) # or not", False),
        ("{s for s: Server where s.mode == active} == all(Server)", True),
    ):
        assert views.interpreter.value(reader.read(text), last) == value
    for text in ("", "1 +", "true) reachable x: (true", "mode", "s.mode == active", "old(1)", "1\nfair all", "((", "#"):
        with pytest.raises(WrongExpression, match=r"\w"):
            reader.read(text)


NAMED = """system Named "x"
node Client { unsent: set of 1..2 = { m: 1..2 } }
node Server { has: set of 1..2 = {} }
define sent: set of 1..2 = { m: 1..2 where m not in Client.unsent }
define kept(m: 1..2): bool = some s: Server where m in s.has
action send_it(c: Client) do
  choose m in c.unsent
  c.unsent := c.unsent without m
invariant stored "what is sent is stored":
  sent subset Server.has and (every m: 1..2 satisfies m in sent implies kept(m))
check default expect stored violated
"""


def test_parts_of_a_property_have_the_names_of_definitions(tmp_path: Path) -> None:
    spec = tmp_path / "named.ha"
    spec.write_text(NAMED, encoding="utf-8")
    ((views, run, asked),) = found_in(spec)
    assert [one.name for one in views.system.definitions] == ["sent", "kept"]
    goal = views.view(run, asked).to_json()["property"]["tree"]["goal"]
    first, second = goal["children"]
    assert first["text"] == "sent subset (Server 1).has"
    assert first["operands"][0]["text"] == "sent"
    premise, then = second["instances"][0]["children"]
    assert (premise["text"], premise.get("label")) == ("m in sent", None)
    assert (then["text"], then["label"]) == ("kept(m)", "kept(m)")
    assert [one["instance"] for one in then["instances"]] == ["Server 1"]


ARGUMENTS = """system Arguments "x"
node Server[2] { peer: Server? = none  told: set of 1..2 = {}  busy: bool = false }
define alone(s: Server) = s.peer == none
define knows(s: Server, m: 1..2): bool = m in s.told and not s.busy
define someone(m: 1..2) = some s: Server where knows(s, m)
action go(s: Server, o: Server) do
  s.peer := o
  s.told := { 1 }
invariant kept "x": every s: Server satisfies (alone(s) or knows(s, 2)) and (knows(s, 1) implies someone(2))
check default expect kept violated
"""


def test_definitions_with_parameters_are_named_with_their_arguments(tmp_path: Path) -> None:
    """Also where they use each other; a comparison keeps what it compares, since that says more."""
    spec = tmp_path / "arguments.ha"
    spec.write_text(ARGUMENTS, encoding="utf-8")
    ((views, run, asked),) = found_in(spec)
    made = views.view(run, asked).to_json()["property"]
    either, then = made["tree"]["goal"]["instances"][0]["children"]
    alone, knows = either["children"]
    assert (alone["text"], alone["label"]) == ("s.peer == none", "alone(s)")
    assert [one["text"] for one in alone["operands"]] == ["s.peer"]
    assert (knows["text"], knows["label"]) == ("knows(s, 2)", "knows(s, 2)")
    assert [one["text"] for one in knows["children"]] == ["2 in s.told", "not s.busy"]
    assert [one["label"] for one in then["children"]] == ["knows(s, 1)", "someone(2)"]
    assert {letter for part in (alone, knows) for letter in made["truth"][part["id"]]} == {"0", "1"}


def test_a_path_leads_on_as_the_links_of_the_page_do(runs: list[tuple[Views, Any, Any]]) -> None:
    for views, run, asked in runs:
        middle = len(run.steps) // 2
        view = views.view(run, asked)
        edges = view.successors(middle)
        for index, edge in enumerate(edges):
            found = along(views, run, f"{middle}~{index}")
            assert found.steps[:-1] == run.steps[:middle]
            assert found.states[-1] == view.states[edge["to"]]
            assert replay(views.system, found) is None
        assert along(views, run, str(middle)).steps == run.steps[:middle]
        for wrong in (f"{middle}~{len(edges)}", str(len(run.steps) + 1), "14~", "x", f"{middle}~0.999"):
            with pytest.raises(BadPath):
                along(views, run, wrong)
