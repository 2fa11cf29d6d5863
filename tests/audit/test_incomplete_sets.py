"""Files of a system that are not all there, or that are not read yet, are refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.api.errors import InputError
from hacheck.audit.audit import AuditRequest, audit, read_system
from hacheck.audit.modelling import mode_of
from tests.audit.cases import CASES
from tests.audit.test_sources import written
from tests.cli.command import hacheck

COMPOSE = """services:
  one:
    volumes: ["./r1/redis.conf:/etc/redis.conf", "./r1/data:/data"]
  two:
    volumes:
      - type: bind
        source: ./r2/redis.conf
        target: /etc/redis.conf
  watch:
    volumes: [ "./watch/sentinel.conf:/etc/sentinel.conf" ]
"""
FILES = {
    "compose.yml": COMPOSE,
    "r1/redis.conf": "appendonly yes\n",
    "r2/redis.conf": "replicaof one 6379\n",
    "watch/sentinel.conf": "sentinel monitor main one 6379 1\n",
}


def test_a_file_that_is_mounted_and_not_there_is_named_with_its_place(tmp_path: Path) -> None:
    folder = written(tmp_path, {name: text for name, text in FILES.items() if name != "r2/redis.conf"})
    ended = hacheck("audit", str(folder))
    words = " ".join(ended.err.split())
    assert ended.code == 2
    assert "compose.yml:6: ./r2/redis.conf is mounted by two, and there is no such file" in words


def test_a_compose_file_that_was_read_is_not_said_to_be_passed_over(tmp_path: Path) -> None:
    _, _, skipped = read_system((str(written(tmp_path, FILES)),), None, None)
    assert skipped == [f"{tmp_path}/compose.yml:3: ./r1/data is mounted by one, and is not there"]


def test_a_backup_alone_is_never_cast_as_the_primary() -> None:
    ended = hacheck("audit", str(CASES / "artemis_no_check" / "spare"))
    assert ended.code == 2
    words = " ".join(ended.err.split())
    assert "1 node found (spare), and none is a primary, which a backup needs" in words
    assert "readers/" not in words


def test_a_primary_alone_is_no_pair() -> None:
    ended = hacheck("audit", str(CASES / "artemis_lock_manager" / "main" / "broker.xml"))
    words = " ".join(ended.err.split())
    assert ended.code == 2
    assert "the file of a primary is there alone" in words
    assert "name the broker.xml of all brokers" in words


def test_several_instances_in_a_file_are_refused_with_their_lines(tmp_path: Path) -> None:
    instance = "vrrp_instance {0} {{\n  priority {1}\n  virtual_router_id {1}\n}}\n"
    both = instance.format("A", 10) + instance.format("B", 20)
    ended = hacheck("audit", str(written(tmp_path, {"a/keepalived.conf": both, "b/keepalived.conf": both})))
    words = " ".join(ended.err.split())
    assert ended.code == 2
    assert "several vrrp_instances in a file are not read yet" in words
    assert "vrrp_instance = 2: " in words
    assert "a/keepalived.conf:1" in "".join(ended.err.split())


@pytest.mark.parametrize("version", ["banana", "", "v", "2..1"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises(InputError, match=f"`{version}` is no version"):
        read_system((str(CASES / "redis_three_boxes"),), f"redis@{version}", None)


@pytest.mark.parametrize(("version", "newer"), [("99.1", True), ("7.2", False), ("8.0.3", False)])
def test_a_version_that_the_reader_does_not_reach_is_said(version: str, newer: bool) -> None:
    found = audit(AuditRequest((str(CASES / "redis_three_boxes"),), f"redis@{version}", search=False))
    assert any("is newer than" in note for note in found.model.notes) is newer


def test_every_case_has_the_files_of_all_its_roles() -> None:
    for folder in ("artemis_no_check", "artemis_three_pairs", "hornetq_replication", "fiorano_shared"):
        configuration, _, _ = read_system((str(CASES / folder),), None, None)
        assert mode_of(configuration).name
