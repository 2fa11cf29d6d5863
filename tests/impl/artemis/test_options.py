"""Settings from text, and who takes part."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.client_library.system import CLIENT
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from hacheck.impl.system import Refused


def test_settings_are_read_with_dashes_or_underscores() -> None:
    options = REPLICATION.options({"quorum-size": "3", "network_check": "true", "replica-ack": "written"})
    assert (options.quorum_size, options.network_check, options.replica_ack) == (3, True, "written")


def test_defaults_are_the_documented_ones() -> None:
    """Broker facts 2.2 and 2.3."""
    replication, shared = REPLICATION.options({}), SHARED_STORE.options({})
    assert (replication.vote_retries, replication.vote_retry_wait_us) == (12, 5_000_000)
    assert (replication.quorum_size, replication.vote_on_replication_failure) == (-1, False)
    assert replication.initial_replication_sync_timeout_us == 30_000_000
    assert replication.max_saved_replicated_journals_size == 2
    assert (shared.lock_retry_us, shared.monitor_us, shared.failover_on_shutdown) == (500_000, 2_000_000, False)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"quorom-size": "3"}, "quorum_size"),
        ({"network_check": "perhaps"}, "`true` or `false`"),
        ({"replica_ack": "write"}, "written"),
        ({"vote_retries": "many"}, "whole number"),
        ({"quorum_size": "0"}, "or -1"),
        ({"check_period_us": "0"}, "above 0"),
    ],
)
def test_wrong_setting_is_refused_with_what_it_may_be(given: dict[str, str], word: str) -> None:
    with pytest.raises(Refused, match=word):
        REPLICATION.options(given)


def test_pairs_and_spare_backups_are_dealt_out() -> None:
    """HornetQ manual, "Data Replication": one backup too many stays a spare one."""
    names = [m.name for m in REPLICATION.members(5, 1, REPLICATION.options({"pairs": "2"}))]
    assert names == ["primary-1", "primary-2", "backup-1", "backup-2", "backup-3", "client-1"]


def test_gateway_takes_part_only_where_it_is_pinged() -> None:
    with_check = REPLICATION.members(2, 0, REPLICATION.options({"network_check": "true"}))
    assert [m.role for m in with_check] == ["primary", "backup", "gateway"]
    assert [m.role for m in REPLICATION.members(2, 0, REPLICATION.options({}))] == ["primary", "backup"]


def test_too_few_replicas_are_refused() -> None:
    with pytest.raises(Refused, match="2 or more"):
        SHARED_STORE.members(1, 1, SHARED_STORE.options({}))
    with pytest.raises(Refused, match="4 or more"):
        REPLICATION.members(3, 1, REPLICATION.options({"pairs": "3"}))


def test_settings_of_the_client_library_are_read_and_wrong_ones_refused() -> None:
    options = CLIENT.options({"session": "xa", "reconnect-attempts": "-1", "volatile_messages": "0"})
    assert (options.session, options.reconnect_attempts) == ("xa", -1)
    with pytest.raises(Refused, match="plain, local, xa"):
        CLIENT.options({"session": "jta"})
