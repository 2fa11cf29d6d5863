"""The quick enumeration of initial states has those of the reference interpreter, in its order."""

from __future__ import annotations

import random

import pytest

from hacheck import shipped
from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.cli.sources import load_specification
from hacheck.compile.lowering.layout import contents, held, lay_out, pack, pack_all
from hacheck.model.evaluation import StartError
from hacheck.model.initial_states import initial_states
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.runs import State
from tests.nightly import first_of, nightly

HEAD = """system Starts
type Colour = { red, green, blue }
record Pair { left: 0..2  right: Node? }
node Node[3] {
  a: bool = false  n: 0..2 = 1  c: Colour = red  peer: Node? = none  p: Pair = Pair(0, none)  s: set of Node = {}
}
node Other[2] { peers: map Node to 0..2 = (each k: Node -> 0) }
shared total: 0..3 = 0
shared seen: set of Node = {}
invariant i: every n: Node satisfies n.a or not n.a or n.n + total > 0 or size(seen) > 0
action go(n: Node) when n.n > 0 do n.a := not n.a
initially do
"""
PIECES = (
    "for n: Node do { choose x: bool  n.a := x }",
    "for n: Node do { choose x: 0..2 where x < 2  n.n := x if n.a then n.c := blue else { choose d: Colour n.c := d }}",
    "for n: Node where n.a do { choose m: Node where m != n  n.peer := m }",
    "for n: Node do { choose x: 0..2  n.p := Pair(x, n) }",
    "for n: Node do { choose x: 0..1  n.p.left := x  n.n := n.p.left }",
    "for n: Node do { choose x: bool  if x then seen := seen with n }",
    "for n: Node where n.n > 0 do { choose x: bool  if x and total < 3 then total := total + 1 }",
    "for n: Node do { choose x: bool where x or n.a  n.a := x }",
    "for n: Node do { choose x: bool  require x or not n.a  n.c := blue }",
    "for n: Node do for m: Node where m != n do { choose x: bool  if x then n.s := n.s with m }",
    "for o: Other do { choose m: Node  choose x: 1..2  o.peers[m] := x }",
    "for n: Node do if some m: Node where m.a and m != n then n.n := 2 else { choose x: 0..1  n.n := x }",
    "for n: Node do { choose x: bool  if some m: Node where m.a and m != n then n.a := x }",
    "choose k: Node  for n: Node where n != k do { choose x: 0..1  n.n := x }",
    "choose ok: bool where ok and (some n: Node where n.n == 1)",
    "for n: Node do { var was = n.n  choose x: 0..2 where x >= was  n.n := x }",
    "for n: Node where n in seen do n.n := n.n + 1",
)
"""Parts of a start: loops whose turns are apart, and loops whose turns see each other or need not be possible."""
SEEDS = range(60)


def composed(seed: int) -> System:
    """A system whose start is made of some of the pieces."""
    chosen = random.Random(seed).sample(PIECES, 2)
    found = load(HEAD + "".join(f"  {one}\n" for one in chosen), "starts.ha")
    assert found.specification is not None, found.diagnostics
    system = found.specification.instantiate({}).system
    assert system is not None
    return system


def reference(system: System) -> tuple[State, ...] | str:
    try:
        return Interpreter(system).initial_states()
    except StartError as error:
        return str(error)


def quick(system: System) -> tuple[State, ...] | str:
    try:
        return initial_states(system)
    except StartError as error:
        return str(error)


@pytest.mark.parametrize("seed", first_of(SEEDS, 12))
def test_composed_start_has_the_states_of_the_interpreter(seed: int) -> None:
    system = composed(seed)
    expected = reference(system)
    assert quick(system) == expected
    if expected and not isinstance(expected, str):
        layout = lay_out(system)
        some = expected[:: max(len(expected) // 50, 1)]
        assert pack_all(layout, some) == [pack(layout, state) for state in some]
        rows = [contents(layout, state) for state in some]
        assert held(layout, some) == [set(column) for column in zip(*rows, strict=True)]


@nightly
@pytest.mark.parametrize("spec", shipped.names())
def test_shipped_spec_has_the_states_of_the_interpreter(spec: str) -> None:
    specification = load_specification(spec)
    for check in specification.checks[:3]:
        system = specification.instantiate({}, check.name).system
        assert system is not None
        assert quick(system) == reference(system)


@pytest.mark.parametrize("seed", range(3))
def test_engines_find_the_same_from_composed_starts(seed: int) -> None:
    system = composed(seed)
    found = [
        (answer.coverage.states, [one.verdict for one in answer.properties], answer.coverage.transitions)
        for engine in (NativeEngine(reductions=False), PortableEngine())
        for answer in [engine.check(system, (), Limits(), lambda _: True)]
    ]
    assert found[0] == found[1]
