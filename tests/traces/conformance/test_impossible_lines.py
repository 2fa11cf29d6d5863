"""Which transition would have written a line that no run explains, and what is false for it in the nearest state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import hacheck

SPEC = """system Group "servers join a group, which starts with a majority"
assumption patient = on "a group starts when every server has joined"
node Server[3] { state mode: { out, joined, serving } = out  generation: 0..9 = 0  ready: bool = false }
shared members: 0..3 = 0
action join(s: Server) when s.mode == out do
  s.mode := joined
  members := members + 1
  log joined() at s
action prepare(s: Server) when s.mode == joined and not s.ready do s.ready := true
action start(s: Server)
  when s.mode == joined and s.ready and s.generation < 9
  only after patient implies every o: Server satisfies o.mode != out
do
  s.generation := s.generation + 1
  if s.generation > 1 and members < 2 then log refused() at s
  else {
    s.mode := serving
    log commenced(generation: s.generation) at s
  }
action stop(s: Server) when s.mode == serving do
  s.mode := out
  s.ready := false
  members := members - 1
  log stopped() at s
invariant fine: no s: Server where s.generation == 9
"""
JOINED = ((1, "joined", None), (2, "joined", None), (3, "joined", None))


def conformed(
    folder: Path, records: tuple[tuple[int, str, int | None], ...], order: str
) -> tuple[dict[str, object], str]:
    """The verdict on a trace of these records, and what is printed."""
    lines = [json.dumps({"hacheck.traces": 1, "order": order, "fields": {"generation": "int"}})]
    for seq, (node, event, generation) in enumerate(records, start=1):
        fields = {} if generation is None else {"generation": generation}
        record = {"trace_id": "night", "node": f"server-{node}", "seq": seq, "event": event, "fields": fields}
        lines.append(json.dumps(record | {"time": seq * 10**9}))
    (folder / "night.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "group.ha").write_text(SPEC, encoding="utf-8")
    command = ("conform", f"{folder}/group.ha", f"{folder}/night.jsonl", "--json", f"{folder}/found.json")
    ended = hacheck(*command, columns=120)
    (verdict,) = json.loads((folder / "found.json").read_text(encoding="utf-8"))["verdicts"]
    return verdict, ended.out


CASES = {
    "a field of the line": (
        (*JOINED, (1, "commenced", 2)),
        "start at Server 1",
        ["`generation` would be 1 (`s.generation`), and the line has 2"],
    ),
    "a part of the guard": (
        ((2, "joined", None), (2, "joined", None)),
        "join at Server 2",
        ["`s.mode == out` is false (s.mode is joined)"],
    ),
    "no line of it was there": (
        ((1, "stopped", None),),
        "stop at Server 1",
        ["`s.mode == serving` is false (s.mode is out)"],
    ),
    "the other side of an if": (
        (*JOINED, (1, "refused", None)),
        "start at Server 1",
        [
            "`1 < s.generation` is false (s.generation is 1)",
            "`members < 2` is false (members is 3)",
        ],
    ),
}


@pytest.mark.parametrize("order", ["total", "per_node"])
@pytest.mark.parametrize("case", CASES)
def test_failing_conditions_of_the_nearest_state_are_named(tmp_path: Path, case: str, order: str) -> None:
    records, transition, failing = CASES[case]
    verdict, shown = conformed(tmp_path, records, order)
    assert verdict["kind"] == "deviates"
    assert (verdict["transition"], verdict["failing"], verdict["assumption"]) == (transition, failing, "")
    assert f"would have been written by {transition}" in shown
    assert all(one in shown for one in failing)


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_assumption_that_alone_forbids_a_line_is_named(tmp_path: Path, order: str) -> None:
    records = ((1, "joined", None), (1, "commenced", 1))
    verdict, shown = conformed(tmp_path, records, order)
    assert verdict["assumption"] == "patient"
    assert verdict["transition"] == "start at Server 1"
    (failing,) = verdict["failing"]  # type: ignore[misc]
    assert "every o: Server satisfies o.mode != out" in failing
    assert "not so for o = Server 2" in failing
    assert "the assumption patient alone forbids it" in shown
