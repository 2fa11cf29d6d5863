"""Recordings of pairs of real Artemis brokers, judged with the specs of their policies: as they are, and changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.adapters.log_verdicts import Logs, changed, swapped, verdicts, without, written

RECORDINGS = Path(__file__).parents[2] / "data" / "artemis"
PRIMARY, BACKUP = "server-1/log/artemis.log", "server-2/log/artemis.log"
HEAD = len("2026-11-22T00:51:22,040 INFO  [org.apache.activemq.artemis.core.server] ")


def recorded(name: str) -> Logs:
    """The logs of a recording."""
    return {log: (RECORDINGS / name / log).read_text(encoding="utf-8").splitlines() for log in (PRIMARY, BACKUP)}


def judged(policy: str, folder: Path, cases: dict[str, Logs]) -> dict[str, tuple[str, str]]:
    """The verdict on each case, and the event at which it leaves the protocol."""
    for name, logs in cases.items():
        written(folder / name, logs)
    found = verdicts(f"artemis_{policy}", "artemis", folder)
    return {name: (one.kind, one.event) for name, one in found.items()}


def test_replicated_pair_wrote_its_recordings_and_none_of_the_changed_ones(tmp_path: Path) -> None:
    failback, pause = recorded("replication-crash_and_failback"), recorded("replication-pause")
    cases = {
        "failback": failback,
        "pause": pause,
        "active-unannounced": without(failback, BACKUP, "AMQ221037"),
        "never-synchronized": without(without(failback, PRIMARY, "AMQ221024"), PRIMARY, "AMQ221031"),
        "vote-lost-and-active": changed(failback, BACKUP, "AMQ221071", "AMQ221070"),
        "result-before-vote": swapped(failback, BACKUP, "AMQ221066", "AMQ221071", HEAD),
        "up-before-active": swapped(pause, PRIMARY, "AMQ221007", "AMQ221001", HEAD),
        "other-node-id": changed(pause, BACKUP, "brain on nodeID ", "brain on nodeID 0"),
        "rival-of-nobody": {PRIMARY: pause[PRIMARY], BACKUP: pause[BACKUP][:1]},
    }
    assert judged("replication", tmp_path, cases) == {
        "failback": ("conforms", ""),
        "pause": ("conforms", ""),
        "active-unannounced": ("deviates", "active"),
        "never-synchronized": ("deviates", "becoming_active"),
        "vote-lost-and-active": ("deviates", "vote_result"),
        "result-before-vote": ("deviates", "vote_result"),
        "up-before-active": ("deviates", "started"),
        "other-node-id": ("deviates", "possible_split_brain"),
        "rival-of-nobody": ("deviates", "possible_split_brain"),
    }


def test_pair_on_a_shared_store_wrote_its_recording_and_none_of_the_changed_ones(tmp_path: Path) -> None:
    failback = recorded("shared_store-crash_and_failback")
    cases = {
        "failback": failback,
        "without-the-lock": without(failback, BACKUP, "AMQ221033"),
        "active-before-lock": swapped(failback, PRIMARY, "AMQ221035", "AMQ221007", HEAD),
        "primary-as-backup": changed(failback, PRIMARY, "AMQ221035", "AMQ221033"),
    }
    found = judged("shared_store", tmp_path, cases)
    assert found.pop("failback") == ("conforms", "")
    assert found == {
        "without-the-lock": ("deviates", "backup_started"),
        "active-before-lock": ("deviates", "active"),
        "primary-as-backup": ("deviates", "backup_lock_obtained"),
    }


@pytest.mark.parametrize("name", sorted(folder.name for folder in RECORDINGS.iterdir() if folder.is_dir()))
def test_recording_names_no_place_of_a_machine(name: str) -> None:
    assert all("/tmp/" not in line and "/home/" not in line for lines in recorded(name).values() for line in lines)
