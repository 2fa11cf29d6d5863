"""What processes may rely on of timers, clocks, disks, locks and their own ends."""

from __future__ import annotations

from random import Random

import pytest

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Halt,
    Input,
    LockAnswered,
    LockLost,
    ReadShared,
    Received,
    Record,
    SetTimer,
    SharedRead,
    TryLock,
    Unlock,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.world import Defect
from tests.simulation.puppets import HOST, US, Strings, send


def answers(strings: Strings, member: str) -> list[Input]:
    return [given for name, given, _ in strings.given if name == member][1:]


# ---- timers and clocks ----


def test_timer_fires_once_and_not_before_its_time() -> None:
    strings = Strings()
    strings.run(US)
    _, _, started = strings.given[0]
    strings.act("a", SetTimer("one", 500_000), SetTimer("gone", 100), CancelTimer("gone"))
    strings.run(10 * US)
    fired = [(given, now - started) for name, given, now in strings.given if isinstance(given, Fired)]
    assert fired == [(Fired("one"), 1_500_000)]


def test_timer_set_again_fires_at_the_later_or_the_earlier_time() -> None:
    strings = Strings()
    strings.run(US)
    strings.act("a", SetTimer("later", US), SetTimer("earlier", 5 * US))
    strings.act("a", SetTimer("later", 3 * US), SetTimer("earlier", 2 * US), SetTimer("back", US))
    strings.act("a", CancelTimer("back"), SetTimer("back", 4 * US))
    strings.run(20 * US)
    assert strings.words("a") == ["earlier", "later", "back"]


