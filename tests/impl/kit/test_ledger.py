"""What oracles hold runs against: requests with their outcomes, messages that repeat, and who serves."""

from __future__ import annotations

from collections import Counter

from hacheck.impl.kit.ledger import Incumbents, Ledger, repeated


def asked(request: str, **more: object) -> dict[str, object]:
    return {"request": request, "operation": "send", **more}


def test_request_that_was_acknowledged_stays_so() -> None:
    ledger = Ledger()
    ledger.requested("client", asked("r", sent=["m"]))
    assert not list(ledger.acknowledged())
    ledger.answered({"request": "r", "outcome": "ok"})
    ledger.answered({"request": "r", "outcome": "unknown"})
    ledger.requested("client", asked("r", sent=["other"]))
    ((name, request),) = ledger.acknowledged()
    assert (name, request.sent, request.outcome) == ("r", ("m",), "ok")


def test_what_was_perhaps_consumed_is_not_certainly_consumed() -> None:
    ledger = Ledger()
    for outcome in ("ok", "failed", "unknown"):
        ledger.requested("client", asked(outcome, consumed=[f"m-{outcome}"]))
        ledger.answered({"request": outcome, "outcome": outcome})
    certainly, perhaps = ledger.consumed()
    assert certainly == {"m-ok": 1}
    assert perhaps == {"m-ok", "m-unknown"}


def test_messages_that_repeat_are_found() -> None:
    found = repeated(0, Counter({"a": 2, "b": 1, "c": 1}), Counter({"b": 1, "d": 2}))
    assert [(one.promise, one.story.split()[1]) for one in found] == [
        ("consumed-once", "b"),
        ("exactly-once", "d"),
        ("exactly-once", "a"),
    ]


def test_two_that_serve_one_thing_break_a_promise() -> None:
    active = Incumbents()
    active.begins(1, "a", "one")
    active.begins(2, "b", "other")
    assert not active.broken
    active.begins(3, "b", "one")
    active.begins(4, "b", "one")
    assert [one.story for one in active.broken] == ["b and a both serve one"]
    active.ends("a")
    active.begins(5, "c", "other")
    assert len(active.broken) == 1


def test_where_only_one_may_serve_another_thing_is_no_excuse() -> None:
    active = Incumbents(several=False)
    active.begins(1, "a", "one")
    active.begins(2, "b", "other")
    assert [one.story for one in active.broken] == ["b serves other, and a another one"]
