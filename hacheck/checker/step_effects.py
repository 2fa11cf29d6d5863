"""What a step did, as one would say it: messages sent and taken, calls, locks, and fields that changed.

What the tool itself keeps to bound and order a run (fault budgets, who waits for whom) is left out; the JSON has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.ir import StateVariable, System
from hacheck.model.render import changes, show, spoken
from hacheck.model.runs import State
from hacheck.model.types import Bag, Map, Option, Record, Type, Value, values
from hacheck.model.types import Sequence as SequenceType

CUT = "cut."
"""What the names of variables begin with that say which links are cut."""

HIDDEN = frozenset({"budget"})
"""Roles of variables that no story needs."""

BACKGROUND = frozenset({"budget", "frame", "channel", "status"})
"""Roles of variables that go without saying at the beginning of a run, when nothing has happened."""

OVER, REMEMBERS = " is over", "remembers "
"""What is said when a handler ends, and of what it keeps between its steps (not when it ends and forgets)."""

IDLE = "idle"
"""What a thread is when no handler of several steps is under way in it."""


class StepEffect(Struct, frozen=True):
    """One thing a step did. `owner`: the node it happened to, or nothing. With `before` and `after` it is a change
    of `what`; without them `what` says all."""

    owner: str
    what: str
    before: str = ""
    after: str = ""


def step_effects(system: System, before: State, after: State, actor: str = "") -> tuple[StepEffect, ...]:
    """What happened between two states: first to the node on which it happened, then to others and the network.

    `actor`: the node on which it happened, in words.
    """
    plain = [number for number, variable in enumerate(system.variables) if _is_plain(variable)]
    fields = replace(system, variables=tuple(system.variables[number] for number in plain))
    old, new = tuple(before[number] for number in plain), tuple(after[number] for number in plain)
    effects = [
        StepEffect(
            f"{change.node[0]} {change.node[1]}" if change.node else "", change.place, change.before, change.after
        )
        for change in changes(fields, old, new)
    ]
    for variable, was, now in zip(system.variables, before, after, strict=True):
        if was == now:
            continue
        match variable.role:
            case "channel":
                effects += _traffic(variable, was, now, actor)
            case "lock":
                effects += _lock(variable, was, now)
            case "frame":
                effects += _thread(variable, was, now)
            case "status" if variable.name.startswith(CUT):
                effects += (
                    StepEffect("", f"the link {words} {'is cut' if cut else 'works again'}")
                    for words, cut in links_changed(variable, was, now)
                )
            case _:
                pass
    over = {f"{one.owner} {one.what.split('.')[0]}" for one in effects if one.what.endswith(OVER)}
    kept = [one for one in effects if not _forgotten(one, over)]
    return tuple(sorted(kept, key=lambda one: one.owner != actor))


def _forgotten(effect: StepEffect, over: set[str]) -> bool:
    """Whether this is only what a handler that is over no longer remembers."""
    handler = effect.what.removeprefix(REMEMBERS).split(".")[0]
    return effect.what.startswith(REMEMBERS) and f"{effect.owner} {handler}" in over


def _is_plain(variable: StateVariable) -> bool:
    """Whether a change of the variable is shown as it is: from what to what."""
    return variable.role not in ("channel", "lock", "frame", *HIDDEN) and not variable.name.startswith(CUT)


def links_changed(variable: StateVariable, was: Value, now: Value) -> Iterator[tuple[str, bool]]:
    """Each link that was cut or mended, and whether it is cut now. A link is cut in each direction apart; where both
    are, that is one cut."""
    before, after = set(cut_links(variable, was)), set(cut_links(variable, now))
    for words in _both_ways(after - before):
        yield words, True
    for words in _both_ways(before - after):
        yield words, False


def cut_links(variable: StateVariable, value: Value) -> list[tuple[str, str]]:
    """The links that are cut, each from a node to a node."""
    kind = variable.type
    if not isinstance(kind, Map) or not isinstance(kind.value, Map):
        return []
    return [
        (show(kind.key, one), show(kind.value.key, other))
        for one, row in zip(values(kind.key), value, strict=True)
        for other, cut in zip(values(kind.value.key), row, strict=True)
        if cut
    ]


def cut_words(variable: StateVariable, value: Value) -> str:
    """The links that are cut, in words."""
    return ", ".join(_both_ways(set(cut_links(variable, value)))) or "none"


def _both_ways(links: set[tuple[str, str]]) -> list[str]:
    """Links in words, both directions of one as one."""
    said = {}
    for one, other in sorted(links):
        if (other, one) in links:
            said[f"{min(one, other)} - {max(one, other)}"] = True
        else:
            said[f"{one} -> {other}"] = True
    return list(said)


def _traffic(variable: StateVariable, was: Value, now: Value, actor: str) -> Iterator[StepEffect]:
    """Messages and calls that are under way now and were not, or were and are not."""
    kind = variable.type
    if not isinstance(kind, Map) or not isinstance(kind.value, Map):
        yield StepEffect("", spoken(variable.name), show(kind, was), show(kind, now))
        return
    operation, _, part = spoken(variable.name).rpartition(".")
    if variable.name.startswith("operation.") and part in ("waiting", "serving"):
        return
    matter = part if operation and part in SENT else "message"
    receivers = kind.value
    sent: dict[tuple[str, str], list[str]] = {}  # equal ones to several nodes are one line
    for sender, olds, news in zip(values(kind.key), was, now, strict=True):
        for receiver, old, new in zip(values(receivers.key), olds, news, strict=True):
            ends = show(kind.key, sender), show(receivers.key, receiver)
            gone, come = difference(receivers.value, old, new)
            sends, takes = reversed(ends) if matter == "answer" else ends
            replaced = bool(gone and come) and takes != actor
            taken = {"message": ("", REPLACED)} if replaced and matter == "message" else TAKEN
            for words, items, mine in ((taken, gone, takes == actor), (SENT, come, sends == actor)):
                pattern = words[matter][0 if mine else 1]
                for item in items:
                    named = _named(operation, item)
                    if mine and words is SENT and matter != "answer":
                        sent.setdefault((pattern, named), []).append(ends[1])
                        continue
                    said = pattern.format(item=named, one=ends[0], other=ends[1])
                    yield StepEffect(actor if mine else "", said)
    for (pattern, named), ends_of in sent.items():
        yield StepEffect(actor, pattern.format(item=named, other=", ".join(ends_of)))


SENT = {
    "message": ("sends {item} to {other}", "under way: {item} from {one} to {other}"),
    "request": ("calls {item} at {other}", "under way: call {item} from {one} to {other}"),
    "answer": ("answers {item} to {one}", "under way: answer {item} from {other} to {one}"),
}
"""What is said of something that is on a link now: when the step happens on its sender, and else."""

TAKEN = {
    "message": ("takes {item} from {one}", "gone: {item} from {one} to {other}"),
    "request": ("takes the call {item} of {one}", "gone: call {item} from {one} to {other}"),
    "answer": ("gets the answer {item} from {other}", "gone: answer {item} from {other} to {one}"),
}
"""What is said of something that is on a link no more: when the step happens on its receiver, and else."""


REPLACED = "replaced by a newer one: {item} from {one} to {other}"
"""What is said of a message that the next one replaces: only the latest is under way."""


def _named(operation: str, item: str) -> str:
    """A request is named for its operation already; an answer is a bare value."""
    return item if not operation or item.startswith(operation) else f"{operation}: {item}"


def difference(kind: Type, old: Value, new: Value) -> tuple[list[str], list[str]]:
    """What is on a link no longer, and what is on it now, in words."""
    match kind:
        case Option(element):
            gone = [] if old is None or old == new else [old]
            come = [] if new is None or old == new else [new]
        case SequenceType(element, _) | Bag(element, _):
            gone, come = _without(old, new), _without(new, old)
        case _:
            return ([], []) if old == new else ([show(kind, old)], [show(kind, new)])
    return [_item(element, item) for item in gone], [_item(element, item) for item in come]


def _item(kind: Type, value: Value) -> str:
    """A message: `ping` where it carries nothing."""
    if isinstance(kind, Record) and not kind.fields:
        return kind.name
    return show(kind, value)


def _without(items: Sequence[Value], taken: Sequence[Value]) -> list[Value]:
    """The items that are left when each of those taken is removed once."""
    left = list(items)
    for item in taken:
        if item in left:
            left.remove(item)
    return left


def _lock(variable: StateVariable, was: Value, now: Value) -> Iterator[StepEffect]:
    """Who holds a lock, and who believes to."""
    kind = variable.type
    name, _, part = spoken(variable.name).rpartition(".")
    if part == "believed" and isinstance(kind, Map):
        for node, old, new in zip(values(kind.key), was, now, strict=True):
            if old != new:
                yield StepEffect(show(kind.key, node), f"believes it {'holds' if new else 'no longer holds'} {name}")
    elif part == "holder":
        yield StepEffect("", f"{name} held by", show(kind, was), show(kind, now))
    else:
        yield StepEffect("", spoken(variable.name), show(kind, was), show(kind, now))


def _thread(variable: StateVariable, was: Value, now: Value) -> Iterator[StepEffect]:
    """Where the handlers of a node stand, and what they remember between their steps."""
    kind = variable.type
    assert isinstance(kind, Map), f"the thread {variable.name} is no map"
    is_thread = hasattr(kind.value, "members") and IDLE in getattr(kind.value, "members", ())
    for node, old, new in zip(values(kind.key), was, now, strict=True):
        if old == new:
            continue
        owner = show(kind.key, node)
        if not is_thread:
            name = spoken(variable.name).removeprefix(f"{variable.owner}.")
            yield StepEffect(owner, f"{REMEMBERS}{name}", show(kind.value, old), show(kind.value, new))
        elif new == IDLE:
            yield StepEffect(owner, f"{old}{OVER}")
        else:
            yield StepEffect(owner, f"is now at {new}")
