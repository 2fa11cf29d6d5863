"""IceStorm 3.7.8 as a product: how it is started behind proxies, and how its state is read.

**Source**: Real IceStorm HA, sections 1, 2 and 6; `queries` for states and contents.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from hacheck.replay.icestorm import cluster as clusters
from hacheck.replay.icestorm import database, queries
from hacheck.replay.icestorm.cluster import NODE, Cluster, Timers
from hacheck.replay.icestorm.response_times import response_times
from hacheck.replay.icestorm.steps import ElectionSteps, holds
from hacheck.replay.icestorm.wire import IceReader
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import Masked, Refuted
from hacheck.replay.processes import ProcessGroup
from hacheck.replay.product import Position, until
from hacheck.replay.recording import Recording
from hacheck.replay.tcp_proxies import TcpProxies
from hacheck.replay.traffic import Traffic

ELECTION, MASTER = 2, 2
CONNECT_MS = 30_000
CLIENT_SECONDS_MAX = 15.0
KNOWN = 30
"""Offset of the ports of the proxies among those of a cluster."""

SETTLE_SECONDS = 0.1
ATOMIC = "atomic"


class IceStorm:
    """The product."""

    name = "icestorm"
    description = "IceStorm 3.7.8, replicas on loopback behind proxies"
    specs = ("icestorm",)
    observed = (
        *("Replica.mode", "Replica.coordinator", "Replica.group", "Replica.max", "Replica.members", "Replica.topics"),
        *("Replica.stamp", "Replica.not_installed", "unknown"),
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

    def not_compared(self, run: ModelRun) -> frozenset[str]:
        """Stamps, unless the run has them as the released code does."""
        return frozenset() if stamps_are_released(run) else frozenset({"Replica.stamp"})

    def missing(self) -> str | None:
        """Why no replica can be started here."""
        packages = "zeroc-icebox libzeroc-icestorm3.7 zeroc-ice-utils"
        if not sys.platform.startswith("linux"):
            return "runs are carried out on IceStorm on Linux only: who calls whom is read from /proc"
        if (why := clusters.missing()) is not None:
            return why
        if shutil.which(database.PROGRAM) is None:
            return f"{database.PROGRAM} is not installed (Debian and Ubuntu: apt-get install {packages})"
        return None

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that real messages cannot be mapped to."""
        settings = run.settings
        if settings.get("calls") != ATOMIC:
            return "calls of several steps are not mapped to messages: only runs with calls = atomic are carried out"
        if settings.get("detail") != "phases":
            return "runs with detail = lines are those of logs: only runs with detail = phases are carried out"
        if settings.get("calls_in_time") == "off":
            return "time-outs of calls that would be answered are not mapped: only runs with calls_in_time = on are"
        if settings.get("changes") != "1":
            return "changes in parallel are not mapped to messages: only runs with changes = 1 are carried out"
        return None

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[IceStormSession]:
        """A cluster of as many replicas as the model has, for one run."""
        replicas = int(position.run.settings["replicas"])
        responses = response_times(position.run)
        with ProcessGroup() as processes:
            timers = Timers(ELECTION, MASTER, max(responses.values()))
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


def stamps_are_released(run: ModelRun) -> bool:
    """Whether stamps of a run can be those of the product: forgotten at a start, and with numbers that mean what they
    say."""
    settings = run.settings
    wanted = {"stamp_wiped_at_start": "on", "generation_ignores_own": "on", "any_generation": "off"}
    return all(settings.get(name) == value for name, value in wanted.items())


