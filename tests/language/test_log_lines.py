"""Lines of logs: who writes what, what a line shows, and what cannot be written."""

from __future__ import annotations

import re

import pytest

from hacheck.model.ir import Local, Log, Observation
from hacheck.model.language import load
from hacheck.model.rewrite import statements
from hacheck.model.system_text import print_term
from tests.language.log_specs import HEAD, specification, system, wrong


def lines(body: str) -> dict[str, list[tuple[str, str]]]:
    """For each action that writes lines: what it may write, and on which node."""
    found: dict[str, list[tuple[str, str]]] = {}
    for action in system(body).actions:
        for one in statements(action.body):
            if isinstance(one, Log):
                shown = ", ".join(
                    f"{field.name}{'~' if field.by_name else '='}{print_term(field.value)}" for field in one.fields
                )
                who = "nobody" if one.node is None else print_term(one.node)
                found.setdefault(action.name, []).append((f"{one.event}({shown})", who))
    return found


def events(body: str) -> dict[str, list[tuple[str, str]]]:
    """The same, of the events alone, with the locals that write them by name."""
    return {
        name: [(line.partition("(")[0], who.removeprefix('(Local "').partition('"')[0]) for line, who in written]
        for name, written in lines(body).items()
    }


# ---- who writes --------------------------------------------------------------------------------------------------


def test_handlers_write_on_their_node() -> None:
    body = """message ping() from S to S latest
operation ask() from S to S
lock L held by S
action go(s: S) do log went() send ping() to other(s)
on ping() at s from t do log pinged()
action query(s: S) do
  log asks()
  call ask() at other(s)
  log asked()
serve ask() at s from t do log served()
action take(s: S) do acquire L then { log took() } else { log failed() }
on lost L at s do log lost()
on restart of s: S do log started()
faults { crash S  lose L }
"""
    assert events(body) == {
        "go": [("went", "s")],
        "ping": [("pinged", "s")],
        "query": [("asks", "s")],
        "query.ask": [("asked", "s")],
        "ask": [("served", "s")],
        "take": [("took", "s"), ("failed", "s")],
        "lost_L": [("lost", "s")],
        "restart S": [("started", "s")],
    }


def test_service_within_its_caller_s_step_writes_on_the_callee() -> None:
    body = """operation ask(v: 0..2) from C to S atomic when true
action query(c: C) do
  log asks()
  call ask(c.k) at m
  log asked()
serve ask(v) at s from c do log served(value: v)
shared m: S
"""
    (asks, served, asked) = events(body)["query"]
    assert (asks, asked) == (("asks", "c"), ("asked", "c"))
    assert served[0] == "served"
    assert served[1].startswith("callee")


def test_environment_writes_on_the_node_it_names_or_on_none() -> None:
    body = "environment action go(s: S) do log here() at s log nowhere()"
    assert events(body) == {"go": [("here", "s"), ("nowhere", "nobody")]}


def test_procedure_writes_on_the_node_it_names() -> None:
    body = "procedure tell(s: S, why: 0..9) do log told(why: why) at s\naction go(s: S) do tell(other(s), s.n)\n"
    ((event, who),) = lines(body)["go"]
    assert event.startswith("told(why=")
    assert who != '(Local "s" (Node "S" 2 false))', "the procedure's `s` is another one"


def test_line_stands_where_it_is_written() -> None:
    body = "action go(s: S) do log before(n: s.n) s.n := 1 log after(n: s.n)"
    (action,) = system(body).actions
    assert [type(one).__name__ for one in action.body] == ["Log", "Assign", "Log"]
    assert [one.line for one in action.body if isinstance(one, Log)] == [7, 7]


def test_loop_and_condition_write_inside() -> None:
    body = "action go(s: S) do for o in others(s) do log saw(n: o.n) if s.n > 0 then log large() else log small()"
    assert [event for event, _ in events(body)["go"]] == ["saw", "large", "small"]


def test_local_of_an_earlier_step_is_kept_for_a_line() -> None:
    body = "action go(s: S) do\n  let before = s.n\n  step wait:\n  log waited(since: before)\n"
    assert lines(body)["go.wait"][0][0].startswith('waited(since=(Index (Variable "S.go.before"')
    kept = {one.name for one in system(body).variables} - {one.name for one in system(body, logs=False).variables}
    assert kept == {"S.go.before"}


# ---- what is shown -----------------------------------------------------------------------------------------------


def test_line_shows_what_no_node_can_know() -> None:
    body = """lock L held by S
action go(s: S) do log all(once: s.once, other: other(s).n, holder: holder(L), up: up(other(s)), seen: s.seen)
action take(s: S) do acquire L then s.n := 1
faults { crash S }
"""
    assert len(lines(body)["go"]) == 1


