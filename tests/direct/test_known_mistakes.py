"""Wrong answers that the first meaning once gave: the direct interpreter gives the right ones, each for its reason."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from hacheck.model.direct import BoundReached, DirectSystem, ForgottenRead, Node, load
from hacheck.model.direct.interfaces import FORGOTTEN, State
from hacheck.model.language.specification import load as read
from tests.direct.exploration import Explored, explore


def system_of(text: str, **settings: str) -> DirectSystem:
    """The system of a text under its defaults."""
    loaded = read(text, "mistake.ha", examined=False)
    assert loaded.specification is not None, loaded.diagnostics
    return load(loaded.specification, settings)


def verdicts(text: str) -> dict[str, str]:
    """What every property comes out as."""
    system = system_of(text)
    found = _explored(system)
    return {name: found.verdict(name, kind) for name, kind in system.properties().items()}


def _explored(system: DirectSystem) -> Explored:
    found = explore(system, 5_000)
    assert found.complete
    assert found.errors == []
    return found


ONLY_AS_A_KEY = """system X
node A { done: bool = false  second: bool = false }
shared g: map bool to 0..1 = 0
action go(a: A) when not a.done do
  choose q: bool
  a.done := true
  step one:
  a.second := q
  step two:
  g[q] := 1
invariant never_true: g[true] == 0
"""


def test_local_used_only_as_a_key_is_kept() -> None:
    assert verdicts(ONLY_AS_A_KEY) == {"never_true": "violated"}


@pytest.mark.parametrize("made", ["let k = a.key", "for k in {a.key} do {", "choose k in {a.key}"])
def test_any_local_may_be_used_only_as_a_key(made: str) -> None:
    end = "}" if made.endswith("{") else ""
    text = f"""system X
    node A {{ done: bool = false  key: bool = true }}
    shared g: map bool to 0..1 = 0
    action go(a: A) when not a.done do
      {made}
      a.done := true
      step one:
      g[k] := 1
      {end}
    reachable written: g[true] == 1 and g[false] == 0
    """
    assert verdicts(text) == {"written": "holds"}


def _goes_on(forgotten: tuple[str, ...]) -> None:
    """Takes the step after `two`, with these locals forgotten there."""
    system = system_of(ONLY_AS_A_KEY)
    level = [step.outcome for step in system.initial()]
    for _ in range(2):
        level = [step.outcome for state in level if isinstance(state, State) for step in system.successors(state)]
    node = Node("A", 1)
    for state in level:
        assert isinstance(state, State)
        observed = dict(system.observe(state))
        assert observed["at", node, "main"] == ("go", "two")
        for name in forgotten:
            observed["local", node, "go", name] = FORGOTTEN
        assert [step.name for step in system.successors(system.restore(observed))] == ["go.two"]


def test_forgotten_local_that_is_read_is_noticed() -> None:
    with pytest.raises(ForgottenRead) as caught:
        _goes_on(("q",))
    assert (caught.value.handler, caught.value.local) == ("go", "q")


def test_forgotten_local_that_is_not_read_does_no_harm() -> None:
    _goes_on(("a",))


@pytest.mark.parametrize(
    ("body", "point", "forgotten"),
    [
        ("for x in {1, 2} do { step turn: a.sum := a.sum + x }", "turn", "rest of x"),
        ("for x in {1, 2} do { step turn: a.sum := a.sum + x }", "turn", "x"),
        ("let r = Pair(1, 2)  step turn: a.sum := r.left", "turn", "r"),
        ("var r = Pair(1, 2)  step turn: r.left := 2  a.sum := r.left", "turn", "r"),
        ("let k = 1  step turn when a.sum < k: a.sum := 1", "turn", "k"),
        ("let k = 1  step turn: give(k)", "turn", "k"),
        ("let k = A  step turn: send m(1) to k", "turn", "k"),
        ("let k = 1  step turn: send m(k) to A", "turn", "k"),
        ("let k = {A}  step turn: send m(1) to each k", "turn", "k"),
        ("let k = A  step turn: sync k.disk", "turn", "k"),
        ("let k = 1  step turn: require k == 1", "turn", "k"),
        ("let k = 1  step turn: choose x in {1, 2} where x == k", "turn", "k"),
        ("let k = true  step turn: while k and a.sum == 0 do { a.sum := 1  step again: }", "turn", "k"),
    ],
)
def test_every_way_to_read_a_local_is_noticed(body: str, point: str, forgotten: str) -> None:
    system = system_of(f"""system X
    record Pair {{ left: 0..3, right: 0..3 }}
    node A {{ sum: 0..3 = 0  synced disk: bool = false }}
    message m(x: 0..3) from A to A
    procedure give(x: 0..3) do A.sum := x
    action go(a: A) when a.sum == 0 do
      {body}
    """)
    (begun,) = (step.outcome for step in system.initial())
    assert isinstance(begun, State)
    (waiting,) = (step.outcome for step in system.successors(begun))
    assert isinstance(waiting, State)
    observed = dict(system.observe(waiting))
    node = Node("A", 1)
    assert observed["at", node, "main"] == ("go", point)
    observed["local", node, "go", forgotten] = FORGOTTEN
    with pytest.raises(ForgottenRead, match=f"`{forgotten}`"):
        list(system.successors(system.restore(observed)))


@pytest.mark.parametrize(("nodes", "noticed"), [("A[2]", True), ("A", False)])
def test_parameter_that_is_read_is_noticed_unless_it_can_be_one_node_only(nodes: str, noticed: bool) -> None:
    system = system_of(f"""system X
    node {nodes} {{ sum: 0..3 = 0 }}
    action go(a: A) when a.sum == 0 do
      step turn: a.sum := 1
    """)
    begun = next(step.outcome for step in system.initial())
    assert isinstance(begun, State)
    waiting = next(step.outcome for step in system.successors(begun))
    assert isinstance(waiting, State)
    observed = dict(system.observe(waiting))
    (node,) = (key[1] for key in observed if key[0] == "at" and observed[key] is not None)
    observed["local", node, "go", "a"] = FORGOTTEN
    with pytest.raises(ForgottenRead, match="`a`") if noticed else nullcontext():
        list(system.successors(system.restore(observed)))


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("crash B up to 1 for good when not up(A)", "not up(B)"),
        ("wipe B up to 1 for good when not up(A)", "not up(B)"),
        ("blackout B up to 1 for good when not up(A)", "not up(B)"),
        ("pause B up to 1 when not up(A)", "paused(B)"),
        ("cut A - B up to 1 when not up(A)", "not connected(A, B)"),
        ("isolate B up to 1 when not up(A)", "not connected(A, B)"),
        ("crash B up to 1 for good when paused(A)", "not up(B)"),
    ],
)
def test_fault_may_ask_whether_a_node_is_down(fault: str, what: str) -> None:
    text = f"""system X
    node A {{ }}
    node B {{ }}
    faults {{ crash A up to 1 for good, pause A up to 1, {fault} }}
    reachable happens: {what}
    """
    assert verdicts(text) == {"happens": "holds"}


THREE_SENDS = """system X
node A { next: 1..4 = 1 }
node B { got: sequence of 1..2 up to 4  listens: bool = false }
message m(x: 1..2) from A to B fifo up to 4
action go(a: A) when a.next < 4 do
  send m(if a.next == 2 then 2 else 1) to B
  a.next := a.next + 1
