"""What happens to a cluster: random schedules, one from each seed, and their carrying out.

A schedule is data: the same seed gives the same one. Who the coordinator is, is found when the step is taken. A story
ends with every replica up and left alone for a while, so that there is an election to look at.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass

from hacheck.replay.icestorm.cluster import Cluster, Timers

QUIET_SECONDS = 8.0
BURST_SECONDS_MAX = 15.0
FAULTS = ("kill_coordinator", "kill_slave", "kill_majority", "kill_all", "pause_coordinator", "pause_slave", "restart")
PAUSES = ("pause_coordinator", "pause_slave")


@dataclass(frozen=True)
class Step:
    """`after`: seconds of waiting before it; `what`: a fault, or `burst`; `back`: seconds until who was killed is
    started, or who was paused goes on, all in the order of their ids or not; `number`: of changes asked for."""

    after: float
    what: str
    back: float = 0.0
    number: int = 0


@dataclass(frozen=True)
class Schedule:
    """A story. `gaps`: seconds before each replica is started first, in the order of `order`; `pace`: seconds between
    the changes that a client asks for all the time, 0 for none."""

    seed: int
    replicas: int
    timers: Timers
    messages: bool
    order: tuple[int, ...]
    gaps: tuple[float, ...]
    steps: tuple[Step, ...]
    pace: float

    @property
    def name(self) -> str:
        return f"seed-{self.seed}-of-{self.replicas}"


def schedule(seed: int, replicas: int) -> Schedule:
    """The story of a seed. Every fourth has many changes, every fifth long pauses, every sixth traces of messages."""
    choose = random.Random(f"{seed}/{replicas}")
    invocation_ms = choose.choice((0, 2000)) if seed % 5 else 2000
    timers = Timers(choose.randint(2, 4), choose.randint(2, 4), choose.randint(1, 3), invocation_ms)
    order = list(range(1, replicas + 1))
    choose.shuffle(order)
    gaps = tuple(choose.choice((0.0, 0.01, 0.3, 2.5)) for _ in order)
    steps = [Step(6.0, "burst", number=choose.randint(1, 5))]
    for _ in range(choose.randint(3, 5)):
        fault = choose.choice(PAUSES if seed % 5 == 0 and choose.random() < 0.6 else FAULTS)
        back = choose.choice((0.5, 4.0, 12.0)) if fault in PAUSES else choose.choice((0.0, 1.0, 6.0, 12.0))
        if seed % 5 == 0 and fault in PAUSES:
            back = choose.choice((9.0, 18.0))
        steps.append(Step(choose.choice((0.0, 1.0, 3.0, 9.0)), fault, back))
        if choose.random() < 0.7:
            steps.append(Step(choose.choice((0.0, 0.05, 2.0)), "burst", number=choose.randint(1, 8)))
    if seed % 4 == 0:
        steps.insert(choose.choice((1, len(steps) // 2)), Step(1.0, "burst", number=choose.randint(250, 600)))
    return Schedule(
        seed, replicas, timers, seed % 6 == 0, tuple(order), gaps, tuple(steps), choose.choice((0.0, 0.4, 1.5))
    )


class Player:
    """Carries a schedule out on a cluster."""

    def __init__(self, story: Schedule, cluster: Cluster, halt: threading.Event) -> None:
        self.story, self.cluster, self.halt = story, cluster, halt
        self.choose = random.Random(f"victims of {story.seed}/{story.replicas}")
        self.due: list[tuple[float, str, int]] = []
        self.topics = 0
        self.ended = threading.Event()

    def play(self) -> None:
        """The whole story; then every replica has been asked to end. A halt cuts it short, and leaves them running."""
        for replica, gap in zip(self.story.order, self.story.gaps, strict=True):
            self.wait(gap)
            self.cluster.start(replica)
        client = threading.Thread(target=self.ask_all_the_time, daemon=True)
        client.start()
        for step in self.story.steps:
            self.wait(step.after)
            if step.what == "burst":
                self.burst(step.number)
            else:
                self.fail(step)
        while self.due and not self.halt.is_set():
            self.wait(0.1)
        for replica in self.cluster.ids:
            if not self.cluster.processes.alive(replica):
                self.cluster.start(replica)
        self.wait(QUIET_SECONDS + 2 * (self.story.replicas - 1) + 2 * self.story.timers.election)
        self.burst(2)
        self.wait(1.0)
        self.ended.set()
        client.join()
        if self.halt.is_set():
            return
        for replica in self.cluster.died():
            self.cluster.note(f"replica {replica} has ended by itself")
        for replica in self.cluster.left():
            self.cluster.stop(replica)
        self.cluster.note("end")

    def wait(self, seconds: float) -> None:
        """Waits, and meanwhile takes the steps that are due: replicas that come back."""
        end = time.monotonic() + seconds
        while not self.halt.is_set():
            now = time.monotonic()
            for entry in [entry for entry in self.due if entry[0] <= now]:
                self.due.remove(entry)
                self.come_back(entry[1], entry[2])
            if now >= end:
                return
            self.halt.wait(min(end - now, *(max(0.0, at - now) for at, _, _ in self.due), 0.1))

    def come_back(self, how: str, replica: int) -> None:
        if how == "resume" and replica in self.cluster.processes.paused:
            self.cluster.resume(replica)
        if how == "start" and not self.cluster.processes.alive(replica):
            self.cluster.start(replica)

    def fail(self, step: Step) -> None:
        victims = self.victims(step.what)
        for victim in victims:
            at = time.monotonic() + step.back + self.choose.choice((0.0, 0.0, 0.2, 2.0))
            if step.what in PAUSES:
                self.cluster.pause(victim)
                self.due.append((at, "resume", victim))
            elif step.what == "restart":
                self.cluster.stop(victim)
                self.cluster.start(victim)
            else:
                self.cluster.kill(victim)
                self.due.append((at, "start", victim))

    def victims(self, what: str) -> list[int]:
        """Who it happens to, of those that run and are not paused."""
        fit = [
            i for i in self.cluster.ids if self.cluster.processes.alive(i) and i not in self.cluster.processes.paused
        ]
        leader = self.cluster.coordinator()
        others = [i for i in fit if i != leader]
        if what.endswith("coordinator"):
            return [i for i in fit if i == leader]
        if what.endswith("slave"):
            return others[-1:] if self.choose.random() < 0.5 else others[:1]
        if what == "kill_all":
            return self.choose.sample(fit, len(fit))
        if what == "kill_majority":
            return self.choose.sample(fit, min(len(fit), self.story.replicas // 2 + 1))
        return [self.choose.choice(fit)] if fit else []

    # ---- changes ----

    def burst(self, number: int) -> None:
        """Changes, one after another, through whichever replica runs, for a limited time."""
        end = time.monotonic() + BURST_SECONDS_MAX
        for _ in range(number):
            self.change()
            self.wait(0.0)
            if self.halt.is_set() or time.monotonic() > end:
                return

    def change(self) -> None:
        fit = [i for i in self.cluster.ids if self.cluster.processes.alive(i)]
        if not fit:
            return
        replica = self.choose.choice(fit)
        kinds = ("create",) * 4 + ("destroy", "subscribe", "subscribe", "unsubscribe", "publish", "link")
        kind = self.choose.choice(kinds) if self.topics else "create"
        if kind == "create":
            self.topics += 1
        topic, other = (f"t{self.choose.randint(max(1, self.topics - 8), self.topics)}" for _ in range(2))
        if kind == "create":
            topic = f"t{self.topics}"
        self.cluster.ask(replica, kind, topic, other if kind == "link" else f"s{self.choose.randint(1, 3)}")

    def ask_all_the_time(self) -> None:
        """A second client, which asks in its own time."""
        choose = random.Random(f"client of {self.story.seed}")
        number = 0
        while self.story.pace and not self.ended.wait(self.story.pace) and not self.halt.is_set():
            number += 1
            replica = choose.choice(list(self.cluster.ids))
            self.cluster.ask(replica, "create" if number % 3 else "destroy", f"u{number - (number % 3 == 0)}")
