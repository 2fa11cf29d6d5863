"""The caption of a step: what happened, in a line or two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from hacheck.checker.described_run import words_of
from hacheck.checker.run_view.state_slots import Slot
from hacheck.checker.run_view.step_events import Event
from hacheck.model.choices import Made
from hacheck.model.ir import System
from hacheck.model.runs import Step

FIELDS_MAX = 3
"""So many fields that changed are named."""

FAILED = {"not done": "no answer, and not done", "answer lost": "no answer, but done"}
"""What became of a call whose caller cannot know that."""

HAPPENED = {"crash": "crashes", "restart": "restarts", "pause": "is paused", "resume": "resumes", "halt": "halts"}

Change = tuple[Slot, str, str]
"""A slot with its value before and after."""


def caption(
    system: System,
    step: Step,
    made: Sequence[Made],
    actor: str,
    events: list[Event],
    changes: list[Change],
    read: Collection[str],
) -> tuple[str, str]:
    """What is done, and what comes of it. `read`: the variables that the property reads; they are named first."""
    action = system.actions[step.action]
    said = [f"{event['node']} {HAPPENED[event['t']]}" for event in events if event["t"] in HAPPENED]
    links = [f"link {event['a']} - {event['b']}" for event in events if event["t"] in ("cut", "heal")]
    if links:
        said.append(", ".join(links) + (" is cut" if any(event["t"] == "cut" for event in events) else " works again"))
    head = "" if said and action.kind in ("fault", "repair") else words_of(system, step, made)
    said += list(_traffic(events, actor))
    if action.kind not in ("fault", "repair") or not said:
        said += _fields(changes, actor, read, alone=not said)
    return head, "; ".join(said)


def _traffic(events: list[Event], actor: str) -> Iterable[str]:
    sent: dict[str, list[str]] = {}
    yield from acknowledgements(events)
    for event in events:
        match event["t"]:
            case "send":
                sent.setdefault(event["item"], []).append(event["to"])
            case "take":
                yield f"takes {event['item']} from {event['from']}"
            case "lost" | "cleared":
                yield f"{event['item']} from {event['from']} to {event['to']} is lost"
            case "lock":
                held = event["after"] != "none"
                yield f"{event['lock']}: held by {event['after']}" if held else f"{event['lock']}: no longer held"
    yield from calls_said(events, actor)
    for item, receivers in sent.items():
        yield f"sends {item} to {', '.join(dict.fromkeys(receivers))}"


def calls_said(events: Iterable[Event], actor: str, words: Callable[[str], str] = str) -> list[str]:
    """What was called, with what, and what came of it; equal calls of several nodes once. `words`: shortens names."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for call in (event for event in events if event["t"] == "call"):
        given = words(", ".join(value for _, value in call["arguments"]))
        outcome = str(call["outcome"])
        came = str(call["answer"]) if outcome == "answered" else FAILED.get(outcome, outcome)
        who = f"{words(call['from'])} calls" if call["from"] != actor else "calls"
        nodes = grouped.setdefault(f"{who} {call['op']}({given})" if given else f"{who} {call['op']}", {})
        nodes.setdefault(words(came), []).append(words(call["to"]))
    said = []
    for what, answers in grouped.items():
        at = [
            f"at {', '.join(dict.fromkeys(nodes))}" + (f": {came}" if came else "") for came, nodes in answers.items()
        ]
        said.append(f"{what} {', '.join(at)}")
    return said


def acknowledgements(events: Iterable[Event]) -> list[str]:
    """What a step acknowledged to clients: `acknowledged to clients: 1`, of other names `confirmed to clients: 1`."""
    items: dict[str, list[str]] = {}
    for event in events:
        if event["t"] == "acknowledged":
            items.setdefault(event["what"], []).append(event["item"])
    return [f"{what} to clients: {', '.join(held)}" for what, held in items.items()]


def _fields(changes: list[Change], actor: str, read: Collection[str], *, alone: bool) -> list[str]:
    """The fields that changed: those that the property reads, else some, as far as nothing else is said."""
    plain = [change for change in changes if change[0].role in ("field", "shared", "clock", "view")]
    preferred = [change for change in plain if change[0].variable in read and not change[0].mode]
    chosen = preferred or [change for change in plain if not change[0].mode] or (plain if alone else [])
    chosen = sorted(chosen, key=lambda change: change[0].owner != actor)
    grouped: dict[tuple[str, str], list[str]] = {}
    for slot, _, after in chosen:
        grouped.setdefault((slot.name, after), []).append(slot.owner)
    said = []
    for (name, after), owners in list(grouped.items())[:FIELDS_MAX]:
        others = [owner for owner in owners if owner and owner != actor]
        whose = f" of {', '.join(others)}" if others and actor not in owners else ""
        said.append(f"{name}{whose} = {after}")
    return [*said, "…"] if len(grouped) > FIELDS_MAX else said
