"""A line that the spec writes only under settings that are not these is a deviation, not a line of something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hacheck

SPEC = """\
system Pair "A source acknowledges what a replica has; without an answer it goes on alone, if that is allowed."
switch fallback = on "without an acknowledgement the source goes on alone"
node Server[1] { synchronous: bool = true  n: 0..3 = 0 }
action commit(s: Server) when s.n < 3 do
  s.n := s.n + 1
  log committed(n: s.n) at s
action time_out(s: Server) when fallback and s.synchronous do
  s.synchronous := false
  log switched_off() at s
action rest(s: Server) when s.n == 3 do
  s.n := 0
  if fallback then log rested() at s
check default expect all hold
check strict with fallback = off expect all hold
"""


def verdict(tmp_path: Path, check: str, *events: str, steps: bool = False) -> tuple[str, str, dict[str, int]]:
    """Kind and reason of the verdict on a trace of one server, and what was not compared."""
    spec, traces = tmp_path / "pair.ha", tmp_path / "traces.jsonl"
    spec.write_text(SPEC, encoding="utf-8")
    records = [
        {"trace_id": "a", "seq": number, "node": "Server-1", "event": event} for number, event in enumerate(events, 1)
    ]
    traces.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    found = hacheck.conform(hacheck.load(spec), traces, check=check, every_step=steps).to_dict()
    (one,) = found["verdicts"]
    return one["kind"], one["reason"], found["not_compared"]


@pytest.mark.parametrize("event", ["switched_off", "rested"], ids=["its action is impossible", "it is never written"])
def test_event_of_other_settings_deviates(tmp_path: Path, event: str) -> None:
    kind, reason, left = verdict(tmp_path, "strict", "committed", event, "committed")
    assert (kind, reason, left) == ("deviates", f"the spec writes `{event}` under other settings only", {})


def test_event_conforms_where_the_settings_have_it(tmp_path: Path) -> None:
    assert verdict(tmp_path, "default", "committed", "switched_off", "committed") == ("conforms", "", {})


def test_event_that_no_settings_have_is_not_compared(tmp_path: Path) -> None:
    assert verdict(tmp_path, "strict", "committed", "rotated") == ("conforms", "", {"rotated": 1})


def test_step_of_other_settings_deviates(tmp_path: Path) -> None:
    kind, reason, left = verdict(tmp_path, "strict", "commit", "time_out", steps=True)
    assert (kind, reason, left) == ("deviates", "the spec writes `time_out` under other settings only", {})
