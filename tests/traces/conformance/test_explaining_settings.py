"""Settings that would explain a trace that deviates."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import hacheck

SPEC = """system Pair "a pair of servers"
switch both_may_serve = off "a server serves though the other one does"
switch may_stop_serving = off "a server that serves stops"
node Server[2] { state mode: { standby, active } = standby }
environment action take(s: Server)
  when s.mode == standby and (both_may_serve or other(s).mode == standby)
do
  s.mode := active
  log took() at s
environment action leave(s: Server)
  when s.mode == active and (may_stop_serving or other(s).mode == standby)
do
  s.mode := standby
  log left() at s
check default expect all hold
"""


def compared(
    folder: Path,
    *events: tuple[int, str],
    seconds: int = 300,
    more: str = "",
    options: tuple[str, ...] = (),
    spec: str = SPEC,
) -> tuple[int, str]:
    """The exit code of `conform --switches`, and what it printed, for a log of events of two servers. `more`: what the
    spec says besides."""
    (folder / "pair.ha").write_text(spec + more, encoding="utf-8")
    lines: list[dict[str, object]] = [{"hacheck.traces": 1, "order": "total", "fields": {}}]
    lines += [
        {"trace_id": "night", "node": f"Server-{node}", "seq": seq, "time": seq * 10**9, "event": event}
        for seq, (node, event) in enumerate(events, start=1)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = hacheck(
        "conform", str(folder / "pair.ha"), str(folder / "log.jsonl"), "--switches", str(seconds), *options, columns=200
    )
    return ended.code, ended.out + ended.err


def test_switch_that_explains_the_whole_log_is_named(tmp_path: Path) -> None:
    code, text = compared(tmp_path, (1, "took"), (2, "took"))
    assert code == 1, text
    assert "night conforms with --set both_may_serve=on: a server serves though the other one does" in text
    assert "may_stop_serving" not in text


def test_two_switches_explain_what_neither_does(tmp_path: Path) -> None:
    _, text = compared(tmp_path, (1, "took"), (2, "took"), (1, "left"))
    assert "night conforms with --set both_may_serve=on --set may_stop_serving=on" in text


def test_log_that_nothing_explains_is_said_to_be_one(tmp_path: Path) -> None:
    _, text = compared(tmp_path, (1, "took"), (1, "took"))
    assert "other settings tried explains the whole log" in text
    assert "conforms with" not in text


FOLLOWED = """
environment action follow(s: Server) when other(s).mode == active do log followed() at s
"""


def test_node_without_a_log_may_have_done_what_is_missing(tmp_path: Path) -> None:
    code, text = compared(tmp_path, (2, "followed"), (2, "followed"), more=FOLLOWED)
    assert code == 1, text
    assert "night conforms with a log of Server-1 that is missing: it wrote lines that are not here" in text
    assert "both_may_serve" not in text


def test_node_that_has_a_log_wrote_all_of_its_lines(tmp_path: Path) -> None:
    _, text = compared(tmp_path, (1, "followed"), (2, "followed"), more=FOLLOWED)
    assert "that is missing" not in text
    assert "other settings tried explains the whole log" in text


def test_node_more_than_the_check_has_is_tried(tmp_path: Path) -> None:
    spec = FOLLOWED.replace("other(s).mode == active", "some o: Server where o != s and o.mode == active")
    whole = SPEC.replace("node Server[2]", "param servers = 2 in 1..9\nnode Server[servers]")
    whole = whole.replace("other(s).mode == standby", "every o: Server satisfies o == s or o.mode == standby")
    log = [(1, "followed"), (2, "followed")]
    _, text = compared(tmp_path, *log, spec=whole, more=spec)
    said = "night conforms with --set servers=3 a log of Server-3 that is missing: one Server more than the check has"
    assert said in text


def test_search_that_ends_early_says_so(tmp_path: Path) -> None:
    from hacheck.api.explaining_settings import Explained
    from hacheck.cli.logs.explaining_switches import lines_of

    texts = [line.plain for line in lines_of(Explained("night", tried=2))]
    assert texts == [
        "night: none of 2 other settings tried explains the whole log",
        "the time was over before every single setting was tried: give more --switches SECONDS",
    ]


CHOICE = """
invariant one_serves "one server at most serves": at most one s: Server where s.mode == active
trace "as servers write them" with both_may_serve = on
"""


def test_violation_that_hangs_on_a_choice_of_the_spec_is_reported_with_what_it_is_without(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    options = ("--property", "one_serves", "--json", str(place))
    code, text = compared(tmp_path, (1, "took"), (2, "took"), seconds=0, more=CHOICE, options=options)
    assert code == 1, text
    assert "the spec chooses for logs, other than check default: both_may_serve=on" in text
    expected = (
        "with --set both_may_serve=off night would deviate at Server-2 took (record 2), without violating one_serves"
    )
    assert expected in text
    document = json.loads(place.read_text(encoding="utf-8"))
    assert document["chosen_for_logs"] == {"both_may_serve": "on"}
    (without,) = document["without_choices"]
    shown = {name: without[name] for name in ("trace_id", "setting", "kind", "event", "seq", "violated")}
    assert shown == {
        "trace_id": "night",
        "setting": "both_may_serve=off",
        "kind": "deviates",
        "event": "took",
        "seq": 2,
        "violated": [],
    }


def test_deviation_that_does_not_hang_on_a_choice_is_said_to_be_at_the_same_record(tmp_path: Path) -> None:
    code, text = compared(tmp_path, (1, "took"), (1, "took"), seconds=0, more=CHOICE)
    assert code == 1, text
    assert "with --set both_may_serve=off night deviates at the same record" in text
