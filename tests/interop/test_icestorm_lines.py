"""Lines of IceStorm's logs that the recordings have little of: links, subscribers that are gone, what means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.adapters.logs import events, read_logs

TOPIC = "-- 11/20/26 09:34:01.000 replica3-IceStorm: Topic: "


@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        ("A: link DemoIceStorm/topic.B cost 0", "linked", {"topic": "A", "to": "B"}),
        ("A: link topic.B cost -2", "linked", {"topic": "A", "to": "B"}),
        ("A unlink DemoIceStorm/topic.B", "unlinked", {"topic": "A", "to": "B"}),
        ("A: unlink B failed - not linked", "unlink_failed", {"topic": "A", "to": "B"}),
        ("A: reap one,two", "reaping", {"topic": "A", "removed": "one,two"}),
    ],
)
def test_changes_that_clients_do_not_call_subscriptions_are_events(
    tmp_path: Path, text: str, event: str, fields: dict[str, object]
) -> None:
    assert events(tmp_path / "replica-3.log", "icestorm", TOPIC + text) == [("3", event, fields)]


@pytest.mark.parametrize(
    "text",
    [
        "Topic: A recreate DemoIceStorm/B.link",
        "Topic: one: already subscribed",
        "Subscriber: 0x55 one: subscriber errored out: src/Ice/Network.cpp:1: ::Ice::ConnectionRefusedException",
    ],
)
def test_lines_that_change_nothing_are_known(tmp_path: Path, text: str) -> None:
    log = tmp_path / "replica-3.log"
    log.write_text(f"-- 11/20/26 09:34:01.000 replica3-IceStorm: {text}\n", encoding="utf-8")
    rows, tally, findings = read_logs(tmp_path, "icestorm")
    assert (rows, findings.total, sum(tally.nothing.values())) == ([], 0, 1), tally
    assert not tally.unknown
