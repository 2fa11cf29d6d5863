"""Dropping the locals that no later step reads changes nothing that can be observed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.language import load
from tests.language.examples import examples
from tests.models.exploration import explore
from tests.properties.keeping import assert_same
from tests.properties.scale import examples as tried

CASES = Path(__file__).resolve().parents[1] / "language" / "cases" / "handlers.md"


KEEPS_A_NODE = """system Alike "A node kept between two steps names none afterwards."
node S[3] symmetric { peer: S? = none  done: bool = false }
operation ask() from S to S returns bool
action go(s: S) when not s.done do
  choose t: S where t != s
  var best = t
  call ask() at t as heard
  s.done := true
  if heard == none then best := s
  step settle:
  s.peer := best
serve ask() at s from m do answer s.done
invariant other: no s: S where s.peer == s
"""


def test_a_node_kept_between_steps_is_told_apart_from_no_other() -> None:
    read = load(KEEPS_A_NODE, "alike.ha").specification
    assert read is not None
    system = read.instantiate().system
    assert system is not None
    whole = explore(system)
    answer = NativeEngine().check(system, (), Limits(), lambda _: True)
    assert (
        answer.reductions[0]
        == f"symmetry: S 1..3 are interchangeable, {answer.coverage.states} states stand for {whole.states}"
    )
    assert answer.coverage.states * 4 < whole.states


LOCALS = ("k", "j", "m")


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2, known: tuple[str, ...] = ()) -> str:
    """Statements of a handler of several steps that read and write locals `var k: 0..2`."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(("var", "write", "field", "key", "step", "if", "while", "for", "finish")))
        value = draw(st.sampled_from((*known, "s.a", "0", "1")))
        if kind == "var":
            name = draw(st.sampled_from(LOCALS))
            lines.append(f"var {name}: 0..2 = {value}")
            known = tuple(dict.fromkeys((*known, name)))
        elif kind == "write" and known:
            lines.append(f"{draw(st.sampled_from(known))} := {value}")
        elif kind == "field":
            lines.append(f"s.b := {value}")
        elif kind == "key":
            lines.append(f"g[{value}] := true")
        elif kind == "step":
            lines.append("step STEP:")
        elif kind == "if" and depth:
            inner, other = draw(bodies(depth - 1, known)), draw(bodies(depth - 1, known))
            lines.append(f"if {value} == 1 then {{ {inner} }} else {{ {other} }}")
        elif kind == "while" and depth:
            lines.append(f"while s.a != 2 do {{ {draw(bodies(depth - 1, known))} s.a := 2 step STEP: }}")
        elif kind == "for" and depth:
            lines.append(
                f"for e in {{1, 2}} do {{ {draw(bodies(depth - 1, (*known, 'e')))} step STEP: s.b := e }}".replace(
                    "e :=", "s.b :="
                )
            )
        elif kind == "finish" and number:
            lines.append(f"if {value} == 2 then finish")
    return " ".join(lines)


@given(bodies(), bodies())
@tried(40)
def test_dropped_locals_are_never_missed(first: str, second: str) -> None:
    numbered = f"{first} step STEP: {second}"
    parts = numbered.split("STEP")
    body = "".join(part + (f"p{index}" if index < len(parts) - 1 else "") for index, part in enumerate(parts))
    assert_same(
        'system Locals "x"\nnode S { a: 0..2 = 0  b: 0..2 = 0  n: 0..1 = 0 }\n'
        "shared g: map 0..2 to bool = false\n"
        f"action go(s: S) when s.n == 0 do s.n := 1 {body}\n"
        "action change(s: S) do s.a := if s.a == 0 then 1 else s.a\n"
    )


SOUND = [one.text for one in examples(CASES) if "step" in one.text and "error" not in " ".join(one.expected)]


@pytest.mark.parametrize("text", SOUND)
def test_shipped_cases_have_the_same_behaviour(text: str) -> None:
    assert_same(text)
