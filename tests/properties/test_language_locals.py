"""Dropping the locals that no later step reads changes nothing that can be observed."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hacheck.model.ir import System
from hacheck.model.language import liveness, load
from hacheck.model.language.handlers import Handler
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter, Taken
from tests.language.examples import examples

STATES_MAX = 1_500
CASES = Path(__file__).resolve().parents[1] / "language" / "cases" / "handlers.md"


def system_of(text: str, keep_all: bool) -> System:
    """The spec's system; with `keep_all`, each local is kept from its declaration on, for ever."""

    def everything(handler: Handler) -> dict[str, frozenset[str]]:
        return dict.fromkeys(handler.segments, frozenset(handler.frames))

    read = load(text, "example.ha").specification
    assert read is not None, load(text, "example.ha").diagnostics
    if keep_all:
        with patch.object(liveness, "live", everything):
            made = read.instantiate()
    else:
        made = read.instantiate()
    assert made.system is not None
    return made.system


Observed = tuple[object, ...]


def observed(system: System, state: State) -> Observed:
    """A state without the locals that are kept in it, but with the place of each handler."""
    return tuple(
        value
        for variable, value in zip(system.variables, state, strict=True)
        if variable.role != "frame" or variable.name.count(".") == 1
    )


def behaviour(system: System) -> tuple[set[tuple[Observed, str, Observed]], set[Observed], int] | None:
    """All observable steps, and how many states tell them; `None` for a system that is too large."""
    interpreter = Interpreter(system)
    reached = set(interpreter.initial_states())
    level, steps = list(reached), set()
    while level:
        state = level.pop()
        for outcome in interpreter.outcomes(state):
            if not isinstance(outcome, Taken):
                continue
            after = outcome.step.state
            name = system.actions[outcome.step.action].name
            steps.add((observed(system, state), name, observed(system, after)))
            if after not in reached:
                reached.add(after)
                level.append(after)
        if len(reached) > STATES_MAX:
            return None
    return steps, {observed(system, state) for state in reached}, len(reached)


def assert_same(text: str) -> None:
    kept, lean = behaviour(system_of(text, True)), behaviour(system_of(text, False))
    if kept is None or lean is None:
        return
    assert lean[:2] == kept[:2], text
    assert lean[2] <= kept[2]


LOCALS = ("k", "j", "m")


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2, known: tuple[str, ...] = ()) -> str:
    """Statements of a handler of several steps that read and write locals `var k: 0..2`."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(("var", "write", "field", "step", "if", "while", "for", "finish")))
        value = draw(st.sampled_from((*known, "s.a", "0", "1")))
        if kind == "var":
            name = draw(st.sampled_from(LOCALS))
            lines.append(f"var {name}: 0..2 = {value}")
            known = tuple(dict.fromkeys((*known, name)))
        elif kind == "write" and known:
            lines.append(f"{draw(st.sampled_from(known))} := {value}")
        elif kind == "field":
            lines.append(f"s.b := {value}")
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
@settings(max_examples=60)
def test_dropped_locals_are_never_missed(first: str, second: str) -> None:
    numbered = f"{first} step STEP: {second}"
    parts = numbered.split("STEP")
    body = "".join(part + (f"p{index}" if index < len(parts) - 1 else "") for index, part in enumerate(parts))
    assert_same(
        'system Locals "x"\nnode S { a: 0..2 = 0  b: 0..2 = 0  n: 0..1 = 0 }\n'
        f"action go(s: S) when s.n == 0 do s.n := 1 {body}\n"
        "action change(s: S) do s.a := if s.a == 0 then 1 else s.a\n"
    )


@pytest.mark.parametrize("text", [one.text for one in examples(CASES) if "step" in one.text])
def test_shipped_cases_have_the_same_behaviour(text: str) -> None:
    assert_same(text)
