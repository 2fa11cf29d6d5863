"""Hands alerts on to a webhook and to a command, in their order, while the monitor continues.

An alert counts as delivered when the webhook answered with success and the command ended with 0; until then it is tried
again, also after a new start. So none is lost, and after a crash the last one may come twice, with the same `id`.
"""

from __future__ import annotations

import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from hacheck.cli.guard import BadInput
from hacheck.supervise.task import start_thread
from hacheck.traces.drivers.live_monitor import Alert

TIMEOUT_SECONDS = 10.0
PAUSES_SECONDS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""After a failure the next try waits so long, the last of these from then on."""


class Receivers(Struct, frozen=True):
    """Who gets alerts: a URL (HTTP POST of the alert as JSON), a command (the alert as JSON on its input)."""

    webhook: str | None = None
    command: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.webhook is not None or bool(self.command)


def receivers(webhook: str | None, command: str | None) -> Receivers:
    """Who gets alerts. Errors: `BadInput`."""
    if webhook is not None and not webhook.startswith(("http://", "https://")):
        raise BadInput(
            f"--webhook {webhook}: no http or https URL", "for example --webhook http://127.0.0.1:9000/alerts"
        )
    try:
        words = () if command is None else tuple(shlex.split(command))
    except ValueError as error:
        raise BadInput(f"--alert-command {command}: {error}", "quote it as a shell would") from None
    if command is not None and not words:
        raise BadInput("--alert-command: the command is empty", "for example --alert-command 'mail -s hacheck ops'")
    return Receivers(webhook, words)


class Delivery:
    """Delivers alerts in a thread. `delivered`: the number of the last one that was; `failure`: why the one after it
    was not, as far as is known."""

    def __init__(self, receivers: Receivers, waiting: Sequence[Alert], delivered: int) -> None:
        self._receivers = receivers
        self._waiting = deque(waiting)
        self._changed = threading.Condition()
        self._ends = False
        self.delivered = delivered
        self.failure = ""
        self._thread = start_thread(self._run) if receivers else None

    def add(self, alerts: Sequence[Alert]) -> None:
        """Takes further alerts."""
        with self._changed:
            self._waiting.extend(alerts)
            self._changed.notify()

    def close(self, seconds: float = TIMEOUT_SECONDS) -> None:
        """Ends, when everything was tried once more or the time is up."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        failures = 0
        while True:
            with self._changed:
                while not self._waiting and not self._ends:
                    self._changed.wait()
                if not self._waiting:
                    return
                alert = self._waiting[0]
            self.failure = self._send(alert)
            with self._changed:
                if not self.failure:
                    failures = 0
                    self._waiting.popleft()
                    self.delivered = alert.id
                elif self._ends:
                    return
                else:
                    self._changed.wait(PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)])
                    failures += 1

    def _send(self, alert: Alert) -> str:
        """Why an alert could not be delivered; empty if it was."""
        content = msgspec.json.encode(alert)
        if self._receivers.webhook is not None:
            head = {"Content-Type": "application/json", "Idempotency-Key": str(alert.id)}
            request = urllib.request.Request(self._receivers.webhook, content, head)
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):
                    pass
            except (OSError, ValueError, urllib.error.URLError) as error:
                return f"webhook: {error}"
        if self._receivers.command:
            try:
                done = subprocess.run(
                    self._receivers.command,
                    input=content + b"\n",
                    timeout=TIMEOUT_SECONDS,
                    check=False,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"command: {error}"
            if done.returncode:
                return f"command: ended with exit code {done.returncode}"
        return ""


def wait_for(delivery: Delivery) -> None:
    """Waits for what is left to be delivered."""
    with suppress(KeyboardInterrupt):
        delivery.close()
