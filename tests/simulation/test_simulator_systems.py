"""Every protocol that can be run by name is a system that a seed decides, and whose messages survive the wire."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import reduce
from importlib.util import find_spec
from operator import or_
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hacheck.impl.node import Effect, Input, Name, Node, Send, Setup
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.profiles import profile
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.simulator.targets import Cluster
from hacheck.impl.system import Member, Refused, System
from hacheck.impl.systems import PLACES, names, system
from tests.nightly import first_of

ROOT = Path(__file__).parents[2]
THERE = [name for name in names() if find_spec(PLACES[name].rpartition(".")[0]) is not None]


class Short:
    """A system whose runs have next to no quiet phase: nobody asks what was kept."""

    def __init__(self, of: System) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def quiet_us(self, options: Any) -> int:
        return 1


class Wired(Short):
    """A system whose messages go through bytes, as they do between real processes."""

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        return WiredNode(self._of.start(member, members, setup), self._of.messages)

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        return self._of.serving({name: node.node for name, node in nodes.items() if isinstance(node, WiredNode)})


class WiredNode:
    def __init__(self, node: Node, kinds: tuple[type, ...]) -> None:
        self.node = node
        self.decode = msgspec.msgpack.Decoder(reduce(or_, kinds)).decode

    def __getattr__(self, name: str) -> Any:
        return getattr(self.node, name)

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        return [
            Send(effect.to, self.decode(msgspec.msgpack.encode(effect.message))) if type(effect) is Send else effect
            for effect in self.node.handle(given, now_us)
        ]


def plan_for(of: System, seed: int) -> Plan:
    for replicas in (3, 2, 1):
        try:
            of.members(replicas, 2, of.options({}))
        except Refused:
            continue
        return Plan(seed=seed, faults="chaos", replicas=replicas, fault_us=15_000_000)
    pytest.fail("neither three, two nor one replica")


def digest(of: System, seed: int) -> str:
    history = History()
    run(of, plan_for(of, seed), history)
    return history.digest()


@pytest.mark.parametrize("name", first_of(THERE, 2))
def test_run_of_a_protocol_does_not_depend_on_how_python_orders_sets(name: str) -> None:
    program = (
        "import sys\nfrom hacheck.impl.systems import system\n"
        "from tests.simulation.test_simulator_systems import Short, digest\n"
        "print([digest(Short(system(sys.argv[1])), seed) for seed in (1, 2)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program, name],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("name", THERE)
def test_messages_of_a_protocol_mean_the_same_after_the_wire(name: str) -> None:
    of = system(name)
    assert digest(Short(of), 3) == digest(Wired(of), 3)


@pytest.mark.parametrize("name", THERE)
def test_protocol_names_faults_that_it_survives(name: str) -> None:
    of = system(name)
    plan = plan_for(of, 0)
    members = of.members(plan.replicas, plan.clients, of.options({}))
    assert profile("promised", of, Cluster(members)).faults


@pytest.mark.parametrize("name", THERE)
def test_protocol_keeps_every_promise_without_faults(name: str) -> None:
    of = system(name)
    assert of.name == name
    outcome = run(of, msgspec.structs.replace(plan_for(of, 0), faults="none", fault_us=5_000_000))
    assert outcome.kept, outcome
    assert outcome.delivered > 0