@pytest.mark.parametrize(("rate", "by"), [(2_000_000, 2), (500_000, 8)])
def test_timer_goes_by_the_own_clock_that_runs_fast_or_slow(rate: int, by: int) -> None:
    strings = Strings(faults=[Fault("clock-rate", 2 * US, 100 * US, ("a",), amount=rate)])
    strings.run(US)
    strings.act("a", SetTimer("t", 3 * US))
    true = 2 * US + 2 * US * 1_000_000 // rate
    strings.run(true - 1)
    assert strings.words("a") == []
    strings.run(true + 1)
    assert strings.words("a") == ["t"]
    strings.act("a", SetTimer("again", 4 * US))
    strings.run(true + 4 * US * 1_000_000 // rate + 2)
    assert strings.words("a") == ["t", "again"]


def test_timer_is_due_when_the_clock_jumps_past_it() -> None:
    strings = Strings(faults=[Fault("clock-jump", 2 * US, members=("a",), amount=60 * US)])
    strings.run(US)
    strings.act("a", SetTimer("t", 30 * US))
    strings.run(2 * US + 1)
    assert strings.words("a") == ["t"]
    times = [now for name, _, now in strings.given if name == "a"]
    assert times == sorted(times)


def test_clock_shows_the_same_time_before_and_after_its_rate_changes_and_never_less() -> None:
    strings = Strings(
        faults=[
            Fault("clock-rate", US, US, ("a",), amount=1_000_100),
            Fault("clock-rate", 2 * US + 5, US, ("a",), amount=300_000),
        ]
    )
    clock = strings.world.processes["a"].clock
    shown = []
    for at in range(0, 4 * US, 50_000):
        strings.run(at + 1)
        shown.append(clock.local(strings.world.agenda.now))
    assert shown == sorted(shown)
    assert shown[40] - shown[0] == 2 * US + 100


# ---- pauses ----


@pytest.mark.parametrize(("draw", "found"), [(0, ["1", "t", "2"]), (1, ["t", "1", "2"]), (2, ["1", "2", "t"])])
def test_paused_process_goes_on_with_what_came_in_one_of_three_orders(draw: int, found: list[str]) -> None:
    strings = Strings(faults=[Fault("pause", 2 * US, 10 * US, ("b",), draw=draw)])
    strings.run(US)
    strings.act("b", SetTimer("t", 4 * US))
    strings.run(3 * US)
    strings.act("a", send("b", "1"))
    strings.run(8 * US)
    strings.act("a", send("b", "2"))
    strings.run(12 * US - 1)
    assert strings.words("b") == []
    strings.run(12 * US + 1)
    assert strings.words("b") == found
    assert strings.world.hits[0] == 3


def test_timer_that_ran_out_in_a_pause_can_still_be_cancelled() -> None:
    strings = Strings(faults=[Fault("pause", 2 * US, 10 * US, ("b",))])

    def does(given: Input, now_us: int) -> list[Effect]:
        return [CancelTimer("t")] if isinstance(given, Received) else []

    strings.does["b"] = does
    strings.run(2 * US)
    strings.act("a", send("b", "1"))
    strings.act("b", SetTimer("t", 2 * US))
    strings.run(20 * US)
    assert strings.words("b") == ["1"]


def test_process_that_is_paused_when_it_is_to_start_cannot_be_reached_until_it_goes_on() -> None:
    faults = [Fault("crash", US, 2 * US, ("b",)), Fault("pause", 2 * US, 4 * US, ("b",))]
    strings = Strings(faults=faults)
    strings.run(4 * US)
    strings.act("a", send("b", "too early"))
    strings.run(7 * US)
    strings.act("a", send("b", "now"))
    strings.run(8 * US)
    assert strings.words("b") == ["now"]
    assert strings.words("a") == ["!"]
    assert [setup.member for setup in strings.setups] == ["a", "b", "b"]


# ---- disks ----


def test_synced_write_survives_what_an_unsynced_one_may_not() -> None:
    lost, kept = 0, 0
    for draw in range(20):
        strings = Strings(faults=[Fault("power", 2 * US, US, ("a",), draw=draw)])
        strings.run(US)
        strings.act("a", Write(1, (("safe", b"1"), ("old", b"1"))))
        strings.run(2 * US - 1000)
        strings.act("a", Write(2, (("loose", b"2"), ("safe", None)), sync=False))
        strings.run(4 * US)
        assert answers(strings, "a")[:2] == [Written(1), Written(2)]
        durable = dict(strings.setups[-1].durable)
        assert durable in ({"safe": b"1", "old": b"1"}, {"old": b"1", "loose": b"2"}), "all changes or none"
        lost += "safe" in durable
        kept += "loose" in durable
    assert lost
    assert kept


def test_process_that_ends_leaves_the_first_few_of_its_writes() -> None:
    left = set()
    for draw in range(40):
        strings = Strings(faults=[Fault("crash", US + 1, US, ("a",), draw=draw)])
        strings.run(US)
        strings.act("a", *(Write(n, ((str(n), b""),)) for n in range(3)))
        strings.run(4 * US)
        durable = "".join(sorted(strings.setups[-1].durable))
        assert durable in ("", "0", "01", "012")
        assert not any(isinstance(given, Written) for given in answers(strings, "a"))
        left.add(durable)
    assert len(left) == 4


def test_write_that_fails_leaves_nothing_behind_and_later_ones_go_on() -> None:
    strings = Strings(faults=[Fault("disk-full", US, US, ("a",))])
    strings.run(US + 1)
    strings.act("a", Write(1, (("x", b"1"),)))
    strings.run(2 * US)
    strings.act("a", Write(2, (("y", b"2"),)))
    strings.run(3 * US)
    assert answers(strings, "a") == [WriteFailed(1, "no space left on device"), Written(2)]
    assert strings.world.processes["a"].disk.content == {"y": b"2"}


def test_wiped_disk_is_empty() -> None:
    strings = Strings(faults=[Fault("wipe", 2 * US, US, ("a",))])
    strings.run(US)
    strings.act("a", Write(1, (("x", b"1"),)))
    strings.run(4 * US)
    assert strings.setups[-1].durable == {}
    assert strings.setups[-1].incarnation == 1


def test_slow_disk_is_slow_as_long_as_the_fault_lasts() -> None:
    strings = Strings(faults=[Fault("disk-slow", US, 2 * US, ("a",), amount=1000)])
    strings.run(US + 1)
    strings.act("a", *(Write(n, ((str(n), b""),)) for n in range(100)))
    strings.run(3 * US)
    assert len(strings.world.processes["a"].disk.content) < 10
    strings.run(8 * US)
    assert len(strings.world.processes["a"].disk.content) == 100


# ---- hosts ----


def test_lock_is_held_by_one_until_it_gives_it_back_or_ends() -> None:
    strings = Strings(3, faults=[Fault("crash", 4 * US, US, ("b",))])
    strings.run(US)
    for name in "abc":
        strings.act(name, TryLock(HOST))
        strings.run(strings.world.agenda.now + 100_000)
    assert [answers(strings, name)[-1].granted for name in "abc"] == [True, False, False]
    strings.act("c", Unlock(HOST))
    strings.act("a", Unlock(HOST))
    strings.run(2 * US)
    strings.act("b", TryLock(HOST))
    strings.run(3 * US)
    assert answers(strings, "b")[-1] == LockAnswered(HOST, True)
    strings.run(4 * US + 100_000)
    strings.act("c", TryLock(HOST))
    strings.run(5 * US)
    assert answers(strings, "c")[-1] == LockAnswered(HOST, True)


def test_lock_of_a_machine_that_goes_down_stays_with_it_for_a_while() -> None:
    strings = Strings(faults=[Fault("power", 2 * US, 60 * US, ("a",))])
    strings.run(US)
    strings.act("a", TryLock(HOST))
    strings.run(10 * US)
    strings.act("b", TryLock(HOST))
    strings.run(13 * US)
    strings.act("b", TryLock(HOST))
    strings.run(14 * US)
    assert [given.granted for given in answers(strings, "b")] == [False, True]


def test_lock_is_granted_late_where_its_host_is_told_late() -> None:
    late = Fault("lock-late", US, 30 * US, hosts=(HOST,), amount=5 * US)
    strings = Strings(faults=[late, Fault("crash", 3 * US, 50 * US, ("a",))])
    strings.run(2 * US)
    strings.act("a", TryLock(HOST))
    for at in (7, 9):
        strings.run(at * US)
        strings.act("b", TryLock(HOST))
    strings.run(10 * US)
    assert [given.granted for given in answers(strings, "b")] == [False, True]


@pytest.mark.parametrize("kind", ["lock-lost", "lock-told"])
def test_lock_may_be_lost_with_or_without_a_word(kind: str) -> None:
    strings = Strings(faults=[Fault(kind, US // 2, hosts=(HOST,)), Fault(kind, 2 * US, hosts=(HOST,))])
    strings.run(US)
    strings.act("a", TryLock(HOST))
    strings.run(3 * US)
    strings.act("b", TryLock(HOST))
    strings.run(4 * US)
    assert answers(strings, "b") == [LockAnswered(HOST, True)]
    assert answers(strings, "a")[1:] == ([LockLost(HOST)] if kind == "lock-told" else [])
    assert strings.world.hits == {1: 1}, "a lock that nobody held was not lost"


def test_host_out_of_reach_grants_nothing_and_reads_nothing() -> None:
    strings = Strings(faults=[Fault("cut", US, 10 * US, links=between(["a"], [HOST]))])
    strings.run(2 * US)
    strings.act("a", TryLock(HOST), ReadShared(7, HOST, "x"), Write(8, (("x", b"1"),), shared=HOST))
    strings.run(5 * US)
    found = {type(given): given for given in answers(strings, "a")}
    assert not found[LockAnswered].granted
    assert found[SharedRead].failed
    assert found[SharedRead].token == 7
    assert found[WriteFailed].token == 8
    strings.run(20 * US)
    assert strings.world.hosts.all[HOST].disk.content == {}


def test_write_that_reached_a_shared_disk_is_done_though_its_process_is_gone() -> None:
    strings = Strings()
    strings.run(US)
    strings.act("a", Write(1, (("x", b"1"),), shared=HOST))
    strings.world.end(strings.world.processes["a"], power=True, random=Random(1))
    strings.run(2 * US)
    strings.act("b", ReadShared(1, HOST, "x"), ReadShared(2, HOST, "y"))
    strings.run(3 * US)
    assert answers(strings, "b") == [SharedRead(1, b"1"), SharedRead(2, None)]


def test_stale_handle_fails_requests_of_those_who_have_it() -> None:
    strings = Strings(faults=[Fault("lock-stale", US, US, ("a",), hosts=(HOST,))])
    strings.run(US + 1)
    strings.act("a", TryLock(HOST))
    strings.act("b", ReadShared(1, HOST, "x"))
    strings.run(US + 500_000)
    assert answers(strings, "a") == [LockAnswered(HOST, False, "stale file handle")]
    assert answers(strings, "b") == [SharedRead(1, None)]


# ---- ends ----


def test_crash_may_come_between_two_effects_of_one_input() -> None:
    strings = Strings(faults=[Fault("crash", US, 5 * US, ("b",), amount=2)])

    def does(given: Input, now_us: int) -> list[Effect]:
        return [send("a", "1"), send("a", "2"), Record("never", {})] if isinstance(given, Received) else []

    strings.does["b"] = does
    strings.run(2 * US)
    assert strings.crashes == [], "it waits for an input"
    strings.act("a", send("b", "go"))
    strings.run(3 * US)
    assert strings.crashes == ["b"]
    assert strings.words("a") == ["1", "!"]
    assert strings.records == []


def test_nothing_is_done_after_a_process_has_ended_itself() -> None:
    strings = Strings()
    strings.run(US)
    strings.act("a", send("b", "1"), Halt("enough"), send("b", "2"))
    strings.run(US + 500_000)
    assert strings.words("b") == ["1", "!"]
    assert strings.world.ended_themselves == {"a": 1}


@pytest.mark.parametrize("effect", [send("nobody", "1"), Write(1, (), shared="other"), TryLock("other")])
def test_asking_for_what_there_is_not_is_a_defect(effect: Effect) -> None:
    strings = Strings()
    strings.run(US)
    with pytest.raises(Defect):
        strings.act("a", effect)
