"""Servers that scale down, and servers that back each other up, write what their specs say, in simulated runs.

`docs/decisions/0019-the-code-and-the-specs.md` says what the comparison found.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.impl.recording import Line
from hacheck.testing.reference_protocols import FOLLOWED
from tests.nightly import first_of, nightly
from tests.traces.conformance.impl_recordings import recorded, verdicts, words_for

SCALE_DOWN = words_for("artemis-scale-down")
THREE = (*SCALE_DOWN, "--set", "servers=3")
SETTINGS = FOLLOWED["artemis-scale-down"].options
PROFILES = ["crashes", "none", "power", "pauses", "partitions", "network", "disk", "clocks", "locks", "chaos"]


@pytest.mark.parametrize("faults", first_of(PROFILES[:3]))
def test_servers_that_scale_down_follow_their_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-scale-down", faults, range(4), SETTINGS, replicas=2, clients=1)
    assert verdicts(SCALE_DOWN, traces) == {"conforms": 4}


@nightly
@pytest.mark.parametrize("faults", PROFILES)
def test_servers_that_scale_down_follow_their_spec_all_night(tmp_path: Path, faults: str) -> None:
    """Some runs more states explain than are followed by default."""
    traces = recorded(tmp_path / faults, "artemis-scale-down", faults, range(30), SETTINGS, replicas=3, clients=1)
    found = verdicts(THREE, traces)
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
    spec = (*THREE, *(word for setting in words for word in ("--set", setting)), *backups)
    chosen = {**SETTINGS, **settings}
    traces = recorded(tmp_path / "runs", "artemis-scale-down", "crashes", range(12), chosen, replicas=3, clients=1)
    found = verdicts((*spec, "--states", "100k"), traces)
    assert not found["deviates"]
    assert found["conforms"] >= 10


SERVERS = ("server-1", "server-2", "server-3")


def by_server(line: Line) -> Line:
    """A line with the server that writes it for its node, not the process."""
    return replace(line, node=line.fields["server"]) if "server" in line.fields and line.node in SERVERS else line


@nightly
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"found_by": "connector"}, ("found_by=connector",)),
        ({"found_by": "in_process", "backups": "true"}, ("found_by=in_process", "backed_up=on")),
    ],
)
def test_servers_that_know_where_to_scale_down_do_so_to_the_next_one(
    tmp_path: Path, settings: dict[str, str], words: tuple[str, ...], servers: int
) -> None:
    """HornetQ manual, "Scaling Down": a connector, or else the first one within the process."""
    hosts = range(1, servers + 1)
    backups = [f"server-{number % servers + 1}/backup-{number}=Server-{number}" for number in hosts]
    spec = [*SCALE_DOWN, *(word for one in (f"servers={servers}", *words) for word in ("--set", one))]
    spec += [word for backup in backups for word in ("--node", backup) if "backups" in settings]
    chosen = {**SETTINGS, **settings}
    traces = recorded(
        tmp_path / "runs",
        "artemis-scale-down",
        "crashes",
        range(12),
        chosen,
        replicas=servers,
        clients=1,
        told=by_server,
    )
    found = verdicts(tuple(spec), traces)
    assert not found["deviates"]
    assert found["conforms"] >= 8


# ---- colocated backups ----

COLOCATED = words_for("artemis-colocated")
NOTICED = ("--set", "failures_noticed=on")
BACKUPS = FOLLOWED["artemis-colocated"].options


@pytest.mark.parametrize("faults", first_of(["crashes", "none", "chaos"]))
def test_servers_that_back_each_other_up_follow_their_spec(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-colocated", faults, range(4), BACKUPS, replicas=3)
    assert verdicts(COLOCATED, traces) == {"conforms": 4}


@nightly
@pytest.mark.parametrize("faults", PROFILES)
def test_servers_that_back_each_other_up_follow_their_spec_all_night(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-colocated", faults, range(30), BACKUPS, replicas=3)
    assert verdicts(COLOCATED, traces) == {"conforms": 30}


@nightly
@pytest.mark.parametrize("faults", ["crashes", "power", "disk", "clocks"])
def test_never_do_two_serve_in_one_place_where_processes_end(tmp_path: Path, faults: str) -> None:
    traces = recorded(tmp_path / faults, "artemis-colocated", faults, range(15), BACKUPS, replicas=3)
    assert verdicts((*COLOCATED, *NOTICED), traces) == {"conforms": 15}


@nightly
@pytest.mark.parametrize("faults", ["crashes", "power", "pauses", "partitions", "network", "disk"])
def test_never_do_two_serve_from_one_store(tmp_path: Path, faults: str) -> None:
    chosen = {**BACKUPS, "way": "shared_store"}
    traces = recorded(tmp_path / faults, "artemis-colocated", faults, range(15), chosen, replicas=3)
    assert verdicts((*COLOCATED, *NOTICED, "--set", "way=shared_store"), traces) == {"conforms": 15}


@nightly
def test_backups_stay_within_groups(tmp_path: Path) -> None:
    """Broker facts 2.11: with replication the group name is compared."""
    chosen = {**BACKUPS, "groups": "2"}
    traces = recorded(tmp_path / "groups", "artemis-colocated", "crashes", range(10), chosen, replicas=3)
    assert verdicts((*COLOCATED, "--set", "grouped=on"), traces) == {"conforms": 10}
