"""Bugs that somebody else thought of, each with one simulated run in which its harm shows, and as which broken promise.

Random faults hardly ever hit them: a replica must lose its power within a write, or a store must become slow within a
millisecond. So the faults are written down, as a list. The code as it is keeps every promise in the same run.

    python -m tests.quality.directed

prints a row for each: what the code as it is breaks, what it breaks with the bug, and CPU seconds of both runs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.systems import system
from tests.quality.bugs import PACKAGE, Bug
from tests.quality.seeding import seeded

SECOND_US = 1_000_000

RELOADED = (f"{PACKAGE}.protocols.", f"{PACKAGE}.kit.")


class Directed(Struct, frozen=True):
    """A bug, the run that shows it, and the promise that it breaks there. `promise` of none: the bug is harmless, and
    its run is that of the code as it is, promise for promise."""

    bug: Bug
    promise: str
    faults: tuple[Fault, ...]
    clients: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)
    seconds: int = 20

    @property
    def plan(self) -> Plan:
        """The run."""
        return Plan(
            seed=1,
            faults=self.faults,
            replicas=2,
            clients=self.clients,
            settings=self.settings,
            fault_us=self.seconds * SECOND_US,
        )


def _fault(kind: str, at: float, lasts: float, member: str, amount: int = 0) -> Fault:
    return Fault(kind, int(at * SECOND_US), int(lasts * SECOND_US), (member,), target="one", amount=amount)


DIRECTED = (
    Directed(
        Bug(
            "acknowledged_before_the_disk",
            "fiorano-replicated",
            "fiorano.database_copies",
            '        self._write(given.changes, "replica", given.sequence)\n',
            '        self._write(given.changes, "replica", given.sequence)\n'
            "        self._channel.send(Replicated(self._channel.out_name, given.sequence))\n",
            "The copy answers before its disk does: the power fails there, and it serves alone without the change.",
        ),
        "acknowledged-kept",
        (
            _fault("disk-slow", 7.5, 2, "backup", 40),
            _fault("power", 8, 25, "primary"),
            _fault("power", 8.000001, 1, "backup"),
        ),
        settings={"epochs_in_lock_file": "true"},
    ),
    Directed(
        Bug(
            "epoch_not_compared",
            "fiorano-replicated",
            "fiorano.epoch_claim",
            "        if given.failed or theirs > self._known:",
            "        if given.failed:",
            "Who starts alone reads in the lock file that its peer has served since, and serves with its old copy.",
        ),
        "acknowledged-kept",
        (
            _fault("crash", 4, 6, "backup"),
            _fault("power", 8, 30, "primary"),
        ),
        settings={"epochs_in_lock_file": "true"},
    ),
    Directed(
        Bug(
            "lock_back_before_the_last_write",
            "artemis-shared-store",
            "artemis.shared_store.active",
            "    broker.server.held.clear()\n",
            "    broker.server.held.clear()\n    broker.unlock(PRIMARY_LOCK)\n",
            "A backup that makes way gives its lock back while its last writes are on their way to a slow store.",
        ),
        "one-active",
        (
            _fault("crash", 6, 4, "primary-1"),
            Fault("slow", 10_045_632, 4 * SECOND_US, links=(("backup-1", "store"),), target="pair", amount=8000),
        ),
        clients=8,
        settings={"pause_us": "2000"},
        seconds=12,
    ),
    Directed(
        Bug(
            "timeout_a_microsecond_late",
            "fiorano-shared",
            "fiorano.lock_file",
            "self._process.now_us - self._requested_us >= self._timeout_us",
            "self._process.now_us - self._requested_us > self._timeout_us",
            "`>` for `>=`: the lock counts as lost at the next look. In the spec it may be lost at any time.",
        ),
        "",
        (
            _fault("crash", 6, 4, "primary"),
            Fault("cut", 12 * SECOND_US, 6 * SECOND_US, links=(("backup", "gateway"),), target="from-host"),
        ),
    ),
)


def broken(one: Directed, *, changed: bool) -> tuple[list[str], float]:
    """What the run of a bug breaks, with it or without it, and CPU seconds; in a process of its own, split off."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            for name in [name for name in sys.modules if name.startswith(RELOADED)]:
                del sys.modules[name]
            with seeded(one.bug if changed else None):
                begun = time.process_time()
                outcome = run(system(one.bug.protocol), one.plan)
                promises = sorted({each.promise for each in outcome.broken})
                promises += [] if outcome.defect is None else [outcome.defect.what]
                content = json.dumps([promises, time.process_time() - begun])
        except BaseException as error:
            content = json.dumps([[f"{type(error).__name__}: {error}"], 0.0])
        with os.fdopen(writing, "w") as pipe:
            pipe.write(content)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        promises, seconds = json.loads(pipe.read())
    os.waitpid(child, 0)
    return promises, seconds


def rows() -> Iterator[str]:
    """The table."""
    yield "| bug | as it is | with the bug | CPU s |"
    yield "|---|---|---|---|"
    for one in DIRECTED:
        (before, first), (after, second) = broken(one, changed=False), broken(one, changed=True)
        said = ", ".join(before) or "keeps all", ", ".join(after) or "keeps all"
        yield f"| {one.bug.name} | {said[0]} | {said[1]} | {first + second:.1f} |"


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
