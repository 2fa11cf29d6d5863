"""What the nodes of the reference implementation write, in simulated runs, is compared with the specs.

Code and specs were written apart from each other, from the documents. `docs/decisions/0019-the-code-and-the-specs.md`
says what the comparison found.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck.impl.recording import Line
from hacheck.impl.simulator.faults import Fault, between
from hacheck.testing.reference_protocols import FOLLOWED
from tests.nightly import by_night, first_of, nightly
from tests.traces.conformance.impl_recordings import SECOND_US, recorded, verdicts, words_for

# The spec with what the code corrects of the manual and of the released version; its changes never overtake each other.
ICESTORM, SHARED = words_for("icestorm"), words_for("fiorano-shared")
FORGETFUL = (*ICESTORM, "--set", "stamp_wiped_at_start=on")

ICESTORM_SETTINGS = FOLLOWED["icestorm"].options
SHARED_SETTINGS = FOLLOWED["fiorano-shared"].options


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "partitions"]))
def test_icestorm_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "icestorm", faults, range(5), ICESTORM_SETTINGS, replicas=3)
    assert verdicts(ICESTORM, traces) == {"conforms": 5}


def test_icestorm_says_itself_whether_a_start_forgets_its_stamp(tmp_path: Path) -> None:
    at = ICESTORM.index("stamp_wiped_at_start=off")
    unsaid = (*ICESTORM[: at - 1], *ICESTORM[at + 1 :])
    traces = recorded(tmp_path / "kept", "icestorm", "crashes", range(3), ICESTORM_SETTINGS, replicas=3)
    assert verdicts(unsaid, traces) == {"conforms": 3}
    assert "deviates" in verdicts(FORGETFUL[: at - 1] + FORGETFUL[at + 1 :], traces)


@nightly
@pytest.mark.parametrize("spec", [ICESTORM, FORGETFUL])
def test_icestorm_that_forgets_its_stamp_follows_the_spec_that_does_so_only(
    tmp_path: Path, spec: tuple[str, ...]
) -> None:
    """Bug corpus, IS-1: the manual compares databases by how recent they are, 3.7.8 forgets it at each start."""
    settings = {**ICESTORM_SETTINGS, "bug_stamp_reset_at_start": "true"}
    traces = recorded(tmp_path / "forgets", "icestorm", "crashes", range(4), settings, replicas=3)
    assert ("deviates" in verdicts(spec, traces)) is (spec == ICESTORM)


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "chaos"]))
def test_fiorano_with_one_database_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "fiorano-shared", faults, range(8), SHARED_SETTINGS, replicas=2)
    assert verdicts(SHARED, traces) == {"conforms": 8}


def test_fiorano_follows_no_spec_in_which_locks_are_never_lost_when_they_are(tmp_path: Path) -> None:
    """HA Locking Mechanism: the spec knows a lock that is given away while its holder lives as a fault of its own."""
    traces = recorded(tmp_path / "lost", "fiorano-shared", "lock-lost", range(4), SHARED_SETTINGS, replicas=2)
    assert verdicts(SHARED, traces) == {"conforms": 4}
    assert verdicts((*SHARED, "--set", "lock_losses=0", "--set", "gateway_cuts=0"), traces)["deviates"] > 0


@nightly
@pytest.mark.parametrize("rule", ["off", "on"])
def test_fiorano_without_a_lock_file_follows_the_spec_without_one_only(tmp_path: Path, rule: str) -> None:
    """Bug corpus, FI-1: the product's default."""
    settings = {**SHARED_SETTINGS, "lock_file": "false"}
    traces = recorded(tmp_path / "none", "fiorano-shared", "crashes", range(10), settings, replicas=2, seconds=5)
    found = verdicts((*SHARED, "--set", f"no_lock_file={rule}"), traces)
    assert found == ({"conforms": 10} if rule == "on" else {"deviates": 10})


# ---- Fiorano with two databases ----

PAIR = words_for("fiorano-replicated")
"""What the code does by default: the diagram asks for the lock alone, and a lost lock for a failure besides."""
STRICT = (*PAIR, "--set", "alone_from_waiting=in_sync", "--set", "stays_active_without_lock=off")
STRICT_SETTINGS = {**SHARED_SETTINGS, "alone_from_waiting": "in_sync", "on_lock_lost": "wait"}


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "locks"]))
def test_fiorano_with_two_databases_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "fiorano-replicated", faults, range(6), SHARED_SETTINGS, replicas=2)
    assert verdicts(PAIR, traces) == {"conforms": 6}


