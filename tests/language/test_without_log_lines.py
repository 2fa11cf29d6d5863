"""Nothing comes of lines where nobody compares logs; what else is different where somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.model.ir import Log, StateVariable, System
from hacheck.model.language import load
from hacheck.model.language.declarations import ActionDeclaration
from hacheck.model.language.log_lines import without_logs
from hacheck.model.language.parse import parse
from hacheck.model.language.specification import Instance
from hacheck.model.rewrite import statements
from tests.language.examples import Example, examples, loaded
from tests.language.inserting import with_logs
from tests.language.log_specs import HEAD, specification, system, wrong
from tests.nightly import by_night, first_of
from tests.properties.keeping import behaviour
from tests.strategies import Seeded, random_program

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
SPECS = [*sorted((ROOT / "spec").glob("*.ha")), *sorted((ROOT / "bench").glob("*.ha"))]
CHECKS_MAX = 3
QUICK = ("fiorano_shared", "quorum_election")


# ---- nothing comes of it -----------------------------------------------------------------------------------------


def assert_nothing_comes_of_it(example: Example) -> int:
    """With a line before each statement, which reads all locals: the same systems; and how many lines there are."""
    text, count = with_logs(example.text)
    plain, spoken = loaded(example).specification, loaded(Example("", text, (), example.libraries)).specification
    assert plain is not None
    assert spoken is not None, (text, loaded(Example("", text, (), example.libraries)).diagnostics)
    for check in (None, *[one.name for one in plain.checks[:CHECKS_MAX]]):
        with_lines, without = (unplaced(one.instantiate(check=check)) for one in (spoken, plain))
        assert with_lines == without, (check, text)
    return count


def unplaced(instance: Instance) -> Instance:
    """The same wherever its locals stand: lines move the text behind them."""
    return replace(instance, kept=tuple(replace(one, start=0) for one in instance.kept))


def test_lines_change_no_system_of_the_examples() -> None:
    whole = [one for path in DOCUMENTS for one in examples(path) if loaded(one).specification is not None]
    assert sum(assert_nothing_comes_of_it(one) for one in whole) > 300


def test_lines_change_no_random_system() -> None:
    texts = [random_program(Seeded(seed)) for seed in range(40)]
    assert sum(assert_nothing_comes_of_it(Example("", text, ())) for text in texts) > 200


@pytest.mark.parametrize("path", by_night(SPECS, lambda path: path.stem in QUICK), ids=lambda path: path.stem)
def test_lines_change_no_system_of_a_shipped_spec(path: Path) -> None:
    found = path.parent.rglob("*.ha")
    libraries = {one.relative_to(path.parent).as_posix(): one.read_text(encoding="utf-8") for one in found}
    assert assert_nothing_comes_of_it(Example("", path.read_text(encoding="utf-8"), (), libraries)) > 0


def test_lines_put_into_a_text_are_all_written() -> None:
    """(Else the tests above would compare nothing.)"""
    written = 0
    for seed in range(20):
        text, count = with_logs(random_program(Seeded(seed)))
        read = load(text, "x.ha").specification
        assert read is not None
        made = read.instantiate(logs=True).system
        assert made is not None
        found = {one.event for action in made.actions for one in statements(action.body) if isinstance(one, Log)}
        assert found <= {f"line_{number}" for number in range(count)}
        written += len(found) / count > 0.9
    assert written >= 15


@pytest.mark.parametrize("seeds", first_of([range(20), range(20, 60)]))
def test_lines_change_nothing_that_can_happen(seeds: range) -> None:
    """(Without faults, of which as many can happen as a log has; and without identities, which a kept local holds.)"""
    compared = 0
    for seed in seeds:
        text = random_program(Seeded(seed), identities=False)
        if "faults {  }" not in text:
            continue
        spoken = load(with_logs(text)[0], "x.ha").specification
        assert spoken is not None
        made, plain = spoken.instantiate(logs=True).system, spoken.instantiate().system
        assert made is not None
        assert plain is not None
        found, expected = behaviour(made), behaviour(plain)
        if found is not None and expected is not None:
            assert found[:2] == expected[:2], text
            compared += 1
    assert compared >= len(seeds) / 4


def test_what_stands_for_lines_only_goes_with_them() -> None:
    spoken = """procedure tell(s: S, why: 0..9) do log told(why: why) at s
