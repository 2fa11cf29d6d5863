"""The settings that an audit reads, or assumes, are those that the product itself reports when it runs with the files.

Where a product is not installed its test is skipped, and says what is missing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.replay.processes import free_base
from tests.audit.cases import audited, load_case
from tests.interop.audited_products import (
    CASES,
    SECURE,
    Pair,
    dumped,
    given,
    keepalived_dump,
    node_at,
    patroni_reports,
    present,
    redis_copy,
    redis_reports,
)

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
DEFAULTS = ("keepalived_nopreempt_pair", "keepalived_unicast_pair", "keepalived_weight_too_small")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user may read."""
    with tempfile.TemporaryDirectory(prefix="audited") as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.skipif(not present("keepalived", "unshare", "ip"), reason="keepalived, unshare or ip is not installed")
@pytest.mark.skipif(not IS_ROOT, reason="a network of its own takes the rights of root")
@pytest.mark.parametrize("case", DEFAULTS)
def test_keepalived_runs_with_the_settings_that_are_read(case: str, tmp_path: Path) -> None:
    for host in sorted(path for path in (CASES / case).iterdir() if path.is_dir()):
        file = tmp_path / f"{host.name}.conf"
        file.write_text(SECURE + (host / "keepalived.conf").read_text())
        node = node_at(file, "keepalived", "2.2.7")
        dump = keepalived_dump(file, tmp_path)
        assert given(node, "priority") == dumped(dump, "Priority")
        assert given(node, "virtual_router_id") == dumped(dump, "Virtual Router ID")
        assert given(node, "state") == dumped(dump, "Wantstate")
        assert given(node, "version") == dumped(dump, "VRRP Version")
        assert f"{given(node, 'advert_int')} sec" == dumped(dump, "Advert interval")
        assert node.values["nopreempt"].value is (dumped(dump, "   Preempt") == "disabled")
        assert node.values["unicast_peer"].value is ("Using unicast" in dump)
        assert node.values["tracked"].value is ("Tracked scripts :" in dump)
        if node.values["tracked"].value:
            assert given(node, "weight") == dumped(dump, "   Weight")


@pytest.mark.skipif(not present("keepalived", "unshare", "ip"), reason="keepalived, unshare or ip is not installed")
@pytest.mark.skipif(not IS_ROOT, reason="a network of its own takes the rights of root")
def test_keepalived_drops_nopreempt_of_a_master(tmp_path: Path) -> None:
    file = CASES / "keepalived_nopreempt_master" / "a" / "keepalived.conf"
    dump = keepalived_dump(file, tmp_path)
    assert node_at(file, "keepalived", "2.2.7").values["nopreempt"].value is True
    assert dumped(dump, "   Preempt") == "enabled", "the file says nopreempt, and the finding says it has no effect"


def found_of(case: str) -> set[str]:
    return {one.name for one in audited(case, load_case(case), search=False).findings}


@pytest.mark.skipif(not present("keepalived", "unshare", "nsenter", "tc"), reason="keepalived or tc is not installed")
@pytest.mark.skipif(not IS_ROOT, reason="networks of their own take the rights of root")
@pytest.mark.parametrize("case", ["keepalived_script_fault", "keepalived_weight_positive"])
def test_address_moves_where_the_audit_says_so(case: str, open_folder: Path) -> None:
    stays = "address_moves" in found_of(case)
    with Pair(case, open_folder) as pair:
        pair.wait(lambda: (pair.state(1), pair.state(2)) == ("MASTER", "BACKUP"))
        pair.service_fails()
        if stays:
            time.sleep(5)  # longer than the three intervals after which a backup takes over
            assert (pair.state(1), pair.state(2)) == ("MASTER", "BACKUP")
        else:
            pair.wait(lambda: (pair.state(1), pair.state(2)) == ("FAULT", "MASTER"))


