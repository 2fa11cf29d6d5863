"""`hacheck monitor --adapter`: exit codes, alerts to a webhook and a command, metrics."""

from __future__ import annotations

import json
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hacheck.cli.guard import BadInput
from hacheck.cli.logs.alert_delivery import Delivery, Receivers, receivers
from hacheck.cli.logs.monitor_metrics import Figures, MetricsServer, text_of
from hacheck.traces.drivers.live_monitor import Alert
from hacheck.traces.drivers.live_trace import Now, PropertyDistance
from tests.cli.command import hacheck
from tests.traces.two_balancers import ADAPTER, SPEC, line

SPLIT = [
    line(1, "started", 0.0),
    line(1, "backup", 0.5),
    line(2, "started", 1.0),
    line(2, "backup", 1.5),
    line(1, "master", 4.0),
    line(2, "master", 60.0),
]
WRONG = line(1, "backup", 70.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "guarded.ha").write_text(SPEC, encoding="utf-8")
    (tmp_path / "balancers.toml").write_text(ADAPTER, encoding="utf-8")
    (tmp_path / "logs").mkdir()
    for name, text in SPLIT:
        with (tmp_path / "logs" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Hook:
    """A webhook. `failures`: how many requests it refuses first; `got`: what it was sent."""

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.got = failures, list[dict[str, object]]()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            """Takes alerts."""

            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.failures -= 1
                if hook.failures < 0:
                    hook.got.append(content)  # before it answers: the next alert may come at once
                self.send_response(500 if hook.failures >= 0 else 204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def hook() -> Iterator[Hook]:
    found = Hook()
    yield found
    found.close()


def monitor(*more: str) -> tuple[str, ...]:
    given = "--adapter balancers.toml --property one_master --results watch --once --skew 100"
    return ("monitor", "guarded.ha", "logs", *given.split(), *more)


def test_alerts_are_written_and_sent_once(folder: Path, hook: Hook) -> None:
    ended = hacheck(*monitor("--webhook", hook.url))
    assert ended.code == 0
    assert "one_master possibly violated: never do both have the address" in ended.out
    assert "1 trace, 6 records: 1 conform" in ended.out
    rows = [json.loads(row) for row in (folder / "watch" / "alerts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["kind"], row["file"], row["line"]) for row in rows] == [("possible", "lb2.log", 3)]
    assert hook.got == rows
    assert hacheck(*monitor("--webhook", hook.url)).code == 0
    assert hook.got == rows, "a second time nothing is said"


def test_deviation_is_exit_code_1_and_names_the_line(folder: Path) -> None:
    with (folder / "logs" / WRONG[0]).open("a", encoding="utf-8") as file:
        file.write(WRONG[1])
    taker = f"{sys.executable} -c \"import sys; open('got.jsonl', 'a').write(sys.stdin.read())\""
    ended = hacheck(*monitor("--alert-command", taker), columns=200)
    assert ended.code == 1
    assert "deviates" in ended.out
    rows = [json.loads(row) for row in (folder / "got.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["kind"], row["line"]) for row in rows if row["kind"] == "deviates"] == [("deviates", 4)]


SERVES = """action serve(n: LB) when n.mode == master
do
  log serving() at n
faults {"""
SERVING = r"""
[[event]]
name = "serving"
has = "serving"
pattern = 'serving'
"""


def test_certain_violation_is_exit_code_1_and_says_from_where_it_was_inevitable(folder: Path) -> None:
    """Only a living master writes that it serves, so no silent crash explains the two masters."""
    (folder / "guarded.ha").write_text(SPEC.replace("faults {", SERVES), encoding="utf-8")
    (folder / "balancers.toml").write_text(ADAPTER + SERVING, encoding="utf-8")
    for node in (1, 2):
        name, text = line(node, "master", 70.0)
        with (folder / "logs" / name).open("a", encoding="utf-8") as file:
            file.write(text.replace("is master", "serving"))
    ended = hacheck(*monitor(), columns=200)
    assert ended.code == 1
    assert "one_master was inevitable after master (lb2.log:3)" in ended.out
    rows = [json.loads(row) for row in (folder / "watch" / "alerts.jsonl").read_text(encoding="utf-8").splitlines()]
    certain = [row for row in rows if row["kind"] == "violated"]
    assert [(row["file"], row["line"], row["inevitable_file"], row["inevitable_line"]) for row in certain] == [
        ("lb2.log", 3, "lb2.log", 3)
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("monitor", "guarded.ha", "logs", "--results", "w", "--metrics", "0"), "--metrics is for logs"),
        (("monitor", "guarded.ha", "none", "--results", "w", "--adapter", "balancers.toml"), "none: no such folder"),
        (("monitor", "guarded.ha", "logs", "--results", "w", "--adapter", "none"), "no adapter 'none'"),
        (monitor("--webhook", "ftp://x"), "no http or https URL"),
        (monitor("--alert-command", "'"), "No closing quotation"),
        (monitor("--alert-command", " "), "the command is empty"),
        (monitor("--engine", "spark"), "--once is not for Spark"),
    ],
)
def test_bad_input_is_refused(folder: Path, given: tuple[str, ...], message: str) -> None:
    ended = hacheck(*given, columns=200)
    assert ended.code == 2
    assert message in ended.err


def an_alert(number: int) -> Alert:
    return Alert(number, "2026-11-24T12:00:00.000+00:00", "possible", "night", "p", "it may be")


def test_refused_alert_is_sent_again_in_order(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hacheck.cli.logs.alert_delivery.PAUSES_SECONDS", (0.01,))
    hook.failures = 2
    delivery = Delivery(Receivers(hook.url), [an_alert(1)], 0)
    delivery.add([an_alert(2)])
    for _ in range(500):
        if delivery.delivered == 2:
            break
        threading.Event().wait(0.02)
    delivery.close()
    assert ([one["id"] for one in hook.got], delivery.delivered, delivery.failure) == ([1, 2], 2, "")


def test_alert_that_nobody_takes_waits_for_the_next_start() -> None:
    delivery = Delivery(Receivers(None, ("false",)), [an_alert(4)], 3)
    delivery.close()
    assert (delivery.delivered, delivery.failure) == (3, "command: ended with exit code 1")


def test_receivers_are_read() -> None:
    assert receivers(None, None) == Receivers()
    assert not receivers(None, None)
    assert receivers("http://127.0.0.1/", "mail -s 'a b'").command == ("mail", "-s", "a b")


def test_metrics_are_served_on_this_machine() -> None:
    near = PropertyDistance(1, None, True, False, ("crash LB (LB 1)",))
    unknown = PropertyDistance(None, None, False, False, ())
    figures = Figures(7, 1, {"possible": 2}, 1, 12.5, {'a "b"': Now(7, 3, True, False, {"p": near, "q": unknown})})
    server = MetricsServer(0)
    server.figures = figures
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        with pytest.raises(BadInput):
            MetricsServer(server.port)
    finally:
        server.close()
    assert text == text_of(figures)
    samples = [row for row in text.splitlines() if not row.startswith("#")]
    assert samples == [
        "hacheck_records_total 7",
        "hacheck_findings_total 1",
        'hacheck_alerts_total{kind="possible"} 2',
        "hacheck_alerts_undelivered 1",
        "hacheck_updated_seconds 12.5",
        'hacheck_explained{trace="a \\"b\\""} 1',
        'hacheck_states{trace="a \\"b\\""} 3',
        'hacheck_faults_to_violation{trace="a \\"b\\"",property="p"} 1',
        'hacheck_faults_to_violation_most{trace="a \\"b\\"",property="p"} +Inf',
    ]