procedure twice(s: S, why: 0..9) do
  tell(s, why)
  if why > 3 then { for o in others(s) do tell(o, why) }
procedure nothing(s: S) do
action go(s: S) do
  let since = s.n
  step wait:
  if since > 0 then log waited() else tell(s, since)
  twice(s, since)
  for o in others(s) do { log saw(n: o.n) }
  nothing(s)
  if s.n == 0 then { }
  while s.n > 0 do { log turn() step turn: log turned() }
"""
    plain = """procedure tell(s: S, why: 0..9) do
procedure twice(s: S, why: 0..9) do
procedure nothing(s: S) do
action go(s: S) do
  let since = s.n
  step wait:
  nothing(s)
  if s.n == 0 then { }
  while s.n > 0 do { step turn: }
"""
    names = [one.name for one in system(spoken, logs=False).variables]
    assert "S.go.since" not in names
    assert "S.go.since" in [one.name for one in system(spoken).variables]
    file, mistakes = parse(HEAD + spoken, "a.ha")
    assert file is not None
    assert mistakes == ()
    silent = {type(one): one for one in without_logs(file.declarations)}[ActionDeclaration]
    assert isinstance(silent, ActionDeclaration)
    assert [type(one).__name__ for one in silent.body] == ["Let", "StepPoint", "Perform", "If", "While"]
    lined_up = HEAD + plain
    expected = load(lined_up, "a.ha").specification
    assert expected is not None
    other = expected.instantiate().system
    assert other is not None
    made = system(spoken, logs=False)
    assert [one.body for one in made.actions] == [one.body for one in other.actions]
    assert made.variables == other.variables


def test_declarations_without_lines_are_left_as_they_are() -> None:
    file, _ = parse(HEAD + "procedure p(s: S) do\naction go(s: S) do p(s) if s.n == 0 then { }\n", "a.ha")
    assert file is not None
    silent = without_logs(file.declarations)
    assert all(new is old for new, old in zip(silent, file.declarations, strict=True))


def test_definition_that_only_a_line_uses_is_used_and_its_names_are_no_uses() -> None:
    body = "define d(s: S) = s.n\nswitch off_duty = off\nswitch up_to_date = off\n"
    body += "action go(s: S) do log off_duty(up_to_date: d(s))\n"
    assert [code for code, _ in wrong(body)] == ["HA201", "HA201"]


# ---- faults and settings -----------------------------------------------------------------------------------------

FAULTS = """param crashes = 1 in 0..3
param pauses = 0 in 0..3
message ping() from S to S up to 2
operation ask() from S to S
action go(s: S) do
  send ping() to other(s)
  call ask() at other(s)
on ping() at s from t do s.n := 1
serve ask() at s from t do s.n := 1
faults {
  crash S up to crashes for good
  pause S up to pauses
  lose ping up to 1
  duplicate ping up to 1 when pauses == 0
  lose ask
  all together up to 2
}
"""


def budgets(made: System) -> list[StateVariable]:
    return [one for one in made.variables if one.role == "budget"]


def test_budgets_do_not_count_where_logs_are_compared() -> None:
    read = specification(FAULTS)
    counted, logged = read.instantiate().system, read.instantiate(logs=True).system
    assert counted is not None
    assert logged is not None
    assert len(budgets(counted)) == 4
    assert budgets(logged) == []
    names = {action.name for action in counted.actions}
    assert {action.name for action in logged.actions} == names
    assert logged.faults == (
        "crash S, any number of times, for good", "lose ping, any number of times",
        "duplicate ping, any number of times", "lose ask, any number of times",
    )  # fmt: skip


def test_budget_of_nothing_rules_a_fault_out_where_logs_are_compared() -> None:
    read = specification(FAULTS)
    made = read.instantiate({"crashes": "0", "pauses": "2"}, logs=True).system
    assert made is not None
    assert made.faults == (
        "pause S, any number of times", "lose ping, any number of times", "lose ask, any number of times"
    )  # fmt: skip
    none = specification(FAULTS.replace("together up to 2", "together up to 0")).instantiate(logs=True).system
    assert none is not None
    assert none.faults == ()


def test_what_a_loss_within_a_call_takes_from_does_not_count_either() -> None:
    body = """operation ask() from S to S atomic when true
