"""The resource manager, one rule of the sources in each test."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.node import Fired, Received, Send, Setup, Started, Write, WriteFailed, Written
from hacheck.impl.protocols.qpid.manager import KEY, TICK, Manager
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import (
    Promote,
    PromoteAnswer,
    Register,
    Registered,
    StatusAnswer,
    StatusQuery,
    Stop,
    Stopped,
)
from hacheck.impl.system import Refused

NAMES = ("broker-1", "broker-2", "broker-3")


class Room:
    """A resource manager and brokers that a test plays."""

    def __init__(self, durable: dict[str, bytes] | None = None, **options: Any) -> None:
        self.options = Options(**options)
        self.now_us = 0
        self.durable = durable or {}
        self.manager = Manager(Setup("manager", 0, dict(self.durable), self.options), self.options, NAMES)
        self.status = dict.fromkeys(NAMES, "joining")
        self.term = dict.fromkeys(NAMES, 0)
        self.sent: list[Send] = []
        self.disk_fails = False
        self.number = 0
        self.carry_out(self.manager.handle(Started(), 0))

    def carry_out(self, effects: list[Any]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.sent.append(effect)
            elif isinstance(effect, Write):
                if self.disk_fails:
                    self.carry_out(self.manager.handle(WriteFailed(effect.token, "full"), self.now_us))
                else:
                    self.durable.update({key: value for key, value in effect.changes if value is not None})
                    self.carry_out(self.manager.handle(Written(effect.token), self.now_us))

    def say(self, name: str, message: Any) -> None:
        self.carry_out(self.manager.handle(Received(name, message), self.now_us))

    def tick(self, *silent: str) -> None:
        """Time passes, brokers answer."""
        self.now_us += self.options.check_interval_us
        self.carry_out(self.manager.handle(Fired(TICK), self.now_us))
        for name in NAMES:
            if name not in silent:
                self.number += 1
                about = Info(f"id-{name}", name, self.status[name])
                self.say(name, StatusAnswer(self.number, about, 0, self.now_us, self.term[name]))

    def until(self, *silent: str, ticks: int = 30) -> tuple[str, Any]:
        """Whom it asks to be primary next, and with what message."""
        before = len(self.sent)
        for _ in range(ticks):
            for one in self.sent[before:]:
                if isinstance(one.message, Promote):
                    return one.to, one.message
            self.tick(*silent)
        return "", None

    def make_primary(self, name: str, order: Any) -> None:
        self.term[name] = order.term
        self.status[name] = "active"
        self.say(name, PromoteAnswer(order.term, True))

    def last(self, kind: type) -> list[Send]:
        return [one for one in self.sent if isinstance(one.message, kind)]


def test_first_broker_that_answers_gets_the_service() -> None:
    """Survey 1.11: the floating service starts somewhere; the decision is on the disk before it is said."""
    room = Room()
    name, order = room.until("broker-1")
    assert (name, order.term) == ("broker-2", 1)
    assert KEY in room.durable


def test_refusal_makes_way_for_the_next_broker() -> None:
    """Survey 1.11: a refused promotion makes the manager try the next node, when the first is surely not primary."""
    room = Room()
    name, order = room.until()
    room.say(name, PromoteAnswer(order.term, False, "catching up"))
    assert room.last(Stop)[-1].to == name
    room.say(name, Stopped(order.term))
    second, other = room.until()
    assert (second, other.term) == ("broker-2", 2)


def test_silent_primary_is_given_up_only_when_its_watchdog_must_have_bitten() -> None:
    """Survey 1.11, fencing: the watchdog's time, and more for clocks that differ, since it was last fed."""
    room = Room(fencing="watchdog")
    name, order = room.until()
    room.make_primary(name, order)
    room.tick()
    room.tick()
    fed_us = room.now_us
    second, _ = room.until(name)
    waited_us = room.now_us - fed_us
    assert second == "broker-2"
    assert waited_us >= room.options.watchdog_us * 3 // 2


