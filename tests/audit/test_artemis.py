"""Pairs of Artemis brokers, from their broker.xml to a verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from hacheck.audit.audit import Audit, AuditRequest, audit, read_system
from hacheck.audit.changes import Change
from hacheck.audit.contradictions import contradictions
from hacheck.audit.modelling import mode_of
from tests.cli.command import hacheck

CASES = Path(__file__).parents[1] / "data" / "audit"


@pytest.fixture(scope="module")
def no_check() -> Audit:
    """A pair whose primary does not look for a stand-in before it starts."""
    return audit(AuditRequest((str(CASES / "artemis_no_check"),)))


def test_files_become_the_settings_of_the_spec(no_check: Audit) -> None:
    assert no_check.model.mode.spec == "artemis_replication"
    chosen = {name: no_check.model.settings[name] for name in ("pairs", "backups", "check_for_active", "quorum_size")}
    assert chosen == {"pairs": "1", "backups": "1", "check_for_active": "off", "quorum_size": "0"}
    assert [(node.name, node.role) for node in no_check.configuration.nodes] == [
        ("main", "primary"),
        ("spare", "backup"),
    ]
    assert no_check.names == {"Server 1": "main", "Server 2": "spare"}


def test_a_pair_without_a_vote_splits_by_one_fault_and_no_setting_helps(no_check: Audit) -> None:
    assert no_check.exit_code == 1
    found = {one.kind: one for one in no_check.findings}
    assert found.keys() == {"split_brain", "acknowledged_loss", "stale_promoted"}
    assert found["split_brain"].violation is not None
    assert found["split_brain"].violation.faults == 1
    assert no_check.search is not None
    assert no_check.search.complete
    assert [one for one in no_check.search.changes if not one.brings] == []


def test_what_a_crash_alone_leads_to_is_prevented_by_the_setting_that_is_wrong(no_check: Audit) -> None:
    assert no_check.search is not None
    crashes = next(one for one in no_check.search.by_fault if one.fault == "crashes")
    edits = [edit for change in crashes.changes for edit in change.edits]
    assert ("check_for_active", "true") in [(edit.name, edit.value) for edit in edits]
    causes = {(one.name, one.line) for one in no_check.findings[0].causes}
    assert ("check_for_active", 25) in causes
    quorum = [
        change.brings for one in no_check.search.by_fault for change in one.changes if _edits(change) == "quorum_size"
    ]
    assert quorum
    assert all(quorum)
    assert "quorum_size" not in {name for name, _ in causes}


def _edits(change: Change) -> str:
    return ", ".join(edit.name for edit in change.edits)


def test_two_more_pairs_help_and_were_explored(no_check: Audit) -> None:
    assert no_check.search is not None
    helps = {one.remedy.says.split(":")[0]: sorted(one.cures) for one in no_check.search.remedies}
    assert helps["two more pairs in the cluster, which vote"] == [
        "p1_one_serving", "p2_acked_survives", "p4_no_stale_copy_serves",
    ]  # fmt: skip


def test_three_pairs_that_vote_are_safe_against_any_one_fault() -> None:
    found = audit(AuditRequest((str(CASES / "artemis_three_pairs"),)))
    assert (found.exit_code, found.findings, found.open) == (0, (), ())
    assert found.model.settings["pairs"] == "3"
    assert found.names["Voter 1"] == "main2"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair on a shared store whose primary acknowledges messages before they are on disk."""
    folder = Path(shutil.copytree(CASES / "artemis_shared_store", tmp_path_factory.mktemp("store") / "etc"))
    for host in ("main", "spare"):
        path = folder / host / "broker.xml"
        early = "    <journal-sync-non-transactional>false</journal-sync-non-transactional>\n  </core>"
        path.write_text(path.read_text().replace("  </core>", early))
    return folder


def test_more_faults_can_be_wanted_and_unknown_ones_are_named(store: Path) -> None:
    ended = hacheck("audit", str(store), "--faults", "crushes=2")
    assert ended.code == 2
    assert "unknown fault `crushes`" in ended.err
    assert "crashes" in ended.err
    assert hacheck("audit", str(store), "--faults", "crashes=9").code == 2


def test_the_command_speaks_in_the_words_of_the_files(store: Path, tmp_path: Path) -> None:
    found, sarif, page = tmp_path / "found.json", tmp_path / "found.sarif", tmp_path / "page.html"
    outputs = ("--json", str(found), "--sarif", str(sarif), "--report", str(page))
    ended = hacheck("audit", str(store), "--show", *outputs)
    assert ended.code == 1
    text = (store / "main/broker.xml").read_text()
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "journal-sync" in row)
    assert "violated: an acknowledged write is lost" in ended.out
    assert f"journal-sync-non-transactional = false  main/broker.xml:{line}" in ended.out
    assert "the smallest change under which it cannot happen in this scope" in ended.out
    assert "journal-sync-non-transactional = true instead of false" in ended.out
    assert "Server 1 is active" not in ended.out
    assert "not-shown" not in ended.out + found.read_text() + sarif.read_text() + page.read_text()
    document = json.loads(found.read_text())
    assert {one["kind"] for one in document["findings"]} == {"acknowledged_loss", "stale_promoted"}
    password = next(one for one in document["settings"] if one["path"].endswith("cluster-password"))
    assert password["value"] == "********"
    assert password["line"]
    absent = next(one for one in document["settings"] if one["path"].endswith("store/database-store"))
    assert (absent["line"], absent["value"], absent["becomes"]) == (None, None, ["lock_store"])
    given = next(one for one in document["settings"] if one["path"].endswith("failover-on-shutdown"))
    assert (given["value"], given["becomes"], given["known"]) == ("true", ["failover_on_shutdown"], True)
    (edit,) = document["change"][0]["edits"]
    assert (edit["value"], edit["nodes"], document["change"][0]["brings"]) == ("true", ["main", "spare"], [])
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"] for one in results]
    lines = {(Path(one["artifactLocation"]["uri"]).parent.name, one["region"]["startLine"]) for one in places}
    assert lines == {("main", line)}
    assert '"id":"main"' in page.read_text()
    assert '"id":"Server 1"' not in page.read_text()


