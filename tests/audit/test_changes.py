"""Changes of settings that prevent what is violated, and what each brings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hacheck.audit.audit import Audit, AuditRequest, audit
from tests.audit.cases import CASES
from tests.cli.command import hacheck


@pytest.fixture(scope="module")
def patroni(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hosts without a watchdog that is required, and with asynchronous replication: two findings, two causes."""
    folder = Path(shutil.copytree(CASES / "patroni_no_watchdog", tmp_path_factory.mktemp("patroni") / "etc"))
    for path in folder.glob("*/patroni.yml"):
        path.write_text(path.read_text().replace("synchronous_mode: true", "synchronous_mode: false"))
    return folder


def test_the_cures_of_two_findings_are_tried_together(patroni: Path) -> None:
    found = audit(AuditRequest((str(patroni),)))
    assert {one.name for one in found.findings} == {"one_primary", "acknowledged_survives"}
    assert found.search is not None
    (change,) = found.search.changes
    assert {edit.name for edit in change.edits} == {"watchdog", "synchronous_mode"}
    assert (change.cures, change.brings) == ({"one_primary", "acknowledged_survives"}, frozenset())


def test_a_run_in_which_patroni_hangs_is_not_said_to_have_no_fault(patroni: Path) -> None:
    ended = hacheck("audit", str(patroni))
    words = " ".join(ended.out.split())
    assert "no fault at all" not in words
    assert "The environment does: hang (2)" in words
    assert "the smallest change under which it cannot happen in this scope" in words
    assert "no more than 1 fault in all" in words


@pytest.fixture(scope="module")
def boxes() -> Audit:
    """Three sentinels with quorum 2, as Redis recommends."""
    return audit(AuditRequest((str(CASES / "redis_three_boxes"),)))


def test_what_prevents_faults_of_one_kind_is_explored_in_the_whole_scope(boxes: Audit) -> None:
    assert boxes.search is not None
    cuts = next(one for one in boxes.search.by_fault if one.fault == "sentinel_cuts")
    higher = next(one for one in cuts.changes if [(edit.name, edit.value) for edit in one.edits] == [("quorum", "3")])
    assert higher.brings == {"serves_again"}


def test_no_setting_is_blamed_whose_other_values_bring_other_harm(boxes: Audit) -> None:
    assert "quorum" not in {value.name for one in boxes.findings for value in one.causes}


def test_what_is_prevented_and_what_comes_instead_are_sentences() -> None:
    ended = hacheck("audit", str(CASES / "redis_three_boxes"))
    words = " ".join(ended.out.split())
    assert "but then: it does not recover by itself; no more is it so that when the host of the master is gone" in words
    assert "no single change or pair of these settings" in words


def test_a_cure_of_two_settings_neither_of_which_helps_alone_is_found(patroni: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(patroni, tmp_path / "etc"))
    for path in folder.glob("*/patroni.yml"):
        early = "\npostgresql:\n  parameters:\n    synchronous_commit: 'off'\n  listen"
        path.write_text(path.read_text().replace("\npostgresql:\n  listen", early))
    found = audit(AuditRequest((str(folder),)))
    lost = next(one for one in found.findings if one.name == "acknowledged_survives")
    assert [{edit.name for edit in change.edits} for change in lost.changes] == [
        {"synchronous_mode", "synchronous_commit"}
    ]
    assert {value.name for value in lost.causes} == {"synchronous_mode", "synchronous_commit"}
    assert found.search is not None
    (change,) = found.search.changes
    assert len(change.edits) == 3


def test_what_no_setting_prevents_is_told_apart() -> None:
    found = audit(AuditRequest((str(CASES / "keepalived_weight_too_small"),)))
    assert {one.kind: one.avoidable for one in found.findings} == {
        "contradiction": True,
        "split_brain": False,
        "never_recovers": True,
    }
    ended = hacheck("audit", str(CASES / "keepalived_weight_too_small"))
    words = " ".join(ended.out.split())
    assert "split brain: no values of these settings prevent it without other harm" in words
    assert "it does not recover by itself: other settings prevent it" in words


def test_without_a_search_nothing_is_said_to_be_unavoidable() -> None:
    found = audit(AuditRequest((str(CASES / "keepalived_unicast_pair"),), search=False))
    assert [one.avoidable for one in found.findings] == [None]


def test_only_nodes_that_are_explored_are_said_to_be_of_the_spec(boxes: Audit) -> None:
    assert [one for one in boxes.names if one.startswith("Server")] == ["Server 1", "Server 2"]


def test_what_no_setting_prevents_can_be_allowed() -> None:
    pair = str(CASES / "keepalived_unicast_pair")
    assert hacheck("audit", pair).code == 1
    allowed = hacheck("audit", pair, "--allow-unavoidable")
    assert allowed.code == 0
    assert "violated: split brain" in allowed.out
    assert hacheck("audit", str(CASES / "keepalived_weight_too_small"), "--allow-unavoidable").code == 1


def test_sarif_advises_no_change_that_brings_other_harm(tmp_path: Path) -> None:
    path = tmp_path / "found.sarif"
    hacheck("audit", str(CASES / "keepalived_weight_too_small"), "--sarif", str(path))
    texts = {one["ruleId"]: one["message"]["text"] for one in json.loads(path.read_text())["runs"][0]["results"]}
    assert "It cannot happen with" in texts["never_recovers"]
    assert "It cannot happen with" not in texts["split_brain"]
