"""The view of a run of code, `hacheck.view/1`: what a picture of it shows, as of a run of a model.

There is no property that a state could break: what was broken, if anything, is a sentence of the story.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from hacheck.checker.run_view.beliefs import wrong_beliefs
from hacheck.checker.run_view.state_slots import Slot
from hacheck.checker.run_view.story import story
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import FORMAT
from hacheck.impl.simulator.history import Entry
from hacheck.impl.system import Member
from hacheck.testing.code_runs.code_steps import OTHER, SERVING, CodeStep, CodeSteps
from hacheck.wording import plural

Json: TypeAlias = Any

STEPS_MAX = 4_000
"""A view has no more steps; of a longer run the last ones."""

RECORDS_MAX = 2
"""So many records of one step are named in its caption."""

CLIENT = "client"
"""How the roles of members begin whose answers are promises."""


class CodeRun(Struct, frozen=True):
    """A run of code. `until_us`: when what is shown ends, if before the run does; `broken`: what went wrong, in
    sentences."""

    members: tuple[Member, ...]
    entries: Sequence[Entry]
    until_us: int | None = None
    broken: tuple[str, ...] = ()


def code_view(run: CodeRun) -> Json:
    """The view. Cost: one pass over the entries."""
    clients = [one.name for one in run.members if one.role.startswith(CLIENT)]
    steps = CodeSteps(run.entries, clients).made()
    if run.until_us is not None:
        steps = [step for step in steps if step.at_us <= run.until_us]
    return _View(run, steps).made()


class _View:
    """What a view is made of."""

    def __init__(self, run: CodeRun, steps: list[CodeStep]) -> None:
        self.run, self.left_out = run, max(0, len(steps) - STEPS_MAX)
        self.before, self.steps = steps[: self.left_out], steps[self.left_out :]
        serving = {owner for step in steps for owner, name in step.values if name == "serves"}
        self.roles = {member.role for member in run.members if member.name in serving}
        each = (effect for step in steps for effect in step.effects)
        self.recorded = Counter(effect["event"] for effect in each if effect["t"] == "record")
        self.slots = list(self._slots())
        self.places = {(slot.owner, slot.name): place for place, slot in enumerate(self.slots)}
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}

    def _slots(self) -> Iterator[Slot]:
        for member in self.run.members:
            yield Slot(member.name, "up", f"{member.role}.up", "status", False, False, False)
            yield Slot(member.name, "paused", f"{member.role}.paused", "status", False, False, False)
            if member.role in self.roles:
                yield Slot(member.name, "serves", f"{member.role}.serves", "field", True, False, False)
        for lock in dict.fromkeys(lock for member in self.run.members for lock in member.locks):
            yield Slot("", f"{lock}.holder", f"{lock}.holder", "lock", False, False, False)
            for member in self.run.members:
                if lock in member.locks:
                    believed = f"{lock}.believed"
                    yield Slot("", f"{believed}[{member.name}]", believed, "lock", False, False, False)

    def _intern(self, words: str) -> int:
        number = self._numbers.get(words)
        if number is None:
            number = self._numbers[words] = len(self.strings)
            self.strings.append(words)
        return number

    def made(self) -> Json:
        """The view."""
        state = {place: self._first(slot) for place, slot in enumerate(self.slots)}
        for step in self.before:
            state.update(self._values(step))
        initial = [self._intern(state[place]) for place in range(len(self.slots))]
        steps = [self._step(step, state) for step in self.steps]
        made: Json = {
            "format": FORMAT,
            "nodes": [{"id": member.name, "kind": member.role} for member in self.run.members],
            "modes": {
                kind: {"variable": "serves", "members": [OTHER, SERVING], "named": [SERVING]}
                for kind in sorted(self.roles)
            },
            "slots": [asdict(slot) for slot in self.slots],
            "initial": initial,
            "steps": steps,
            "loop": None,
            "promised": {},
            "property": None,
            "beliefs": [],
            "story": [],
            "strings": self.strings,
        }
        return made | self._with_story(made)

    def _with_story(self, made: Json) -> Json:
        reader = ViewReader(made)
        beliefs = wrong_beliefs(reader)
        made["beliefs"] = [one.to_json() for one in beliefs]
        sentences = [one.to_json() for one in story(reader, beliefs, [])]
        if self.left_out:
            text = f"The first {self.left_out:,} inputs of the run are left out."
            sentences.insert(0, {"rule": "left out", "text": text, "steps": []})
        sentences += [{"rule": "broken promise", "text": text, "steps": [len(self.steps)]} for text in self.run.broken]
        return {"beliefs": made["beliefs"], "story": sentences}

    @staticmethod
    def _first(slot: Slot) -> str:
        return "none" if slot.name.endswith(".holder") else OTHER if slot.mode else "false"

    def _values(self, step: CodeStep) -> dict[int, str]:
        return {self.places[key]: value for key, value in step.values.items() if key in self.places}

    def _step(self, step: CodeStep, state: dict[int, str]) -> Json:
        changed = {place: value for place, value in self._values(step).items() if state[place] != value}
        state.update(changed)
        effects = [self._within(effect) for effect in step.effects]
        said = "; ".join([*([step.caption] if step.caption else []), *self._records(step)])
        return {
            "action": step.action,
            "kind": step.kind,
            "actor": step.actor or None,
            "arguments": [],
            "choices": [],
            "caption": ["", said] if step.caption and step.kind != "protocol" else [step.action, said],
            "delta": [[place, self._intern(value)] for place, value in sorted(changed.items())],
            "effects": effects,
            "at": step.at_us / 1e6,
        }

    def _records(self, step: CodeStep) -> list[str]:
        """What a step records, rare things first where not all are said."""
        records = [effect for effect in step.effects if effect["t"] == "record"]
        shown = sorted(records, key=lambda one: self.recorded[one["event"]])[:RECORDS_MAX]
        said = [f"{one['event']}({one['fields']})" for one in shown]
        left = len(records) - len(shown)
        return [*said, f"and {plural(left, 'record')} more"] if left else said

    def _within(self, effect: Json) -> Json:
        """An effect whose steps are counted from the first one shown; what lies outside has no number."""
        made = dict(effect)
        for key in ("sent", "until"):
            if key in made:
                number = made[key] - self.left_out
                made.pop(key)
                if 1 <= number <= len(self.steps):
                    made[key] = number
        return made


__all__ = ["SERVING", "CodeRun", "code_view"]