def test_primary_that_is_being_stopped_is_not_fed() -> None:
    """Or it would live on while another is promoted."""
    room = Room(fencing="watchdog")
    name, order = room.until()
    room.make_primary(name, order)
    room.tick()
    for _ in range(6):
        room.tick(name)
    assert room.manager.service == "stopping"
    queries = [one.message for one in room.last(StatusQuery) if one.to == name]
    assert isinstance(queries[-1], StatusQuery)
    assert queries[-1].incarnation == -1


def test_without_fencing_a_silent_primary_is_taken_for_dead() -> None:
    """So a manager whose view is cut makes a second primary."""
    room = Room(fencing="none")
    name, order = room.until()
    room.make_primary(name, order)
    assert room.until(name)[0] == "broker-2"


def test_primary_of_an_earlier_term_is_stopped_when_it_is_seen_again() -> None:
    """One service has one place."""
    room = Room(fencing="none")
    name, order = room.until()
    room.make_primary(name, order)
    second, other = room.until(name)
    room.make_primary(second, other)
    room.tick()
    assert (room.last(Stop)[-1].to, room.last(Stop)[-1].message) == (name, Stop(1))
    assert room.manager.primary == second


def test_primary_that_restarted_is_replaced() -> None:
    """Its status says that it is primary no more; that it surely is not takes one more answer."""
    room = Room()
    name, order = room.until()
    room.make_primary(name, order)
    room.tick()
    room.status[name] = "joining"
    room.tick()
    assert len(room.last(Promote)) == 1
    room.say(name, Stopped(order.term))
    assert room.last(Promote)[-1].to == "broker-2"


def test_restarted_manager_remembers_the_primary() -> None:
    """It lets it be, and goes on counting terms."""
    room = Room()
    name, order = room.until()
    room.make_primary(name, order)
    again = Room(room.durable)
    again.status = room.status
    again.term = room.term
    assert again.until() == ("", None)
    assert again.manager.primary == name
    second, other = again.until(name, ticks=60)
    assert (second, other.term) == ("broker-2", 2)


def test_manager_without_memory_adopts_the_primary_that_there_is() -> None:
    """A lost disk is no reason for a second primary."""
    room = Room()
    room.status["broker-3"] = "active"
    room.term["broker-3"] = 7
    assert room.until() == ("", None)
    assert (room.manager.primary, room.manager.term) == ("broker-3", 7)


def test_decision_that_cannot_be_written_is_not_acted_on() -> None:
    """After a restart nobody would know of it."""
    room = Room()
    room.disk_fails = True
    assert room.until() == ("", None)
    room.disk_fails = False
    assert room.until()[0] in NAMES
    assert KEY in room.durable


def test_only_registered_backups_are_promoted() -> None:
    """With `registered_backups` being ready in one's own eyes is not enough (QP-13)."""
    room = Room(registered_backups=True)
    name, order = room.until()
    room.make_primary(name, order)
    room.status["broker-2"] = room.status["broker-3"] = "ready"
    room.say(name, Register(1, 1, ("id-broker-3",)))
    assert room.last(Registered)[-1].message == Registered(1, 1)
    room.status[name] = "joining"
    room.tick()
    room.say(name, Stopped(1))
    assert room.until()[0] == "broker-3"


def test_without_the_registered_backup_there_is_no_service() -> None:
    """It may be back; the others lack what was acknowledged."""
    room = Room(registered_backups=True)
    name, order = room.until()
    room.make_primary(name, order)
    room.status["broker-2"] = room.status["broker-3"] = "ready"
    room.say(name, Register(1, 1, ("id-broker-3",)))
    assert room.until(name, "broker-3") == ("", None)


@pytest.mark.parametrize("raw", [b"\xc1", b"\x81\xa1x\x01"])
def test_disk_that_cannot_be_read_is_refused(raw: bytes) -> None:
    """A damaged disk is no empty one."""
    with pytest.raises(Refused, match="cannot be read"):
        Room({KEY: raw})
