"""Step invariants on logs, and properties about which logs say nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import hacheck

SPEC = """system Counter "a register that a node may take back"
switch gives_value = off "records show what was hidden"
node Node[1] { value: 0..3 = 0 }
shared kept: set of Node = {}
action rise(n: Node)
  when n.value < 3
do
  n.value := n.value + 1
  log rose(value: n.value) at n
action fall(n: Node)
  when n.value > 0
do
  n.value := n.value - 1
action keep(n: Node)
  when gives_value
do
  kept := kept with n
environment action show_all()
  when gives_value
do
  log shown_now()
step_invariant never_falls "the value never falls": every n: Node satisfies old(n.value) <= n.value
invariant keeps_nothing "nothing is kept": kept == {}
trace "as nodes write it"
  with gives_value = off
  from shown_now: gives_value = on
check default expect all hold
"""


def checked(folder: Path, values: list[int | None], name: str) -> tuple[int, str]:
    """The exit code of `conform` and what it printed, for a log that shows these values."""
    (folder / "counter.ha").write_text(SPEC, encoding="utf-8")
    lines = [{"hacheck.traces": 1, "order": "total", "fields": {"value": "int"}}]
    lines += [
        {
            "trace_id": "t",
            "node": "Node-1",
            "seq": seq,
            "time": seq * 10**9,
            "event": "rose",
            "fields": {"value": value},
        }
        for seq, value in enumerate(values, start=1)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = hacheck("conform", str(folder / "counter.ha"), str(folder / "log.jsonl"), "--property", name, columns=200)
    return ended.code, ended.out + ended.err


@pytest.mark.parametrize(
    ("values", "word", "code"),
    [([1, None, None], "possibly violated", 0), ([1, 2, 2], "violated", 1), ([1, 1, 2], "violated", 1)],
)
def test_step_that_breaks_a_step_invariant_is_found_where_no_run_is_without_it(
    tmp_path: Path, values: list[int | None], word: str, code: int
) -> None:
    ended, text = checked(tmp_path, values, "never_falls")
    assert (ended, f"never_falls {word}" in text) == (code, True), text


def test_step_that_no_run_has_is_not_reported(tmp_path: Path) -> None:
    code, text = checked(tmp_path, [1, 2, 3], "never_falls")
    assert code == 0
    assert "never_falls" not in text


def test_property_over_what_logs_leave_empty_is_refused(tmp_path: Path) -> None:
    code, text = checked(tmp_path, [1, 2], "keeps_nothing")
    assert code == 2
    assert "keeps_nothing" in text
    assert "their records leave empty" in text