@pytest.mark.parametrize("gateway", ["answers", "does not answer"])
def test_fiorano_settles_at_once_what_follows_from_a_failure(tmp_path: Path, gateway: str) -> None:
    """HA Locking Mechanism, 3.1: from when it is found to the new state it takes as long as the gateway does. That
    nobody crashed is known: else a server may have ended after the line on its channel."""
    apart = Fault("cut", 10 * SECOND_US, 5 * SECOND_US, links=between(("primary",), ("backup",)))
    far = Fault("cut", 9 * SECOND_US, 5 * SECOND_US, links=between(("primary", "backup"), ("gateway",)))
    faults = (apart,) if gateway == "answers" else (far, apart)
    traces = recorded(tmp_path / "apart", "fiorano-replicated", faults, range(1), SHARED_SETTINGS, replicas=2)
    found = verdicts((*PAIR, "--set", "crashes=0", "--within", "settles_at_once=100ms"), traces)
    assert found == ({"conforms": 1} if gateway == "answers" else {"deviates": 1})


@pytest.mark.parametrize(("rule", "kept"), first_of([("off", False), ("on", True)]))
def test_fiorano_that_promotes_an_unfinished_copy_follows_the_spec_that_does_so_only(
    tmp_path: Path, rule: str, kept: bool
) -> None:
    """Bug corpus, FI-5; HA Locking Mechanism, F-R7."""
    settings = {**SHARED_SETTINGS, "bug_promote_passive_sync": "true"}
    traces = recorded(tmp_path / "half", "fiorano-replicated", "crash,cut", range(10, 14), settings, replicas=2)
    found = verdicts((*PAIR, "--set", f"unfinished_copy_serves={rule}"), traces)
    assert found == {"conforms": 4} if kept else found["deviates"] > 0


@nightly
@pytest.mark.parametrize("faults", ["chaos", "crashes", "locks"])
def test_fiorano_in_the_strict_reading_follows_the_spec_of_that_reading(tmp_path: Path, faults: str) -> None:
    """Broker failover protocols, F-R4 and F-R6: the spec's defaults."""
    traces = recorded(tmp_path / faults, "fiorano-replicated", faults, range(6), STRICT_SETTINGS, replicas=2)
    assert verdicts(STRICT, traces) == {"conforms": 6}


@nightly
@pytest.mark.parametrize(
    "faults", ["none", "crashes", "power", "pauses", "partitions", "network", "clocks", "locks", "disk", "chaos"]
)
@pytest.mark.parametrize("reading", ["drawn", "strict", "no lock file"])
def test_fiorano_with_two_databases_follows_its_spec_all_night(tmp_path: Path, faults: str, reading: str) -> None:
    settings = {
        "drawn": SHARED_SETTINGS,
        "strict": STRICT_SETTINGS,
        "no lock file": {**SHARED_SETTINGS, "lock_file": "false"},
    }[reading]
    spec = {"drawn": PAIR, "strict": STRICT, "no lock file": (*PAIR, "--set", "no_lock_file=on")}[reading]
    traces = recorded(tmp_path / faults, "fiorano-replicated", faults, range(40), settings, replicas=2)
    assert verdicts(spec, traces) == {"conforms": 40}


@nightly
@pytest.mark.parametrize("reading", ["drawn", "strict"])
def test_the_two_readings_of_fiorano_differ_in_what_is_logged(tmp_path: Path, reading: str) -> None:
    settings, other = (SHARED_SETTINGS, STRICT) if reading == "drawn" else (STRICT_SETTINGS, PAIR)
    traces = recorded(tmp_path / reading, "fiorano-replicated", "locks", range(20), settings, replicas=2)
    assert verdicts(other, traces)["deviates"] > 0


# ---- Artemis ----

STORE = words_for("artemis-shared-store")
"""Who gave way comes back after a time also when the primary does not serve: the spec has that as a delay."""
LOCKS_KEPT = ("--set", "lock_losses=0", "--set", "locks_expire=cut_off")
REPLICATED = words_for("artemis-replication")
THREE_PAIRS = (*REPLICATED, "--set", "pairs=3")
ARTEMIS_SETTINGS = FOLLOWED["artemis-replication"].options
SKIPPING = range(4, 5)
"""Seeds of which some start the primary while a backup serves."""
VOTING = range(1)
ALL_STARTED = range(15, 16)
"""Seeds of which some end all brokers, and then the server of a pair that was just started again."""


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "partitions"]))
def test_artemis_over_a_shared_store_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-shared-store", faults, range(6), ARTEMIS_SETTINGS, replicas=2)
    assert verdicts(STORE, traces) == {"conforms": 6}


