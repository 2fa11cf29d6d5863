"""IceStorm 3.7.8 as a product: how it is started behind proxies, and how its state is read.

**Source**: Real IceStorm HA, sections 1, 2 and 6; `icestormadmin` for states and contents.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from hacheck.replay.icestorm import cluster as clusters
from hacheck.replay.icestorm.cluster import INSTANCE, MANAGER, NODE, Cluster, Timers
from hacheck.replay.icestorm.steps import ElectionSteps, holds
from hacheck.replay.icestorm.wire import IceReader
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import Masked
from hacheck.replay.processes import ProcessGroup
from hacheck.replay.product import Position, until
from hacheck.replay.recording import Recording
from hacheck.replay.tcp_proxies import TcpProxies
from hacheck.replay.traffic import Traffic

ELECTION, MASTER, RESPONSE, SHORT = 2, 2, 8, 1
SHORT_LEADS, RESPONSE_LEADS = 2, 12
SOON_STEPS = 2
CONNECT_MS = 30_000
CLIENT_SECONDS_MAX = 15.0
KNOWN = 30
"""Offset of the ports of the proxies among those of a cluster."""

ADMIN_SECONDS = 6.0
TOPICS_SECONDS = 2.0
SETTLE_SECONDS = 0.1
ATOMIC = "atomic"


class IceStorm:
    """The product."""

    name = "icestorm"
    description = "IceStorm 3.7.8, replicas on loopback behind proxies"
    specs = ("icestorm",)
    observed = (
        *("Replica.mode", "Replica.coordinator", "Replica.group", "Replica.max", "Replica.topics"),
        *(
            "Replica.timer",
            "Replica.main",
            "Replica.worker",
            "Replica.second_worker",
            "acknowledged",
            "server",
            "fully_started",
            "full_disk",
        ),
    )
    idle_actions = frozenset({"check", "poll"})

    def missing(self) -> str | None:
        """Why no replica can be started here."""
        packages = "zeroc-icebox libzeroc-icestorm3.7 zeroc-ice-utils"
        if not sys.platform.startswith("linux"):
            return "runs are carried out on IceStorm on Linux only: who calls whom is read from /proc"
        if (why := clusters.missing()) is not None:
            return why
        if shutil.which("icestormadmin") is None:
            return f"icestormadmin is not installed (Debian and Ubuntu: apt-get install {packages})"
        return None

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that real messages cannot be mapped to."""
        settings = run.settings
        if settings.get("calls") != ATOMIC:
            return "calls of several steps are not mapped to messages: only runs with calls = atomic are carried out"
        if settings.get("detail") != "phases":
            return "runs with detail = lines are those of logs: only runs with detail = phases are carried out"
        if settings.get("changes") != "1":
            return "changes in parallel are not mapped to messages: only runs with changes = 1 are carried out"
        return None

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[IceStormSession]:
        """A cluster of as many replicas as the model has, for one run."""
        replicas = int(position.run.settings["replicas"])
        responses = response_times(position.run)
        with ProcessGroup() as processes:
            timers = Timers(ELECTION, MASTER, RESPONSE)
            cluster = Cluster(recording.folder / "logs", replicas, timers, False, processes)
            cluster.known = {i: cluster.base + KNOWN + i for i in cluster.ids}
            cluster.responses, cluster.connect_ms, cluster.call_seconds_max = responses, CONNECT_MS, CLIENT_SECONDS_MAX
            cluster.configure()
            traffic = Traffic(holds, recording.message)
            ports = {i: (cluster.known[i], cluster.base + NODE + i) for i in cluster.ids}
            proxies = TcpProxies(traffic, ports, processes.process_ids, IceReader)
            try:
                real = RealReplicas(cluster)
                yield IceStormSession(position, real, traffic, max(responses.values()))
            finally:
                for member in list(processes.running):
                    cluster.kill(member)
                proxies.close()
                cluster.tidy()


def response_times(run: ModelRun) -> dict[int, int]:
    """A ResponseTimeout for each replica, in seconds. One that gives up soon after it has invited others gets a short
    one, which shortens the delay of its merge by priority, too; the others a long one. So time-outs do not race. Where
    one that gives up soon leads a group later, all have more, since its acceptances must come within its own."""
    merged: dict[int, int] = {}
    soon: set[int] = set()
    leads: set[int] = set()
    for step in run.steps:
        n = int(step.arguments.get("n", 0))
        if step.action in ("merge", "merge.settle"):
            merged[n] = step.number
        elif step.action == "merge_continue" and step.state["Replica.mode"][str(n)] == "inactive":
            soon |= {n} if step.number - merged.get(n, 0) <= SOON_STEPS else set()
        elif step.action == "merge_continue":
            leads.add(n)
    short, long = (SHORT_LEADS, RESPONSE_LEADS) if soon & leads else (SHORT, RESPONSE)
    return {n: short if n in soon else long for n in range(1, int(run.settings["replicas"]) + 1)}