@pytest.mark.parametrize(
    ("field", "by_name"),
    [
        ("s.n", False), ("s.n as name", True), ("s.group", True), ("value(s.group)", True), ("s", False),
        ("s as name", True), ("s.seen", False), ("s.once", False), ("{}", None), ("size(s.seen)", False),
    ],
)  # fmt: skip
def test_identities_and_what_is_said_to_be_are_shown_by_name(field: str, by_name: bool | None) -> None:
    body = f"action go(s: S) do log x(f: {field})"
    if by_name is None:
        assert wrong(body) == [("HA107", "{}")]
    else:
        ((line, _),) = lines(body)["go"]
        assert line.startswith("x(f~" if by_name else "x(f=")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("action go(s: S) do log x(f: s.pair)", [("HA112", "f")]),
        ("action go(c: C) do log x(f: c.queue)", [("HA112", "f")]),
        ("action go(s: S) do log x(f: each k: S -> k.n)", [("HA112", "f")]),
        ("action go(s: S) do log x(f: s.seen as name)", [("HA112", "f")]),
        ("action go(s: S) do log x(f: { value(t.group) for t in all(S) })", [("HA112", "f")]),
        ("action go(s: S) do s.n := 1\nobserve x of go shows f = n.pair", [("HA112", "f")]),
        ("action go(s: S) do s.n := 1\nobserve x of go shows f = n.seen as name", [("HA112", "f")]),
        ("action go(s: S) do log x(f: s.n, f: s.n)", [("HA101", "f")]),
        ("action go(s: S) do s.n := 1\nobserve x of go shows f = n.n, f = n.n", [("HA101", "f")]),
        ("action go(s: S) do log x(f: s.m)", [("HA103", "m")]),
        ("action go(s: S) do log x(f: old(s.n))", [("HA106", "old(s.n)")]),
        ("action go(s: S) do log x() at s.n", [("HA104", "s.n")]),
        ("shared m: S?\naction go(s: S) do log x() at m", [("HA104", "m")]),
        ("action go(s: S) do log x(f: fresh(Group))", [("HA134", "fresh(Group)")]),
        ("define g = fresh(Group)\naction go(s: S) do log x(f: g)", [("HA134", "g")]),
        ("procedure p(s: S) do log x(f: s.n)\naction go(s: S) do p(s)", [("HA132", "log x(f: s.n)")]),
        (
            "procedure q(s: S) do log x()\nprocedure p(s: S) do q(s)\naction go(s: S) do p(s)",
            [("HA132", "log x()")],
        ),
        ("initially do log x()", [("HA132", "log x()")]),
        ("procedure p(s: S) do log x() at s\ninitially do for s: S do p(s)", [("HA132", "log x() at s")]),
    ],
)  # fmt: skip
def test_line_that_cannot_be_written_is_a_mistake(body: str, expected: list[tuple[str, str]]) -> None:
    assert wrong(body) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("action go(s: S) do log x(s.n)", "each field of a log line has its name: `log EVENT(field: value, …)`"),
        ("action go(s: S) do log x(3)", "each field of a log line has its name: `log EVENT(field: value, …)`"),
        ("action go(s: S) do log (n: s.n)", "a line has an event: `log EVENT(field: value, …)`"),
    ],
)
def test_line_that_cannot_be_read_says_how_lines_are_written(text: str, hint: str) -> None:
    (found,) = load(HEAD + text, "a.ha").diagnostics
    assert (found.code, found.hint) == ("HA005", hint)


def test_words_of_lines_are_names_elsewhere() -> None:
    body = """shared log: 0..2 = 0
shared name: bool = false
action go(s: S, trace: bool) do
  log := 1
  log log(log: log, name: name as name, trace: trace)
  name := trace
"""
    ((line, _),) = lines(body)["go"]
    assert line.startswith("log(log=")


# ---- lines of one event ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        ("s.n", "3", True), ("s.n", "size(s.seen)", True), ("s.n", "s.once", False), ("s", "s.n", False),
        ("s.n", "s.n as name", False), ("s.group", "value(s.group)", True), ("s.seen", "{7}", True),
        ("s.seen", "s.groups", False), ("s.n", "s.seen", False), ("s", "(max t in all(S) by t.n)", True),
        ("s.n", "m", False), ("m", "m", True),
    ],
)  # fmt: skip
def test_lines_of_one_event_agree(first: str, second: str, agree: bool) -> None:
    expected = [] if agree else [("HA133", "f")]
    line = f"shared m: 0..2?\naction a(s: S) do log x(f: {first})\n"
    assert wrong(f"{line}action b(s: S) do log x(f: {second}, more: s.n)") == expected
    of_n = re.sub(r"\bs\b", "n", second)
    assert wrong(f"{line}observe x of a shows f = {of_n}") == expected


