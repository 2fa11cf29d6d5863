"""The reference implementation beside its specs: what random runs found, each a small run that is done again.

`docs/decisions/0019-the-code-and-the-specs.md` says what was wrong, and by which document.
"""

from __future__ import annotations

from typing import Any

from hacheck.testing import do
from hacheck.testing.line_encoding import Event
from hacheck.testing.session import Session
from hacheck.testing.simulated_adapter import adapter_for
from hacheck.testing.state_tracker import Track
from hacheck.testing.stimuli import Step
from hacheck.testing.tested_model import model_for

Icestorm = adapter_for("icestorm")


def again(*steps: Step) -> None:
    """Does a run, also with faults at lines that random runs do not choose. Errors: `Disagreement`."""
    cluster = Icestorm()
    cluster.besides = steps
    session = Session(model_for(Icestorm), cluster)
    try:
        session.begin()
        for step in steps:
            assert session.take(step)
    finally:
        session.end()


def in_a_group_of_three(*lines: tuple[int, str, dict[str, Any]]) -> None:
    """What replicas might write, by their identifiers, once replica 3 coordinates all three. Errors: `AssertionError`
    for a line that no run of the spec writes there."""
    cluster = Icestorm()
    cluster.start()
    cluster.wait(0.05)
    begun = list(cluster.events())
    assert begun[-1].fields["new"] == "normal"
    tracker = model_for(Icestorm).tracker
    track = tracker.start
    for event in (*begun, *(Event(f"replica-{ident}", name, {"id": ident, **fields}) for ident, name, fields in lines)):
        after = tracker.after(track, event)
        assert isinstance(after, Track), after
        track = after


def test_a_member_that_fails_at_the_last_update_before_an_election_is_invited() -> None:
    """Real IceStorm HA, 2 (3) and (5): only a check drops members; old ones are invited."""
    again(
        do("wait", seconds=10.0),
        do("wait", seconds=2.0),
        do("wait", seconds=2.0),
        do("wait", seconds=10.0),
        do("wait", seconds=2.0),
        do("fault_cut", one="replica-1", other="replica-3", seconds=3.0),
        do("fault_crash", member="replica-1", seconds=5.0),
        do("wait", seconds=0.01),
        do("wait", seconds=2.0),
        do("fault_cut", one="replica-2", other="replica-3", seconds=15.0),
        do("fault_pause", member="replica-3", seconds=3.0),
        do("wait", seconds=10.0),
    )


def test_a_slave_took_the_database_and_its_answer_is_lost() -> None:
    """Real IceStorm HA, 2 (8) and (9): the coordinator goes by answers."""
    again(
        do("wait", seconds=10.0),
        do("fault_crash", member="replica-2", seconds=0.5),
        do("fault_reset", one="replica-1", other="replica-3", lines=47),
        do("wait", seconds=10.0),
        do("wait", seconds=10.0),
    )


def test_slaves_made_a_change_and_their_answers_are_lost() -> None:
    """Real IceStorm HA, 3 (c) and (d): the coordinator goes by answers. In an election it reaps nobody before."""
    made = {"topic": "news", "generation": 1, "iteration": 1}
    in_a_group_of_three(
        (1, "topic_created", made),
        (2, "topic_created", made),
        (3, "coordinators_found", {"highest": 2}),
        (3, "state_change", {"old": "normal", "new": "election"}),
        (3, "update_failed", {"topic": "news"}),
    )


def test_a_coordinator_is_invited_while_it_asks_who_else_coordinates() -> None:
    """Real IceStorm HA, 2 (3) and (6): it asks without a lock, and who is invited may wait for an update."""
    group = {"group": "2:9"}
    in_a_group_of_three(
        (2, "coordinator_lost", {"coordinator": 3, "denied": False}),
        (2, "state_change", {"old": "normal", "new": "inactive"}),
        (2, "group_created", {"group": "2:8"}),
        (2, "coordinators_found", {"highest": 3}),
        (2, "merge_scheduled", {}),
        (2, "state_change", {"old": "inactive", "new": "election"}),
        (2, "merge_started", {"invited": [3], **group}),
        (2, "invitation_sent", {"target": 3, **group}),
        (2, "invites", {"pending": [3]}),
        (3, "invitation_received", {"sender": 2, **group}),
        (3, "state_change", {"old": "normal", "new": "election"}),
        (3, "call_failed", {"target": 1}),
        (3, "state_change", {"old": "election", "new": "reorganization"}),
    )


def test_an_invitation_waits_for_a_connection_until_its_receiver_is_started_again() -> None:
    """Real IceStorm HA, 2 (5); a connection that is being made while the network is cut is made after it."""
    again(
        do("wait", seconds=0.01),
        do("wait", seconds=2.0),
        do("wait", seconds=2.0),
        do("fault_crash", member="replica-2", seconds=5.0, lines=5),
        do("fault_cut", one="replica-1", other="replica-3", seconds=15.0, lines=6),
        do("fault_power", member="replica-1", seconds=0.5, lines=2),
        do("fault_crash", member="replica-1", seconds=5.0, lines=5),
        do("wait", seconds=10.0),
        do("fault_crash", member="replica-1", seconds=0.5, lines=20),
        do("wait", seconds=0.01),
        do("fault_crash", member="replica-2", seconds=0.5, lines=6),
        do("fault_cut", one="replica-1", other="replica-3", seconds=3.0, lines=30),
        do("wait", seconds=10.0),
    )


def test_a_change_of_another_group_is_rejected_and_that_is_all() -> None:
    """Real IceStorm HA, 3 and 6; who is asked by name of a group that it has left need not leave its own."""
    again(
        do("fault_cut", one="replica-2", other="replica-3", seconds=15.0, lines=51),
        do("fault_crash", member="replica-2", seconds=0.5, lines=54),
        do("wait", seconds=10.0),
        do("wait", seconds=10.0),
        do("wait", seconds=10.0),
        do("wait", seconds=2.0),
    )