def test_artemis_that_opens_the_store_without_its_lock_follows_no_spec_of_it(tmp_path: Path) -> None:
    """Bug corpus, AR-20: two servers of one store."""
    settings = {**ARTEMIS_SETTINGS, "bug_lock_skipped": "true"}
    traces = recorded(tmp_path / "skips", "artemis-shared-store", "crashes", SKIPPING, settings, replicas=2)
    assert verdicts((*STORE, *LOCKS_KEPT), traces)["deviates"] > 0


@pytest.mark.parametrize("faults", first_of(["chaos", "none", "crashes"]))
def test_artemis_with_replication_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-replication", faults, range(8), ARTEMIS_SETTINGS, replicas=2)
    assert verdicts(REPLICATED, traces) == {"conforms": 8}


def of_the_first_pair(line: Line) -> bool:
    """The other pairs of the spec vote, and write nothing."""
    about = line.fields.get("of", "primary-1.") if line.event == "possible_split_brain" else "primary-1."
    return line.node in ("primary-1", "backup-1") and about.startswith("primary-1.")


def three_pairs(folder: Path, faults: str, seeds: range, settings: dict[str, str]) -> Path:
    """What the first of three pairs writes."""
    chosen = {**ARTEMIS_SETTINGS, "groups": "3", **settings}
    return recorded(folder, "artemis-replication", faults, seeds, chosen, replicas=6, kept=of_the_first_pair)


@nightly
def test_artemis_needs_no_votes_while_it_knows_of_no_other_pair(tmp_path: Path) -> None:
    """Broker failover protocols, 2.6: of the largest number of pairs ever seen, which a start forgets."""
    traces = three_pairs(tmp_path / "all", "crashes", ALL_STARTED, {})
    records = [json.loads(line) for file in traces.iterdir() for line in file.read_text().splitlines()[1:]]
    assert any(record["event"] == "vote_begun" and record["fields"]["needed"] == 0 for record in records)
    assert verdicts(THREE_PAIRS, traces) == {"conforms": 1}


@nightly
@pytest.mark.parametrize("bug", ["bug_vote_size", ""])
def test_artemis_that_needs_no_votes_in_three_pairs_follows_no_spec_of_it(tmp_path: Path, bug: str) -> None:
    """Bug corpus, AR-2: votes needed are counted wrongly."""
    traces = three_pairs(tmp_path / "votes", "crashes", VOTING, {bug: "true"} if bug else {})
    assert ("deviates" in verdicts(THREE_PAIRS, traces)) is bool(bug)


@nightly
@pytest.mark.parametrize(
    "faults",
    ["none", "crashes", "power", "pauses", "partitions", "network", "disk", "clocks", "locks", "chaos", "everything"],
)
def test_artemis_over_a_shared_store_follows_its_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-shared-store", faults, range(60), ARTEMIS_SETTINGS, replicas=2)
    assert verdicts(STORE, traces) == {"conforms": 60}


@nightly
def test_artemis_with_two_backups_follows_its_spec(tmp_path: Path) -> None:
    traces = recorded(tmp_path / "three", "artemis-shared-store", "crashes", range(20), ARTEMIS_SETTINGS, replicas=3)
    backups = ("--node", "backup-2=Server-3", "--set", "backups=2", "--states", "100k")
    assert verdicts((*STORE, *backups), traces) == {"conforms": 20}


@nightly
@pytest.mark.parametrize(
    "faults", ["none", "crashes", "power", "pauses", "partitions", "network", "disk", "clocks", "chaos"]
)
def test_artemis_with_replication_follows_its_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-replication", faults, range(60), ARTEMIS_SETTINGS, replicas=2)
    assert verdicts(REPLICATED, traces) == {"conforms": 60}


@nightly
def test_artemis_with_a_network_check_follows_its_spec(tmp_path: Path) -> None:
    settings = {**ARTEMIS_SETTINGS, "network_check": "true"}
    traces = recorded(tmp_path / "check", "artemis-replication", "partitions", range(40), settings, replicas=2)
    check = ("--set", "network_check=on", "--set", "gateway_cuts=1")
    assert verdicts((*REPLICATED, *check), traces) == {"conforms": 40}


@nightly
def test_artemis_in_three_pairs_that_vote_to_stay_follows_its_spec(tmp_path: Path) -> None:
    traces = three_pairs(tmp_path / "stay", "partitions", range(20), {"vote_on_replication_failure": "true"})
    cut_off = ("--set", "isolations=1", "--states", "300k")
    assert verdicts((*THREE_PAIRS, *cut_off, "--set", "vote_on_failure=on"), traces) == {"conforms": 20}


