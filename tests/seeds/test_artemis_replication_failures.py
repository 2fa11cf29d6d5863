"""Artemis replication, what fails and who decides: one test for each rule of the documents.

"Manual" is "High Availability and Failover", "facts" is "Broker failover protocols"; A-R1 to A-R28 are choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_replication import (
    BACKUP,
    PRIMARY,
    Brokers,
    cut,
    in_sync,
    registered,
    serving,
    taken_over,
)


def asking(**settings: str) -> Brokers:
    """The primary has crashed, its backup asks, and voters have not noticed yet."""
    pair = in_sync(**{"crashes": "1", **settings})
    pair.take("crash Server", PRIMARY)
    pair.take("watch_link", BACKUP)
    assert pair[BACKUP].mode == "voting"
    return pair


# ---- a backup loses its primary ----


def test_backup_takes_over_when_voters_know_of_nobody() -> None:
    """With all that was acknowledged.

    Source: manual, Data Replication; facts, 2.5 (DECIDE), 2.6.
    """
    pair = in_sync(crashes="1")
    pair.take("publish", PRIMARY)
    pair.take("crash Server", PRIMARY)
    pair.take("watch_link", BACKUP)
    pair.forget()
    pair.take("ask_votes", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].journal) == ("active", {1})
    assert pair.known(1) == pair.known(2) == BACKUP


def test_backup_that_is_told_no_asks_again_then_starts_from_nothing() -> None:
    """Its data is moved away.

    Source: manual, Data Replication (waits, and tries the live server again); facts, 2.5 (RETRY).
    """
    pair = in_sync(cuts="1")
    pair.take("publish", PRIMARY)
    cut(pair)
    pair.take("watch_link", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].votes_left) == ("voting", 2)
    pair.take("ask_votes", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].votes_left) == ("voting", 1)
    pair.take("ask_votes", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].journal, pair[BACKUP].saved) == ("locating", frozenset(), {1})


@pytest.mark.parametrize(("pairs", "needed"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3)])
def test_votes_needed(pairs: int, needed: int) -> None:
    """1, 2, 3, 4, 5 pairs need 0, 1, 2, 3, 3 votes.

    Source: facts, 2.6.
    """
    for said_yes in range(pairs):
        pair = asking(pairs=str(pairs))
        if said_yes:
            pair.forget(*range(1, said_yes + 1))
        pair.take("ask_votes", BACKUP)
        assert (pair[BACKUP].mode == "active") == (said_yes >= needed)


@pytest.mark.parametrize(("pairs", "needed"), [(3, 0), (4, 1), (5, 2)])
def test_votes_needed_were_too_few(pairs: int, needed: int) -> None:
    """Of two pairs less, and halved.

    Source: AR-2.
    """
    for said_yes in range(pairs):
        pair = asking(pairs=str(pairs), halved_size="on")
        if said_yes:
            pair.forget(*range(1, said_yes + 1))
        pair.take("ask_votes", BACKUP)
        assert (pair[BACKUP].mode == "active") == (said_yes >= needed)


def test_quorum_size_replaces_the_number_of_pairs() -> None:
    """A single pair with quorum-size 2 never fails over.

    Source: facts, 2.3, 2.6.
    """
    pair = asking(pairs="1", quorum_size="2")
    pair.take("ask_votes", BACKUP)
    assert pair[BACKUP].mode == "voting"


def test_voter_that_is_not_there_counts_as_a_no() -> None:
    """Of three pairs both others must answer.

    Source: facts, 2.6.
    """
    pair = asking(voter_crashes="1")
    pair.forget()
    pair.take("crash Voter", 1)
    pair.take("ask_votes", BACKUP)
    assert pair[BACKUP].mode == "voting"


def test_last_round_waits_for_voters_that_have_still_to_forget() -> None:
    """A timing assumption; without it the backup may give up too soon.

    Source: facts, 2.3 (vote-retries, vote-retry-wait).
    """
    patient, hasty = asking(), asking(retries_suffice="off")
    for pair in (patient, hasty):
        pair.take("ask_votes", BACKUP)
    assert not patient.can("ask_votes", BACKUP)
    patient.forget()
    patient.take("ask_votes", BACKUP)
    hasty.take("ask_votes", BACKUP)
    assert (patient[BACKUP].mode, hasty[BACKUP].mode) == ("active", "locating")


def test_backup_that_is_not_in_sync_never_takes_over() -> None:
    """Told that its primary is gone, it stays and does nothing, until an operator ends its process.

    Source: manual, Data Replication; facts, 2.5 (not up to date); A-R24; Artemis 2.41.0 logs AMQ224000.
    """
    pair = registered(crashes="1")
    pair.take("crash Server", PRIMARY)
    pair.take("watch_link", BACKUP)
    pair.forget()
    pair.take("ask_votes", BACKUP)
    assert pair[BACKUP].mode == "stranded"
    pair.take("end_stranded", BACKUP)
    pair.take("restart Server", BACKUP)
    assert pair[BACKUP].mode == "locating"


def test_voters_were_asked_whether_they_are_there() -> None:
    """All agree that the primary may be replaced.

    Source: AR-3.
    """
    pair = in_sync(cuts="1", asks_for_reach="on")
    cut(pair)
    pair.take("watch_link", BACKUP)
    pair.take("ask_votes", BACKUP)
    assert pair.modes == ("active", "active")


# ---- an active server loses its replica ----


def test_active_server_that_voters_know_stays() -> None:
    """They have its connector.

    Source: facts, 2.4 (REPLICATED), 2.6.
    """
    pair = in_sync(crashes="1")
    pair.take("crash Server", BACKUP)
    pair.take("watch_link", PRIMARY)
    assert (pair[PRIMARY].mode, pair[PRIMARY].link, pair[PRIMARY].phase) == ("active", None, "nothing")


def test_active_server_that_nobody_answers_stops() -> None:
    """If vote-on-replication-failure is on.

    Source: facts, 2.4 (REPLICATED).
    """
    for vote, then in (("on", "stopping"), ("off", "active")):
        pair = in_sync(isolations="1", vote_on_failure=vote)
        pair.take("isolate Server", PRIMARY)
        pair.take("watch_link", PRIMARY)
        assert pair[PRIMARY].mode == then


def test_active_server_whose_backup_was_not_in_sync_does_not_ask() -> None:
    """It goes on alone.

    Source: facts, 2.4 (SYNCING).
    """
    pair = registered(isolations="1")
    pair.take("isolate Server", PRIMARY)
    pair.take("watch_link", PRIMARY)
    assert pair[PRIMARY].mode == "active"


@pytest.mark.parametrize(("settings", "then"), [({}, "stopping"), ({"any_connector": "on"}, "active")])
def test_server_that_was_replaced_stops_when_it_asks(settings: dict[str, str], then: str) -> None:
    """Voters have another connector; that the node id is known is not enough.

    Source: facts, 2.6; AR-4.
    """
    pair = in_sync(pauses="1", **settings)
    pair.take("pause Server", PRIMARY)
    pair.take("watch_link", BACKUP)
    pair.forget()
    pair.take("ask_votes", BACKUP)
    pair.take("resume Server", PRIMARY)
    pair.take("watch_link", PRIMARY)
    assert pair.modes == (then, "active")


def test_active_server_was_answered_as_a_backup() -> None:
    """Somebody serves: no.

    Source: AR-4.
    """
    pair = in_sync(crashes="1", found_is_no="on")
    pair.take("crash Server", BACKUP)
    pair.take("watch_link", PRIMARY)
    assert pair[PRIMARY].mode == "stopping"


def test_replica_that_is_too_slow_is_let_go() -> None:
    """Its connection is closed, so that it finds out.

    Source: facts, 2.4 (too slow); AR-13.
    """
    pair = in_sync(slow_replicas="1")
    pair.take("too_slow", PRIMARY)
    pair.take("watch_link", BACKUP)
    assert pair[BACKUP].mode == "voting"
    before = in_sync(slow_replicas="1", keeps_connection="on")
    before.take("too_slow", PRIMARY)
    before.take("watch_link", BACKUP)
    before.take("publish", PRIMARY)
    assert (before[BACKUP].mode, before[BACKUP].journal, before.outbox) == ("in_sync", frozenset(), frozenset())


# ---- voters ----


def test_voter_forgets_who_is_gone_and_hears_of_who_serves() -> None:
    """Not of one that does not serve.

    Source: facts, 2.6 (the topology).
    """
    pair = serving(crashes="1")
    pair.take("crash Server", PRIMARY)
    pair.forget(1)
    assert (pair.known(1), pair.known(2)) == (None, PRIMARY)
    pair.take("restart Server", PRIMARY)
    pair.take("hear", 1)
    assert pair.known(1) is None
    pair.take("start_primary", PRIMARY)
    assert pair.known(1) == PRIMARY


def test_voter_keeps_the_connector_that_was_announced_last() -> None:
    """One that has come back within reach does not replace it.

    Source: A-R22.
    """
    pair = taken_over(cuts="1")
    pair.take("restart Server", PRIMARY)
    cut(pair)
    pair.take("start_primary", PRIMARY)
    assert pair.modes == ("active", "active")
    pair.take("hear", 1)
    assert pair.known(1) == PRIMARY


def test_voter_does_not_forget_before_a_server_has_found_out() -> None:
    """A timing assumption.

    Source: facts, 2.3 (quorum-vote-wait).
    """
    pair = in_sync(isolations="1")
    pair.take("isolate Server", PRIMARY)
    assert not pair.can("forget", 1, PRIMARY)
    pair.take("watch_link", PRIMARY)
    assert pair.can("forget", 1, PRIMARY)
    assert in_sync(isolations="1", detects_first="off").can("forget", 1, PRIMARY)


# ---- network check ----


def test_active_server_without_the_address_stops_and_comes_back() -> None:
    """It starts again when the address answers.

    Source: facts, 2.4 (health check); A-R26.
    """
    pair = serving(network_check="on", gateway_cuts="1")
    pair.take("cut Server - Gateway", PRIMARY, 1)
    pair.take("watch_network", PRIMARY)
    assert pair[PRIMARY].mode == "cut_off"
    pair.take("come_back", PRIMARY)
    assert pair[PRIMARY].mode == "cut_off"
    pair.take("heal Server - Gateway", PRIMARY, 1)
    pair.take("come_back", PRIMARY)
    assert pair[PRIMARY].mode == "starting"


def test_backup_without_the_address_does_not_take_over() -> None:
    """Though it has won its vote.

    Source: facts, 2.5 (222213).
    """
    pair = asking(network_check="on", gateway_cuts="1")
    pair.take("cut Server - Gateway", BACKUP, 1)
    pair.forget()
    pair.take("ask_votes", BACKUP)
    assert pair[BACKUP].mode == "locating"


@pytest.mark.parametrize(("decides", "then"), [("off", "locating"), ("on", "active")])
def test_address_does_not_replace_the_vote(decides: str, then: str) -> None:
    """As released it does.

    Source: facts, 2.5 (overrides the vote); AR-6.
    """
    pair = in_sync(network_check="on", cuts="1", health_decides=decides)
    cut(pair)
    pair.take("watch_link", BACKUP)
    pair.take("ask_votes", BACKUP)
    pair.take("ask_votes", BACKUP)
    assert pair[BACKUP].mode == then


def test_network_check_is_off_where_nothing_is_to_be_checked() -> None:
    """As shipped.

    Source: facts, 2.3 (network check list).
    """
    assert not serving().declares("watch_network")
    assert serving(network_check="on").can("watch_network", PRIMARY)
