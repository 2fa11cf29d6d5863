"""The state of a monitor of logs for Prometheus, in its text format, served on this machine only."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct, field

from hacheck.cli.guard import BadInput
from hacheck.supervise.task import start_thread
from hacheck.traces.drivers.live_trace import Now

ADDRESS = "127.0.0.1"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Figures(Struct, frozen=True):
    """What is shown: records read, findings, alerts by kind, those that were not delivered yet, when the logs were read
    last (seconds since 1970), and what is known of each trace."""

    records: int = 0
    findings: int = 0
    alerts: Mapping[str, int] = field(default_factory=dict)
    undelivered: int = 0
    updated: float = 0.0
    traces: Mapping[str, Now] = field(default_factory=dict)


def text_of(figures: Figures) -> str:
    """The figures in the text format of Prometheus."""
    families: list[tuple[str, str, str, list[tuple[dict[str, str], float]]]] = [
        ("hacheck_records_total", "counter", "Records read from the logs.", [({}, figures.records)]),
        ("hacheck_findings_total", "counter", "Lines that are damaged or missing.", [({}, figures.findings)]),
        (
            "hacheck_alerts_total",
            "counter",
            "Alerts raised since this process began.",
            [({"kind": kind}, number) for kind, number in sorted(figures.alerts.items())],
        ),
        ("hacheck_alerts_undelivered", "gauge", "Alerts that wait for a receiver.", [({}, figures.undelivered)]),
        ("hacheck_updated_seconds", "gauge", "When the logs were read last, since 1970.", [({}, figures.updated)]),
    ]
    traces = sorted(figures.traces.items())
    exact = [
        ({"trace": name, "property": prop}, one)
        for name, now in traces
        for prop, one in now.distances.items()
        if one.exact
    ]
    families += [
        (
            "hacheck_explained",
            "gauge",
            "1 while some run of the model explains the log.",
            [({"trace": name}, int(now.explained)) for name, now in traces],
        ),
        (
            "hacheck_states",
            "gauge",
            "States of the model that explain the log.",
            [({"trace": name}, now.states) for name, now in traces],
        ),
        (
            "hacheck_faults_to_violation",
            "gauge",
            "Fewest further faults after which a property can break, +Inf if no number does; missing if unknown.",
            [(labels, float("inf") if one.fewest is None else one.fewest) for labels, one in exact],
        ),
        (
            "hacheck_faults_to_violation_most",
            "gauge",
            "The same from the run that explains the log and is farthest from a violation.",
            [(labels, float("inf") if one.most is None else one.most) for labels, one in exact],
        ),
    ]
    lines = []
    for name, kind, meaning, samples in families:
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
        for labels, value in samples:
            inside = ",".join(f'{key}="{_escaped(word)}"' for key, word in labels.items())
            shown = "+Inf" if value == float("inf") else f"{value:.15g}"
            lines.append(f"{name}{{{inside}}} {shown}" if inside else f"{name} {shown}")
    return "\n".join(lines) + "\n"


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class MetricsServer:
    """Serves `/metrics` until it is closed. `figures`: what it shows; `port`: where it listens."""

    def __init__(self, port: int) -> None:
        """`port`: 0 for any that is free. Errors: `BadInput` where it cannot be used."""
        self.figures = Figures()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_GET(self) -> None:
                found = self.path.partition("?")[0] == "/metrics"
                body = text_of(owner.figures).encode() if found else b"metrics are at /metrics\n"
                self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is written about requests."""

        try:
            self._server = ThreadingHTTPServer((ADDRESS, port), Handler)
        except (OSError, OverflowError) as error:
            raise BadInput(f"--metrics {port}: cannot listen there: {error}", "choose another port, or 0") from None
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread: threading.Thread = start_thread(self._server.serve_forever)

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
