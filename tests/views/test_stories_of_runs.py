"""Sentences of a story that a small spec makes necessary: calls that fail without a fault, locks that are believed to
be held, calls that are refused for ever, instances that are no nodes."""

from __future__ import annotations

import pytest

from hacheck.checker.described_run import run_title
from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.runs import Run


def sentences(text: str, name: str) -> dict[str, str]:
    """The story of the shortest run that violates a property, by the rules of its sentences."""
    system, run = violated(text, name)
    asked = next(one for one in system.properties if one.name == name)
    reader = ViewReader(Views(system, {}).view(run, asked).to_json())
    return {one["rule"]: one["text"] for one in reader.view["story"]}


def title(text: str, name: str) -> str:
    """How long the shortest run is that violates a property, in words."""
    return run_title(*violated(text, name))


def violated(text: str, name: str) -> tuple[System, Run]:
    """The system of a text, and the shortest run that violates a property."""
    specification = load(text, "story.ha").specification
    assert specification is not None
    system = specification.instantiate().system
    assert system is not None
    answers = PortableEngine().check(system, (name,), Limits(), lambda _: True).properties
    (answer,) = (one for one in answers if one.name == name)
    assert answer.run is not None
    return system, answer.run


CALLED = """
system Called "A client asks a server, and may not hear the answer."
node Server { stored : bool = false }
node Client { state mode : { new, done, gave_up } = new }
operation store() from Client to Server returns bool atomic when true
serve store() at s from c do
  s.stored := true
  answer true
action ask(c: Client) when c.mode == new do
  call store() at Server as came
  if came == true then c.mode := done else c.mode := gave_up
faults { lose store up to 1 }
invariant told "whoever stored something hears of it": not (Server.stored and Client.mode == gave_up)
"""


def test_an_answer_that_a_fault_takes_away_within_a_step_is_a_fault() -> None:
    assert sentences(CALLED, "told")["faults"] == "Faults: Server 1's answer to store is lost (1)."
    assert title(CALLED, "told") == "1 step, 1 fault"


@pytest.mark.parametrize(
    "text",
    [CALLED.replace(" up to 1", ""), CALLED.replace("atomic when true", "atomic when true timeout when true")],
    ids=["a loss without a limit", "a time-out"],
)
def test_a_call_without_an_answer_is_said_where_nothing_tells_why(text: str) -> None:
    expected = "No node, link or lock fails. But `store` of Client 1 to Server 1 gets no answer, though it is done (1)."
    assert sentences(text, "told")["faults"] == expected
    assert title(text, "told") == "1 step"


LEFT = """
system Left "A server takes a lock and does nothing more; the lock is lost, and another takes it."
node Server[2] { state mode : { idle, active } = idle }
lock Disk held by Server
action start(s: Server) when s.mode == idle do acquire Disk then s.mode := active
faults { lose Disk up to 1 }
invariant one "at most one serves": at most one s: Server where s.mode == active
"""


def test_a_lock_that_is_lost_is_told_though_its_holder_does_nothing_any_more() -> None:
    said = sentences(LEFT, "one")["lock"]
    assert said.startswith("Server 1 believes it holds Disk, since step 1. It does not: Disk was lost at step 2")
    assert said.endswith("At the end it still believes so.")


REFUSED = """
system Refused "A client asks a server that never agrees."
node Server { n : 0..1 = 0 }
node Client { state mode : { waiting, served } = waiting }
operation serve_me() from Client to Server returns bool atomic when true
serve serve_me() at s from c do answer false
action ask(c: Client) when c.mode == waiting do
  call serve_me() at Server as came
  if came == true then c.mode := served
eventually served "the client is served": Client.mode == served fair ask
"""


def test_what_is_refused_in_each_round_of_an_endless_run_is_said() -> None:
    said = sentences(REFUSED, "served")["loop"]
    assert said.endswith(
        "never comes true. In each round `serve_me` of Client 1 to Server 1 is answered false (step 1)."
    )


KEPT = """
system Kept "Messages are kept by some server, or lost."
type Message = 1..2
node Server[2] { kept : set of Message = {} }
shared sent : set of Message = {}
define safe(m: Message) = some s: Server where m in s.kept
action send(s: Server) do
  choose m: Message where not (m in sent)
  sent := sent union {m}
  s.kept := s.kept union {m}
action forget(s: Server) when s.kept != {} do s.kept := {}
invariant all_kept "what was sent is kept": every m: Message satisfies m in sent implies safe(m)
"""


def test_an_instance_that_is_no_node_has_the_name_of_its_variable_and_the_values_that_decide() -> None:
    said = sentences(KEPT, "all_kept")["facts"]
    assert said == (
        "For m = 1: 1 in sent (sent is {1}); safe(1) is false (Server 1's kept is {}, Server 2's kept is {})."
    )


HANGING = """
system Hanging "A service that may hang."
node Server { hangs : bool = false  served : bool = false }
environment action hang(s: Server) when not s.hangs do s.hangs := true
action serve(s: Server) when not s.hangs and not s.served do s.served := true
faults { crash Server up to 1 }
invariant serving "nobody hangs after it served": not (Server.hangs and Server.served)
"""


def test_what_the_environment_does_is_said_of_a_run_without_a_fault_of_the_list() -> None:
    told = sentences(HANGING, "serving")["faults"]
    assert told == "No fault of the list of faults happens. The environment does: hang (2)."


def test_a_run_in_which_the_environment_does_nothing_has_no_fault_at_all() -> None:
    told = sentences(HANGING.replace("environment action", "action"), "serving")["faults"]
    assert told == "Nothing failed: this run has no fault at all."
