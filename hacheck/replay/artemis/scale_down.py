"""Artemis 2.41 as servers that scale down: `--on artemis-scale-down`.

Servers are `primary-only`, each with its own journal. A message that a server moves, and the answer of its target, are
held at the target's proxy until their step is due. The backup that scales down instead of its server is that server,
started again and then stopped in order: it has the same journal, and does the same (A-D3 of the spec).
**Source**: Artemis user manual, "High Availability and Failover", Scaling Down; Broker failover protocols, 2.12.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.cluster_session import missing, started, unmapped
from hacheck.replay.artemis.log_waiting import SECONDS, LogWaiting
from hacheck.replay.artemis.server_log import ACTIVE, CONNECTED, codes, role
from hacheck.replay.model_run import Json, ModelRun
from hacheck.replay.outcomes import Awaited, Masked, NotCarriedOut, Refuted
from hacheck.replay.product import Position, until
from hacheck.replay.recording import Recording
from hacheck.replay.traffic import Message, Traffic

ONLY_WITH: Mapping[str, str] = {
    "detail": "steps",
    "xa": "off",
    "grouped": "off",
    "found_by": "discovery",
    "no_duplicate_detection": "off",
    "forgets_ids": "off",
    "keeps_target": "off",
}
CLIENT = "1"
CONNECTED_SECONDS = 15.0
GAVE_UP = "PrimaryOnlyActivation.freezeConnections"
"""In what a server prints whose stop has failed: it had connected to its target, and did not know its node id yet."""

STOPS_MAX = 5
"""So often a server is started and stopped again whose stop has failed."""


class ArtemisScaleDown:
    """The product."""

    name = "artemis-scale-down"
    description = "Artemis 2.41, servers that scale down to each other, on loopback behind proxies"
    specs = ("artemis_scale_down",)
    observed = ("Server.mode", "Server.queue", "Client.unsent", "kept_twice")
    idle_actions = frozenset({"reconnect", "change_server"})
    settle_seconds = 8.0

    def missing(self) -> str | None:
        """Why no server can be started here."""
        return missing()

    def unfit(self, run: ModelRun) -> str | None:
        """Settings that servers cannot be brought to."""
        return unmapped(run, ONLY_WITH)

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[ScaleDownSession]:
        """As many servers as the model has."""
        with started(recording, range(1, int(position.run.settings["servers"]) + 1)) as (brokers, traffic):
            yield ScaleDownSession(position, brokers, traffic)


class ScaleDownSession:
    """One run on one cluster. `sent`: the messages of clients, by number, with what they were answered; `stopping`:
    servers that are to stop in order."""

    def __init__(self, position: Position, brokers: Brokers, traffic: Traffic) -> None:
        self.position, self.brokers, self.traffic = position, brokers, traffic
        self.servers = brokers.members
        self.sent: dict[int, str] = {}
        self.stopping: set[int] = set()
        self._failed_before: dict[int, int] = {}  # by server: how many of its stops had failed
        self._postponed: set[int] = set()  # servers that are to stop later
        self.log = LogWaiting(brokers)
        traffic.holds = lambda message: message.operation == "message"
        self.steps: Mapping[str, Callable[..., None]] = {
            "send_next": self.send_next,
            "change_server": self.nothing,
            "reconnect": self.nothing,
            "stop": self.stop,
            "choose_target": self.choose_target,
            "move": self.move,
            "move.at_target": self.leave_home,
            "commit_moves": self.nothing,
            "finish_scaling": self.finish_scaling,
            "start_again": self.start_again,
            "crash Server": self.crash,
            "crash Client": self.nothing,
            "restart Client": self.nothing,
            "restart Server": self.restart,
        }

    def begin(self) -> None:
        """All servers serve."""
        for s in self.servers:
            self._start(s, wait=False)
        for s in self.servers:
            self.log.code(s, *ACTIVE)

    def lines(self) -> Mapping[int, Sequence[str]]:
        """The logs of all servers."""
        return {s: self.brokers.evidence(s) for s in self.servers}

    # ---- waiting ----

    def of(self, name: str, s: int, *, before: bool = False) -> Any:
        """A variable of a server in the model, after the step or before it."""
        return self.position.of(f"Server.{name}", s, before=before)

    def message(self, source: int, target: int, kind: str) -> Message:
        """Waits for a message that is moved, or its answer, which stays held."""
        what = f"message moved from server {source} to {target}" if kind == "request" else f"answer of server {source}"
        found: list[Message] = until(what, lambda: self.traffic.held("message", source, target, kind), SECONDS)
        return found[-1]

    def nothing(self, **_: Json) -> None:
        """What only a client does, or a server inside."""

    # ---- servers ----

    def _start(self, s: int, target: int | None = None, *, wait: bool = True) -> None:
        """Starts a server, which is to scale down to `target`, or the one that the run has next: of those that
        discovery finds, any may be first."""
        first = target or self._next_target(s)
        targets = sorted((t for t in self.servers if t != s), key=lambda t: (t != first, t))
        connectors = "".join(f"<connector-ref>to-{t}</connector-ref>" for t in targets)
        interval = -1 if self.position.run.settings["commits_at_end"] == "on" else 1
        how = f"<connectors>{connectors}</connectors><commit-interval>{interval}</commit-interval>"
        down = f"<scale-down><enabled>true</enabled>{how}</scale-down>"
        self.brokers.configure({s: f"<primary-only>{down}</primary-only>"})
        self.log.start(s)
        if wait:
            self.log.code(s, *ACTIVE)

    def _next_target(self, s: int) -> int | None:
        """The target that the run has a server find next."""
        for step in self.position.following():
            if step.action == "choose_target" and step.arguments["s"] == s:
                target: int | None = step.state["Server.target"][str(s)]
                return target
        return None

    def _crashes_next(self, s: int) -> bool:
        """Whether the next step of a server, as the run has it, is that it crashes."""
        own = (one for one in self.position.following() if s in (one.arguments.get("s"), one.arguments.get("n")))
        return next((one.action == "crash Server" for one in own), False)

    def _has_ended(self, s: int) -> None:
        if s in self._postponed:
            self._postponed.discard(s)
            self._ask_to_stop(s)
        until(f"end of server {s}", lambda: not self.brokers.runs(s), SECONDS)
        self.stopping.discard(s)

    def start_again(self, s: int) -> None:
        """Somebody starts a server that is down, or has stopped."""
        self._start(s)

    def crash(self, n: int) -> None:
        """The process is killed."""
        if self.brokers.runs(n):
            self.brokers.kill(n)
        self.stopping.discard(n)
        self._postponed.discard(n)
        for kind in ("request", "reply"):
            self.traffic.drop_all("message", n, None, kind)
            self.traffic.drop_all("message", None, n, kind)

    def restart(self, s: int) -> None:
        """What the model has scale down is started, and stopped in order; what it has down stays down."""
        if self.of("mode", s) == "scaling":
            self._start(s)
            self.stop(s)
        elif self.of("mode", s) == "active":
            self._start(s)

    # ---- scaling down ----

    def stop(self, s: int) -> None:
        """An operator stops a server, which looks for its target at once: so it is stopped where the run has it find
        one, if that does not serve yet."""
        self.stopping.add(s)
        target = self._next_target(s)
        if target is None or self.of("mode", target, before=True) == "active":
            self._ask_to_stop(s)
        else:
            self._postponed.add(s)

    def _ask_to_stop(self, s: int) -> None:
        """Asks it to stop. One that has not yet connected to the others could fail to find its target."""
        others = sum(t != s and self._mode(t) == "active" for t in self.servers)

        def connected() -> bool:
            return codes(self.brokers.log_parts(s)[1]).count(CONNECTED) >= others

        self._failed_before[s] = self._given_up(s)
        with suppress(Awaited):
            until("connections to the other servers", connected, CONNECTED_SECONDS)
        self.brokers.ask_to_stop(s)

    def choose_target(self, s: int) -> None:
        """It finds its target: its first message is on the way there, if it has any; or it finds none, and stops."""
        target = self.of("target", s)
        if s in self._postponed:
            self._postponed.discard(s)
            self._ask_to_stop(s)
        if target is None:
            self._has_ended(s)
        elif self.of("queue", s):
            for _ in range(STOPS_MAX):
                if until("message that is moved", lambda: self._begun(s, target), SECONDS) == "moves":
                    return
                self.brokers.note(f"server-{s} could not stop: NullPointerException in {GAVE_UP}")
                self._has_ended(s)
                self._start(s, target)
                self._ask_to_stop(s)
                self.stopping.add(s)
            raise Refuted(f"server {s} does not scale down: its stop ends with a NullPointerException")

    def _begun(self, s: int, target: int) -> str:
        """Whether a server that is to stop has begun to move, or has given up."""
        if self.traffic.held("message", s, target):
            return "moves"
        return "gave up" if self._given_up(s) > self._failed_before.get(s, 0) else ""

    def _given_up(self, s: int) -> int:
        return (self.brokers.home(s) / "output.txt").read_text(errors="replace").count(GAVE_UP)

    def move(self, s: int) -> None:
        """A message arrives at the target, whose answer is held."""
        target = self.of("target", s, before=True)
        if self.of("mode", s) == "stopped":  # the target does not answer
            self.traffic.drop_all("message", s, target)
            self._has_ended(s)
            return
        self.traffic.let(self.message(s, target, "request"))
        self.message(target, s, "reply")

    def leave_home(self, s: int) -> None:
        """The answer arrives. The next message follows; after the last one the server removes what is left at once, and
        ends. Errors: `NotCarriedOut`, if the run has it crash in between."""
        target = self.of("target", s, before=True)
        last = len(self.of("queue", s)) == self.of("sent", s)
        if last and self.of("queue", s) != self.of("queue", s, before=True) and self._crashes_next(s):
            raise NotCarriedOut("between the last two removals Artemis waits for nothing: no crash can be timed there")
        self.traffic.let(self.message(target, s, "reply"))
        if len(self.of("queue", s)) > self.of("sent", s):
            self.message(s, target, "request")

    def finish_scaling(self, s: int) -> None:
        """The server ends, everything has been moved."""
        self._has_ended(s)

    # ---- clients ----

    def send_next(self, c: int) -> None:
        """A client sends its oldest message, and waits for the acknowledgement. A message that is lost in the run is
        not sent; an answer that is lost there does not count."""
        client = str(c)
        before, after = (state["Client.unsent"][client] for state in (self.position.before, self.position.after))
        number, server = min(before), self.position.after["Client.at"][client]
        stored = [self.of("queue", server, before=old).count(number) for old in (True, False)]
        if self.position.after["Client.doubt"][client] and stored[0] == stored[1]:
            self.sent[number] = "lost"
            return
        good, answer = self.brokers.ask("send", server, str(number))
        self.sent[number] = "ok" if good else answer
        if good and self.position.after["Client.doubt"][client]:
            self.sent[number] = "acknowledged, and the answer lost"
            return
        if good == (number in after):
            raise Refuted(f"server {server} answers message {number} with {self.sent[number]}")

    # ---- state ----

    def observe(self) -> Mapping[str, Json]:
        """Which servers serve, and what is in the queues of these; what the client was answered."""
        modes: dict[str, Json] = {}
        queues: dict[str, list[int]] = {}
        for s in self.servers:
            mode = self._mode(s)
            if mode is not None:
                modes[str(s)] = mode
            if mode == "active":
                queues[str(s)] = self.brokers.numbers(s) or []
        twice = {number for queue in queues.values() for number, times in Counter(queue).items() if times > 1}
        unsent = [n for n in self.position.run.initial["Client.unsent"][CLIENT] if self.sent.get(n) != "ok"]
        return {
            "Server.mode": modes,
            "Server.queue": queues,
            "Client.unsent": {CLIENT: unsent},
            "kept_twice": sorted(twice),
        }

    def _mode(self, s: int) -> str | None:
        """What a server that runs is at; `None` for one that does not."""
        if not self.brokers.runs(s):
            return "stopped" if self.of("mode", s) == "stopped" else None
        if s in self.stopping:
            return "scaling"
        return role(*self.brokers.log_parts(s), backup=False).mode

    # ---- the end ----

    def linger(self, seconds: float) -> None:
        """No server may begin or end meanwhile."""
        before = {s: self._mode(s) for s in self.servers}
        time.sleep(seconds)
        changed = [s for s, mode in before.items() if self._mode(s) != mode]
        if changed:
            raise Masked(f"server {changed[0]} goes on by itself")

    def conclude(self) -> Sequence[str]:
        """What each server has; those that are down are started again for that, once their scaling down has ended.
        Errors: `Masked`, if a message that the model has nowhere is there."""
        found = [f"client: message {number}: {answer}" for number, answer in sorted(self.sent.items())]
        self.traffic.holds = lambda message: False
        for kind in ("request", "reply"):
            self.traffic.let_all(kind=kind)
        kept = {s: self._kept(s) for s in self.servers}
        for s, (words, numbers) in kept.items():
            found.append(f"server {s}: {words}, messages {numbers}")
        acknowledged = {number for number, answer in self.sent.items() if answer == "ok"}
        modelled = {number for queue in self.position.after["Server.queue"].values() for number in queue}
        there = {number for _, numbers in kept.values() for number in numbers or ()}
        back = (acknowledged - modelled) & there
        if back:
            raise Masked(f"message {min(back)}, which the model has lost, is there: {'; '.join(found)}")
        return found

    def _kept(self, s: int) -> tuple[str, list[int] | None]:
        """What a server that serves has, or one that is started again for the question."""
        if self._mode(s) == "active":
            return "active", self.brokers.numbers(s)
        if s in self.stopping:
            self._has_ended(s)
        self._start(s)
        return "started again", self.brokers.numbers(s)