class RealReplicas:
    """A cluster as the steps use it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.ids = cluster.ids
        self.start, self.kill, self.left = cluster.start, cluster.kill, cluster.left
        self.pause, self.resume = cluster.pause, cluster.resume
        self.until = until

    def lines(self, replica: int) -> list[str]:
        """The log of a replica so far."""
        log = self.cluster.log(replica)
        return log.read_text(errors="replace").splitlines() if log.exists() else []

    def begin_request(self, replica: int, topic: str, done: Callable[[str], None]) -> None:
        """A client asks for a topic, in a thread of its own."""
        work = lambda: done(self.cluster.ask(replica, "create", topic))  # noqa: E731
        threading.Thread(target=work, daemon=True).start()

    def settle(self) -> None:
        """Lets what was just released take effect."""
        time.sleep(SETTLE_SECONDS)


class IceStormSession:
    """One run on one cluster."""

    def __init__(self, position: Position, real: RealReplicas, traffic: Traffic, response: int) -> None:
        self.position, self.real, self.cluster, self.traffic = position, real, real.cluster, traffic
        self._steps = ElectionSteps(position, real, traffic, response)
        self.steps = {name: self._acting(row) for name, row in self._steps.table.items()}
        self._polls: tuple[int, list[str]] = (0, [])

    def _acting(self, row: Callable[..., None]) -> Callable[..., None]:
        """A row of the table, during which the calls of the replica whose step it is may fail."""

        def act(**given: Json) -> None:
            self.traffic.acting = given.get("n")
            try:
                row(**given)
            finally:
                self.traffic.acting = None

        return act

    def begin(self) -> None:
        """All replicas are started, and each is a group of its own."""
        for replica in self.cluster.ids:
            self.cluster.start(replica)
            self._steps.line(replica, "creating new self-coordinated group")

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The logs of all replicas."""
        return {replica: self.real.lines(replica) for replica in self.cluster.ids}

    # ---- state ----

    def observe(self) -> Mapping[str, Json]:
        """States, coordinators, groups and sizes as `icestormadmin` shows them; contents where a replica serves and no
        change is under way; the answers of clients."""
        up = [replica for replica in self.cluster.ids if self._steps.up(replica)]
        shown = self._standing(up[0]) if up else {}
        state: dict[str, dict[str, Json]] = {f"Replica.{name}": {} for name in ("mode", "coordinator", "group", "max")}
        for replica in up:
            stands = shown.get(replica, {})
            key = str(replica)
            state["Replica.mode"][key] = stands.get("state", "no answer")
            if "state" not in stands:
                continue
            leader = int(stands["coord"])
            state["Replica.coordinator"][key] = None if leader == replica else leader
            if self._steps.of("group", replica) is not None:
                state["Replica.group"][key] = stands["group name"]
            if not self.traffic.held("accept", None, replica):
                state["Replica.max"][key] = int(stands["max"])
        found: dict[str, Json] = dict(state)
        if not self._steps.asking():
            found["acknowledged"] = sorted(n for n, outcome in self._steps.outcomes.items() if outcome == "ok")
            found["Replica.topics"] = self._contents(up)
        return found

    def _standing(self, replica: int) -> dict[int, dict[str, str]]:
        text = self._admin(replica, "replica", ADMIN_SECONDS)
        found: dict[int, dict[str, str]] = {}
        for number, key, value in re.findall(r"^(\d+): ([\w ]+):[ ]*(.*?)[ ]*$", text, flags=re.M):
            found.setdefault(int(number), {})[key] = value
        return found

    def _contents(self, up: Sequence[int]) -> dict[str, list[int]]:
        serving = [replica for replica in up if self._steps.of("mode", replica) == "normal"]
        if not self._steps.requests:
            return {}
        return {str(replica): topics for replica in serving if (topics := self._topics_of(replica)) is not None}

    def _topics_of(self, replica: int) -> list[int] | None:
        text = self._admin(replica, "topics", TOPICS_SECONDS)
        return None if "no answer" in text else sorted(int(number) for number in re.findall(r"\bT(\d+)\b", text))

    def _admin(self, replica: int, command: str, seconds: float) -> str:
        where = f"{INSTANCE}/TopicManager:tcp -h 127.0.0.1 -p {self.cluster.base + MANAGER + replica}"
        words = ["icestormadmin", f"--IceStormAdmin.TopicManager.Default={where}", "-e", command]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return "no answer"
        return done.stdout + done.stderr

    # ---- the end ----

    def linger(self, seconds: float) -> None:
        """Nothing is held any more: checks and polls go on, and nothing else may come."""
        since, self.traffic.failures_wait = len(self.traffic.log), False
        for message in self.traffic.held():
            self.traffic.let(message, drop=not message.operation.startswith("are"))
        for message in self.traffic.held(kind="reply"):
            self.traffic.let(message)
        self.traffic.holds = lambda message: False
        before = {replica: len(self.real.lines(replica)) for replica in self.cluster.ids}
        time.sleep(seconds)
        for replica in self.cluster.ids:
            changed = [line for line in self.real.lines(replica)[before[replica] :] if "transition from" in line]
            if changed:
                raise Masked(f"replica {replica} goes on by itself: {changed[0]}")
        answers = [one.detail for one in self.traffic.passed(since, "areYouThere", "reply")]
        self._polls = (len(answers), sorted(set(answers)))

    def conclude(self) -> Sequence[str]:
        """What clients were answered, and what is where."""
        found = [f"client: create T{number}: {outcome}" for number, outcome in sorted(self._steps.outcomes.items())]
        up = [replica for replica in self.cluster.ids if self._steps.up(replica)]
        shown = self._standing(up[0]) if up else {}
        for replica in self.cluster.ids:
            if replica not in up:
                found.append(f"replica {replica}: down")
                continue
            stands = shown.get(replica, {})
            topics = self._topics_of(replica)
            content = "no answer" if topics is None else " ".join(f"T{number}" for number in topics) or "none"
            words = f"{stands.get('state', 'no answer')}, coordinator {stands.get('coord')}"
            found.append(f"replica {replica}: {words}, group {stands.get('group name')}; topics: {content}")
        if self._polls[0]:
            found.append(f"polls while the loop went on: {self._polls[0]} answers, {', '.join(self._polls[1])}")
        return found
