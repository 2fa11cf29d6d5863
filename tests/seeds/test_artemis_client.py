"""The client library of Artemis, what a failover does to it: rules that only the spec can leave out.

"Manual" is "High Availability and Failover".
"""

from __future__ import annotations

import pytest

from tests.seeds.driving import Cluster, system

LIVE, BACKUP, PRODUCER = 1, 2, 1


class Producing(Cluster):
    """A producer, and a pair of brokers of which the first one serves."""

    @property
    def phase(self) -> tuple[str, int]:
        """How the producer's connection stands, and to which server."""
        client = self.of("Client", PRODUCER)
        return client.phase, client.at

    def fail_over(self) -> None:
        """The live server crashes, the backup serves, and the producer has a session there."""
        self.take("crash Server", LIVE)
        self.take("fail_over", BACKUP)
        self.take("close_socket", PRODUCER)
        while self.phase[0] == "failed":
            self.take("reconnect", PRODUCER)
        assert self.phase == ("connected", BACKUP)

    def send(self, *messages: int) -> None:
        """The producer sends its next messages."""
        for message in messages:
            self.take("send_next", PRODUCER, choices=(message, "answered"))


def connected(**settings: str) -> Producing:
    """The producer has a session at the live server, which may crash once."""
    pair = Producing(system("artemis_client", tuple(sorted({"crashes": "1", **settings}.items()))))
    pair.take("connect", PRODUCER)
    return pair


@pytest.mark.parametrize("rolls_back", ["off", "on"])
def test_branch_that_is_rolled_back_after_it_was_prepared_leaves_its_parts_in_disagreement(rolls_back: str) -> None:
    """The other resource has committed. So it is committed here, however often it takes.

    Source: manual, Handling Failover With Transactions, 2 phase commit: HeuristicMixedException, XA_RETRY.
    """
    pair = connected(session="xa", rolls_back_prepared=rolls_back)
    pair.send(1, 2)
    pair.take("commit", PRODUCER)
    pair.take("crash Server", LIVE)
    pair.take("commit_branch", PRODUCER)
    pair.take("fail_over", BACKUP)
    pair.take("close_socket", PRODUCER)
    while pair.phase[0] == "failed":
        pair.take("reconnect", PRODUCER)
    pair.take("replay" if rolls_back == "on" else "commit_branch", PRODUCER)
    assert pair.value("queue") == (frozenset() if rolls_back == "on" else {1, 2})
    assert pair.holds("p7_same_outcome") is (rolls_back == "off")


@pytest.mark.parametrize("goes_on", ["off", "on"])
def test_transaction_that_goes_on_in_the_new_session_is_committed_in_part(goes_on: str) -> None:
    """What was sent before the failover is gone. So it can only be rolled back.

    Source: manual, Handling Failover With Transactions: marked as rollback-only.
    """
    pair = connected(session="local", no_rollback_only=goes_on)
    pair.send(1)
    pair.fail_over()
    pair.send(2)
    pair.take("commit", PRODUCER)
    assert pair.value("queue") == ({2} if goes_on == "on" else frozenset())
    assert pair.of("Client", PRODUCER).unsent == (frozenset() if goes_on == "on" else {1, 2})
    assert pair.holds("p7_all_or_nothing") is (goes_on == "off")


@pytest.mark.parametrize("left", ["off", "on"])
def test_call_that_nobody_ends_waits_in_the_new_session_for_an_answer_that_never_comes(left: str) -> None:
    """The new session knows nothing of it.

    Source: manual, Handling Blocking Calls During Failover.
    """
    pair = connected(never_unblocked=left)
    pair.take("crash Server", LIVE)
    pair.take("send_next", PRODUCER)
    assert pair.of("Client", PRODUCER).waiting == "produce"
    pair.take("fail_over", BACKUP)
    pair.take("close_socket", PRODUCER)
    while pair.phase[0] == "failed":
        pair.take("reconnect", PRODUCER)
    assert pair.of("Client", PRODUCER).waiting == ("produce" if left == "on" else None)
    assert pair.can("send_next", PRODUCER) is (left == "off")
    assert not pair.can("replay", PRODUCER)


@pytest.mark.parametrize("persistent", [True, False])
def test_message_that_is_not_persistent_is_gone_after_a_failover(persistent: bool) -> None:
    """The backup has what is in the journal.

    Source: manual, HA Policies: only persistent messages survive.
    """
    pair = connected(first_not_persistent="off" if persistent else "on")
    pair.send(1, 2)
    assert pair.holds("p2_acked_survives")
    pair.fail_over()
    assert pair.value("queue") == ({1, 2} if persistent else {2})
    assert pair.holds("p2_acked_survives") is persistent
