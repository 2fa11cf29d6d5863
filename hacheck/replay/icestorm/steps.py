"""The table from the actions of `icestorm.ha` to messages of real replicas.

Every message of the election and of replication is held; a step releases what is due and waits until its effect shows,
as a message or a line of a log. Timers need no clock of ours: a timer shows by its message, so holding that message, or
the last answer before it, holds the timer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from hacheck.replay.outcomes import Awaited
from hacheck.replay.product import Position
from hacheck.replay.traffic import CLIENT, Message, Traffic

GATED = frozenset({"areYouCoordinator", "areYouThere", "invitation", "accept", "init", "ready", "createTopic"})
GATED_REPLIES = frozenset({"areYouCoordinator", "createTopic", "init", "ready"})
SECONDS = 12.0
CLIENT_SECONDS = 6.0
COUNT_SECONDS = 1.0


def holds(message: Message) -> bool:
    """Whether a message waits for its step."""
    return message.operation in (GATED if message.kind == "request" else GATED_REPLIES)


class Replicas(Protocol):
    """What the steps need of a cluster: real replicas, or those of the reference implementation."""

    @property
    def ids(self) -> Sequence[int]:
        """Their numbers."""
        ...

    def start(self, replica: int) -> None:
        """Starts a replica."""
        ...

    def kill(self, replica: int) -> None:
        """Ends one at once."""
        ...

    def pause(self, replica: int) -> None:
        """Stops one where it is."""
        ...

    def resume(self, replica: int) -> None:
        """Has it continue."""
        ...

    def left(self) -> Sequence[int]:
        """The replicas that run, or are paused."""
        ...

    def lines(self, replica: int) -> Sequence[str]:
        """The log of a replica so far."""
        ...

    def begin_request(self, replica: int, topic: str, done: Callable[[str], None]) -> None:
        """A client asks a replica for a topic, and does not wait. `done`: is given the outcome."""
        ...

    def until(self, what: str, found: Callable[[], Any], seconds: float, meanwhile: Callable[[], None]) -> Any:
        """The first true value of `found`. `meanwhile`: what may go on. Errors: `Awaited`."""
        ...

    def settle(self) -> None:
        """Lets what was just released take effect."""
        ...


class ElectionSteps:
    """The steps of one run. `outcomes`: of the changes that clients requested, by their number in the model."""

    def __init__(self, position: Position, cluster: Replicas, traffic: Traffic, response: int) -> None:
        self.position, self.cluster, self.traffic, self.response = position, cluster, traffic, response
        self.ids = list(cluster.ids)
        self.outcomes: dict[int, str] = {}
        self.requests = 0
        self._marks: dict[int, int] = {}
        self._uncounted: set[int] = set()  # whose acceptances are on their way
        self.table: Mapping[str, Callable[..., None]] = {
            "check": self.check,
            "merge": self.merge,
            "merge.settle": self.merge_settle,
            "invitation": self.invitation,
            "invitation.settle": self.invitation_settle,
            "merge_continue": self.merge_continue,
            "merge_continue.push": self.push,
            "merge_continue.report": self.report,
            "poll": self.poll,
            "update": self.update,
            "update.replicate": self.replicate,
            "crash Replica": self.crash,
            "blackout of Replica": self.blackout,
            "restart Replica": self.restart,
            "pause Replica": self.pause,
            "resume Replica": self.resume,
            "cut Replica - Replica": self.cut,
            "heal Replica - Replica": self.heal,
        }

    # ---- waiting ----

    def until(self, what: str, found: Callable[[], Any], seconds: float = SECONDS) -> Any:
        """Lets timers that change nothing go on meanwhile."""
        return self.cluster.until(what, found, seconds, self.pass_idle)

    def take(self, operation: str, source: int, target: int, kind: str = "request", seconds: float = SECONDS) -> None:
        """Waits for a message and releases it. Of calls the latest counts: its caller has given earlier ones up."""
        what = f"{operation} {kind} {source}>{target}"
        found = self.until(what, lambda: self.traffic.held(operation, source, target, kind), seconds)
        place = 0 if operation == "invitation" else -1
        self.traffic.let(found[place])
        for message in () if operation == "invitation" else found[:-1]:
            self.traffic.let(message, drop=True)

    def held(
        self, operation: str, source: int, target: int, kind: str = "request", seconds: float = SECONDS
    ) -> Message:
        """Waits for a message, which stays held; the latest, if there are several."""
        what = f"{operation} {kind} {source}>{target}"
        found: list[Message] = self.until(what, lambda: self.traffic.held(operation, source, target, kind), seconds)
        return found[-1]

    def line(self, n: int, pattern: str, seconds: float = SECONDS, unreachable: int | None = None) -> None:
        """Waits for a line of a log; those that an earlier step waited for do not count. `unreachable`: whom polls of
        this replica do not reach meanwhile, also those that had come to the proxy."""
        since = self._marks.get(n, 0)

        def found() -> int:
            if unreachable is not None:
                self.traffic.drop_all("areYouThere", n, unreachable)
            for number, text in enumerate(self.cluster.lines(n)[since:], since + 1):
                if re.search(pattern, text):
                    return number
            return 0

        self._marks[n] = self.until(f"line /{pattern}/ of {n}", found, seconds)

    def of(self, name: str, n: int, *, before: bool = False) -> Any:
        """A variable of a replica in the model, after the step or before it."""
        return self.position.of(f"Replica.{name}", n, before=before)

    def up(self, n: int) -> bool:
        """Whether a replica runs and is not paused."""
        after, key = self.position.after, str(n)
        return bool(after.get("Replica.up", {}).get(key, True)) and not after.get("Replica.paused", {}).get(key, False)

    def reaches(self, n: int, m: int) -> bool:
        """Whether a call of one replica to another gets there."""
        cut = self.position.after.get("cut.Replica.Replica", {}).get(str(n), {}).get(str(m), False)
        return self.up(m) and not cut

    def pass_idle(self) -> None:
        """Releases what changes nothing: checks of replicas that do not lead, polls that are answered with yes. A held
        probe would stop every timer of its replica, which has one thread for them."""
        for kind in ("request", "reply"):
            for message in self.traffic.held("areYouCoordinator", kind=kind):
                n = message.source if kind == "request" else message.target
                if n in self.ids and None not in (self.of("coordinator", n, before=True), self.of("coordinator", n)):
                    self.traffic.let(message)
        for message in self.traffic.held("areYouThere"):
            if message.source in self.ids and self._would_say_yes(message.source, message.target, (True, False)):
                self.traffic.let(message)

    def pass_polls(self) -> None:
        """Releases the polls that came after the last step and are still answered with yes: after the next one, the
        answer could be another."""
        polls = self.traffic.held("areYouThere")
        due = [one for one in polls if one.source in self.ids and self._would_say_yes(one.source, one.target, (True,))]
        for message in due:
            self.traffic.let(message)
        if due:
            self.cluster.settle()

    def _would_say_yes(self, n: int, to: int, states: tuple[bool, ...]) -> bool:
        """Whether a poll is answered with yes, in the states before the step, after it, or both."""
        return not (self._uncounted & {n} or self.traffic.held("accept", n)) and all(
            self.of("coordinator", n, before=old) == to
            and n in self.of("members", to, before=old)
            and self.of("group", n, before=old) == self.of("group", to, before=old)
            for old in states
        )

    # ---- forming a group ----

    def check(self, n: int) -> None:
        """A coordinator asks the others, one by one; the last answer is held, until its merge is due."""
        others = [m for m in self.ids if m != n and self.reaches(n, m)]
        self.traffic.refused |= {(n, m) for m in self.ids if not self.reaches(n, m)}
        answer: Message | None = None
        for m in others:
            if answer is not None:
                self.traffic.let(answer)
            self.take("areYouCoordinator", n, m)
            answer = self.held("areYouCoordinator", m, n, "reply")
        if not self.of("candidates", n):
            if answer is not None:
                self.traffic.let(answer)
            self.cluster.settle()
            self._check_is_over(n)

    def _check_is_over(self, n: int) -> None:
        self.traffic.refused = {(a, b) for a, b in self.traffic.refused if a != n}

    def merge(self, n: int) -> None:
        """The last answer comes, and a priority's time later the invitations go out."""
        self.traffic.let_all("areYouCoordinator", None, n, "reply")
        sent = [int(m) for m, letter in self.position.after["message.invitation"][str(n)].items() if letter]

        def invited() -> bool:
            self.traffic.let_all("areYouCoordinator", n)  # to those that were down during the check
            self.traffic.let_all("areYouCoordinator", None, n, "reply")
            return all(self.traffic.held("invitation", n, m) for m in sent)

        if not sent:  # it waits for an update under way, or those that it found are gone
            self.line(n, "transition from .* to election", 2 * self.response + 5)
            self._check_is_over(n)
            return
        self.until(f"invitations of {n}", invited, 2 * self.response + 5)
        self._check_is_over(n)

    def merge_settle(self, n: int) -> None:
        """The update that the merge waited for is over."""
        self.traffic.let_all("createTopic", None, n, "reply")
        self.merge(n)

    def invitation(self, n: int, j: int) -> None:
        """An invitation arrives."""
        self.take("invitation", j, n)
        self._joined(n)

    def _joined(self, n: int) -> None:
        if self.of("main", n) == "invitation.settle":
            self.line(n, "transition from .* to election")
        elif self.of("mode", n) == "reorganization" != self.of("mode", n, before=True):
            by = self.of("coordinator", n)
            self.line(n, "transition from election to reorganization")
            accept = self.held("accept", n, by)
            if n not in self.of("members", by) or self.of("mode", by) != "election":
                self.traffic.let(accept)
        else:
            self.line(n, "invitation ignored|creating new self")

    def invitation_settle(self, n: int) -> None:
        """The update that the invitation waited for is over."""
        self.traffic.let_all("createTopic", None, n, "reply")
        self._joined(n)

    def merge_continue(self, n: int) -> None:
        """The acceptances are counted: they come, or their time is over."""
        self._accept(n)
        if self.of("timer", n) == "merge_continue.push":
            self.traffic.acting = None  # calls to members that are gone fail in the next step
        else:
            self.line(n, "not enough nodes|failed", self.response + 5)
            return
        self.until(f"init by {n}", lambda: self._pushes(n), self.response + 5)

    def _accept(self, n: int) -> None:
        """Delivers the acceptances; a poll may be answered only when that of its replica has been counted."""
        since = len(self.cluster.lines(n))
        coming = self.traffic.held("accept", None, n)
        self._uncounted = {one.source for one in coming if one.source in self.of("members", n, before=True)}
        for message in coming:
            self.traffic.let(message)

        def counted() -> bool:
            text = "\n".join(self.cluster.lines(n)[since:])
            return all(re.search(rf"accept {m} |accepted \(.*sender {m}\b", text) for m in self._uncounted)

        with suppress(Awaited):
            self.until(f"line of {n} on {len(coming)} acceptances", counted, COUNT_SECONDS)
        self._uncounted = set()

    def _pushes(self, n: int) -> bool:
        # Replicas that cannot be reached get none; those that can, one each.
        return all(self.traffic.held("init", n, m) for m in self.of("members", n) if self.reaches(n, m))

    def push(self, n: int) -> None:
        """The database goes to the members."""
        out = self._sent("init", n)
        due = [message for message in out if self.reaches(n, message.target)]
        self._until_answered("init", n, len(due))
        if self.of("timer", n) != "merge_continue.report":
            self.traffic.let_all("init", None, n, "reply")
            self.line(n, "initMaster failed")
            return
        lost = self._lost_before(n)
        answers = self.traffic.held("init", None, n, "reply")
        last = next((message for message in answers if message.source not in lost), None)
        for message in answers:
            if message is not last:
                self.traffic.let(message)  # the last one comes when `report` is due, so that nothing is sent before

    def _sent(self, operation: str, n: int) -> list[Message]:
        """The calls of a replica that are held are sent on; those to replicas that it does not reach fail."""
        out = self.traffic.held(operation, n)
        for message in out:
            self.traffic.let(message, drop=not self.reaches(n, message.target))
        return out

    def _until_answered(self, operation: str, n: int, count: int) -> None:
        what = f"{count} answers to {operation} by {n}"
        self.until(what, lambda: len(self.traffic.held(operation, None, n, "reply")) >= count)

    def _lost_before(self, n: int) -> set[int]:
        """Whose answers to n cannot be held until its next step: they crash before it, or their links fail."""
        lost: set[int] = set()
        for step in self.position.following():
            given = step.arguments
            if given.get("n") == n and step.action.startswith("merge_continue"):
                break
            if step.action.startswith("crash"):
                lost.add(given["n"])
            elif step.action.startswith("cut") and n in (given["a"], given["b"]):
                lost |= {given["a"], given["b"]}
        return lost

    def report(self, n: int) -> None:
        """A member learns that the group is ready; after the last one the coordinator serves."""
        for operation in ("init", "ready"):
            self.traffic.let_all(operation, None, n, "reply")
        m = self.of("merge_continue.m_2", n, before=True)
        if self.reaches(n, m):
            self.take("ready", n, m)
            self.held("ready", m, n, "reply")
        if self.of("timer", n) == "idle":
            self.traffic.let_all("ready", None, n, "reply")
            self.line(n, "as coordinator" if self.of("mode", n) == "normal" else "error calling ready")
            self.traffic.drop_all("ready", n, None)

    def poll(self, n: int) -> None:
        """A slave asks its coordinator."""
        to = self.of("coordinator", n, before=True)
        if self.of("mode", n) != "inactive" and self.traffic.held("accept", n, to):
            return  # it is answered with yes once the acceptance has come, which is counted later
        if self.reaches(n, to):
            self.take("areYouThere", n, to)
        if self.of("mode", n) == "inactive":
            unreachable = to if not self.reaches(n, to) else None
            self.line(n, "lost connection to coordinator", unreachable=unreachable)
            self.line(n, "creating new self-coordinated group")
            self.traffic.drop_all("areYouThere", n, None)

    # ---- changes ----

    def update(self, n: int) -> None:
        """A client asks for a change."""
        if self.of("mode", n) == "inactive":
            self.change(n)
            self.line(n, "creating new self-coordinated group")
            return
        self.change(n)
        for m in self.of("members", n):
            if self.reaches(n, m):
                self.held("createTopic", n, m)

    def change(self, n: int) -> None:
        """A client asks a replica for a topic."""
        self.requests += 1
        number = self.requests

        def done(outcome: str) -> None:
            self.outcomes[number] = outcome

        self.cluster.begin_request(n, f"T{number}", done)

    def waiting_clients(self) -> bool:
        """Whether a client waits for its answer."""
        return len(self.outcomes) < self.requests

    def replicate(self, n: int) -> None:
        """The change reaches the slaves, and the client is answered."""
        out = self._sent("createTopic", n)
        due = [message for message in out if self.reaches(n, message.target)]
        self._until_answered("createTopic", n, len(due))
        if self.of("main", n) == "invitation.settle" or self.of("timer", n) == "merge.settle":
            return  # who waits for the end of the change goes on with it: so it ends when that is due
        self.traffic.let_all("createTopic", None, n, "reply")
        with suppress(Awaited):
            self.until(f"an answer to the client of {n}", lambda: not self.waiting_clients(), CLIENT_SECONDS)

    # ---- faults and repairs ----

    def crash(self, n: int) -> None:
        """The process is killed. What it had sent stays under way, what it had not received does not."""
        self.cluster.kill(n)
        self._check_is_over(n)
        self.traffic.drop_all("accept", None, n)  # a step of its receiver that has been taken; other calls are to come
        for operation in GATED:
            self.traffic.drop_all(operation, None, n, "reply")
            if operation not in ("invitation", "accept"):
                self.traffic.drop_all(operation, n, None)

    def blackout(self, **_: Any) -> None:
        """All processes are killed."""
        for n in self.cluster.left():
            self.crash(n)

    def restart(self, n: int) -> None:
        """The process is started again."""
        self._marks[n] = len(self.cluster.lines(n))
        self.cluster.start(n)
        self.line(n, "creating new self-coordinated group")

    def pause(self, n: int) -> None:
        """The process is stopped; calls to it fail."""
        self.cluster.pause(n)
        self.traffic.deafen(n, (CLIENT, *self.ids))

    def resume(self, n: int) -> None:
        """The process goes on."""
        self.traffic.hear(n)
        self.cluster.resume(n)

    def cut(self, a: int, b: int) -> None:
        """A link fails. Calls by which a coordinator changes its slaves fail when its own step is due."""
        for operation in GATED - {"invitation", "createTopic", "init"}:
            for one, other in ((a, b), (b, a)):
                self.traffic.drop_all(operation, one, other, "reply")
                if operation != "accept":  # a call that its receiver has counted, in the model
                    self.traffic.drop_all(operation, one, other)
        self.traffic.cut(a, b)

    def heal(self, a: int, b: int) -> None:
        """The link is up again."""
        self.traffic.mend(a, b)
