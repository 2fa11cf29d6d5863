"""What initial states cost, beside exploring: nodes with two free booleans each, and a token ring with any counters.

    python bench/starts.py

CPU seconds of the reference interpreter's enumeration, of the engine's, of all that is done before machine code is
printed (the engine's enumeration, lowering, looking for reductions), and of the whole verification with machine code
kept from an earlier run of the table. Three runs in turn, the middle ones printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import in_turn, machine, middle

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.native_program import lowered_form
from hacheck.model.initial_states import initial_states
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load

BOOLEANS = """system Booleans
node Node[{size}] symmetric {{ a: bool = false  b: bool = false }}
initially do for n: Node do {{ choose x: bool  n.a := x  choose y: bool  n.b := y }}
environment action go(n: Node) when n.a do n.a := false n.b := true
reachable all: every n: Node satisfies n.b and not n.a
invariant none_lost: every n: Node satisfies n.a or n.b or not n.a
"""
RING = """system Ring
node Node[{size}] ranked {{ c: 0..{most} = 0 }}
initially do for n: Node do {{ choose x: 0..{most}  n.c := x }}
define before(n: Node): Node = if n == Node(1) then Node({size}) else max m: Node where m < n by m
environment action first(n: Node) when n == Node(1) and n.c == Node({size}).c do
  n.c := if n.c == {most} then 0 else n.c + 1
environment action rest(n: Node) when n != Node(1) and n.c != before(n).c do n.c := before(n).c
invariant a_token: Node(1).c == Node({size}).c or some n: Node where n != Node(1) and n.c != before(n).c
"""


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of some work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measured(system: System, folder: Path) -> tuple[float, float, float, float]:
    """CPU seconds of the four columns, once."""
    engine = NativeEngine(cache=folder)
    return (
        seconds(Interpreter(system).initial_states),
        seconds(partial(initial_states, system)),
        seconds(partial(lowered_form, system, (), True)),
        seconds(partial(engine.check, system, (), Limits(), lambda _: True)),
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    texts = {
        "6 nodes, 2 booleans": BOOLEANS.format(size=6),
        "8 nodes, 2 booleans": BOOLEANS.format(size=8),
        "ring of 5": RING.format(size=5, most=4),
        "ring of 6": RING.format(size=6, most=5),
    }
    print(machine())
    print(f"{'':22} {'starts':>8} {'interpreter':>12} {'engine':>8} {'before code':>12} {'verify':>8}")
    systems: dict[str, System] = {}
    for name, text in texts.items():
        found = load(text, "starts.ha").specification
        assert found is not None
        system = found.instantiate({}).system
        assert system is not None
        systems[name] = system
    with TemporaryDirectory() as folder:
        runs = in_turn([partial(measured, system, Path(folder)) for system in systems.values()], given.runs)
    for (name, system), found_runs in zip(systems.items(), runs, strict=True):
        one = middle(found_runs, sum)
        print(
            f"{name:22} {len(initial_states(system)):>8,} {one[0]:>12.2f} {one[1]:>8.2f} {one[2]:>12.2f} {one[3]:>8.2f}"
        )


if __name__ == "__main__":
    main()
