"""Properties of infinite runs with parameters, and fairness for each argument, from the text to what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.kept_fairness import kept_fairness, put_off
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.system_text import parse_system, print_system
from tests.cli.command import hacheck
from tests.models.engines import EVERY, ExplicitEngine

TEXT = """system Ask
node Client[2] symmetric { asked: bool = false }
node Server[2] symmetric { }
action ask(c: Client) when not c.asked do c.asked := true
environment action serve(s: Server, c: Client) when c.asked do c.asked := false
leads_to answered(c: Client) "each is answered": c.asked ~> not c.asked
  fair serve(c)
leads_to ignored(c: Client): c.asked ~> not c.asked
  fair serve
eventually asks(c: Client): c.asked
  fair ask
leads_to by_both(c: Client, s: Server): c.asked ~> not c.asked
  strongly fair serve(s, c)
"""
RELAY = """system Relay
node Sender[2] symmetric { waits: bool = false }
node Hub { }
message work() from Sender to Hub unordered up to 1
action ask(s: Sender) when not s.waits do s.waits := true send work() to Hub
on work() at h from s do reply done() to s
message done() from Hub to Sender unordered up to 1
on done() at s from h do s.waits := false
leads_to heard(s: Sender): s.waits ~> not s.waits
  fair work(s), done
leads_to unheard(s: Sender): s.waits ~> not s.waits
  fair work, done
"""


def system_of(text: str) -> System:
    found = load(text, "asked.ha")
    assert found.specification is not None, found.diagnostics
    system = found.specification.instantiate({}).system
    assert system is not None
    return system


def verdicts(engine: ExplicitEngine, system: System) -> dict[str, str]:
    return {one.name: one.verdict for one in engine.check(system, (), Limits(), lambda _: True).properties}


@pytest.mark.parametrize("engine", EVERY)
def test_each_value_has_a_verdict_of_its_own(engine: ExplicitEngine) -> None:
    found = verdicts(engine, system_of(TEXT))
    assert found == {
        **dict.fromkeys(("answered(Client 1)", "answered(Client 2)", "asks(Client 1)", "asks(Client 2)"), "holds"),
        **dict.fromkeys(("ignored(Client 1)", "ignored(Client 2)"), "violated"),
        **{f"by_both(Client {c}, Server {s})": "holds" for c in (1, 2) for s in (1, 2)},
    }


@pytest.mark.parametrize("engine", EVERY)
def test_fairness_for_each_sender(engine: ExplicitEngine) -> None:
    text = RELAY.replace("reply done() to s", "send done() to s")
    found = verdicts(engine, system_of(text))
    assert {name for name, verdict in found.items() if verdict == "violated"} == {
        "unheard(Sender 1)",
        "unheard(Sender 2)",
    }
    assert found["heard(Sender 1)"] == found["heard(Sender 2)"] == "holds"


def test_a_loop_says_by_which_steps_it_is_fair() -> None:
    system = system_of(TEXT)
    answers = NativeEngine().check(system, ("ignored(Client 1)",), Limits(), lambda _: True).properties
    run = answers[0].run
    assert run is not None
    asked = next(one for one in system.properties if one.name == "ignored(Client 1)")
    (said,) = kept_fairness(system, run, asked)
    assert said.startswith("serve: in step ")
    each = next(one for one in system.properties if one.name == "answered(Client 2)")
    kept = kept_fairness(system, run, each)
    assert "Client 2 in step" in kept[0]


def test_a_loop_names_what_it_puts_off() -> None:
    system = system_of(
        "system Q node S { n: 0..2 = 0 } action a(s: S) do s.n := if s.n == 0 then 1 else 0 "
        "environment action expire() when S.n < 2 do S.n := 2 environment action nothing() do S.n := S.n "
        "environment action now_and_then() when S.n == 1 do S.n := 2 faults { crash S up to 1 } "
        "eventually two: S.n == 2 fair a eventually fair_two: S.n == 2 fair a, expire"
    )
    answers = NativeEngine().check(system, ("two",), Limits(), lambda _: True).properties
    run = answers[0].run
    assert run is not None
    named = {one.name: put_off(system, run, one) for one in system.properties}
    assert named == {"two": ("expire",), "fair_two": ()}


def test_the_text_form_keeps_arguments_of_fairness() -> None:
    system = system_of(TEXT)
    assert parse_system(print_system(system)) == system


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("fair serve(c)\n", "fair serve(d)\n", "`serve` has no parameter `d`"),
        ("answered(c: Client)", "answered(c: set of Client)", "a property's parameters are scalars"),
        ("asks(c: Client)", "asks(c: 0..2000)", "has 2,001 instances"),
        ("asks(c: Client)", "asks(c: Client, n: counter up to 3)", "`n` is a counter"),
        ("asks(c: Client)", "asks(c: Client, n: 0..99)", "has 200 instances"),
    ],
)
def test_what_cannot_be_asked_is_said(old: str, new: str, said: str) -> None:
    assert TEXT.count(old) == 1
    found = load(TEXT.replace(old, new), "asked.ha").diagnostics
    assert any(said in one.message for one in found), found


def test_a_check_and_the_command_name_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "ask.ha"
    path.write_text(
        TEXT + "check default expect ignored violated\ncheck some only answered expect all hold\n", encoding="utf-8"
    )
    assert hacheck("verify", str(path)).code == 0
    found = hacheck("verify", str(path), "--check", "default", "--property", "ignored")
    assert found.code == 0
    assert "ignored(Client 2)" in found.out
    assert "answered" not in found.out.partition("ignored(Client 1)")[2]
    assert hacheck("verify", str(path), "--check", "some", "--property", "answered(Client 1)").code == 0
    assert hacheck("verify", str(path), "--property", "answerd").code == 2


def test_one_violated_is_enough_where_a_violation_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "ranked.ha"
    path.write_text(
        "system Ranked\n"
        "node Client[2] ranked { asked: bool = false }\n"
        "action ask(c: Client) when not c.asked do c.asked := true\n"
        "action served(c: Client) when c.asked and c == Client(1) do c.asked := false\n"
        "leads_to answered(c: Client): c.asked ~> not c.asked\n"
        "  fair served\n"
        "check default expect answered violated\n",
        encoding="utf-8",
    )
    found = hacheck("verify", str(path))
    assert found.code == 0
    assert "answered(Client 2)" in found.out
