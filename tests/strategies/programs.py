"""Random `.ha` files: handlers of several steps that call, send, lock and remember, and faults that interrupt them.

The texts are well-typed; most have fewer than a thousand states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

from tests.strategies.choosing import Chooser, Drawn, chance, pick, weighted

KINDS = {"n": "0..2", "b": "bool", "o": "0..2?", "s": "S", "g": "G"}
"""The types of locals, by a letter."""


@dataclass
class Program:
    """A file being written. `atomic`: whether a call is one step. `identities`: whether there are any."""

    chooser: Chooser
    atomic: bool
    identities: bool
    numbers: count[int] = field(default_factory=count)

    def fresh(self, word: str) -> str:
        return f"{word}{next(self.numbers)}"


@dataclass(frozen=True)
class Place:
    """Where a statement stands: the locals known there, those that may change, and how deep it is."""

    program: Program
    known: tuple[tuple[str, str], ...] = ()
    changing: tuple[tuple[str, str], ...] = ()
    depth: int = 2
    steps: bool = True

    def names(self, kind: str) -> list[str]:
        return [name for name, held in self.known if held == kind]

    def learns(self, name: str, kind: str, changes: bool = False) -> Place:
        more = ((name, kind),)
        return Place(
            self.program, (*self.known, *more), (*self.changing, *(more if changes else ())), self.depth, self.steps
        )

    def inner(self, steps: bool | None = None) -> Place:
        return Place(self.program, self.known, self.changing, self.depth - 1, self.steps if steps is None else steps)


# ---- expressions ----


def value(place: Place, kind: str) -> str:
    """An expression of a kind, a local more often than not."""
    chooser, known = place.program.chooser, place.names(kind)
    if known and chance(chooser, 60):
        return pick(chooser, known)
    match kind:
        case "n":
            return pick(chooser, ["0", "1", "2", "s.a", "s.c", "s.a"])
        case "b":
            return pick(chooser, ["true", "false", condition(place)])
        case "o":
            return pick(chooser, ["none", "s.heard", value(place, "n")])
        case "s":
            return pick(chooser, ["s", "other(s)"])
        case _:
            return "fresh(G)" if place.program.identities else "s.name"


def condition(place: Place) -> str:
    chooser = place.program.chooser
    plain = [f"{value(place, 'n')} == {pick(chooser, ['0', '1', '2'])}", "s.heard == none", "s.peer == s"]
    for kind, against in (("b", "true"), ("o", "none"), ("s", "s")):
        plain += [f"{name} == {against}" for name in place.names(kind)]
    plain += [f"s.name == {name}" for name in place.names("g")]
    return pick(chooser, plain)


# ---- statements ----


def body(place: Place, length: int) -> str:
    """Statements in a row; each knows the locals of those before it, and what they hold is stored at the end."""
    made = []
    for _ in range(length):
        text, place = statement(place)
        made.append(text)
    for name, kind in (("a", "n"), ("heard", "o"), ("peer", "s"), ("name", "g")):
        if place.names(kind) and chance(place.program.chooser, 25 if place.depth < 2 else 60):
            made.append(f"s.{name} := {value(place, kind)}")
    return " ".join(made)


def block(place: Place) -> str:
    return "{ " + body(place.inner(), place.program.chooser.integer(1, 3)) + " }"


def statement(place: Place) -> tuple[str, Place]:
    chooser = place.program.chooser
    nested = 4 if place.depth else 0
    kinds = [(3, "local"), (4, "field"), (1, "choose"), (1, "send"), (nested, "if")]
    if place.changing:
        kinds.append((4, "write"))
    if place.steps:
        kinds += [(4, "step"), (3, "call"), (nested // 2, "loop"), (nested // 4, "acquire")]
    kind = weighted(chooser, [(weight, word) for weight, word in kinds if weight])
    match kind:
        case "local":
            return _local(place)
        case "write":
            name, held = pick(chooser, place.changing)
            return f"{name} := {value(place, held)}", place
        case "field":
            return _field(place), place
        case "choose":
            name, held = place.program.fresh("c"), pick(chooser, ["n", "s"])
            return f"choose {name}: {KINDS[held]}", place.learns(name, held)
        case "send":
            return f"send tell({value(place, 'n')}) to {value(place, 's')}", place
        case "if":
            otherwise = f" else {block(place)}" if chance(chooser, 60) else ""
            return f"if {condition(place)} then {block(place)}{otherwise}", place
        case "step":
            step = f"step {place.program.fresh('p')}{pick(chooser, ['', '', ' holding'])}:"
            if place.changing and chance(chooser, 50):
                name, held = pick(chooser, place.changing)
                step += f" {name} := {value(place, held)}"
            return step, place
        case "call":
            name = place.program.fresh("x")
            call = f"call ask({value(place, 'n')}) at {value(place, 's')} as {name}"
            answers = [one for one, held in place.changing if held == "o"]
            return f"{call} {pick(chooser, answers)} := {name}" if answers else call, place.learns(name, "o")
        case "acquire":
            return f"acquire L then {block(place)} else {block(place)}", place
        case _:
            return _loop(place), place


def _local(place: Place) -> tuple[str, Place]:
    chooser = place.program.chooser
    kind, changes = (
        weighted(chooser, [(3, "n"), (1, "b"), (3, "o"), (3, "s"), (2 * place.program.identities, "g")]),
        chance(chooser, 70),
    )
    name = pick(chooser, [one for one, _ in place.known]) if place.known and chance(chooser, 15) else None
    if name is None or dict(place.known)[name] != kind:
        name = place.program.fresh("v")
    text = f"{'var' if changes else 'let'} {name}: {KINDS[kind]} = {value(place, kind)}"
    kept = Place(
        place.program,
        tuple(one for one in place.known if one[0] != name),
        tuple(one for one in place.changing if one[0] != name),
        place.depth,
        place.steps,
    )
    return text, kept.learns(name, kind, changes)


def _field(place: Place) -> str:
    chooser = place.program.chooser
    name, kind = weighted(
        chooser,
        [
            (4, ("a", "n")),
            (1, ("c", "n")),
            (2, ("heard", "o")),
            (2, ("peer", "s")),
            (2 * place.program.identities, ("name", "g")),
        ],
    )
    return f"s.{name} := {value(place, kind)}"


def _loop(place: Place) -> str:
    chooser, program = place.program.chooser, place.program
    if chance(chooser, 50):
        return f"while s.a != 2 do {{ {body(place.inner(), 1)} s.a := 2 step {program.fresh('p')}: }}"
    name = program.fresh("e")
    inside = place.inner().learns(name, "n")
    return f"for {name} in {{1, 2}} do {{ {body(inside, chooser.integer(1, 2))} step {program.fresh('p')}: }}"


# ---- files ----

FAULTS = [
    "crash S up to 1",
    "crash S up to 1 for good",
    "pause S up to 1",
    "cut S - S up to 1",
    "lose ask up to 1",
    "lose L up to 1",
]
ASKED = [
    "s.a == 1",
    "s.a == 2",
    "s.c == 1",
    "s.c == 2",
    "s.heard == none",
    "s.heard == 1",
    "s.peer == s",
    "s.name == none",
    "running(s, go0)",
    "holds(L, s)",
]


@st.composite
def programs(draw: Any) -> str:
    """Random files, as `random_program` makes them."""
    return random_program(Drawn(draw))


def random_program(chooser: Chooser, identities: bool = True) -> str:
    """A file with one or two handlers of several steps. `identities`: whether these may draw fresh ones."""
    program = Program(chooser, chance(chooser, 25), identities)
    atomic = " atomic when true" if program.atomic else ""
    faults = pick(chooser, FAULTS) if chance(chooser, 45) else ""
    served = Place(program, (("x", "n"), ("m", "s")), (), 1, not program.atomic)
    handlers = [_handler(program, number) for number in range(weighted(chooser, [(3, 1), (1, 2)]))]
    answer = f"answer {value(served, 'n')}" if chance(chooser, 80) else ""
    return "\n".join(
        (
            'system Random "made by chance"',
            "identity G",
            f"node S[2] {pick(chooser, ['symmetric', 'ranked'])} {{ a: 0..2 = 0  durable c: 0..2 = 0",
            "  heard: 0..2? = none  peer: S? = none  name: G? = none  left: 0..1 = 1 }",
            f"operation ask(x: 0..2) from S to S returns 0..2{atomic}",
            "message tell(x: 0..2) from S to S latest",
            "lock L held by S",
            *handlers,
            f"serve ask(x) at s from m do {body(served, chooser.integer(0, 1))} {answer}",
            "on tell(x) at s from m do s.a := x",
            f"faults {{ {faults} }}",
            *(_property(program, number) for number in range(3)),
        )
    )


def _handler(program: Program, number: int) -> str:
    place = Place(program)
    length = program.chooser.integer(2, 5)
    guard = pick(program.chooser, ["s.left == 1", "s.left == 1 and s.peer == none", f"s.c == {number}"])
    return f"action go{number}(s: S) when {guard} do s.left := 0 {body(place, length)} step end{number}:"


def _property(program: Program, number: int) -> str:
    chooser = program.chooser
    first, second = pick(chooser, ASKED), pick(chooser, ASKED)
    asked = pick(chooser, [first, f"{first} and {second}", f"{first} and not ({second})"])
    return pick(
        chooser,
        [
            f"reachable p{number}: some s: S where {asked}",
            f"reachable p{number}: every s: S satisfies {first}",
            f"invariant p{number}: no s: S where {asked}",
            f"invariant p{number}: at most one s: S where {asked}",
            f"step_invariant p{number}: every s: S satisfies old({first}) implies {second}",
            f"deadlock_free p{number} except every s: S satisfies s.left == 0",
        ],
    )
