"""The reference implementation of IceStorm as a product: `--on reference`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hacheck.impl.systems import system
from hacheck.replay.icestorm.plugin import IceStorm
from hacheck.replay.icestorm.steps import ElectionSteps, holds
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import Masked
from hacheck.replay.product import Position
from hacheck.replay.recording import Recording
from hacheck.replay.reference.stepped_replicas import SteppedReplicas
from hacheck.replay.traffic import Traffic

OPTIONS: Mapping[str, tuple[str, bool]] = {
    "stamp_wiped_at_start": ("bug_stamp_reset_at_start", True),
    "generation_ignores_own": ("bug_generation_from_slaves", True),
    "rejection_counts": ("bug_rejection_acknowledged", True),
    "one_failing_init_blocks": ("bug_init_needs_all", True),
    "idle_coordinator_serves": ("probe_slaves", False),
    "init_names_group": ("bug_calls_name_no_group", False),
    "full_start_not_needed": ("full_startup", False),
    "resync_by_key": ("bug_sync_by_name", True),
}
"""The switches of the model that the implementation has, too: its option, and whether that is on when they are."""

RELEASED = ("bug_ready_unanswered", "bug_joins_again", "bug_majority_by_ping")
"""What the model has as the released code does it, without a switch."""

ELSE = ("majority_not_needed", "last_leader_does_not_compare", "accept_is_confirmed", "stamp_after_push")
"""Switches that it does not have."""


class Reference:
    """The product."""

    name = "reference"
    description = "the reference implementation, in memory, with the options that the run's settings ask for"
    specs = ("icestorm",)
    observed = tuple(name for name in IceStorm.observed if name not in ("Replica.not_installed", "unknown"))
    idle_actions = IceStorm.idle_actions
    settle_seconds = 0.0  # nothing happens by itself

    def missing(self) -> str | None:
        """It is part of hacheck."""
        return None

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that it cannot follow."""
        other = [name for name in ELSE if run.settings.get(name) == "on"]
        if other:
            return f"the reference implementation has no option for {', '.join(other)}"
        return IceStorm().unfit(run)

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[ReferenceSession]:
        """Replicas in memory."""
        settings = position.run.settings
        code = system("icestorm")
        options = code.options(options_of(settings))
        traffic = Traffic(holds, recording.message)
        replicas = SteppedReplicas(code, int(settings["replicas"]), options, traffic)
        yield ReferenceSession(position, replicas, traffic)


def options_of(settings: Mapping[str, str]) -> dict[str, str]:
    """The options of the implementation that the settings of a run ask for."""
    chosen = {name: str((settings.get(switch) == "on") == on).lower() for switch, (name, on) in OPTIONS.items()}
    return {**chosen, **dict.fromkeys(RELEASED, "true"), "workload": "none"}


class ReferenceSession:
    """One run on one cluster. `replicas`: those in memory, or processes."""

    def __init__(self, position: Position, replicas: Any, traffic: Traffic, response: int = 0) -> None:
        self.position, self.replicas, self.traffic = position, replicas, traffic
        self._steps = ElectionSteps(position, replicas, traffic, response)
        self.steps = {name: self._acting(row) for name, row in self._steps.table.items()}

    def _acting(self, row: Callable[..., None]) -> Callable[..., None]:
        """A row of the table, during which the timers of the replica whose step it is may fire."""

        def act(**given: Json) -> None:
            self.traffic.acting = self.replicas.acting = given.get("n")
            row(**given)
            self.replicas.settle()
            self.traffic.acting = self.replicas.acting = None

        return act

    def begin(self) -> None:
        """All replicas are started."""
        for replica in self.replicas.ids:
            self.replicas.start(replica)
        self.replicas.settle()

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The records of all replicas."""
        return {replica: self.replicas.lines(replica) for replica in self.replicas.ids}

    def observe(self) -> Mapping[str, Json]:
        """How the replicas say that they stand, what they hold, and what clients were answered."""
        names = ("mode", "coordinator", "group", "max", "topics", "stamp", "members")
        state: dict[str, dict[str, Json]] = {f"Replica.{name}": {} for name in names}
        for replica in self.replicas.ids:
            view = self.replicas.standing(replica)
            if view is None or not self._steps.up(replica):
                continue
            key = str(replica)
            state["Replica.mode"][key] = view.state
            state["Replica.coordinator"][key] = None if view.coord == replica else view.coord
            if view.state == "normal" and view.coord == replica:
                state["Replica.members"][key] = [member for member in view.group if member != replica]
            if self._steps.of("group", replica) is not None:
                state["Replica.group"][key] = view.group_name
            if not any(
                self.traffic.held(*message) for message in (("accept", None, replica), ("init", None, replica, "reply"))
            ):
                state["Replica.max"][key] = view.max
            if not self._steps.waiting_clients():
                state["Replica.topics"][key] = self._numbers(self.replicas.topics(replica))
                stamp = self.replicas.stamp(replica)
                if stamp is not None:
                    state["Replica.stamp"][key] = {"generation": stamp.generation, "iteration": stamp.iteration}
        found: dict[str, Json] = dict(state)
        if not self._steps.waiting_clients():
            found["acknowledged"] = sorted(n for n, outcome in self._steps.outcomes.items() if outcome == "ok")
        return found

    def _numbers(self, topics: Sequence[str]) -> list[int]:
        return sorted(int(match.group(1)) for topic in topics if (match := re.fullmatch(r"T(\d+)", topic)))

    def linger(self, seconds: float) -> None:
        """Checks and polls of each replica go on for some rounds, and nothing else may come. A step's worth of time is
        that of a timer, not of a clock. Errors: `Masked`."""
        before = {replica: len(self.replicas.lines(replica)) for replica in self.replicas.ids}
        for message in self.traffic.held():
            self.traffic.let(message, drop=not message.operation.startswith("are"))
        self.traffic.let_all(kind="reply")
        self.traffic.holds = lambda message: False
        for _ in range(int(seconds)):
            for replica in self.replicas.left():
                self.replicas.acting = replica
                self.replicas.fire()
                self.replicas.settle()
        self.replicas.acting = None
        for replica in self.replicas.ids:
            changed = [line for line in self.replicas.lines(replica)[before[replica] :] if "transition" in line]
            if changed:
                raise Masked(f"replica {replica} goes on by itself: {changed[0]}")

    def conclude(self) -> Sequence[str]:
        """What clients were answered, and what is where."""
        found = [f"client: create T{number}: {outcome}" for number, outcome in sorted(self._steps.outcomes.items())]
        for replica in self.replicas.ids:
            view = self.replicas.standing(replica)
            topics = " ".join(self.replicas.topics(replica)) or "none"
            words = "down" if view is None else f"{view.state}, coordinator {view.coord}, group {view.group_name}"
            found.append(f"replica {replica}: {words}; topics: {topics}")
        return found
