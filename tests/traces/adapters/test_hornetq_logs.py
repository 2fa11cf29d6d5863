"""Recordings of pairs of real HornetQ servers, compared with the specs of their policies: as they are, and changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.traces.adapters.log_verdicts import Logs, changed, swapped, verdicts, without, written

RECORDINGS = Path(__file__).parents[2] / "data" / "hornetq"
LIVE, BACKUP = "server-1/log/hornetq.log", "server-2/log/hornetq.log"
HEAD = len("2026-11-26 06:58:31,504 INFO  [org.hornetq.core.server] ")
LINES = (("hornetq_lines", "on"),)


def recorded(name: str) -> Logs:
    """The logs of a recording."""
    return {log: (RECORDINGS / name / log).read_text(encoding="utf-8").splitlines() for log in (LIVE, BACKUP)}


def compared(policy: str, folder: Path, cases: dict[str, Logs]) -> dict[str, tuple[str, str]]:
    """The verdict on each case, and the event at which it leaves the protocol."""
    for name, logs in cases.items():
        written(folder / name, logs)
    found = verdicts(f"artemis_{policy}", "hornetq", folder, LINES)
    return {name: (one.kind, one.event) for name, one in found.items()}


def test_replicated_pair_wrote_its_recordings_and_none_of_the_changed_ones(tmp_path: Path) -> None:
    failback, pause = recorded("replication-crash_and_failback"), recorded("replication-pause")
    cases = {
        "failback": failback,
        "pause": pause,
        "wakes-alone": recorded("replication-backup_wakes_alone"),
        "wrong-order": recorded("replication-wrong_order"),
        "live-unannounced": without(failback, BACKUP, "HQ221037"),
        "never-synchronized": without(without(failback, LIVE, "HQ221024"), LIVE, "HQ221031"),
        "up-before-live": swapped(pause, LIVE, "HQ221007", "HQ221001", HEAD),
        "live-before-clients": swapped(pause, LIVE, "HQ221020", "HQ221007", HEAD),
        "backup-in-votes": changed(pause, BACKUP, "HQ221020", "HQ221007"),
    }
    assert compared("replication", tmp_path, cases) == {
        "failback": ("conforms", ""),
        "pause": ("conforms", ""),
        "wakes-alone": ("conforms", ""),
        "wrong-order": ("conforms", ""),
        "live-unannounced": ("deviates", "acceptor_started"),
        "never-synchronized": ("deviates", "becoming_active"),
        "up-before-live": ("deviates", "started"),
        "live-before-clients": ("deviates", "active"),
        "backup-in-votes": ("deviates", "active"),
    }


def test_pair_on_a_shared_store_wrote_its_recording_and_none_of_the_changed_ones(tmp_path: Path) -> None:
    failback = recorded("shared_store-crash_and_failback")
    cases = {
        "failback": failback,
        "wrong-order": recorded("shared_store-wrong_order"),
        "without-the-lock": without(failback, BACKUP, "HQ221033"),
        "live-before-lock": swapped(failback, LIVE, "HQ221035", "HQ221007", HEAD),
        "live-as-backup": changed(failback, LIVE, "HQ221035", "HQ221033"),
    }
    found = compared("shared_store", tmp_path, cases)
    assert found.pop("failback") == found.pop("wrong-order") == ("conforms", "")
    assert {name: kind for name, (kind, _) in found.items()} == dict.fromkeys(found, "deviates")


@pytest.mark.parametrize(
    ("name", "violated"),
    [
        ("crash_and_failback", set()),
        ("pause", {"p1_one_serving"}),
        ("backup_wakes_alone", {"p1_one_serving", "acknowledged_is_kept"}),
        ("wrong_order", {"acknowledged_is_kept"}),
    ],
)
def test_split_brains_and_lost_messages_are_found_in_recordings(name: str, violated: set[str], tmp_path: Path) -> None:
    logs, place = RECORDINGS / f"replication-{name}", tmp_path / "found.json"
    options = ("--adapter", "hornetq", "--property", "p1_one_serving", "--json", str(place))
    hacheck("conform", "artemis_replication", str(logs), *options)
    (found,) = json.loads(place.read_text(encoding="utf-8"))["verdicts"]
    assert (found["kind"], {one.partition("@")[0] for one in found["violated"]}) == ("conforms", violated)


@pytest.mark.parametrize("name", sorted(folder.name for folder in RECORDINGS.iterdir() if folder.is_dir()))
def test_recording_names_no_place_of_a_machine(name: str) -> None:
    assert all("/tmp/" not in line and "/home/" not in line for lines in recorded(name).values() for line in lines)
