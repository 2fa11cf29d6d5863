"""The limits of a spec, and the spec with one of them raised."""

from __future__ import annotations

import pytest

from hacheck.model import ir
from hacheck.model.language import Specification, load
from hacheck.model.language.raised_limits import Raise, digest, raised, raises

SPEC = """system S "x"
param terms = 2 in 0..3 "a bound"
param servers = 2 in 2..4 "a size"
param crashes = 3 in 0..3 "a budget at the end of its range"
param losses = 0 in 0..1 "a budget"
param retries = -1 in -1..3 "-1: for ever"
param load = 7 "any number"
param calls = atomic in { atomic, halves, split } "how finely calls are explored"
param way = left in { left, right } "no limit"
switch odd = off "no limit"
assumption prompt = on "relied on"
assumption luck = off "not relied on"
type Term = counter up to terms
define budget = losses
identity Session up to 5
record Note { at: counter up to 6 }
node Server[servers] ranked { term: Term = 0  queue: sequence of 0..1 up to load + 1 = []  marked: Note = Note(0) }
node Client[2] symmetric { seen: bag of bool up to 2 = {} }
clock Server up to 4
message ping(session: Session) from Client to Server
message pong() from Server to Client fifo up to 3
message last() from Server to Client latest
operation ask() from Client to Server returns bool atomic when calls == atomic
serve ask() at s from c do answer true
action go(c: Client) do
  call ask() at Server(1) as x
  if x != none then send ping(fresh(Session)) to each all(Server)
on ping(session) at s from c do
  send pong() to c
  send last() to c
on pong() at c from s do c.seen := c.seen with true
on last() at c from s do c.seen := {}
action grow(s: Server) when odd and way == left and prompt and not luck and retries < 0 do s.term := s.term + 1
faults { crash Server up to crashes, pause Server up to 1, lose ping up to budget, all together up to 4 }
invariant small: every s: Server satisfies s.term <= 3
"""


def of(text: str) -> Specification:
    loaded = load(text, "s.ha")
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


SPECIFICATION = of(SPEC)
VALUES = {one.name: one.default for one in SPECIFICATION.parameters}


def found(*, bounds_reached: bool = False, **values: str) -> dict[str, Raise]:
    made, _ = raises(SPECIFICATION, VALUES | values, bounds_reached)
    return {one.name: one for one in made}


def system(*chosen: Raise) -> ir.System:
    specification, settings = raised(SPECIFICATION, chosen)
    made = specification.instantiate(settings)
    assert made.system is not None, made.diagnostics
    return made.system


def test_every_kind_of_limit_is_found_with_its_next_value() -> None:
    assert {name: (one.kind, one.before, one.after, one.setting) for name, one in found().items()} == {
        "terms": ("bound", "2", "3", True),
        "servers": ("size", "2", "3", True),
        "losses": ("fault budget", "0", "1", True),
        "load": ("bound", "7", "8", True),
        "calls": ("granularity", "atomic", "halves", True),
        "prompt": ("assumption", "on", "off", True),
        "Session": ("bound", "5", "6", False),
        "Note.at": ("bound", "6", "7", False),
        "Client": ("size", "2", "3", False),
        "Client.seen": ("bound", "2", "3", False),
        "clock Server": ("bound", "4", "5", False),
        "ping": ("bound", "1", "2", False),
        "pong": ("bound", "3", "4", False),
        "pause Server": ("fault budget", "1", "2", False),
        "all together": ("fault budget", "4", "5", False),
    }


def test_what_cannot_be_raised_is_named_with_its_reason() -> None:
    _, fixed = raises(SPECIFICATION, VALUES, False)
    assert {one.name: one.reason for one in fixed} == {
        "crashes": "3 is the end of its range 0..3",
        "retries": "-1 is negative: it stands for something other than a number",
    }
    _, fixed = raises(SPECIFICATION, VALUES | {"calls": "split"}, False)
    assert "calls" in {one.name for one in fixed}


def test_an_assumption_is_switched_off_only_where_it_is_on() -> None:
    assert "prompt" not in found(prompt="off")
    assert "luck" not in found(luck="on")  # on by the author's choice for this check, not by default


