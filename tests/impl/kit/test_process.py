"""The shell of a process, calls with time-outs, values on disks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from msgspec import Struct

from hacheck.impl.kit.process import Process, ProcessNode
from hacheck.impl.kit.rpc import TIMER, Caller, Round
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import (
    Fired,
    Halt,
    Input,
    Message,
    ReadShared,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    Unreachable,
    Write,
    Written,
)
from hacheck.impl.system import Refused


class Question(Message, frozen=True):
    """A call."""

    call: int


class Worker(ProcessNode[Process[str]]):
    """Writes when it starts, and ends when that is done."""

    def __init__(self) -> None:
        self.process: Process[str] = Process(Setup("worker", 3, {}, None))
        self.concluded = 0

    def _started(self, given: Started) -> None:
        self.process.write((("key", b"value"),), "first")

    def _written(self, given: Written) -> None:
        self.process.halt(self.process.purposes.pop(given.token))

    def conclude(self) -> None:
        self.concluded += 1

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {Started: _started, Written: _written}


def test_answer_of_a_write_finds_its_purpose_and_nothing_happens_after_the_end() -> None:
    worker = Worker()
    assert worker.handle(Started(), 5) == [Write(1, (("key", b"value"),))]
    assert worker.process.now_us == 5
    assert worker.handle(Unreachable("somebody"), 6) == []
    assert worker.handle(Written(1), 7) == [Halt("first")]
    assert worker.handle(Started(), 8) == []
    assert worker.concluded == 4


def test_input_that_was_never_requested_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="worker never requested Fired"):
        Worker().handle(Fired("tick"), 0)


def test_names_and_numbers_differ_between_incarnations() -> None:
    first, second = (Process[None](Setup("one", incarnation, {}, None)) for incarnation in (0, 1))
    assert first.fresh() == "one.0.1"
    assert len({process.fresh_number() for process in (first, first, second, second)}) == 4
    assert first.fresh_number() > 0


def test_records_show_the_prefix() -> None:
    process = Process[None](Setup("one", 0, {}, None))
    process.prefix = {"status": "ready"}
    process.record("seen", {"a": 1}, b=2)
    assert process.effects == [Record("seen", {"status": "ready", "a": 1, "b": 2})]


def test_effects_come_in_their_order() -> None:
    process = Process[str](Setup("one", 0, {}, None))
    process.send("two", Question(1))
    process.set_timer("tick", 7)
    process.read("disk", "key", "why")
    process.write((), None, "disk", sync=False)
    assert process.effects == [
        Send("two", Question(1)),
        SetTimer("tick", 7),
        ReadShared(1, "disk", "key"),
        Write(2, (), False, "disk"),
    ]
    assert process.purposes == {1: "why"}


# ---- calls ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ended() -> list[Round]:
    return []


@pytest.fixture
def caller(ended: list[Round]) -> Caller:
    made = Caller(Setup("one", 0, {}, None), timeout_us=10)
    made.finished["vote"] = ended.append
    return made


def test_round_ends_when_each_has_answered_or_failed_to(caller: Caller, ended: list[Round]) -> None:
    caller.begin(0)
    caller.ask("vote", [(1, "two"), (2, "three")], Question)
    calls = [effect.message.call for effect in caller.effects if isinstance(effect, Send)]  # type: ignore[attr-defined]
    caller.answered("three", calls[0], Question(9))  # the wrong one answers
    caller.answered("two", calls[0], Question(9))
    assert not ended
    caller.unreachable("three")
    assert [round_.answers for round_ in ended] == [{1: Question(9), 2: None}]


def test_calls_end_with_their_time(caller: Caller, ended: list[Round]) -> None:
    caller.begin(0)
    caller.ask("vote", [(1, "two")], Question)
    assert SetTimer(TIMER, 10) in caller.effects
    caller.begin(4)
    caller.fired()
    assert caller.effects == [SetTimer(TIMER, 6)]
    caller.begin(10)
    caller.fired()
    assert [round_.answers for round_ in ended] == [{1: None}]


def test_dropped_round_ends_unheard_and_an_empty_one_at_once(caller: Caller, ended: list[Round]) -> None:
    caller.ask("vote", [(1, "two")], Question)
    caller.drop("vote")
    caller.unreachable("two")
    assert not ended
    caller.ask("vote", [], Question)
    assert [round_.answers for round_ in ended] == [{}]


# ---- values on disks -----------------------------------------------------------------------------------------------


class Kept(Struct, frozen=True):
    """A value with a version."""

    version: int
    name: str


class Plain(Struct, frozen=True):
    """A value without."""

    name: str


def test_values_are_read_as_they_were_written() -> None:
    assert decode(encode(Kept(1, "a")), Kept, "the name") == Kept(1, "a")
    assert decode(encode(Plain("a")), Plain, "the name") == Plain("a")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (encode({"version": 2, "anything": 1}), "the name is of version 2, and this program reads version 1"),
        (encode({"version": 1, "name": 7}), "the name cannot be read"),
        (b"\xc1", "the name cannot be read"),
        (b"", "erase the disk"),
    ],
)
def test_values_of_other_versions_and_damaged_ones_are_refused(raw: bytes, says: str) -> None:
    with pytest.raises(Refused, match=says):
        decode(raw, Kept, "the name")
