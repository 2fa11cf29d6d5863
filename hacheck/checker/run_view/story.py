"""The story of a run: a few sentences about what happened, each from a template, made from the view alone.

A sentence names steps, values and who was wrong about whom. It never says that one thing caused another: only trying
the run without it could show that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from hacheck.checker.run_view.beliefs import Belief
from hacheck.checker.run_view.broken_part import Broken
from hacheck.checker.run_view.captions import FAILED
from hacheck.checker.run_view.view_reader import Json, ViewReader
from hacheck.wording import plural

SENTENCES_MAX = 9
FACTS_MAX = 2
"""Of so many instances the facts are named."""

ITEMS_MAX = 4
"""So many things that clients were promised are named, the last ones."""

REFUSED_MAX = 2
"""So many refused calls of a cycle are named."""

ENVIRONMENT_MAX = 3
"""So many kinds of actions of the environment are named, of a run without a fault."""

LATE = 3
"""A message is late that is taken so many steps after it was sent, or more."""


class Sentence(Struct, frozen=True):
    """One sentence (or a few that belong together). `steps`: the numbers of steps that it names."""

    rule: str
    text: str
    steps: tuple[int, ...]

    def to_json(self) -> Json:
        """The sentence as a part of a view."""
        return {"rule": self.rule, "text": self.text, "steps": list(self.steps)}


def story(reader: ViewReader, beliefs: Sequence[Belief], broken: Sequence[Broken]) -> list[Sentence]:
    """The sentences in their order. Cost: a few passes over the steps."""
    found = [*_faults(reader)]
    found += [_belief(reader, one) for one in beliefs if _matters(reader, one, broken)]
    found += [*_both_sides(reader, broken), *_unanswered(reader, broken), *_late(reader)]
    found += [*_promises(reader), *_loop(reader), *_break(reader), *_facts(broken)]
    return found[:SENTENCES_MAX]


# ---- faults ----


def _faults(reader: ViewReader) -> Iterator[Sentence]:
    at: dict[str, list[int]] = {}
    for step in range(1, reader.last + 1):
        if reader.is_fault(step):
            at.setdefault(fault_words(reader, step), []).append(step)
        for words in _lost_calls(reader, step):
            at.setdefault(words, []).append(step)
    if not at:
        if reader.last and reader.property is not None:
            yield _without_fault(reader)
        return
    said = ", ".join(f"{words} ({', '.join(map(str, steps))})" for words, steps in at.items())
    yield Sentence("faults", f"Faults: {said}.", tuple(step for steps in at.values() for step in steps))


def _without_fault(reader: ViewReader) -> Sentence:
    """What is to be said of a run without a fault, in which calls may fail all the same."""
    failed = [
        (step, call)
        for step in range(1, reader.last + 1)
        for call in reader.effects(step, "call")
        if call["outcome"] in FAILED
    ]
    if not failed:
        return _without_failure(reader)
    step, call = failed[-1]
    text = f"No node, link or lock fails. But `{call['op']}` of {call['from']} to {call['to']} gets no answer"
    done = "though it is done" if call["outcome"] == "answer lost" else "and is not done"
    before = f"; before it {plural(len(failed) - 1, 'call')} failed, too" if len(failed) > 1 else ""
    return Sentence("faults", f"{text}, {done} ({step}){before}.", (step,))


def _without_failure(reader: ViewReader) -> Sentence:
    """Of a run in which no injected fault happens, and no call fails. An action of the environment may be what a user
    calls a fault: a process that hangs, a service that stops."""
    at: dict[str, list[int]] = {}
    for number in range(1, reader.last + 1):
        one = reader.steps[number - 1]
        if one["kind"] == "environment" and not _is_time(one["action"]):
            at.setdefault(one["action"], []).append(number)
    if not at:
        return Sentence("faults", "Nothing failed: this run has no fault at all.", ())
    said = ", ".join(f"{name} ({_listed(steps)})" for name, steps in at.items())
    does = f" The environment does: {said}." if len(at) <= ENVIRONMENT_MAX else ""
    steps = tuple(sorted(number for numbers in at.values() for number in numbers)) if does else ()
    return Sentence("faults", f"No fault of the list of faults happens.{does}", steps)


def _is_time(action: str) -> bool:
    return action == "tick" or action.startswith("clock of ")


def _lost_calls(reader: ViewReader, step: int) -> Iterator[str]:
    """Calls of a step whose request or answer an injected fault took away."""
    for one in reader.effects(step, "call"):
        if one.get("lost"):
            done = one["outcome"] == "answer lost"
            yield f"{one['to']}'s answer to {one['op']} is lost" if done else f"{one['op']} to {one['to']} is lost"


def fault_words(reader: ViewReader, step: int) -> str:
    """What failed, without the number of the step."""
    crashed = reader.effects(step, "crash")
    if len(crashed) > 1:
        return f"{', '.join(one['node'] for one in crashed)} crash at once"
    for effect in crashed:
        return f"{effect['node']} {'crashes and loses its disk' if effect['wiped'] else 'crashes'}"
    for effect in reader.effects(step, "pause"):
        return f"{effect['node']} is paused"
    cuts = reader.effects(step, "cut")
    if cuts:
        links = ", ".join(f"{effect['a']} - {effect['b']}" for effect in cuts)
        return f"the link {links} is cut" if len(cuts) == 1 else f"the links {links} are cut"
    for effect in reader.effects(step, "lock"):
        if effect["before"] != "none":
            lost = f"{effect['lock']} is lost"
            return lost if effect.get("notified") else f"{lost}, {effect['before']} is not notified"
    for effect in reader.effects(step, "lost", "cleared"):
        return f"{effect['name']} from {effect['from']} to {effect['to']} is lost"
    head, said = reader.steps[step - 1]["caption"]
    return str(head or said or reader.steps[step - 1]["action"])


# ---- beliefs ----


def _matters(reader: ViewReader, belief: Belief, broken: Sequence[Broken]) -> bool:
    """Whether a wrong belief belongs to the story: it lasts to the end, its holder acts while it lasts, and breaks the
    property, takes part in the broken term, or the run never ends."""
    if belief.until != reader.last:
        return False
    acted = _acted(reader, belief)
    named = {node for one in broken for node in one.nodes}
    ends = reader.actor(reader.last) == belief.holder if reader.last else False
    if belief.rule == "lock" and belief.holder in named:
        return True
    return bool(acted) and (
        ends or belief.rule == "lock" or belief.holder in named or belief.about in named or reader.loop is not None
    )


def _acted(reader: ViewReader, belief: Belief) -> list[int]:
    first = max(belief.wrong, 1)
    return [
        step
        for step in range(first, reader.last + 1)
        if reader.actor(step) == belief.holder and reader.steps[step - 1]["kind"] == "protocol"
    ]


def _belief(reader: ViewReader, belief: Belief) -> Sentence:
    acted = _acted(reader, belief)
    if belief.rule == "lock":
        how = f"{belief.holder} believes it holds {belief.about}, {_since(belief.born)}. It does not: "
        lost = f"{belief.about} was lost at step {belief.wrong}, and {belief.holder} was not notified."
        acts = f"It acts on that at step{_s(acted)} {_listed(acted)}." if acted else "At the end it still believes so."
        text = f"{how}{lost} {acts}"
        return Sentence("lock", text, _steps(belief.born, belief.wrong, *acted))
    holder, about = belief.holder, belief.about
    text = f"{holder} counts on {about}: {_since(belief.born)} its `{belief.variable}` names it. "
    wrong = belief.wrong
    crashed = any(effect["node"] == about for effect in reader.effects(wrong, "crash"))
    ended = f"step {wrong} ({_name(reader, wrong)}) ended that"
    text += f"But {about} crashed at step {wrong}" if crashed else f"But {ended}"
    changed = reader.last_change(about, belief.back, reader.last)
    text += f", and {about}'s `{belief.back}` is {reader.value(reader.last, about, belief.back)}"
    text += f" since step {changed}. " if changed else ". "
    answered = [
        step
        for step in acted
        if any(one["to"] == about and one["outcome"] == "answered" for one in reader.effects(step, "call"))
    ]
    if answered:
        text += f"{about} answered {holder}'s calls all the same (step{_s(answered)} {_listed(answered)}"
        text += f"{_refusals(reader, answered, about)}), and "
        text += f"{holder}'s `{belief.variable}` still names it."
    else:
        text += f"{holder}'s `{belief.variable}` still names it when it acts at step{_s(acted)} {_listed(acted)}."
    return Sentence("belief", text, _steps(belief.born, wrong, changed, *(answered or acted)))


def _refusals(reader: ViewReader, steps: Sequence[int], about: str) -> str:
    """The calls among those that a node answered with no, each with its step."""
    said = [
        f"false to `{call['op']}` at step {step}"
        for step in steps
        for call in reader.effects(step, "call")
        if call["to"] == about and call["answer"] == "false"
    ]
    return f"; it said {', '.join(said)}" if said else ""


def _since(step: int) -> str:
    return f"since step {step}" if step else "from the beginning"


def _name(reader: ViewReader, step: int) -> str:
    """A step in a word or two."""
    if reader.is_fault(step):
        return fault_words(reader, step)
    return str(reader.steps[step - 1]["action"])


# ---- what the nodes of the broken term did ----


def _both_sides(reader: ViewReader, broken: Sequence[Broken]) -> Iterator[Sentence]:
    """Since when the nodes are in their modes whose modes together break the property."""
    if reader.loop is not None or not broken or not any("mode" in fact for one in broken for fact in one.facts):
        return
    since = []
    for node in dict.fromkeys(node for one in broken for node in one.nodes):
        mode = reader.view["modes"].get(reader.kind_of[node])
        named = mode is not None and any(
            mode["variable"] in fact and (node in fact or node in one.instance) for one in broken for fact in one.facts
        )
        if mode is not None and named:
            step = reader.last_change(node, mode["variable"], reader.last)
            since.append((step, node, reader.mode(reader.last, node)))
    if len(since) < 2:
        return
    said = [
        f"{node} is {mode} {_since(step)}" + (f" ({_name(reader, step)})" if step else "")
        for step, node, mode in sorted(since)
    ]
    yield Sentence("both sides", "; ".join(said) + ".", _steps(*(step for step, *_ in sorted(since))))


def _unanswered(reader: ViewReader, broken: Sequence[Broken]) -> Iterator[Sentence]:
    """Calls between nodes of the broken term that failed: of each pair the last one."""
    named = {node for one in broken for node in one.nodes}
    found: dict[tuple[str, str], Sentence] = {}
    for step in range(1, reader.last + 1):
        for call in reader.effects(step, "call"):
            one, other = call["from"], call["to"]
            if call["outcome"] == "answered" or one not in named or other not in named:
                continue
            why, since = _silence(reader, step, one, other)
            text = f"At step {step} {one} asks {other} and hears nothing"
            text += f": {why} since step {since}." if since else f": {why}." if why else "."
            found[one, other] = Sentence("unanswered", text, _steps(step, since))
    yield from list(found.values())[-2:]


def _silence(reader: ViewReader, step: int, one: str, other: str) -> tuple[str, int]:
    """Why a call was not answered, and since which step that is so."""
    if reader.is_cut(step, one, other):
        cut = (min(one, other), max(one, other))
        return "the link is cut", _first(step, lambda number: cut in reader.cuts(number))
    if not reader.is_up(step, other):
        return f"{other} is down", _first(step, lambda number: not reader.is_up(number, other))
    if reader.is_paused(step, other):
        return f"{other} is paused", _first(step, lambda number: reader.is_paused(number, other))
    return "", 0


def _first(step: int, holds: Callable[[int], bool]) -> int:
    """The first state of the unbroken row of states up to `step` in which something holds."""
    while step > 0 and holds(step - 1):
        step -= 1
    return step


def _late(reader: ViewReader) -> Iterator[Sentence]:
    """Messages taken long after they were sent, with a fault of an end in between."""
    found = []
    for step in range(1, reader.last + 1):
        for taken in reader.effects(step, "take"):
            sent = taken.get("sent", 0)
            if not sent or step - sent < LATE:
                continue
            between = [
                number
                for number in range(sent + 1, step)
                if reader.is_fault(number)
                and (
                    reader.actor(number) in (taken["from"], taken["to"])
                    or any(
                        {cut["a"], cut["b"]} == {taken["from"], taken["to"]} for cut in reader.effects(number, "cut")
                    )
                )
            ]
            if between:
                fault = between[0]
                text = f"A late {taken['name']}: {taken['from']} sent it at step {sent}, {taken['to']} takes it at "
                text += f"step {step}, and in between {fault_words(reader, fault)} (step {fault})."
                found.append(Sentence("late message", text, _steps(sent, step, fault)))
    yield from found[:2]


def _promises(reader: ViewReader) -> Iterator[Sentence]:
    """What clients have been promised, as far as the property reads it: of each item the last step that promised it."""
    read = set((reader.property or {}).get("reads", ()))
    promised = [what for what, variables in reader.view["promised"].items() if read & set(variables)]
    at: dict[tuple[str, str], int] = {}
    for step in range(1, reader.last + 1):
        for effect in reader.effects(step, "acknowledged"):
            if effect["what"] in promised:
                at[effect["what"], effect["item"]] = step
    shown = list(at.items())[-ITEMS_MAX:]
    if shown:
        said = ", ".join(f"{what} {item} (step {step})" for (what, item), step in shown)
        more = "… " if len(at) > len(shown) else ""
        yield Sentence("promise", f"Clients were promised: {more}{said}.", _steps(*(step for _, step in shown)))


# ---- the end ----


def _loop(reader: ViewReader) -> Iterator[Sentence]:
    if reader.loop is None:
        return
    names = list(dict.fromkeys(_name(reader, step) for step in range(reader.loop + 1, reader.last + 1)))
    prop = reader.property
    never = f"“{prop['description'] or prop['name']}” never comes true" if prop else ""
    if not names:
        text = f"After step {reader.last} nothing happens any more" + (f", and {never}." if never else ".")
        yield Sentence("loop", text, _steps(reader.last))
        return
    text = f"From step {reader.loop + 1} on the run repeats for ever ({', '.join(names)})"
    if prop:
        text += f"; every process that must get its turn gets it, and still {never}"
    refused = _refused(reader, range(reader.loop + 1, reader.last + 1))
    if refused:
        text += f". In each round {' and '.join(refused.values())}"
    yield Sentence("loop", f"{text}.", _steps(reader.loop + 1, *refused))


def _refused(reader: ViewReader, steps: Sequence[int]) -> dict[int, str]:
    """The calls in some steps that are answered with no, two at most."""
    found = {
        step: f"`{call['op']}` of {call['from']} to {call['to']} is answered false (step {step})"
        for step in steps
        for call in reader.effects(step, "call")
        if call["outcome"] == "answered" and call["answer"] == "false"
    }
    return dict(list(found.items())[:REFUSED_MAX])


def _break(reader: ViewReader) -> Iterator[Sentence]:
    prop = reader.property
    if reader.loop is not None or prop is None or not reader.last or not _is_violated(reader):
        return
    step, actor = reader.last, reader.actor(reader.last)
    what = fault_words(reader, step) if reader.is_fault(step) else f"{_name(reader, step)}"
    where = f" at {actor}" if actor and not reader.is_fault(step) else ""
    yield Sentence("break", f"Step {step}, {what}{where}, breaks “{prop['description'] or prop['name']}”.", (step,))


def _is_violated(reader: ViewReader) -> bool:
    prop = reader.property
    goal = prop["tree"]["goal"]
    return goal is not None and prop["kind"] != "reachable" and prop["truth"][goal["id"]].endswith("0")


def _facts(broken: Sequence[Broken]) -> Iterator[Sentence]:
    for one in broken[:FACTS_MAX]:
        if one.facts:
            word = "For" if " = " in one.instance else "Of"
            start = f"{word} {one.instance}: " if one.instance else "In the last state: "
            yield Sentence("facts", f"{start}{'; '.join(one.facts)}.", ())


# ---- words ----


def _s(items: Sequence[int]) -> str:
    return "" if len(items) == 1 else "s"


def _listed(items: Sequence[int]) -> str:
    return ", ".join(map(str, items))


def _steps(*numbers: int) -> tuple[int, ...]:
    """The numbers of steps, each once, without the beginning."""
    return tuple(dict.fromkeys(number for number in numbers if number))
