"""The resource manager: it has one service, being primary, and sees to it that one broker has it.

It asks every broker how it is. When the primary is silent or is no primary any more, it makes sure that it is none
(*stopping*), then promotes the next broker in turn (*starting*), and the one after it if that one refuses. What it is
about to do is on its disk before it does it.

Making sure: the broker says that it is stopped; or its watchdog must have bitten, since it was last fed too long ago;
or, without fencing, it did not stop on request for so long that it is taken to be dead. Only in the last case can there
be two primaries: one that runs and cannot be heard from here.

**Source:** survey of broker failover protocols, section 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from msgspec import Struct

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Fired, Input, Message, Name, Received, Setup, Started, WriteFailed, Written
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import (
    Promote,
    PromoteAnswer,
    Register,
    Registered,
    Restart,
    StatusAnswer,
    StatusQuery,
    Stop,
    Stopped,
)
from hacheck.impl.protocols.qpid.process import Process

TICK = "tick"
KEY = "manager"
VERSION = 1

LOOKING: Final = "looking"
STOPPED: Final = "stopped"
WRITING: Final = "writing"
STARTING: Final = "starting"
STARTED: Final = "started"
STOPPING: Final = "stopping"

SERVICE: Final = StateTable(
    "The service, as the resource manager sees it",
    "survey of broker failover protocols, section 1.11",
    LOOKING,
    {
        (LOOKING, "a broker is primary already"): STARTED,
        (LOOKING, "nobody is primary"): STOPPED,
        (STOPPED, "a broker can be reached"): WRITING,
        (WRITING, "the decision could not be written"): STOPPED,
        (WRITING, "the decision is on the disk"): STARTING,
        (STARTING, "the broker says that it is primary"): STARTED,
        (STARTING, "the broker refuses, or is silent"): STOPPING,
        (STARTED, "the primary is silent, or is primary no more"): STOPPING,
        (STOPPING, "the broker is certainly no primary, or is given up"): STOPPED,
    },
)
"""The service: every transition there is."""


class StoredManager(Struct, frozen=True):
    """What the resource manager must not forget: to whom it gave the service last, in which term, and which backups
    that primary has registered as in step (none: it has registered nothing yet)."""

    term: int
    primary: Name
    registered: tuple[str, ...] | None = None
    version: int = VERSION


class Seen:
    """What is known of a broker: its last answer, when it came, and when its watchdog was last fed. Times are of the
    manager's clock; a broker that was never heard has no answer."""

    __slots__ = ("answer", "fed_us", "heard_us")

    def __init__(self) -> None:
        self.answer: StatusAnswer | None = None
        self.heard_us = 0
        self.fed_us = 0