def test_different_groups_are_a_contradiction_with_both_places(tmp_path: Path) -> None:
    pair = Path(shutil.copytree(CASES / "artemis_three_pairs", tmp_path / "pair"))
    for name in ("main2", "main3", "spare2", "spare3"):
        shutil.rmtree(pair / name)
    for name, group in (("main1", "fish"), ("spare1", "bird")):
        path = pair / name / "broker.xml"
        role = "primary" if "<primary>" in path.read_text() else "backup"
        text = path.read_text().replace(f"<{role}>", f"<{role}><group-name>{group}</group-name>")
        path.write_text(text)
    found = audit(AuditRequest((str(pair),), search=False))
    broken = next(one for one in found.findings if one.kind == "contradiction")
    assert "different group-names" in broken.sentence
    assert [(one.text, Path(one.file).parent.name) for one in broken.causes] == [("fish", "main1"), ("bird", "spare1")]
    assert all(one.line for one in broken.causes)


def test_a_change_is_compared_with_the_files_before(store: Path) -> None:
    ended = hacheck("audit", "--before", str(CASES / "artemis_shared_store"), str(store))
    assert ended.code == 1
    assert "the change opens" in ended.out
    assert "journal-sync-non-transactional: true -> false" in ended.out


def test_a_change_is_compared_with_a_revision(store: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(store, tmp_path / "repository"))
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.example")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *words], check=True)
    for path in folder.glob("*/broker.xml"):
        path.write_text(path.read_text().replace("transactional>false", "transactional>true"))
    ended = hacheck("audit", "--before", "HEAD", str(folder))
    assert ended.code == 0
    assert "the change closes an acknowledged write is lost" in " ".join(ended.out.split())
    missing = hacheck("audit", "--before", "nothing-like-that", str(folder))
    assert missing.code == 2
    assert "neither a path nor a revision" in missing.err


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no such file"),
        ({"a.txt": "hello"}, "no product has files like these"),
        ({"broker.xml": "<configuration><core>"}, "broker.xml:1: is no XML"),
        (
            {"broker.xml": "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>"},
            "declares an entity, which is not expanded",
        ),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, files: dict[str, str], message: str) -> None:
    folder = tmp_path / "etc"
    for name, text in files.items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    ended = hacheck("audit", str(folder))
    assert ended.code == 2
    assert message in ended.err


def test_a_value_that_means_nothing_is_refused_with_its_place(tmp_path: Path) -> None:
    pair = Path(shutil.copytree(CASES / "artemis_no_check", tmp_path / "pair"))
    path = pair / "main" / "broker.xml"
    path.write_text(path.read_text().replace("check-for-live-server>false", "check-for-live-server>maybe"))
    ended = hacheck("audit", str(pair))
    assert ended.code == 2
    assert "main/broker.xml:25" in "".join(ended.err.split("\n"))
    assert "`maybe` is neither true nor false" in ended.err


@pytest.mark.parametrize(
    ("host", "address", "sentence"),
    [
        ("main", "0.0.0.0", "a connector names 0.0.0.0"),
        ("spare", "localhost", "one broker names localhost in its connectors"),
    ],
)
def test_an_address_that_others_cannot_reach_is_a_contradiction(
    tmp_path: Path, host: str, address: str, sentence: str
) -> None:
    pair = Path(shutil.copytree(CASES / "artemis_shared_store", tmp_path / "pair"))
    path = pair / host / "broker.xml"
    path.write_text(path.read_text().replace(f">tcp://{host}:", f">tcp://{address}:"))
    configuration, _, _ = read_system((str(pair),), None, None)
    (broken,) = contradictions(configuration, mode_of(configuration))
    assert broken.rule.says.startswith(sentence)
    assert all(value.line for _, value in broken.places)


def test_two_pairs_are_an_even_number_of_voters(tmp_path: Path) -> None:
    pairs = Path(shutil.copytree(CASES / "artemis_three_pairs", tmp_path / "pairs"))
    for name in ("main3", "spare3"):
        shutil.rmtree(pairs / name)
    configuration, _, _ = read_system((str(pairs),), None, None)
    found = contradictions(configuration, mode_of(configuration))
    assert any("an even number of voters" in one.rule.says for one in found)
