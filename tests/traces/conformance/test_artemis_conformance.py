"""Artemis' client library, and its brokers with a lock manager: simulated runs are compared with their specs.

`docs/decisions/0019-the-code-and-the-specs.md` says what the comparison found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.testing.reference_protocols import FOLLOWED
from tests.nightly import first_of, nightly
from tests.traces.conformance.impl_recordings import recorded, verdicts, words_for

# ---- the client library ----

CLIENT, CLIENT_SETTINGS = words_for("artemis-client"), FOLLOWED["artemis-client"].options
SERVER_FAULTS = "crash/one,crash/coordinator"
"""Clients that end are none of the spec."""
ALL_SERVER_FAULTS = f"{SERVER_FAULTS},cut/pair,cut/client,reset,pause/one"
KINDS = [(session, window) for session in ("local", "plain", "xa") for window in (False, True)]


def of_kind(session: str, window: bool) -> tuple[dict[str, str], tuple[str, ...]]:
    """Settings of the code, and words for the spec."""
    settings = {**CLIENT_SETTINGS, "session": session, "confirmation_window": str(window).lower()}
    on = "on" if window else "off"
    return settings, (*CLIENT, "--set", f"session={session}", "--set", f"confirmation_window={on}")


@pytest.mark.parametrize(("session", "window"), first_of(KINDS))
def test_clients_follow_their_spec(tmp_path: Path, session: str, window: bool) -> None:
    settings, spec = of_kind(session, window)
    traces = recorded(tmp_path / "some", "artemis-client", ALL_SERVER_FAULTS, range(5), settings, replicas=2)
    assert verdicts(spec, traces) == {"conforms": 5}


@nightly
@pytest.mark.parametrize(("code", "spec"), [(True, False), (False, True)])
def test_a_client_that_attaches_again_follows_the_spec_that_does_so_only(
    tmp_path: Path, code: bool, spec: bool
) -> None:
    """Broker facts 2.13: with a confirmation window a session that is still there goes on."""
    settings, _ = of_kind("local", code)
    _, words = of_kind("local", spec)
    traces = recorded(tmp_path / "again", "artemis-client", "reset,cut/client", range(3), settings, replicas=2)
    found = verdicts(words, traces)
    assert found == {"deviates": 3} if code else found == {"conforms": 3}, "who may attach need not"


TRUSTING = range(5, 6)
"""Seeds of which some end the server while a call is under way."""


@nightly
@pytest.mark.parametrize("rule", ["off", "on"])
def test_an_application_that_trusts_what_was_unblocked_follows_the_spec_of_that_only(tmp_path: Path, rule: str) -> None:
    """HornetQ manual, "Handling Blocking Calls During Failover": it is up to the client to try again."""
    settings = {**CLIENT_SETTINGS, "session": "plain", "trusts_unknown": "true"}
    traces = recorded(
        tmp_path / "trust", "artemis-client", "crash/coordinator", TRUSTING, settings, replicas=2, seconds=10
    )
    words = (*CLIENT, "--set", "session=plain", "--set", f"trusts_unknown={rule}")
    assert verdicts(words, traces) == ({"conforms": 1} if rule == "on" else {"deviates": 1})


BY_HAND_ONCE = {"reconnect_attempts": "0", "application_level": "true", "initial_connect_attempts": "0"}
"""Each new connection is tried once; so the spec has to know that a link may be cut."""


@nightly
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"reconnect_attempts": "0"}, {"reconnect_attempts": "0"}),
        ({"reconnect_attempts": "2"}, {"reconnect_attempts": "2"}),
        (
            {"reconnect_attempts": "0", "application_level": "true"},
            {"reconnect_attempts": "0", "application_level": "on"},
        ),
        (BY_HAND_ONCE, {"reconnect_attempts": "0", "application_level": "on", "initial_attempts": "0", "cuts": "2"}),
        ({"volatile_messages": "1"}, {"first_not_persistent": "on"}),
        ({"block_on_durable_send": "false"}, {"asynchronous": "on"}),
        ({"retries_duplicates": "true"}, {"retries_duplicates": "on"}),
        ({"regroups": "true"}, {"regroups": "on"}),
        ({"remembers": "false"}, {"remembers": "off"}),
        ({"server_list": "true"}, {"server_list": "on"}),
        ({"bug_commit_timeout_is_plain_error": "true"}, {"timeout_is_plain_error": "on"}),
    ],
)
@pytest.mark.parametrize("session", ["plain", "local"])
def test_clients_with_other_settings_follow_the_spec_of_these(
    tmp_path: Path, session: str, settings: dict[str, str], words: dict[str, str]
) -> None:
    given = {**CLIENT_SETTINGS, **settings, "session": session}
    traces = recorded(tmp_path / "other", "artemis-client", ALL_SERVER_FAULTS, range(8), given, replicas=2)
    chosen = [word for name, value in {**words, "session": session}.items() for word in ("--set", f"{name}={value}")]
    assert verdicts((*CLIENT, *chosen), traces) == {"conforms": 8}


@nightly
@pytest.mark.parametrize("faults", ["none", SERVER_FAULTS, "pauses", "partitions", "network", "clocks"])
@pytest.mark.parametrize(("session", "window"), KINDS)
def test_clients_follow_their_spec_all_night(tmp_path: Path, faults: str, session: str, window: bool) -> None:
    settings, spec = of_kind(session, window)
    traces = recorded(tmp_path / "all", "artemis-client", faults, range(30), settings, replicas=2)
    assert verdicts(spec, traces) == {"conforms": 30}


# ---- the lock manager ----

LOCKS_LOST, LOCKED_SETTINGS = words_for("artemis-lock-manager"), {"pause_us": "1000000"}
"""A lock may be lost while its holder lives: more runs explain a log."""
LOCKED = (*LOCKS_LOST, "--set", "lock_losses=0")
"""Where nobody is paused, and clocks are right, none is."""


@pytest.mark.parametrize("faults", first_of(["crash,cut", "none", "network"]))
def test_brokers_with_a_lock_manager_follow_their_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / "some", "artemis-lock-manager", faults, range(6), LOCKED_SETTINGS, replicas=2)
    assert verdicts(LOCKED, traces) == {"conforms": 6}


@nightly
def test_brokers_that_are_paused_until_their_lock_is_lost_follow_their_spec(tmp_path: Path) -> None:
    """Broker facts 2.9, A-W7: two may serve for a while; the spec has that as a fault."""
    traces = recorded(tmp_path / "paused", "artemis-lock-manager", "pauses", range(2), LOCKED_SETTINGS, replicas=2)
    assert verdicts(LOCKS_LOST, traces) == {"conforms": 2}


STALE, UNREPAIRED, ESTRANGED = range(1, 2), range(16, 17), range(1)
"""Seeds that lead to what each bug makes of it."""


@pytest.mark.parametrize(
    ("bug", "seeds"),
    first_of([("bug_lock_alone", STALE), ("bug_claim_unrepaired", UNREPAIRED), ("bug_identity_forgotten", ESTRANGED)]),
)
def test_brokers_with_a_bug_of_the_lock_manager_follow_no_spec_of_it(tmp_path: Path, bug: str, seeds: range) -> None:
    """Bug corpus, AR-8, AR-10 and AR-11."""
    settings = {**LOCKED_SETTINGS, bug: "true"}
    traces = recorded(tmp_path / "bug", "artemis-lock-manager", "crash,cut", seeds, settings, replicas=2)
    assert verdicts(LOCKED, traces) == {"deviates": 1}


@nightly
def test_brokers_that_repair_no_claim_follow_the_spec_of_that(tmp_path: Path) -> None:
    """Bug corpus, AR-10."""
    settings = {**LOCKED_SETTINGS, "bug_claim_unrepaired": "true"}
    traces = recorded(tmp_path / "bug", "artemis-lock-manager", "crash,cut", range(8), settings, replicas=2)
    assert verdicts((*LOCKED, "--set", "negative_is_stale=on"), traces) == {"conforms": 8}


@nightly
@pytest.mark.parametrize("faults", ["none", "crashes", "power", "partitions", "network", "disk"])
def test_brokers_with_a_lock_manager_follow_their_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / "all", "artemis-lock-manager", faults, range(60), LOCKED_SETTINGS, replicas=2)
    assert verdicts((*LOCKED, "--states", "100k"), traces) == {"conforms": 60}


@nightly
@pytest.mark.parametrize("faults", ["pauses", "clocks", "chaos"])
def test_brokers_that_may_lose_a_lock_follow_their_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / "all", "artemis-lock-manager", faults, range(30), LOCKED_SETTINGS, replicas=2)
    assert verdicts((*LOCKS_LOST, "--states", "400k"), traces) == {"conforms": 30}


@nightly
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"fenced": "true"}, ("--set", "fenced=on")),
        ({"allow_failback": "false"}, ("--set", "no_failback=on")),
        ({"replica_ack": "written"}, ()),
    ],
)
def test_other_settings_of_the_lock_manager_follow_the_spec_of_these(
    tmp_path: Path, settings: dict[str, str], words: tuple[str, ...]
) -> None:
    given = {**LOCKED_SETTINGS, **settings}
    traces = recorded(tmp_path / "other", "artemis-lock-manager", "crash,cut", range(12), given, replicas=2)
    assert verdicts((*LOCKED, *words), traces) == {"conforms": 12}