def test_a_bound_made_of_settings_is_raised_where_it_stands_once_a_bound_was_reached() -> None:
    assert "Server.queue" not in found()
    made = found(bounds_reached=True)["Server.queue"]
    assert (made.after, made.setting) == ("load + 1 + 1", False)
    assert ("capacity of Server.queue", "at most 9 in Server.queue") in system(made).bounds


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Session", "at most 6 different Sessions remembered at a time"),
        ("Note.at", "Note.at up to 7"),
        ("Client.seen", "at most 3 in Client.seen"),
        ("clock Server", "up to 5 ticks"),
        ("ping", "at most 2 ping under way on each link"),
        ("pong", "at most 4 pong under way on each link"),
        ("terms", "Term up to 3"),
        ("load", "at most 9 in Server.queue"),
    ],
)
def test_a_raised_bound_is_the_bound_of_the_system(name: str, meaning: str) -> None:
    before = {words for _, words in system().bounds}
    after = {words for _, words in system(found()[name]).bounds}
    assert after - before == {meaning}
    assert len(before - after) == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("pause Server", "pause Server, up to 2"),
        ("all together", "no more than 5 faults in all"),
        ("losses", "lose ping, up to 1"),
    ],
)
def test_a_raised_budget_is_the_budget_of_the_system(name: str, line: str) -> None:
    assert line not in system().faults
    assert line in system(found()[name]).faults


def test_raised_sizes_are_the_sizes_of_the_system() -> None:
    made = system(found()["Client"], found()["servers"])
    assert {node.name: node.size for node in made.nodes} == {"Server": 3, "Client": 3}


def test_a_place_is_told_where_no_setting_raises_the_limit() -> None:
    made = found()
    line = next(number for number, text in enumerate(SPEC.splitlines(), 1) if "pause Server" in text)
    assert made["pause Server"].words == f"pause Server up to 2 (s.ha:{line})"
    assert made["terms"].words == "terms = 3"


def test_the_digest_changes_with_the_meaning_only() -> None:
    before = digest(SPECIFICATION)
    silent = SPEC.replace('"a bound"', '"of terms"')
    assert digest(of("# a comment\n" + silent + "check one expect all hold\n")) == before
    assert digest(of(silent.replace("term: Term = 0", "term: Term = 0 acknowledged to clients"))) == before
    assert digest(of(silent.replace("term: Term = 0", "durable term: Term = 0"))) != before
    assert digest(of(silent.replace("identity Session up to 5", "identity Session up to 6"))) != before
    assert digest(of(silent.replace("s.term <= 3", "s.term <= 2"))) != before
    assert digest(of(silent.replace("terms = 2", "terms = 1"))) != before


ENDLESS = """system S "x"
param terms = 2 in 0..3
switch grows = on
type Term = counter up to terms or more (if grows)
type Stamp = counter up to 4 or more
node Server[2] symmetric { term: Term = 0  stamp: Stamp = 0  last: counter up to 5 = 0 }
action go(s: Server) do
  s.term := s.term + 1
  s.stamp := s.stamp + 1
  s.last := s.last + 1
invariant small: every s: Server satisfies s.last <= 5
"""


def test_the_number_of_a_counter_without_an_end_is_no_limit() -> None:
    specification = of(ENDLESS)
    values = {one.name: one.default for one in specification.parameters}
    made, fixed = raises(specification, values, True, ("Term", "Stamp"))
    assert {one.name for one in made} == {"Server", "Server.last"}
    assert {one.name: one.reason for one in fixed} == {
        "terms": "Term has no end under these settings",
        "Stamp": "it has no end under these settings",
    }


def test_it_is_one_where_the_counter_ended() -> None:
    specification = of(ENDLESS)
    values = {one.name: one.default for one in specification.parameters}
    made, fixed = raises(specification, values, True, ("Stamp",))
    assert {one.name for one in made} == {"terms", "Server", "Server.last"}
    assert [one.name for one in fixed] == ["Stamp"]


def test_a_setting_that_limits_more_than_a_counter_without_an_end_is_raised() -> None:
    specification = of(ENDLESS.replace("counter up to 5", "counter up to terms"))
    values = {one.name: one.default for one in specification.parameters}
    made, fixed = raises(specification, values, True, ("Term", "Stamp"))
    assert {one.name for one in made} == {"terms", "Server"}
    assert [one.name for one in fixed] == ["Stamp"]