action listen(b: B) when not b.listens do b.listens := true
on m(x) at b from a when b.listens do b.got := b.got with x
"""


def test_any_message_of_a_queue_may_be_lost() -> None:
    text = f"""{THREE_SENDS}
    faults {{ lose m up to 1 }}
    define done = A.next == 4 and not in_flight(m)
    reachable first: done and B.got == [2, 1]
    reachable second: done and B.got == [1, 1]
    reachable third: done and B.got == [1, 2]
    """
    assert set(verdicts(text).values()) == {"holds"}


def test_copy_of_a_message_may_arrive_beside_it() -> None:
    text = f"""{THREE_SENDS}
    faults {{ duplicate m up to 1 }}
    reachable beside: B.got == [1, 1, 2, 1]
    """
    assert verdicts(text) == {"beside": "holds"}


def test_beginning_beyond_a_bound_is_no_state() -> None:
    system = system_of("system X\nnode S { n: counter up to 1 = 0 }\ninitially do S.n := 2\ninvariant i: S.n == 0")
    assert [step.outcome for step in system.initial()] == [BoundReached("S.n")]


@pytest.mark.parametrize(
    ("kind", "freed"), [("", False), ("freed late", True), ("lease 2 ticks", False)], ids=["plain", "late", "lease"]
)
def test_lock_that_is_given_back_in_vain_stays_or_is_left_over(kind: str, freed: bool) -> None:
    text = f"""system X
    node Host {{ }}
    node S {{ state mode: {{ new, has, gave, again }} = new }}
    clock S up to 3
    lock L on Host held by S {kind}
    action take(s: S) when s.mode == new do acquire L then s.mode := has
    action give(s: S) when s.mode == has do
      s.mode := gave
      release L
    action ask(s: S) when s.mode == gave do acquire L then s.mode := again
    faults {{ cut S - Host up to 1 }}
    define stays = old(holder(L)) == S and S.mode == gave and old(S.mode) == gave
    step_invariant kept: stays implies holder(L) == S or time() != old(time())
    step_invariant free_first: S.mode == again and old(S.mode) != again implies old(free(L))
    """
    found = verdicts(text)
    assert found == {"kept": "violated" if freed else "holds", "free_first": "holds" if kind else "violated"}


def test_node_that_is_halted_by_its_own_call_goes_on_with_nothing() -> None:
    text = """system X
    node S { v: 0..1 = 0  durable begun: bool = false }
    operation stop() from S to S atomic when true
    serve stop() at s from c do halt
    action go(s: S) when not s.begun do
      s.begun := true
      call stop() at s
      s.v := 1
    invariant ended: S.begun and not up(S) implies S.v == 0
    reachable halted: S.begun and not up(S)
    """
    assert verdicts(text) == {"ended": "holds", "halted": "holds"}


def test_identities_are_held_by_locals_as_long_as_they_can_be_named() -> None:
    text = """system X
    identity G up to 1
    node S { done: bool = false  kept: G?  other: G? }
    operation draw() from S to S returns G atomic when true
    serve draw() at s from c do answer fresh(G)
    action one_by_one(s: S) when not s.done do
      for x in {1, 2} do { let g = fresh(G)  s.done := g == g }
    action both(s: S) when not s.done do
      let g = fresh(G)
      call draw() at s as h
      s.kept := g
      s.other := value(h)
    reachable freed: S.done
    reachable twice: S.kept != none
    """
    assert verdicts(text) == {"freed": "holds", "twice": "violated"}
