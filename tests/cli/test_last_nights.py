"""Was there a split brain last night? Nights of two load balancers, with a model in which a crash leaves no line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import hacheck

SPEC = """system Pair "Two load balancers: the master has the address."
node LB[2] symmetric { state mode: { down, backup, master } = down }
on restart of n: LB do
  log started() at n
  n.mode := down
action begin(n: LB) when n.mode == down do
  log backup(first: true) at n
  n.mode := backup
action take(n: LB) when n.mode == backup do
  log master() at n
  n.mode := master
action hear_lower(n: LB) when n.mode == master do log heard_lower() at n
action give_up(n: LB) when n.mode == master do
  log heard_higher() at n
  log backup(first: false) at n
  n.mode := backup
faults { crash LB up to 3 }
invariant one_master "never do both have the address": at most one n: LB where n.mode == master and up(n)
check default restores one_master within 1 s expect one_master violated
"""
ADAPTER = r"""name = "vrrp"
about = "two load balancers"
[files]
name = '(?P<node>lb\d)\.log'
[line]
head = '(?P<time>\S+) (?P<host>lb\d) (?P<program>\w+): '
time = "iso"
"""
EVENTS = {
    "started": "starts",
    "backup": r"BACKUP(?P<first> \(init\))?",
    "master": "MASTER",
    "heard_lower": "lower advert",
    "heard_higher": "higher advert",
}
START = (
    (1, 0.0, "starts"),
    (1, 0.01, "BACKUP (init)"),
    (2, 0.5, "starts"),
    (2, 0.51, "BACKUP (init)"),
    (1, 3.6, "MASTER"),
)
HEALED = ((1, 11_691.0, "lower advert"), (2, 11_691.001, "higher advert"), (2, 11_691.002, "BACKUP"))
TAKEN = (2, 11_650.0, "MASTER")
BACK = ((1, 11_830.0, "starts"), (1, 11_830.01, "BACKUP (init)"))
END = 21_600.0
NOISE = 60.0


def stamp(seconds: float) -> str:
    """A time of the night as logs write it."""
    return (datetime(2025, 11, 22, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def night(folder: Path, events: tuple[tuple[int, float, str], ...], silent: dict[int, float], program: str) -> None:
    """The logs of a night: what each node says when, and lines of `program` each minute, but not from when it is
    silent to its next event."""
    folder.mkdir()
    for node in (1, 2):
        lines = [(at, "vrrp", text) for who, at, text in events if who == node]
        again = min((at for at, _, _ in lines if at > silent.get(node, END)), default=END)
        times = [NOISE * turn for turn in range(1, int(END / NOISE))]
        lines += [(at, program, "all is well") for at in times if not silent.get(node, END) <= at <= again]
        text = "".join(f"{stamp(at)} lb{node} {who}: {said}\n" for at, who, said in sorted(lines))
        (folder / f"lb{node}.log").write_text(text)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What is found of each night."""
    place = tmp_path_factory.mktemp("nights")
    (place / "pair.ha").write_text(SPEC)
    rules = [f"[[event]]\nname = '{name}'\npattern = '{pattern}'\n" for name, pattern in EVENTS.items()]
    (place / "vrrp.toml").write_text(ADAPTER + "".join(rules).replace("?'\n", "?'\nfields.first = 'bool'\n"))
    logs = place / "logs"
    logs.mkdir()
    night(logs / "quiet", START, {}, "vrrp")
    night(logs / "failover", (*START, TAKEN, *BACK), {1: 11_646.0}, "vrrp")
    night(logs / "cut", (*START, TAKEN, *HEALED), {}, "vrrp")
    night(logs / "unhealed", (*START, TAKEN), {}, "vrrp")
    night(logs / "unhealed_other_program", (*START, TAKEN), {}, "cron")
    night(logs / "split_then_crash", (*START, TAKEN, *BACK), {1: 11_800.0}, "vrrp")
    command = (f"{place}/pair.ha", str(logs), "--adapter", f"{place}/vrrp.toml", "--json", f"{place}/found.json")
    assert hacheck("conform", *command, "--property", "one_master").code == 1
    found = json.loads((place / "found.json").read_text())["verdicts"]
    return {verdict["trace_id"]: verdict for verdict in found}


def test_quiet_night_has_nothing_to_say(verdicts: dict[str, dict[str, Any]]) -> None:
    quiet = verdicts["quiet"]
    assert (quiet["kind"], quiet["violated"], quiet["perhaps"], quiet["excluded"]) == ("conforms", [], [], [])


def test_fail_over_of_a_machine_that_lost_power_is_excluded(verdicts: dict[str, dict[str, Any]]) -> None:
    found = verdicts["failover"]
    assert (found["kind"], found["violated"], found["perhaps"], found["late"]) == ("conforms", [], [], [])
    (excluded,) = found["excluded"]
    assert excluded.startswith("one_master: if lb1 ended soon after its last line before started")


def test_cut_is_violated_for_as_long_as_it_was(verdicts: dict[str, dict[str, Any]]) -> None:
    (broken,) = verdicts["cut"]["broken"]
    assert (broken["sure"], broken["is_open"], broken["nodes"]) == (True, False, ["lb1", "lb2"])
    assert broken["nanoseconds"] == pytest.approx(41.0e9, abs=3e6)


def test_split_brain_lasts_until_the_last_line_that_shows_both(verdicts: dict[str, dict[str, Any]]) -> None:
    (broken,) = verdicts["unhealed"]["broken"]
    assert (broken["sure"], broken["is_open"]) == (True, True)
    assert broken["nanoseconds"] == (21_540 - 11_650) * 10**9
    assert "at least 2 h 44 min" in verdicts["unhealed"]["reason"]


def test_lines_of_another_program_show_nothing_of_the_balancer(verdicts: dict[str, dict[str, Any]]) -> None:
    found = verdicts["unhealed_other_program"]
    assert (found["kind"], found["violated"]) == ("conforms", [])
    assert found["perhaps"]


def test_what_a_possible_violation_depends_on_is_named(verdicts: dict[str, dict[str, Any]]) -> None:
    (broken,) = verdicts["unhealed_other_program"]["broken"]
    master = "master (unhealed_other_program/lb2.log:197)"
    assert broken["decides"] == f"whether `crash LB 1` happens before {master}"
    assert broken["breaking"] == master
    assert broken["sparing"] == f"crash LB 1 (no line), {master}"


def test_certain_violation_depends_on_nothing(verdicts: dict[str, dict[str, Any]]) -> None:
    (broken,) = verdicts["cut"]["broken"]
    assert (broken["decides"], broken["breaking"], broken["sparing"]) == ("", "", "")


def test_master_that_still_wrote_beside_the_other_did_not_end_promptly(verdicts: dict[str, dict[str, Any]]) -> None:
    found = verdicts["split_then_crash"]
    assert found["kind"] == "conforms"
    assert found["perhaps"] or found["violated"]