action go(s: S) do call ask() at other(s)
serve ask() at s from t do s.n := 1
faults { lose ask up to 1 }
"""
    assert budgets(system(body)) == []
    assert len(budgets(system(body, logs=False))) == 1


TRACED = """param n = 1 in 0..9
param m = 1 in 0..9
switch odd = off
action go(c: C) when odd do c.k := n + m
check default with n = 2, odd = on
"""


def settings(body: str, given: dict[str, str], check: str | None, logs: bool) -> dict[str, str]:
    made = specification(body).instantiate(given, check, logs=logs)
    assert made.system is not None, made.diagnostics
    return dict(made.system.settings)


def test_settings_of_a_trace_come_before_those_of_a_check_and_after_those_given() -> None:
    body = TRACED + 'trace "as it was run" with n = 3, m = 4\n'
    assert settings(body, {}, None, False) == {"n": "1", "m": "1", "odd": "off"}
    assert settings(body, {}, "default", False) == {"n": "2", "m": "1", "odd": "on"}
    assert settings(body, {}, "default", True) == {"n": "3", "m": "4", "odd": "on"}
    assert settings(body, {"n": "5"}, "default", True) == {"n": "5", "m": "4", "odd": "on"}
    found = specification(body).trace
    assert found is not None
    assert (found.description, found.settings, found.line) == ("as it was run", (("n", "3"), ("m", "4")), 12)
    assert specification(TRACED).trace is None


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("trace with k = 1", [("HA140", "1")]),
        ("trace with n = 10", [("HA141", "10")]),
        ("trace with odd = 3", [("HA104", "3")]),
        ("trace with n = 1\ntrace with m = 1", [("HA143", "trace with m = 1")]),
    ],
)
def test_trace_that_cannot_be_is_a_mistake(trace: str, expected: list[tuple[str, str]]) -> None:
    assert wrong(TRACED + trace) == expected


def test_setting_that_only_a_trace_chooses_is_not_used() -> None:
    assert wrong("switch odd = off\ntrace with odd = on") == [("HA201", "odd")]


def test_what_the_settings_of_a_trace_make_of_a_spec_is_found_with_logs() -> None:
    body = "param n = 2 in 1..3\nnode T[n] symmetric { v: bool }\naction go(t: T) do t.v := other(t) == t\n"
    read = specification(body + "trace with n = 3\n")
    assert read.instantiate().diagnostics == ()
    assert [one.code for one in read.instantiate(logs=True).diagnostics] == ["HA108"]


def test_line_that_other_settings_make_wrong_is_found_with_logs() -> None:
    body = "param n = 2 in 1..3\nnode T[n] symmetric { v: bool }\naction go(t: T) do log saw(v: other(t).v)\n"
    read = specification(body + "check large with n = 3\n")
    assert read.instantiate(check="large").diagnostics == ()
    assert read.instantiate(logs=True).diagnostics == ()
    assert [one.code for one in read.instantiate(check="large", logs=True).diagnostics] == ["HA108"]
    assert wrong(body.replace("n = 2", "n = 3")) == [("HA108", "other(t)")]


def test_library_has_no_trace() -> None:
    libraries = {"lib.ha": 'library L "x"\ntrace with n = 1\n'}
    (found,) = load('system A "x" use "lib.ha" param n = 1 node S[n] { v: bool }', "a.ha", libraries.get).diagnostics
    assert (found.code, found.span.path) == ("HA143", "lib.ha")
    (itself,) = load(libraries["lib.ha"] + "param n = 1\n", "lib.ha").diagnostics
    assert itself.code == "HA143"
