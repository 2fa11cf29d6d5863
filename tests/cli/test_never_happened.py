"""What never happened is told, but not what cannot happen under the settings at hand."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import hacheck

SPEC = """system Steps "One way or the other."
switch slow = off
node Server[2] { at: 0..3 = 0 }
message hello() from Server to Server "only the slow way says it"
action go(s: Server) when s.at == 0
do
  if slow then {
    step wait when s.at == 0:
    send hello() to each others(s)
  }
  s.at := 1
environment action rest(s: Server) when s.at == 3 and not running(s, go) do s.at := 3
on hello() at s from other do s.at := 2
action late(s: Server) when s.at == 3 do s.at := 0
invariant low: every s: Server satisfies s.at < 3
check default expect all hold
check slowly with slow = on
  expect all hold
"""


def test_what_no_setting_leads_to_is_not_missed(tmp_path: Path) -> None:
    spec = tmp_path / "steps.ha"
    spec.write_text(SPEC, encoding="utf-8")
    shown = " ".join(hacheck("verify", str(spec), "--check", "default", columns=200).out.split())
    assert "late (" in shown
    assert "rest (" in shown, "that no handler waits is no reason"
    assert "go.wait" not in shown
    assert "hello (" not in shown
    shown = " ".join(hacheck("verify", str(spec), "--check", "slowly", columns=200).out.split())
    assert "rest (" in shown
    assert "late (" in shown