# ---- Qpid ----

QPID_SETTINGS = FOLLOWED["qpid"].options
COPY, COPY_SETTINGS = words_for("qpid-standalone"), FOLLOWED["qpid-standalone"].options
TOPICS, TOPICS_SETTINGS = words_for("icestorm-topics"), FOLLOWED["icestorm-topics"].options
TRANSACTIONS = words_for("qpid-transactions")
TRANSACTIONS_SETTINGS = {**FOLLOWED["qpid-transactions"].options, **FOLLOWED["qpid-transactions"].varied[0]}
WAYS = [("local", "local"), ("replicated", "replicated"), ("replicated", "local")]
"""Of the code, and of the spec. What is local fits both: where a link fails unseen no backup has a transaction."""
TX_FAULTS = "crash/one,crash/coordinator,cut/pair,pause/one"
"""Not that the client fails: there is one transaction."""


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "chaos"]))
def test_qpid_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "qpid", faults, range(5), QPID_SETTINGS, replicas=3)
    assert verdicts(("qpid_ha",), traces) == {"conforms": 5}


@pytest.mark.parametrize(("rule", "kept"), first_of([("off", False), ("on", True)]))
def test_qpid_that_catches_up_on_connection_follows_the_spec_that_does_so_only(
    tmp_path: Path, rule: str, kept: bool
) -> None:
    """Bug corpus, QP-10: a broker that is joining connects to another backup, which aborts the connection."""
    settings = {**QPID_SETTINGS, "bug_catchup_on_connect": "yes"}
    traces = recorded(tmp_path / "early", "qpid", "crashes", range(4), settings, replicas=3, seconds=10)
    found = verdicts(("qpid_ha", "--set", f"catchup_on_connect={rule}"), traces)
    assert found == ({"conforms": 4} if kept else {"deviates": 4})


@nightly
def test_qpid_without_fences_follows_the_spec_without_fences_only(tmp_path: Path) -> None:
    """Broker failover protocols, 1.11: all that keeps two primaries apart is the resource manager's."""
    settings = {**QPID_SETTINGS, "fencing": "none"}
    traces = recorded(tmp_path / "unfenced", "qpid", "partitions", range(30), settings, replicas=3)
    assert verdicts(("qpid_ha",), traces)["deviates"] > 0
    assert verdicts(("qpid_ha", "--set", "manager_fences=off"), traces) == {"conforms": 30}


@nightly
@pytest.mark.parametrize(
    "faults",
    ["none", "crashes", "power", "wipes", "pauses", "partitions", "network", "clocks", "disk", "chaos", "everything"],
)
@pytest.mark.parametrize("replicas", [2, 3])
def test_qpid_follows_its_spec_all_night(tmp_path: Path, faults: str, replicas: int) -> None:
    traces = recorded(tmp_path / faults, "qpid", faults, range(40), QPID_SETTINGS, replicas=replicas, seconds=40)
    assert verdicts(("qpid_ha", "--set", f"brokers={replicas}"), traces) == {"conforms": 40}


@nightly
@pytest.mark.parametrize("faults", ["crashes", "partitions", "chaos"])
def test_qpid_with_four_brokers_follows_its_spec(tmp_path: Path, faults: str) -> None:
    """More states explain a run of four than are followed by default."""
    traces = recorded(tmp_path / faults, "qpid", faults, range(12), QPID_SETTINGS, replicas=4, seconds=40)
    assert verdicts(("qpid_ha", "--set", "brokers=4", "--states", "400k"), traces) == {"conforms": 12}


@pytest.mark.parametrize("faults", first_of(["crashes", "chaos"]))
def test_qpid_standalone_follows_its_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "qpid-standalone", faults, range(3), COPY_SETTINGS, replicas=2)
    assert verdicts(COPY, traces) == {"conforms": 3}


@pytest.mark.parametrize("bug", by_night(["", "bug_zero_ids"], lambda bug: not bug))
def test_qpid_standalone_with_ids_from_the_setup_on_follows_no_spec_of_it(tmp_path: Path, bug: str) -> None:
    """Bug corpus, QP-7: messages that were there before have no ids."""
    settings = {**COPY_SETTINGS, "set_up_after_us": "6000000", **({bug: "yes"} if bug else {})}
    traces = recorded(tmp_path / "ids", "qpid-standalone", "none", range(2), settings, replicas=2)
    assert verdicts(COPY, traces) == ({"deviates": 2} if bug else {"conforms": 2})