def numbers_in(text: str) -> list[int]:
    """The numbers of the topics that a text names."""
    return sorted(int(number) for number in re.findall(r"\bT(\d+)\b", text))


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
        self._disks = database.Disks()

    def _acting(self, row: Callable[..., None]) -> Callable[..., None]:
        """A row of the table, during which the calls of the replica whose step it is may fail."""

        def act(**given: Json) -> None:
            self._steps.pass_polls()
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
        """States, coordinators, groups, their sizes and members as they answer themselves; contents where a replica
        serves and no change is under way, else as they are on disk; stamps; the answers of clients."""
        up = [replica for replica in self.cluster.ids if self._steps.up(replica)]
        names = ("mode", "coordinator", "group", "max", "members")
        state: dict[str, dict[str, Json]] = {f"Replica.{name}": {} for name in names}
        for replica in up:
            key, stands = str(replica), queries.standing_of(self.cluster, replica)
            state["Replica.mode"][key] = "no answer" if stands is None else stands.state
            if stands is None:
                continue
            leader = stands.coordinator
            state["Replica.coordinator"][key] = None if leader == replica else leader
            if self._steps.of("group", replica) is not None:
                state["Replica.group"][key] = stands.group
            if not self.traffic.held("accept", None, replica):
                state["Replica.max"][key] = stands.max
            if leader == replica and stands.state == "normal" and not self._steps.of("reaped", replica):
                state["Replica.members"][key] = list(stands.members)
        found: dict[str, Json] = {**state, **self._contents(up)}
        if not self._steps.waiting_clients():
            outcomes = sorted(self._steps.outcomes.items())
            found["acknowledged"] = [number for number, outcome in outcomes if outcome == "ok"]
            found["unknown"] = [number for number, outcome in outcomes if outcome == "UnknownException"]
        return found

    def _contents(self, up: Sequence[int]) -> dict[str, Json]:
        """What replicas hold. A topic that is on disk only counts where its replica serves, and answered for it."""
        topics: dict[str, Json] = {}
        hidden: dict[str, Json] = {}
        stamps: dict[str, Json] = {}
        for replica in up:
            key, disk = str(replica), self._disks.stored(self.cluster.working / f"db{replica}")
            in_memory = None
            if (
                self._steps.requests
                and not self._steps.waiting_clients()
                and self._steps.of("mode", replica) == "normal"
            ):
                in_memory = self._topics_of(replica)
            if in_memory is not None:
                topics[key] = in_memory
            if disk is None:
                continue
            on_disk = numbers_in(" ".join(disk.topics))
            if in_memory is None:
                topics |= {} if self._steps.of("not_installed", replica) else {key: on_disk}
            else:
                hidden[key] = sorted(set(on_disk) - set(in_memory))
            stamps[key] = {"generation": self._counted(disk.generation), "iteration": disk.iteration}
        found: dict[str, Json] = {"Replica.topics": topics}
        if self.position.run.settings.get("create_needs_slaves") == "on":
            found["Replica.not_installed"] = hidden
        return found | ({"Replica.stamp": stamps} if stamps_are_released(self.position.run) else {})

    def _counted(self, generation: int) -> int:
        """A generation as the model counts it: where the last one repeats, those after it have its number."""
        settings = self.position.run.settings
        repeats = settings.get("last_generation_repeats") == "on"
        return min(generation, int(settings["generations"])) if repeats else generation

    def _on_disk(self, replica: int) -> str:
        disk = self._disks.stored(self.cluster.working / f"db{replica}")
        if disk is None:
            return "on disk: not readable"
        return f"on disk: {' '.join(disk.topics) or 'none'}, stamp {disk.generation}/{disk.iteration}"

    def _topics_of(self, replica: int) -> list[int] | None:
        names = queries.topics_of(self.cluster, replica)
        return None if names is None else numbers_in(" ".join(names))

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
        for replica in self.cluster.ids:
            if replica not in up:
                found.append(f"replica {replica}: down; {self._on_disk(replica)}")
                continue
            stands = queries.standing_of(self.cluster, replica)
            topics, disk = self._topics_of(replica), self._on_disk(replica)
            content = "no answer" if topics is None else " ".join(f"T{number}" for number in topics) or "none"
            words = "no answer" if stands is None else stands.words
            found.append(f"replica {replica}: {words}; topics: {content}; {disk}")
        if self._polls[0]:
            found.append(f"polls while the loop went on: {self._polls[0]} answers, {', '.join(self._polls[1])}")
        return [*found, *self._forgotten()]

    def _forgotten(self) -> list[str]:
        """The model forgets a stamp when a replica ends, the product when it is started again: so those that are down
        are started. Errors: `Refuted`."""
        run, found = self.position.run, list[str]()
        if "Replica.stamp" not in run.reads or not stamps_are_released(run):
            return found
        for replica in (one for one in self.cluster.ids if not self._steps.up(one)):
            if replica in self.cluster.processes.running:
                continue  # it is paused
            self._steps.restart(replica)
            disk = self._disks.stored(self.cluster.working / f"db{replica}")
            stamp = None if disk is None else {"generation": disk.generation, "iteration": disk.iteration}
            if stamp != self._steps.of("stamp", replica):
                raise Refuted(f"replica {replica}, started again, has the stamp {stamp}")
            found.append(f"replica {replica}, started again: {self._on_disk(replica)}")
        return found
