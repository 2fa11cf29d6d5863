"""Actions left out before lowering: none of them ever happens, and those that no setting leads to are found."""

from __future__ import annotations

import pytest

from hacheck.compile.lowering.dead_actions import impossible
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.shipped import names
from tests.models.exploration import explore
from tests.properties.scale import seeds
from tests.properties.test_language_programs import explored, system_of
from tests.seeds.driving import specification

STATES_MAX = 40
"""Of a shipped spec, with the reference interpreter."""

SPEC = """system Steps "One way or the other."
switch slow = off
node Server[2] { at: 0..3 = 0 }
message hello(to_go: 0..3) from Server to Server "only the slow way says it"
action go(s: Server) when s.at == 0
do
  if slow then {
    step wait when s.at == 0:
    send hello(1) to each others(s)
  }
  s.at := 1
on hello(to_go) at s from other
do
  step heard:
  s.at := to_go
"""


def never(system: System) -> frozenset[int]:
    return impossible(system, Interpreter(system).initial_states())


@seeds(0, 45, together=15)
def test_no_step_of_a_random_program_is_left_out(seeds: range) -> None:
    left_out = 0
    for seed in seeds:
        system, found = explored(seed)
        assert not [action for action in never(system) if found.action_counts[action]], seed
        left_out += len(never(system))
    assert left_out >= 10


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("logs", [False, True])
def test_no_step_of_a_shipped_protocol_is_left_out(name: str, logs: bool) -> None:
    spec = specification(name)
    system = spec.instantiate({}, spec.checks[0].name, logs=logs).system
    assert system is not None
    counts = explore(system, STATES_MAX).action_counts
    assert not [action for action in never(system) if counts[action]]


def test_what_no_setting_leads_to_is_left_out() -> None:
    system = system_of(SPEC)
    found = {system.actions[action].name for action in never(system)}
    assert found == {"go.wait", "hello", "hello.heard"}
    assert not never(system_of(SPEC.replace("slow = off", "slow = on")))


def test_where_a_handler_waits_at_first_is_a_point_that_is_reached() -> None:
    """A log may begin in the middle of a handler: then nothing led there."""
    system = system_of(SPEC)
    inside = explore(system_of(SPEC.replace("slow = off", "slow = on"))).reached
    assert {system.actions[action].name for action in impossible(system, inside)} == set()


@pytest.mark.parametrize("capacity", ["", "fifo up to 2", "up to 2", "latest"])
def test_a_message_without_content_is_sent_all_the_same(capacity: str) -> None:
    """Its value is an empty record, which an empty sequence equals."""
    text = SPEC.replace("hello(to_go: 0..3) from Server to Server", f"hello() from Server to Server {capacity}")
    text = text.replace("hello(1)", "hello()").replace("hello(to_go)", "hello()").replace("s.at := to_go", "s.at := 3")
    system = system_of(text)
    assert {system.actions[action].name for action in never(system)} == {"go.wait", "hello", "hello.heard"}
    assert not never(system_of(text.replace("slow = off", "slow = on")))
