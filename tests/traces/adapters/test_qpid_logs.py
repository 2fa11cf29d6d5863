"""Logs of a cluster of three Qpid brokers, written by hand in the forms of their source, and judged with the spec.

**Source**: Broker failover protocols, 1.2 to 1.4 and 1.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.traces.adapters.log_verdicts import Logs, changed, swapped, verdicts, without, written

IDS = {1: "1a2b3c4d", 2: "5e6f7a8b", 3: "9c0d1e2f"}
HEAD = len("2013-05-22 12:00:00.100 ")


class Story:
    """Brokers that write lines, each with its own status in front."""

    def __init__(self) -> None:
        self.lines: dict[int, list[str]] = {broker: [] for broker in IDS}
        self.status = dict.fromkeys(IDS, "joining")
        self.clock = 0

    def write(self, broker: int, level: str, text: str, later_ms: int = 100) -> None:
        self.clock += later_ms
        second, millisecond = divmod(self.clock, 1000)
        time = f"2013-05-22 12:{second // 60:02d}:{second % 60:02d}.{millisecond:03d}"
        self.lines[broker].append(f"{time} [HA] {level} {IDS[broker]}({self.status[broker]}) {text}")

    def change(self, broker: int, status: str, later_ms: int = 100) -> None:
        self.write(broker, "info", f"Status change: {self.status[broker]} -> {status}", later_ms)
        self.status[broker] = status

    def told(self, broker: int) -> str:
        return f"{IDS[broker]}@h{broker}:5672({self.status[broker]})"

    def start(self, broker: int, later_ms: int = 100) -> None:
        self.status[broker] = "standalone"
        self.change(broker, "joining", later_ms)

    def promote(self, broker: int, expected: Sequence[int] = ()) -> None:
        self.change(broker, "recovering")
        self.write(broker, "notice", "Primary: Promoted to primary", 1)
        if expected:
            told = " ".join(self.told(one) for one in expected)
            self.write(broker, "notice", f"Primary: Recovering backups: {told}", 1)
        else:
            self.activate(broker)

    def activate(self, broker: int) -> None:
        self.change(broker, "active", 1)
        self.write(broker, "notice", "Primary: All backups recovered.", 1)

    def join(self, primary: int, broker: int) -> None:
        self.write(primary, "info", f"Primary: New backup connection: {self.told(broker)}")
        self.write(broker, "info", f"Backup: Connecting to primary h{primary}:5672", 3)
        self.change(broker, "catchup")
        self.write(broker, "notice", f"Backup: Connected to primary h{primary}:5672", 1)
        self.write(primary, "info", f"Primary: New backup is ready: {self.told(broker)}", 400)
        self.change(broker, "ready", 20)
        self.write(broker, "notice", "Backup is ready", 1)

    def logs(self) -> Logs:
        return {f"broker-{broker}.log": lines for broker, lines in self.lines.items()}


def failover() -> Logs:
    """A cluster forms; its primary is killed; the next one recovers with one backup; the killed one joins it."""
    story = Story()
    for broker in IDS:
        story.start(broker)
    story.promote(1)
    story.join(1, 2)
    story.join(1, 3)
    story.write(2, "info", "Backup: Disconnected from primary h1:5672", 2000)
    story.write(3, "info", "Backup: Disconnected from primary h1:5672")
    story.promote(2, [3])
    story.write(3, "info", "Backup: Failing over to primary h2:5672", 1500)
    story.write(2, "info", f"Primary: Known backup reconnection: {story.told(3)}")
    story.write(2, "info", f"Primary: Recovering backup is ready: {story.told(3)}", 30)
    story.activate(2)
    story.start(1, 5000)
    story.join(2, 1)
    story.write(2, "info", f"Primary: Disconnect from backup {story.told(3)}", 700)
    return story.logs()


def with_breaches() -> Logs:
    """An expected backup does not come back in time, and has to catch up when it does."""
    story = Story()
    for broker in IDS:
        story.start(broker)
    story.promote(1)
    story.join(1, 2)
    story.join(1, 3)
    story.promote(2, [3])
    story.write(2, "error", f"Primary: Recovering backup timed out: {story.told(3)}", 10_000)
    story.activate(2)
    story.write(3, "info", "Backup: Disconnected from primary h1:5672", 1000)
    story.write(3, "info", "Backup: Failing over to primary h2:5672")
    story.write(2, "info", f"Primary: New backup connection: {story.told(3)}")
    story.change(3, "catchup")
    story.write(2, "info", f"Primary: New backup is ready: {story.told(3)}", 500)
    story.change(3, "ready")
    story.write(3, "notice", "Backup is ready", 1)
    return story.logs()


def deposed_goes_on() -> Logs:
    """A broker is promoted, and the one before goes on as primary: nobody has fenced it."""
    logs = {name: list(lines) for name, lines in with_breaches().items()}
    time = logs["broker-2.log"][-1][:HEAD]
    lost = f"Primary: Disconnect from backup {IDS[2]}@h2:5672(ready)"
    logs["broker-1.log"].append(f"{time}[HA] info {IDS[1]}(active) {lost}")
    return logs


def test_story_of_the_sources_conforms_and_none_of_the_changed_ones_does(tmp_path: Path) -> None:
    told = failover()
    one, two, three = told
    cases = {
        "failover": told,
        "too-late": with_breaches(),
        "unpromoted": without(told, two, "Promoted to primary"),
        "never-ready": without(told, two, "catchup -> ready"),
        "recovered-first": swapped(told, two, "Recovering backups:", "All backups recovered", HEAD),
        "still-expected": without(told, two, "Recovering backup is ready"),
        "unknown-to-the-new-primary": changed(told, two, "Known backup reconnection", "New backup connection"),
        "ready-at-once": changed(told, three, "joining -> catchup", "joining -> ready"),
        "promoted-while-catching-up": changed(told, two, "ready -> recovering", "catchup -> recovering"),
        "reconnects-before-it-connects": changed(told, one, "Connecting to primary", "Failing over to primary"),
        "deposed-goes-on": deposed_goes_on(),
    }
    for name, logs in cases.items():
        written(tmp_path / name, logs)
    found = {name: (one.kind, one.node) for name, one in verdicts("qpid_ha", "qpid", tmp_path).items()}
    assert found == {
        "failover": ("conforms", ""),
        "too-late": ("conforms", ""),
        "unpromoted": ("deviates", "broker-2"),
        "never-ready": ("deviates", "broker-2"),
        "recovered-first": ("deviates", "broker-2"),
        "still-expected": ("deviates", "broker-2"),
        "unknown-to-the-new-primary": ("deviates", "broker-2"),
        "ready-at-once": ("deviates", "broker-3"),
        "promoted-while-catching-up": ("deviates", "broker-2"),
        "reconnects-before-it-connects": ("deviates", "broker-1"),
        "deposed-goes-on": ("deviates", "broker-1"),
    }
