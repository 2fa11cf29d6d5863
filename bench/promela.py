"""A check of any spec as a Promela model, so that Spin explores the same state graph.

    python bench/promela.py SPEC [--check NAME] [--set NAME=VALUE]... > model.pml

Prints the lowered form: one variable for each slot, one process with one loop, one `d_step` for each outcome that an
action instance can have in a state. Spin then stores exactly the states that hacheck finds, and makes exactly its
steps, but for what it needs to choose among several initial states. Errors of the spec and bounds are no steps here
either.

Invariants that are asked for become one more process, which waits for one to be broken: so Spin, too, looks at them
in every state.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from promela_steps import Option, options
from promela_text import NotInPromela, Writer, hidden_declaration, names_of, slot_declaration
from systems import system_of

from hacheck.checker.explicit.property_conditions import pose
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.layout import contents
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter, call
from hacheck.model.ir import System
from hacheck.model.runs import State
from hacheck.supervise.recursion_limit import room_for_nesting


def promela(system: System, invariants: Sequence[str] = ()) -> str:
    """The Promela text of a system, with some of its invariants. Raises `NotInPromela` where a number is too wide, or
    where nothing can start."""
    initial = Interpreter(system).initial_states()
    if not initial:
        raise NotInPromela(f"{system.name} has no initial state")
    return promela_of(lower(system, initial, copies_max=1), initial, invariants)


def promela_of(lowered: Lowered, initial: Sequence[State], invariants: Sequence[str] = ()) -> str:
    """The Promela text of a lowered system, with some of its invariants."""
    names = names_of(lowered.layout)
    writer = Writer(names)
    with room_for_nesting():
        lines = [line for option in options(lowered) for line in _option(lowered, option, writer)]
        watching = _watching(lowered, invariants, writer) if invariants else []
    start = list(dict.fromkeys(tuple(contents(lowered.layout, state)) for state in initial))
    kept = [slot for slot, described in enumerate(lowered.layout.slots) if described.fixed is None]
    declared = [slot_declaration(lowered.layout.slots[slot], names[slot], start[0][slot]) for slot in kept]
    hidden = [hidden_declaration(name, low, high) for name, (low, high) in writer.hidden.items()]
    chosen: list[str] = []
    if len(start) > 1:
        chosen = ["if", *(f":: d_step {{ {_set(names, kept, row)} }}" for row in start), "fi;"]
    return "\n".join(
        [
            f"/* {lowered.system.name}, printed from its lowered form */",
            *declared,
            *hidden,
            "active proctype Model() {",
            *chosen,
            "end: do",
            *lines,
            "od",
            "}",
            *watching,
            "",
        ]
    )


def _watching(lowered: Lowered, invariants: Sequence[str], writer: Writer) -> list[str]:
    """A process that runs into an error once an invariant is broken."""
    broken = [item.wanted for item in pose(lowered, tuple(invariants)).sought if item.key in invariants]
    tests = " || ".join(map(writer.text, broken))
    return ["active proctype Invariants() {", f"end: atomic {{ {tests} -> assert(false) }}", "}"]


def _set(names: list[str], kept: list[int], row: tuple[int, ...]) -> str:
    return "; ".join(f"{names[slot]} = {row[slot]}" for slot in kept) or "skip"


def _option(lowered: Lowered, option: Option, writer: Writer) -> list[str]:
    instance = option.instance
    title = call(lowered.system, instance.action, instance.arguments).replace("*/", "* /")
    guard = writer.conjunction(option.guard)
    return [f":: /* {title} */ d_step {{ {guard} ->", *("  " + line for line in writer.block(option.block)), "}"]


def main() -> None:
    """Prints the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path)
    parser.add_argument("--check")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    settings = dict(item.split("=", 1) for item in given.set)
    print(promela(system_of(given.spec, given.check, settings)), end="")


if __name__ == "__main__":
    main()