class Manager(ProcessNode[Process]):
    """The resource manager. `service`: how the service is. `primary`: who has it, or may have it. `since_us`: when the
    service came into this state. `unserved_us`: since when no broker is primary. `registering`: the lists of backups
    that are being written, by token."""

    def __init__(self, setup: Setup, options: Options, brokers: tuple[Name, ...]) -> None:
        self.options = options
        self.process = Process(setup, options.heartbeat_us)
        self.brokers = {name: Seen() for name in brokers}
        raw = setup.durable.get(KEY)
        what = "the resource manager's decision"
        stored = decode(raw, StoredManager, what) if raw is not None else StoredManager(0, "")
        self.term = stored.term
        self.primary = stored.primary
        self.registered = stored.registered
        self.heard_number = 0
        self.service: str = LOOKING
        self.since_us = 0
        self.number = 0
        self.deciding = -1
        self.was_refused = False
        self.unserved_us = 0
        self.registering: dict[int, tuple[Name, Register]] = {}
        self._messages: dict[type[Message], Any] = {
            StatusAnswer: self._status,
            PromoteAnswer: self._promoted,
            Stopped: self._stopped,
            Register: self._register,
        }

    def _received(self, given: Received) -> None:
        handler = self._messages.get(type(given.message))
        if handler is not None and given.sender in self.brokers:
            handler(given.sender, given.message)

    def _started(self, given: Started) -> None:
        self.since_us = self.unserved_us = self.process.now_us
        for seen in self.brokers.values():
            seen.fed_us = self.process.now_us  # perhaps it was, just before this process was started
        if self.primary:
            self.brokers[self.primary].heard_us = self.process.now_us
            self._enter(STARTED)
        self._tick()

    def _enter(self, service: str) -> None:
        assert SERVICE.leads(self.service, service), f"{self.service} -> {service}"
        self.process.record("service", old=self.service, new=service, primary=self.primary, term=self.term)
        self.service = service
        self.since_us = self.process.now_us

    # ---- time -------------------------------------------------------------------------------------------------------

    def _tick(self, given: Fired | None = None) -> None:
        """Ask every broker how it is, and decide."""
        process, options = self.process, self.options
        process.set_timer(TICK, options.check_interval_us)
        self.number += 1
        for name, seen in self.brokers.items():
            answer = seen.answer
            feeds = name == self.primary and self.service in (STARTING, STARTED) and answer is not None
            if feeds and answer is not None:
                seen.fed_us = process.now_us
                process.send(name, StatusQuery(self.number, answer.incarnation, answer.clock_us))
            else:
                process.send(name, StatusQuery(self.number))
        self._restart_if_stuck()
        waited_us = process.now_us - self.since_us
        if self.service == LOOKING and waited_us >= options.check_timeout_us:
            self._look()
        elif self.service == STOPPED:
            self._choose()
        elif self.service == STARTING and waited_us >= options.start_timeout_us:
            self._stop("the promotion is not answered")
        elif (
            self.service == STARTED and process.now_us - self.brokers[self.primary].heard_us >= options.check_timeout_us
        ):
            self._stop("the primary is silent")
        elif self.service == STOPPING:
            self._stop_again()

    def _restart_if_stuck(self) -> None:
        """As an operator would: when for long nobody could be promoted, start all brokers anew. What they have in
        memory is lost."""
        if self.service == STARTED or not self.options.restart_stuck_us:
            self.unserved_us = self.process.now_us
        elif self.process.now_us - self.unserved_us >= self.options.restart_stuck_us:
            self.unserved_us = self.process.now_us
            self.process.record("restarting-all", term=self.term)
            for name in self.brokers:
                self.process.send(name, Restart(self.term))

    def _look(self) -> None:
        """There is no memory of a primary: find out whether there is one."""
        for name, seen in self.brokers.items():
            if seen.answer is not None and seen.answer.about.status in (statuses.RECOVERING, statuses.ACTIVE):
                self.primary = name
                self.term = max(self.term, seen.answer.term)
                self._enter(STARTED)
                return
        self._enter(STOPPED)

    # ---- starting ---------------------------------------------------------------------------------------------------

    def _choose(self) -> None:
        """Give the service to the next broker in turn that answers; one that refuses it makes way for the next."""
        names = list(self.brokers)
        after = names.index(self.primary) + 1 if self.primary in names else 0
        turn = names[after:] + names[:after]
        if self.options.registered_backups:
            turn.sort(key=self._is_not_ready)  # stable: those that say they are ready come first, in their turn
        for name in turn:
            if self._is_heard(name) and self.may_have_it(name):
                heard = [seen.answer.term for seen in self.brokers.values() if seen.answer is not None]
                self.term = max(self.term, *heard) + 1
                self.primary = name
                self.heard_number = 0
                self._enter(WRITING)
                self.deciding = self._write()
                return

    def _is_not_ready(self, name: Name) -> bool:
        answer = self.brokers[name].answer
        return answer is None or answer.about.status != statuses.READY

    def _is_heard(self, name: Name) -> bool:
        seen = self.brokers[name]
        return seen.answer is not None and self.process.now_us - seen.heard_us < self.options.check_timeout_us

    def may_have_it(self, name: Name) -> bool:
        """As documented any broker may get the request, and refuses if it must. With `registered_backups`, only those
        that the last primary left in step; if all brokers answer and none of them is, whatever there was is lost."""
        if not self.options.registered_backups or self.registered is None or self._is_in_step(name):
            return True
        everybody = list(self.brokers)
        return all(map(self._is_heard, everybody)) and not any(map(self._is_in_step, everybody))

    def _is_in_step(self, name: Name) -> bool:
        answer = self.brokers[name].answer
        return (
            answer is not None
            and answer.about.status == statuses.READY
            and self.registered is not None
            and answer.about.system in self.registered
        )

    def _write(self) -> int:
        return self.process.write(((KEY, encode(StoredManager(self.term, self.primary, self.registered))),))

    def _written(self, given: Written) -> None:
        token = given.token
        if token in self.registering:
            sender, order = self.registering.pop(token)
            self.process.send(sender, Registered(order.term, order.number))
        elif token == self.deciding and self.service == WRITING:
            answer = self.brokers[self.primary].answer
            assert answer is not None
            self._enter(STARTING)
            self.brokers[self.primary].fed_us = self.process.now_us
            self.process.send(self.primary, Promote(self.term, answer.incarnation, answer.clock_us))

    def _write_failed(self, given: WriteFailed) -> None:
        token = given.token
        if self.registering.pop(token, None) is None and token == self.deciding and self.service == WRITING:
            self._enter(STOPPED)

    def _promoted(self, sender: Name, answer: PromoteAnswer) -> None:
        if self.service != STARTING or sender != self.primary or answer.term != self.term:
            return
        if answer.ok:
            self.brokers[sender].heard_us = self.process.now_us
            self.was_refused = False
            self._enter(STARTED)
        else:
            self.was_refused = True
            self._stop(answer.reason)

    # ---- stopping ---------------------------------------------------------------------------------------------------

    def _stop(self, reason: str) -> None:
        self.process.record("service-failed", primary=self.primary, term=self.term, reason=reason)
        self._enter(STOPPING)
        self._stop_again()

    def _stop_again(self) -> None:
        """Ask it to stop, until it does, or until no further request is needed."""
        process, options = self.process, self.options
        if options.fencing == "watchdog":
            margin_us = options.watchdog_us * options.watchdog_margin_percent // 100
            is_over = process.now_us - self.brokers[self.primary].fed_us >= options.watchdog_us + margin_us
        else:
            is_over = process.now_us - self.since_us >= options.stop_timeout_us
        if is_over:
            process.record("given-up", primary=self.primary, term=self.term, fencing=options.fencing)
            self._enter(STOPPED)
        else:
            process.send(self.primary, Stop(self.term))

    def _stopped(self, sender: Name, answer: Stopped) -> None:
        if self.service == STOPPING and sender == self.primary and answer.term == self.term:
            self._enter(STOPPED)
            if not self.was_refused:  # who refuses gets the request again, but not as fast as messages go
                self._choose()

    # ---- what brokers say -------------------------------------------------------------------------------------------

    def _status(self, sender: Name, answer: StatusAnswer) -> None:
        """How a broker is. One that is primary and should not be is ordered to stop."""
        seen = self.brokers[sender]
        last = seen.answer
        if last is not None and (answer.incarnation, answer.number) < (last.incarnation, last.number):
            return
        seen.answer = answer
        seen.heard_us = self.process.now_us
        is_primary = answer.about.status in (statuses.RECOVERING, statuses.ACTIVE)
        if self.service == STARTING and sender == self.primary and is_primary and answer.term == self.term:
            self._enter(STARTED)
        elif self.service == STARTED:
            if sender == self.primary and not is_primary:
                self._stop("the primary is primary no more")
            elif sender != self.primary and is_primary and answer.term < self.term:
                self.process.send(sender, Stop(answer.term))

    def _register(self, sender: Name, given: Register) -> None:
        """A primary says which backups are in step. It hears back when nobody else can be promoted any more."""
        if sender != self.primary or given.term != self.term or self.service not in (STARTING, STARTED):
            return
        if given.number >= self.heard_number:
            self.heard_number = given.number
            self.registered = given.systems
            self.registering[self._write()] = (sender, given)

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _tick,
        Written: _written,
        WriteFailed: _write_failed,
    }
