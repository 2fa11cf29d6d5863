"""Two load balancers as a spec, an adapter and log lines: small, with hidden faults, and two masters after a cut."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged

SPEC = """system Guarded "Two load balancers: one takes over when it hears the other no longer."
node LB[2] symmetric { state mode: { down, backup, master } = down }
on restart of n: LB "the process starts"
do
  log started() at n
  n.mode := down
action begin(n: LB) when n.mode == down
do
  log backup() at n
  n.mode := backup
environment action take(n: LB) "no advert came"
  when n.mode == backup and (no o: LB where o.mode == master and up(o) and connected(o, n))
do
  log master() at n
  n.mode := master
faults {
  crash LB up to 1
  cut LB - LB up to 1
}
invariant one_master "never do both have the address": at most one n: LB where n.mode == master and up(n)
check default expect one_master violated
"""

ADAPTER = r"""name = "balancers"
about = "lines of two load balancers"

[files]
name = '(?P<node>lb\d)\.log'

[line]
head = '(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) '
time = "iso"
zone = "UTC"

[[event]]
name = "started"
has = "started"
pattern = 'started'

[[event]]
name = "backup"
has = "is backup"
pattern = 'is backup'

[[event]]
name = "master"
has = "is master"
pattern = 'is master'
"""

WORDS = {"started": "started", "backup": "is backup", "master": "is master"}
START = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
SKEW_MS = 100


def the_system() -> System:
    """The system that logs are compared with."""
    specification = load(SPEC, "guarded.ha").specification
    assert specification is not None, "it has no mistake"
    system = specification.instantiate({}, "default", logs=True).system
    assert system is not None, "it has no mistake"
    return logged(system)


def line(node: int, event: str, seconds: float) -> tuple[str, str]:
    """A file and a line of it, so many seconds after the first."""
    stamp = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    return f"lb{node}.log", f"{stamp} {WORDS[event]}\n"


def random_lines(seed: int, length: int) -> list[tuple[str, str]]:
    """The lines of a random run, in the order in which they are written. The clocks differ by less than the skew."""
    chance = random.Random(seed)
    ahead = {1: chance.uniform(0, 0.045), 2: chance.uniform(0, 0.045)}
    interpreter = Interpreter(the_system())
    state, now = interpreter.initial_states()[0], 1.0
    found: list[tuple[str, str]] = []
    while len(found) < length:
        step, lines = chance.choice(list(interpreter.steps_with_lines(state)))
        state, now = step.state, now + chance.uniform(0.001, 0.4)
        for one in lines:
            assert one.node is not None, "every line has a writer"
            found.append(line(one.node[1], one.event, now + ahead[one.node[1]]))
    return found