@pytest.mark.skipif(not present("keepalived", "unshare", "nsenter", "tc"), reason="keepalived or tc is not installed")
@pytest.mark.skipif(not IS_ROOT, reason="networks of their own take the rights of root")
def test_both_are_masters_while_the_link_is_cut(open_folder: Path) -> None:
    case = "keepalived_nopreempt_pair"
    assert "one_master" in found_of(case)
    with Pair(case, open_folder) as pair:
        pair.wait(lambda: (pair.state(1), pair.state(2)) == ("MASTER", "BACKUP"))
        pair.cut()
        pair.wait(lambda: (pair.state(1), pair.state(2)) == ("MASTER", "MASTER"))


@pytest.mark.skipif(not present("keepalived", "unshare", "nsenter", "tc"), reason="keepalived or tc is not installed")
@pytest.mark.skipif(not IS_ROOT, reason="networks of their own take the rights of root")
def test_routers_of_two_ids_are_both_masters(open_folder: Path) -> None:
    with Pair("keepalived_two_router_ids", open_folder) as pair:
        pair.wait(lambda: (pair.state(1), pair.state(2)) == ("MASTER", "MASTER"))


SERVER = {
    "min_replicas": "min-replicas-to-write",
    "max_lag": "min-replicas-max-lag",
    "appendonly": "appendonly",
    "save": "save",
    "priority": "replica-priority",
}


@pytest.mark.skipif(not present("redis-server"), reason="redis-server is not installed")
@pytest.mark.parametrize("case", ["redis_three_boxes", "redis_no_persistence", "redis_no_replica_needed"])
def test_redis_runs_with_the_settings_that_are_read(case: str, tmp_path: Path) -> None:
    host = min(path for path in (CASES / case).iterdir() if (path / "redis.conf").exists())
    port = free_base(1, set())
    file = redis_copy(host / "redis.conf", tmp_path / "redis.conf", port)
    node = node_at(file, "redis", "7.0.15")
    reported = redis_reports(file, tmp_path, port, [("CONFIG", "GET", name) for name in SERVER.values()])
    words = {"true": "yes", "false": "no"}
    for name, theirs in SERVER.items():
        ours = given(node, name)
        assert words.get(ours, ours).replace("(present)", "") == reported[theirs], name


@pytest.mark.skipif(not present("redis-server"), reason="redis-server is not installed")
def test_sentinel_runs_with_the_settings_that_are_read(tmp_path: Path) -> None:
    port = free_base(1, set())
    file = redis_copy(CASES / "redis_five_sentinels" / "s1" / "sentinel.conf", tmp_path / "sentinel.conf", port)
    node = node_at(file, "redis", "7.0.15")
    (tmp_path / "run").mkdir()
    running = shutil.copy(file, tmp_path / "run" / "sentinel.conf")  # a sentinel rewrites its file
    reported = redis_reports(Path(running), tmp_path, port, [("SENTINEL", "MASTER", "mymaster")])
    assert given(node, "quorum") == reported["quorum"]
    assert given(node, "master_name") == reported["name"]
    assert given(node, "master_address") == reported["ip"]
    assert node.values["down_after"].value == int(reported["down-after-milliseconds"]) / 1000


@pytest.mark.skipif(
    not present("patroni", "etcd", "initdb", "setpriv"), reason="patroni, etcd or initdb is not at hand"
)
@pytest.mark.skipif(not IS_ROOT, reason="PostgreSQL is started as another user, which takes the rights of root")
def test_patroni_runs_with_the_settings_that_are_read(open_folder: Path) -> None:
    config, member, file = patroni_reports("patroni_no_watchdog", "pg1", open_folder)
    configuration = node_at(file, "patroni", "4.1.5")
    for name in ("ttl", "loop_wait", "retry_timeout"):
        assert configuration.values[name].value == config[name], name
    assert (configuration.values["synchronous_mode"].value == "on") is config["synchronous_mode"]
    patroni = member["patroni"]
    assert isinstance(patroni, dict)
    assert given(configuration, "scope") == patroni["scope"]
    assert given(configuration, "name") == patroni["name"]
