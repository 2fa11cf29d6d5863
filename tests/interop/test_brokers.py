"""Reading logs of a pair finds what is missing; and, where asked for, pairs of real brokers do what was told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hacheck.replay.artemis.broker_kind import ARTEMIS, BrokerKind
from hacheck.replay.artemis.jars import missing
from hacheck.replay.hornetq.broker_kind import HORNETQ
from hacheck.replay.processes import ProcessGroup
from tests.interop.broker_damage import KINDS, damaged
from tests.interop.broker_interop import main, read
from tests.interop.broker_pair import NAMES, POLICIES, Pair

RECORDINGS = Path(__file__).parents[1] / "data"
BOTH = pytest.mark.parametrize("product", [ARTEMIS, HORNETQ], ids=lambda product: product.product)
HEAD = "2026-11-21T23:12:1{second},000 INFO  [org.apache.activemq.artemis.core.server] "
STORY = {
    "primary": ["AMQ221007: Server is now active", "AMQ221025: Replication: sending a file"],
    "backup": ["AMQ221109: started; waiting for primary to fail", "AMQ221007: Server is now active"],
}
EXPECTED = (("primary", "active"), ("backup", "backup_started"), ("backup", "active"))


def logs(folder: Path, story: dict[str, list[str]]) -> Path:
    for name, lines in story.items():
        (folder / name / "log").mkdir(parents=True)
        text = "".join(HEAD.format(second=second) + line + "\n" for second, line in enumerate(lines))
        (folder / name / "log" / "artemis.log").write_text(text)
    return folder


def test_story_is_read(tmp_path: Path) -> None:
    assert read(logs(tmp_path / "logs", STORY), EXPECTED, {"primary", "backup"}, ARTEMIS) == []


@pytest.mark.parametrize(
    ("expected", "servers", "finding"),
    [
        ((*EXPECTED, ("backup", "backup_started")), {"primary", "backup"}, "backup_started at backup does not come"),
        (EXPECTED, {"primary"}, "backup, primary served; expected: primary"),
    ],
)
def test_other_story_is_found_out(
    expected: tuple[tuple[str, str], ...], servers: set[str], finding: str, tmp_path: Path
) -> None:
    findings = read(logs(tmp_path / "logs", STORY), expected, servers, ARTEMIS)
    assert len(findings) == 1
    assert findings[0].startswith(finding)


def test_line_of_an_unknown_kind_is_not_accounted_for(tmp_path: Path) -> None:
    folder = logs(tmp_path / "logs", STORY)
    log = folder / "primary" / "log" / "artemis.log"
    log.write_text("something else\n" + log.read_text())
    assert read(folder, EXPECTED, {"primary", "backup"}, ARTEMIS) == ["4 of 5 lines are accounted for"]


@BOTH
@pytest.mark.parametrize("policy", POLICIES)
def test_pair_is_configured(policy: str, product: BrokerKind, tmp_path: Path) -> None:
    with ProcessGroup() as processes:
        pair = Pair(tmp_path / "pair", policy, "", processes, product)
        pair.configure()
        texts = [(pair.brokers / name / "broker.xml").read_text() for name in NAMES.values()]
    journals = {line.strip() for text in texts for line in text.splitlines() if "<journal-directory>" in line}
    assert len(journals) == (1 if policy == "shared_store" else 2)
    assert pair.times(1, "221007") == 0


@BOTH
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_one_log_of_a_pair_is_changed_in_one_place(policy: str, kind: str, product: BrokerKind, tmp_path: Path) -> None:
    source = RECORDINGS / product.adapter / f"{policy}-crash_and_failback"
    change = damaged(source, tmp_path, policy, kind, product)
    assert change is not None
    assert {one.relative_to(tmp_path) for one in tmp_path.glob("*/log/*")} == {
        one.relative_to(source) for one in source.glob("*/log/*")
    }
    for name in NAMES.values():
        before, after = ((folder / name / product.log).read_text() for folder in (source, tmp_path))
        places = [
            place
            for place, (old, new) in enumerate(zip(before.splitlines(), after.splitlines(), strict=False))
            if old != new
        ]
        assert (places[0] + 1 == change.line) if name == change.broker else not places


def test_without_java_it_is_skipped_loudly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(ARTEMIS, []) == 0
    assert capsys.readouterr().out.startswith("skipped: java is not installed")


@BOTH
@pytest.mark.skipif("HACHECK_INTEROP" not in os.environ, reason="starts real brokers: set HACHECK_INTEROP=1")
def test_fresh_pairs_do_what_was_told(product: BrokerKind, tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    assert main(product, ["--stories", "crash_and_failback", "--keep", str(tmp_path / "logs")]) == 0
