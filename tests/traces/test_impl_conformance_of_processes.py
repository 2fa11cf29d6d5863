"""Servers that scale down, and servers that back each other up, write what their specs say, in simulated runs.

`docs/decisions/0019-the-code-and-the-specs.md` says what the comparison found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.testing.reference import FOLLOWED
from tests.nightly import first_of, nightly
from tests.traces.test_impl_conformance import recorded, verdicts, words_for

SCALE_DOWN = words_for("artemis-scale-down")
SETTINGS = FOLLOWED["artemis-scale-down"].options
PROFILES = ["crashes", "none", "power", "pauses", "partitions", "network", "disk", "clocks", "locks", "chaos"]


@pytest.mark.parametrize("faults", first_of(PROFILES[:3]))
def test_servers_that_scale_down_follow_their_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-scale-down", faults, range(4), SETTINGS, replicas=3, clients=1)
    assert verdicts(SCALE_DOWN, traces) == {"conforms": 4}


@nightly
@pytest.mark.parametrize("faults", PROFILES)
def test_servers_that_scale_down_follow_their_spec_all_night(tmp_path: Path, faults: str) -> None:
    """Some runs more states explain than are followed by default."""
    traces = recorded(tmp_path / faults, "artemis-scale-down", faults, range(30), SETTINGS, replicas=3, clients=1)
    found = verdicts(SCALE_DOWN, traces)
    assert not found["deviates"]
    assert found["conforms"] >= 18


@nightly
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"groups": "2"}, ("grouped=on",)),
        ({"backups": "true"}, ("backed_up=on",)),
    ],
)
def test_servers_with_groups_or_backups_follow_the_spec_of_them(
    tmp_path: Path, settings: dict[str, str], words: tuple[str, ...]
) -> None:
    """HornetQ manual, "Scale Down with groups", "Scale Down and Backups": a server and its backup are one node."""
    backups = tuple(word for number in (1, 2, 3) for word in ("--node", f"backup-{number}=Server-{number}"))
    spec = (*SCALE_DOWN, *(word for setting in words for word in ("--set", setting)), *backups)
    chosen = {**SETTINGS, **settings}
    traces = recorded(tmp_path / "runs", "artemis-scale-down", "crashes", range(12), chosen, replicas=3, clients=1)
    found = verdicts(spec, traces)
    assert not found["deviates"]
    assert found["conforms"] >= 8


@nightly
def test_servers_with_a_connector_scale_down_where_it_leads(tmp_path: Path) -> None:
    chosen = {**SETTINGS, "found_by": "connector"}
    traces = recorded(tmp_path / "runs", "artemis-scale-down", "crashes", range(12), chosen, replicas=2, clients=1)
    found = verdicts((*SCALE_DOWN, "--set", "found_by=connector", "--set", "servers=2"), traces)
    assert not found["deviates"]