@nightly
@pytest.mark.parametrize("faults", ["none", "crashes", "power", "pauses", "partitions", "network", "clocks", "disk"])
def test_qpid_standalone_follows_its_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "qpid-standalone", faults, range(30), COPY_SETTINGS, replicas=2)
    assert verdicts(COPY, traces) == {"conforms": 30}


@pytest.mark.parametrize(("who", "spec"), by_night(WAYS, lambda case: case[0] == case[1]))
def test_qpid_transactions_follow_the_spec_of_their_way_only(tmp_path: Path, who: str, spec: str) -> None:
    """Broker failover protocols, 1.9: local ones, as since 2015, and replicated ones, as before."""
    settings = {**TRANSACTIONS_SETTINGS, "transactions": who}
    traces = recorded(tmp_path / "tx", "qpid", TX_FAULTS, range(3), settings, replicas=2, clients=1)
    found = verdicts((*TRANSACTIONS, "--set", f"tx={spec}"), traces)
    assert found == {"conforms": 3} if who == spec else found["deviates"] > 0


@nightly
@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("who", ["local", "replicated"])
def test_qpid_transactions_follow_their_spec_all_night(tmp_path: Path, who: str, replicas: int) -> None:
    settings = {**TRANSACTIONS_SETTINGS, "transactions": who}
    traces = recorded(tmp_path / "tx", "qpid", TX_FAULTS, range(40), settings, replicas=replicas, clients=1)
    words = ("--set", f"tx={who}", "--set", f"brokers={replicas}")
    found = verdicts((*TRANSACTIONS, *words), traces)
    assert not found["deviates"]
    assert found["conforms"] >= (40 if replicas == 2 else 10), "of three brokers some have too many explanations"


# ---- IceStorm, one service ----


@pytest.mark.parametrize("faults", first_of(["chaos", "none", "crashes", "network", "pauses", "disk"]))
def test_icestorm_topics_follow_their_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "icestorm-topics", faults, range(2), TOPICS_SETTINGS, replicas=1, clients=4)
    assert verdicts(TOPICS, traces) == {"conforms": 2}


@nightly
@pytest.mark.parametrize("graph", ["example", "cycle"])
@pytest.mark.parametrize("faults", ["none", "crashes", "network", "pauses", "disk", "power", "chaos"])
def test_icestorm_topics_follow_their_spec_all_night(tmp_path: Path, faults: str, graph: str) -> None:
    settings = {**TOPICS_SETTINGS, "graph": graph}
    traces = recorded(tmp_path / faults, "icestorm-topics", faults, range(20), settings, replicas=1, clients=4)
    words = ("--set", f"graph={graph}", "--states", "200k")
    assert verdicts((*TOPICS, *words), traces) == {"conforms": 20}


@nightly
@pytest.mark.parametrize("proxy", ["replicated", "non_replicated"])
@pytest.mark.parametrize("faults", ["none", "crashes", "network", "chaos"])
def test_icestorm_clients_follow_their_spec(tmp_path: Path, faults: str, proxy: str) -> None:
    """Highly Available IceStorm, Publisher Considerations: at another replica unseen, or after an exception only."""
    settings = {**FOLLOWED["icestorm-clients"].options, "proxy": proxy}
    traces = recorded(tmp_path / faults, "icestorm", faults, range(10), settings, replicas=3, clients=3, seconds=40)
    assert verdicts((*words_for("icestorm-clients"), "--set", f"proxy={proxy}"), traces) == {"conforms": 10}


# ---- all night ----


@nightly
@pytest.mark.parametrize("faults", ["none", "crashes", "power", "pauses", "partitions", "network", "clocks"])
def test_icestorm_follows_its_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "icestorm", faults, range(30), ICESTORM_SETTINGS, replicas=3, seconds=40)
    assert verdicts(ICESTORM, traces) == {"conforms": 30}


@nightly
@pytest.mark.parametrize("faults", ["disk", "chaos"])
def test_icestorm_with_full_disks_follows_the_spec_of_them(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "icestorm", faults, range(30), ICESTORM_SETTINGS, replicas=3)
    assert verdicts((*ICESTORM, "--set", "disk_errors=on"), traces) == {"conforms": 30}
    assert verdicts(ICESTORM, traces)["deviates"] > 0, "a disk that refuses a stamp leaves no line of its own"


@nightly
@pytest.mark.parametrize("faults", ["none", "crashes", "power", "pauses", "partitions", "locks", "chaos"])
def test_fiorano_with_one_database_follows_its_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "fiorano-shared", faults, range(40), SHARED_SETTINGS, replicas=2)
    assert verdicts(SHARED, traces) == {"conforms": 40}