def test_both_places_of_lines_that_do_not_agree_are_shown() -> None:
    text = HEAD + "action a(s: S) do log x(f: s.n)\naction b(s: S) do log x(f: s.once)"
    (found,) = load(text, "a.ha").diagnostics
    ((span, words),) = found.labels
    assert (text[: span.start].count("\n"), words) == (6, "a number here")
    assert found.message == "`f` of `x` is bool here, and a number elsewhere"


# ---- observe -----------------------------------------------------------------------------------------------------


def observed(body: str, logs: bool = False) -> tuple[Observation, ...]:
    return system(body, logs).observations


def test_observation_shows_fields_of_a_node_before_and_after() -> None:
    body = "action go(s: S) do s.n := 1\nobserve x of go when n.n > 0 shows f = old(n.n), g = n.group, h = n as name"
    (found,) = observed(body)
    assert [(one.name, one.by_name) for one in found.fields] == [("f", False), ("g", True), ("h", True)]
    assert found.node is not None
    assert (found.event, found.handlers, found.node.name, found.line) == ("x", ("go",), "S", 8)
    assert observed(body, logs=True) == (found,)


def test_faults_are_observed_on_the_node_they_happen_to() -> None:
    body = """observe gone of crash, wipe S
observe back of restart S shows n = n.n
observe slow of pause C
observe awake of resume shows k = n.k
observe net of cut, heal, isolate
faults { crash S  wipe S  wipe C  pause C  cut S - S  isolate S }
"""
    found = {one.event: one for one in observed(body)}
    kinds = {name: None if one.node is None else one.node.name for name, one in found.items()}
    assert kinds == {"gone": "S", "back": "S", "slow": "C", "awake": "C", "net": None}
    assert found["gone"].handlers == ("crash", "wipe")
    assert set(found["net"].handlers) == {"cut", "heal", "isolate"}
    names = {action.handler for action in system(body).actions}
    assert {handler for one in found.values() for handler in one.handlers} <= names


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("observe x of crash\nfaults { crash S  crash C }", [("HA128", "crash")]),
        ("observe x of restart\nfaults { crash S  wipe C }", [("HA128", "restart")]),
        ("observe x of restart\naction go(c: C) do halt\nfaults { crash S }", [("HA128", "restart")]),
        ("observe x of crash", [("HA103", "crash")]),
        ("observe x of crash C\nfaults { crash S }", [("HA103", "C")]),
        ("observe x of resume\nfaults { crash S }", [("HA103", "resume")]),
        ("observe x of crash D\nfaults { crash S }", [("HA102", "D")]),
        ("observe x of cut S\nfaults { cut S - C }", [("HA128", "S")]),
        ("observe x of go, crash\naction go(c: C) do c.k := 1\nfaults { crash S }", [("HA128", None)]),
        ("observe x of go, cut\naction go(c: C) do c.k := 1\nfaults { cut S - C }", [("HA128", None)]),
        ("observe x of go S\naction go(c: C) do c.k := 1", [("HA128", "S")]),
        ("observe x of gone\naction go(c: C) do c.k := 1", [("HA103", "gone")]),
        ("observe x of cut shows f = n.n\nfaults { cut S - C }", [("HA103", "n")]),
    ],
)
def test_observation_that_cannot_be_is_a_mistake(body: str, expected: list[tuple[str, str | None]]) -> None:
    whole = body.partition("\n")[0]
    assert wrong(body) == [(code, whole if at is None else at) for code, at in expected]


def test_restart_of_the_only_kind_that_halts_is_observed() -> None:
    (found,) = observed("observe x of restart\naction go(c: C) do halt\n")
    assert found.node is not None
    assert found.node.name == "C"


def test_service_without_a_step_is_not_observed_where_logs_are_compared() -> None:
    body = """param calls = 1 in 0..1
operation ask() from S to S atomic when calls == 1
action query(s: S) do call ask() at other(s)
serve ask() at s from t do s.n := 1
observe x of ask shows n = n.n
"""
    read = specification(body)
    assert read.instantiate().diagnostics == ()
    (found,) = read.instantiate(logs=True).diagnostics
    assert (found.code, found.hint) == ("HA132", "write `log` in `serve ask`")
    assert read.instantiate({"calls": "0"}, logs=True).diagnostics == ()


def test_node_of_an_observation_is_called_n() -> None:
    (found,) = observed("action go(other_name: S) do other_name.n := 1\nobserve x of go shows f = n")
    assert found.node is not None
    assert found.fields[0].value == Local("n", found.node)
