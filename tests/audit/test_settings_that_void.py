"""One setting, each in files that are else as a manual recommends them, that takes the verdict away: it is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hacheck.audit.audit import AuditRequest, audit, read_system
from hacheck.audit.configuration import AllNodes, Configuration
from hacheck.audit.contradictions import contradictions
from hacheck.audit.entries import HIDDEN
from hacheck.audit.expressions import evaluate
from hacheck.audit.misspelt import misspelt
from hacheck.audit.modelling import mode_of
from tests.audit.cases import case_names, load_case

CASES = Path(__file__).parents[1] / "data" / "audit"

Edits = dict[str, tuple[str, str]]
"""For each file, or all of a pattern, what is replaced, and by what."""


def edited(tmp_path: Path, case: str, edits: Edits) -> Path:
    """A copy of a case with these edits."""
    folder = Path(shutil.copytree(CASES / case, tmp_path / "etc", ignore=shutil.ignore_patterns("case.toml")))
    for pattern, (old, new) in edits.items():
        paths = list(folder.glob(pattern))
        assert paths, pattern
        for path in paths:
            text = path.read_text()
            assert old in text, (path, old)
            path.write_text(text.replace(old, new))
    return folder


def configured(folder: Path) -> Configuration:
    """What is in a folder."""
    return read_system((str(folder),), None, None)[0]


def said(folder: Path) -> list[str]:
    """What rules say is wrong."""
    configuration = configured(folder)
    found = contradictions(configuration, mode_of(configuration))
    assert all(one.places for one in found)
    assert all(one.rule.source for one in found if "did you mean" not in one.rule.says)
    return [one.rule.says for one in found]


PATRONI: list[tuple[Edits, str]] = [
    ({"pg*/patroni.yml": ("  data_dir", "  parameters:\n    fsync: off\n  data_dir")}, "fsync or full_page_writes"),
    ({"pg1/*": ("  data_dir", "  parameters:\n    full_page_writes: no\n  data_dir")}, "fsync or full_page_writes is"),
    ({f"pg{one}/*": ("watchdog:", "tags:\n  failover_priority: 0\nwatchdog:") for one in (2, 3)}, "nofailover, or"),
    ({"pg1/patroni.yml": ("    ttl: 30", "    pause: true\n    ttl: 30")}, "the cluster is paused"),
    ({f"pg{one}/patroni.yml": ("watchdog:", "tags:\n  nosync: true\nwatchdog:") for one in (2, 3)}, "nosync leaves"),
    ({"pg2/patroni.yml": ("10.0.0.2", "10.1.0.2")}, "the hosts name different stores"),
    ({"pg2/patroni.yml": ("10.0.0.12:5432", "127.0.0.1:5432")}, "a connect_address of PostgreSQL"),
    ({"pg2/patroni.yml": ("0.0.0.0:5432", "127.0.0.1:5432")}, "PostgreSQL listens on the machine itself"),
    ({"pg2/patroni.yml": ("0.0.0.0:8008", "localhost:8008")}, "the REST API listens on the machine itself"),
    ({"pg2/patroni.yml": ("10.0.0.12:8008", "localhost:8008")}, "a connect_address of the REST API"),
]

REDIS: list[tuple[Edits, str]] = [
    ({"m*/redis.conf": ("max-lag 10", "max-lag 0")}, "min-replicas-max-lag 0 switches"),
    ({"m3/sentinel.conf": ("mymaster", "mymaste")}, "sentinels give the master different names"),
    ({"m2/redis.conf": ("bind 10.0.4.2", "bind 127.0.0.1 -::1")}, "a server listens on addresses of its own"),
    ({"m2/sentinel.conf": ("port", "bind 127.0.0.1\nport")}, "a sentinel listens on addresses of its own"),
    ({"m1/redis.conf": ("port", "requirepass hidden1\nmasterauth hidden1\nport")}, "different requirepass"),
    ({"m*/redis.conf": ("port", "protected-mode yes\nport")}, "protected-mode, and no password"),
    ({"m*/redis.conf": ("port", "requirepass hidden1\nmasterauth hidden2\nport")}, "masterauth is not what"),
]

CONNECTION = (
    "    <cluster-connections>\n"
    '      <cluster-connection name="my-cluster">\n'
    "        <connector-ref>self</connector-ref>\n"
    "        <static-connectors>\n"
    "          <connector-ref>{}</connector-ref>\n"
    "        </static-connectors>\n"
    "      </cluster-connection>\n"
    "    </cluster-connections>\n"
)

ARTEMIS: list[tuple[Edits, str]] = [
    (
        {"main/*": ("<primary>", "<primary><group-name>a</group-name>")}
        | {"spare/*": ("<backup>", "<backup><group-name>b</group-name>")},
        "primary and backup have different group-names",
    ),
    (
        {"main/*": ("<primary>", "<primary><grup-name>a</grup-name>")},
        "`grup-name` is nothing that is known of ActiveMQ Artemis: did you mean `group-name`?",
    ),
    ({"*/broker.xml": ("<persistence-enabled>true", "<persistence-enabled>false")}, "persistence-enabled is false"),
    ({"main/*": (CONNECTION.format("spare"), "")}, "the broker has no cluster connection"),
    ({"main/*": ("<connector-ref>spare", "<connector-ref>spar")}, "a connector-ref of the cluster connection names no"),
    ({"main/*": ("<connector-ref>self", "<connector-ref>me")}, "a connector-ref of the cluster connection names no"),
    (
        {"main/*": (">tcp://main:", ">tcp://localhost:"), "spare/*": (">tcp://spare:", ">tcp://localhost:")},
        "one broker names localhost in its connectors",
    ),
    ({"main/*": ("</core>", "<journal-datasync>false</journal-datasync></core>")}, "messages are acknowledged before"),
    ({"*/*": ("zookeeper.CuratorDistributedManager", "file.FileBasedLockManager")}, "a lock manager of files"),
    ({"spare/*": ("tcp://0.0.0.0:", "tcp://127.0.0.1:")}, "every acceptor of the broker listens on the machine itself"),
    ({"spare/*": ('"self">tcp://spare', '"self">tcp://main')}, "two brokers give the others the same address"),
]

KEEPALIVED: list[tuple[str, Edits, str]] = [
    ("unicast_pair", {"b/*": ("192.0.2.10/24", "192.0.2.11/24")}, "routers have different addresses"),
    (
        "unicast_pair",
        {"*/*": ("    auth_type PASS", "    auth_type AH"), "a/*": (" AH", " PASS")},
        "different auth_type",
    ),
    ("unicast_pair", {"b/*": ("        10.0.0.200\n", "        10.0.0.20\n")}, "nobody's unicast_peer"),
    ("unicast_pair", {"b/*": ("        10.0.0.200\n", "        10.0.0.100\n")}, "a router is its own unicast_peer"),
    (
        "nopreempt_pair",
        {"a/*": ("vrrp_instance", "global_defs {\n  vrrp_mcast_group4 224.0.0.19\n}\nvrrp_instance")},
        "routers have different multicast groups",
    ),
    (
        "script_fault",
        {"*/*": ("        check_service\n", "        check_servic\n")},
        "track_script names a vrrp_script that is not there",
    ),
    (
        "script_fault",
        {"*01/*": ("priority 103", "priority 255"), "*/*": ("    fall 2", "    weight -200\n    fall 2")},
        "priority 255 is that of the owner",
    ),
]


@pytest.mark.parametrize(("edits", "sentence"), PATRONI, ids=[sentence for _, sentence in PATRONI])
def test_patroni(tmp_path: Path, edits: Edits, sentence: str) -> None:
    assert [one for one in said(edited(tmp_path, "patroni_watchdog_required", edits)) if one.startswith(sentence)]


@pytest.mark.parametrize(("edits", "sentence"), REDIS, ids=[sentence for _, sentence in REDIS])
def test_redis(tmp_path: Path, edits: Edits, sentence: str) -> None:
    assert any(sentence in one for one in said(edited(tmp_path, "redis_three_boxes", edits)))


@pytest.mark.parametrize(("edits", "sentence"), ARTEMIS, ids=[sentence for _, sentence in ARTEMIS])
def test_artemis(tmp_path: Path, edits: Edits, sentence: str) -> None:
    folder = edited(tmp_path, "artemis_lock_manager", edits)
    assert [one for one in said(folder) if one.startswith(sentence)]


@pytest.mark.parametrize(("case", "edits", "sentence"), KEEPALIVED, ids=[sentence for *_, sentence in KEEPALIVED])
def test_keepalived(tmp_path: Path, case: str, edits: Edits, sentence: str) -> None:
    assert any(sentence in one for one in said(edited(tmp_path, f"keepalived_{case}", edits)))


UNREAD = "a file is included that is not among those that were read"


@pytest.mark.parametrize(
    ("case", "file", "line"),
    [
        ("keepalived_unicast_pair", "a/keepalived.conf", "include /etc/keepalived/conf.d/*.conf"),
        ("redis_three_boxes", "m1/redis.conf", "include /etc/redis/common.conf"),
        ("redis_three_boxes", "m1/sentinel.conf", "include ../common.conf"),
        ("redis_three_boxes", "m1/sentinel.conf", "include lost.conf"),
    ],
)
def test_what_is_included_and_was_not_read_is_named(tmp_path: Path, case: str, file: str, line: str) -> None:
    folder = edited(tmp_path, case, {})
    path = folder / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    assert said(folder) == [one for one in said(folder) if one.startswith(UNREAD)] != []


def test_what_is_included_and_was_read_counts(tmp_path: Path) -> None:
    folder = edited(tmp_path, "redis_three_boxes", {"m1/redis.conf": ("min-replicas-max-lag 10", "include lag.part")})
    (folder / "m1/lag.part").write_text("min-replicas-max-lag 0\n")
    assert [one.partition(" switches")[0] for one in said(folder)] == ["min-replicas-max-lag 0"]


def test_a_part_of_a_broker_s_file_that_stands_elsewhere_is_named(tmp_path: Path) -> None:
    part = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="ha.xml"/></core>'
    folder = edited(tmp_path, "artemis_lock_manager", {"main/*": ("</core>", part)})
    assert any(one.startswith(UNREAD) for one in said(folder))


def test_one_lock_manager_may_be_written_in_another_order(tmp_path: Path) -> None:
    servers = "10.0.0.21:2181,10.0.0.22:2181,10.0.0.23:2181"
    other = "10.0.0.23:2181,10.0.0.22:2181,10.0.0.21:2181"
    assert said(edited(tmp_path, "artemis_lock_manager", {"spare/*": (servers, other)})) == []
    shutil.rmtree(tmp_path / "etc")
    edits = {"spare/*": (servers, servers.replace("10.0.0.2", "10.0.1.2"))}
    (found,) = said(edited(tmp_path, "artemis_lock_manager", edits))
    assert "different lock managers" in found


def test_a_backup_of_no_primary_s_group(tmp_path: Path) -> None:
    folder = edited(tmp_path, "artemis_three_pairs", {"spare2/*": ("<group-name>pair2", "<group-name>pair4")})
    assert any("a group-name that no primary has" in one for one in said(folder))


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ({"spare/*": ("/shared/bindings", "/other/bindings")}, "different directories for bindings"),
        (
            {"main/*": ("</core>", "<journal-datasync>false</journal-datasync></core>")},
            "journal-datasync is false",
        ),
    ],
)
def test_shared_store(tmp_path: Path, edits: Edits, sentence: str) -> None:
    assert any(sentence in one for one in said(edited(tmp_path, "artemis_shared_store", edits)))


@pytest.mark.parametrize("name", ["artemis_shared_store", "hornetq_replication"])
def test_transactions_that_are_not_synced_are_acknowledged_early(tmp_path: Path, name: str) -> None:
    early = "<journal-sync-transactional>false</journal-sync-transactional>"
    if name.startswith("artemis"):
        folder = edited(tmp_path, name, {"*/broker.xml": ("</core>", f"{early}</core>")})
    else:
        edits = {"*/*.xml": ("<shared-store>false</shared-store>", f"<shared-store>true</shared-store>{early}")}
        folder = edited(tmp_path, "hornetq_replication", edits)
    configuration = configured(folder)
    mode = mode_of(configuration)
    assert evaluate(mode.set["acks_before_sync"], AllNodes(configuration)) is True


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("</connector-ref>", "r</connector-ref>", "names no connector"),
        ("</configuration>", "<persistence-enabled>false</persistence-enabled></configuration>", "persistence-enabled"),
        ("connector-ref>", "connector-reference>", "no cluster connection"),
    ],
)
def test_hornetq(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert any(sentence in one for one in said(edited(tmp_path, "hornetq_replication", {"*/*.xml": (old, new)})))


RECOMMENDED = [name for name in case_names() if load_case(name).kind == "recommended"]


@pytest.mark.parametrize("case", RECOMMENDED)
def test_what_manuals_recommend_breaks_no_rule(case: str) -> None:
    paths = tuple(str(path) for path in (CASES / case).iterdir() if path.name != "case.toml")
    configuration = read_system(paths, load_case(case).product, None)[0]
    assert contradictions(configuration, mode_of(configuration)) == []


@pytest.mark.parametrize("case", [name for name in case_names() if name not in RECOMMENDED])
def test_no_name_of_a_case_is_taken_for_another(case: str) -> None:
    paths = tuple(str(path) for path in (CASES / case).iterdir() if path.name != "case.toml")
    assert misspelt(read_system(paths, load_case(case).product, None)[0]) == []


@pytest.mark.parametrize(
    ("case", "edits", "written", "wanted", "places"),
    [
        ("patroni_watchdog_required", {"pg*/*": ("synchronous_mode", "synchronus_mode")}, "synchronus_mode",
         "synchronous_mode", ["pg1", "pg2", "pg3"]),
        ("patroni_watchdog_required", {"pg1/*": ("watchdog:", "watchdogs:")}, "watchdogs", "watchdog", ["pg1", "pg1"]),
        ("redis_three_boxes", {"m2/redis.conf": ("min-replicas-to", "min-replica-to")}, "min-replica-to-write",
         "min-replicas-to-write", ["m2"]),
        ("keepalived_unicast_pair", {"b/*": ("priority", "prioritty")}, "prioritty", "priority", ["b"]),
        ("keepalived_unicast_pair", {"b/*": ("priority", "priroity")}, "priroity", "priority", ["b"]),
        ("redis_three_boxes", {"m2/redis.conf": ("min-replicas-to", "minreplica-to")}, "minreplica-to-write",
         "min-replicas-to-write", ["m2"]),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_asked_about(
    tmp_path: Path, case: str, edits: Edits, written: str, wanted: str, places: list[str]
) -> None:
    found = misspelt(configured(edited(tmp_path, case, edits)))
    assert {(one.written, one.wanted) for one in found} == {(written, wanted)}
    assert [node for one in found for node, _ in one.places] == places
    assert all(entry.line for one in found for _, entry in one.places)


def test_a_secret_with_a_misspelt_name_is_hidden(tmp_path: Path) -> None:
    edits = {"main/*": ("<cluster-password>not-shown</cluster-password>", "<cluster-pasword>seen</cluster-pasword>")}
    folder = edited(tmp_path, "artemis_lock_manager", edits)
    (found,) = misspelt(configured(folder))
    assert (found.wanted, [entry.value for _, entry in found.places]) == ("cluster-password", [HIDDEN])


def etcd(folder: Path, number: int, members: str) -> None:
    """The file of a member of the store."""
    (folder / f"etcd{number}").mkdir()
    address = f"http://10.0.0.2{number}:2379"
    text = f"name: etcd{number}\nadvertise-client-urls: {address}\ninitial-cluster: {members}\n"
    (folder / f"etcd{number}" / "etcd.conf.yml").write_text(text)


MEMBERS = ",".join(f"etcd{number}=http://10.0.0.2{number}:2380" for number in (1, 2, 3))


def test_members_of_a_store_have_the_same_list(tmp_path: Path) -> None:
    folder = edited(tmp_path, "patroni_watchdog_required", {})
    for number in (1, 2, 3):
        etcd(folder, number, MEMBERS if number < 3 else MEMBERS.rpartition(",")[0])
    assert any("different lists of initial members" in one for one in said(folder))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("advertise-client-urls: http://localhost:2379\n", "gives clients an address of its own machine"),
        ("listen-client-urls: http://127.0.0.1:2379\n", "listens for clients on the machine itself alone"),
    ],
)
def test_a_member_that_others_do_not_reach(tmp_path: Path, line: str, sentence: str) -> None:
    folder = edited(tmp_path, "patroni_watchdog_required", {})
    for number in (1, 2, 3):
        etcd(folder, number, MEMBERS)
    path = folder / "etcd2" / "etcd.conf.yml"
    kept = [
        one for one in path.read_text().splitlines(keepends=True) if one.partition(":")[0] != line.partition(":")[0]
    ]
    path.write_text("".join([*kept, line]))
    (found,) = [one for one in said(folder) if "different stores" not in one]
    assert sentence in found


def test_hosts_that_name_different_members_of_one_store_are_right(tmp_path: Path) -> None:
    only = "  hosts:\n    - 10.0.0.21:2379\n    - 10.0.0.22:2379\n    - 10.0.0.23:2379\n"
    edits = {f"pg{one}/patroni.yml": (only, f"  host: 10.0.0.2{one}:2379\n") for one in (1, 2, 3)}
    folder = edited(tmp_path, "patroni_watchdog_required", edits)
    assert any("different stores" in one for one in said(folder))
    for number in (1, 2, 3):
        etcd(folder, number, MEMBERS)
    assert said(folder) == []


def test_one_member_of_a_store_is_too_few(tmp_path: Path) -> None:
    only = "    - 10.0.0.22:2379\n    - 10.0.0.23:2379\n"
    folder = edited(tmp_path, "patroni_watchdog_required", {"pg*/patroni.yml": (only, "")})
    for number in (1, 2, 3):
        etcd(folder, number, MEMBERS)
    assert any("one member of the store is named" in one for one in said(folder))


@pytest.mark.parametrize("value", ["off", '"off"', "local"])
def test_a_commit_that_waits_for_no_standby_is_lost(tmp_path: Path, value: str) -> None:
    edits = {
        "pg*/patroni.yml": (
            "    ttl",
            f"    postgresql:\n      parameters:\n        synchronous_commit: {value}\n    ttl",
        )
    }
    found = audit(AuditRequest((str(edited(tmp_path, "patroni_watchdog_required", edits)),)))
    assert [one.kind for one in found.findings] == ["acknowledged_loss"]
    assert {one.name for one in found.findings[0].causes} == {"synchronous_commit"}


def test_a_lag_of_zero_switches_the_replicas_that_are_needed_off(tmp_path: Path) -> None:
    folder = edited(tmp_path, "redis_three_boxes", {"m*/redis.conf": ("max-lag 10", "max-lag 0")})
    found = audit(AuditRequest((str(folder),), search=False))
    assert found.model.settings["min_replicas"] == "off"


@pytest.mark.parametrize(("quorum", "sentinels", "helps"), [(3, 3, "as quorum a majority"), (2, 2, "a third sentinel")])
def test_what_helps_is_about_the_sentinels_that_there_are(
    tmp_path: Path, quorum: int, sentinels: int, helps: str
) -> None:
    edits = {"m*/sentinel.conf": ("6379 2", f"6379 {quorum}")}
    folder = edited(tmp_path, "redis_three_boxes", edits)
    for number in range(sentinels + 1, 4):
        (folder / f"m{number}" / "sentinel.conf").unlink()
    remedies = [one.says for one in mode_of(configured(folder)).remedies]
    assert [one for one in remedies if "sentinel" in one and one.startswith(helps)]
    assert len(remedies) == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("words('a, b c')", 3),
        ("local('tcp://localhost:61616?x=1, 10.0.0.1, -::1, 127.0.0.1:80, [::1]:80')", 4),
        ("local('localhost.example, 1127.0.0.1')", 0),
        ("within('http://A:1/, b', 'a:1, b, c')", True),
        ("within('a, d', 'a, b')", False),
        ("within(None, 'a')", True),
        ("union(unheard)", ""),
    ],
)
def test_texts_with_words(text: str, value: object) -> None:
    configuration = configured(CASES / "patroni_watchdog_required")
    assert evaluate(text.replace("unheard", "synchronous_mode if False else None"), AllNodes(configuration)) == value
