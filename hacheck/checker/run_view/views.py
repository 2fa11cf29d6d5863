"""The view of a run: everything that a picture of it shows, as data; and what else was possible around it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec.structs import asdict

from hacheck.checker.described_run import arguments_of, chosen_words, description_of, is_outcome, variables_in
from hacheck.checker.run_view.beliefs import wrong_beliefs
from hacheck.checker.run_view.broken_part import broken_parts
from hacheck.checker.run_view.captions import caption
from hacheck.checker.run_view.property_parts import PropertyParts
from hacheck.checker.run_view.state_slots import StateSlots
from hacheck.checker.run_view.step_events import events_of
from hacheck.checker.run_view.story import story
from hacheck.checker.run_view.view_reader import ViewReader, note_send_steps
from hacheck.model.choices import choices_made
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import Property, System
from hacheck.model.render import show, show_expression
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Map, values

Json: TypeAlias = Any

FORMAT = "hacheck.view/1"

DECIDED_BY_A_STATE = ("invariant", "lemma", "step")
"""Kinds of properties that a state, or the step into it, breaks."""


class Views:
    """Makes views of runs of one system. `places`: for each action by its index, and each property by its name, the
    file and the line of its declaration."""

    def __init__(self, system: System, places: Mapping[int | str, tuple[str, int]]) -> None:
        self.system, self.places = system, places
        self.interpreter = Interpreter(system)
        self.slots = StateSlots(system)
        self.promised = {one.name: sorted({*variables_in(one.value)}) for one in system.promises}
        self.modes = {
            variable.owner: variable for variable in system.variables if variable.mode and variable.owner is not None
        }

    def view(self, run: Run, prop: Property | None) -> View:
        """The view of a run, with the property that it is about."""
        return View(self, run, prop)

    def nodes(self) -> list[Json]:
        """Every node, in the order of the spec."""
        return [{"id": show(kind, one), "kind": kind.name} for kind in self.system.nodes for one in values(kind)]

    def modes_of(self, prop: Property | None) -> dict[str, Json]:
        """The mode of each kind of node: its members, and those that the property names."""
        text = (
            ""
            if prop is None
            else " ".join(show_expression(part) for part in (prop.goal, prop.premise) if part is not None)
        )
        found = {}
        for owner, variable in self.modes.items():
            kind = variable.type
            members = list(getattr(kind.value, "members", ())) if isinstance(kind, Map) else []
            named = [member for member in members if re.search(rf"\b{re.escape(member)}\b", text)]
            if not named or len(named) == len(members):
                named = members[-1:]
            found[owner] = {"variable": variable.name.removeprefix(f"{owner}."), "members": members, "named": named}
        return found

    def successors(self, state: State) -> list[Step]:
        """The distinct steps that change something, in the interpreter's order: what the indices of a link count."""
        found: dict[tuple[Any, ...], Step] = {}
        for outcome in self.interpreter.outcomes(state):
            if isinstance(outcome, Taken) and outcome.step.state != state:
                step = outcome.step
                found.setdefault((step.action, step.arguments, step.state), step)
        return list(found.values())


class View:
    """One run, with states numbered as a page numbers them: those of the run, then those found around it."""

    def __init__(self, views: Views, run: Run, prop: Property | None) -> None:
        self.views, self.run, self.prop = views, run, prop
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}
        self.read = set() if prop is None else {*variables_in(prop.goal), *variables_in(prop.premise)}
        self.states: list[State] = list(run.states)
        self.number_of: dict[State, int] = {}
        for number, state in enumerate(self.states):
            self.number_of.setdefault(state, number)
        self.edges: dict[int, list[Json]] = {}

    def intern(self, words: str) -> int:
        """The number of a value in `strings`."""
        number = self._numbers.get(words)
        if number is None:
            number = self._numbers[words] = len(self.strings)
            self.strings.append(words)
        return number

    def to_json(self) -> Json:
        """The view without what is around the run."""
        views, run = self.views, self.run
        steps = [self.step(before, step) for before, step in zip(run.states, run.steps, strict=False)]
        note_send_steps(steps)
        made: Json = {
            "format": FORMAT,
            "nodes": views.nodes(),
            "modes": views.modes_of(self.prop),
            "slots": [asdict(slot) for slot in views.slots.slots],
            "initial": [self.intern(words) for words in views.slots.words(run.initial)],
            "steps": steps,
            "loop": run.loop,
            "promised": views.promised,
            "property": self.property_json(),
            "beliefs": [],
            "story": [],
            "strings": self.strings,
        }
        reader = ViewReader(made)
        beliefs = wrong_beliefs(reader)
        made["beliefs"] = [one.to_json() for one in beliefs]
        made["story"] = [one.to_json() for one in story(reader, beliefs, broken_parts(reader))]
        return made

    def step(self, before: State, step: Step) -> Json:
        """One step: who does what, what changes, and what happened between nodes."""
        views = self.views
        action = views.system.actions[step.action]
        actor = ""
        for (name, kind), value in zip(action.parameters, step.arguments, strict=True):
            if name == action.actor:
                actor = show(kind, value)
        old, new = views.slots.words(before), views.slots.words(step.state)
        changed = [place for place in range(len(old)) if old[place] != new[place]]
        chosen = choices_made(views.system, before, step)
        events = events_of(views.system, before, step, actor, chosen)
        changes = [(views.slots.slots[place], old[place], new[place]) for place in changed]
        made: dict[str, Json] = {
            "action": action.name,
            "kind": action.kind,
            "actor": actor or None,
            "arguments": arguments_of(action, step),
            "choices": [chosen_words(one) for one in chosen if not is_outcome(one)],
            "caption": caption(views.system, step, chosen, actor, events, changes, self.read),
            "delta": [[place, self.intern(new[place])] for place in changed],
            "effects": events,
        }
        if said := description_of(action):
            made["description"] = said
        if place := views.places.get(step.action):
            made |= {"file": place[0], "span": [place[1], 1, place[1], 1]}
        return made

    def property_json(self) -> Json:
        """The property with its parts and their truth in each state of the run."""
        prop = self.prop
        if prop is None:
            return None
        parts = PropertyParts(self.views.interpreter, prop, self.intern)
        parts.look(self.run.states)
        place = self.views.places.get(prop.name)
        return {
            "name": prop.name,
            "kind": prop.kind,
            "description": prop.description,
            "source": prop.source,
            "reads": sorted(self.read),
            **({} if place is None else {"file": place[0], "span": [place[1], 1, place[1], 1]}),
            **parts.to_json(),
        }

    # ---- around the run ----

    def successors(self, number: int) -> list[Json]:
        """The steps that are possible in a state, each with the number of the state it leads to (`to`) and the
        properties that it breaks (`breaks`): the one of this run, else every invariant of the spec."""
        if number not in self.edges:
            before = self.states[number]
            self.edges[number] = [
                {
                    "to": self._number(number, step.state),
                    "breaks": self._breaks(before, step),
                    **self.step(before, step),
                }
                for step in self.views.successors(before)
            ]
        return self.edges[number]

    def _number(self, before: int, state: State) -> int:
        """The number of a state; where the run passes one twice, that of the place after `before`."""
        if before + 1 < len(self.run.states) and self.states[before + 1] == state:
            return before + 1
        number = self.number_of.get(state)
        if number is None:
            number = self.number_of[state] = len(self.states)
            self.states.append(state)
        return number

    def _breaks(self, before: State, step: Step) -> list[str] | None:
        """The names of properties that do not hold in the state after a step; `None` where no state decides them."""
        interpreter, prop = self.views.interpreter, self.prop
        every = (prop,) if prop is not None else self.views.system.properties
        watched = [one for one in every if one.kind in DECIDED_BY_A_STATE]
        broken = []
        for one in watched:
            try:
                holds = (
                    interpreter.holds_step(one, before, step.state)
                    if one.kind == "step"
                    else interpreter.holds(one, step.state)
                )
            except EvaluationError:
                continue
            if not holds:
                broken.append(one.name)
        return broken if watched else None

    def neighbourhood(self, states_max: int, until: float) -> Json:
        """The steps around the run: from each of its states, then breadth first from up to `states_max` states in all,
        as long as `time.monotonic()` is before `until`."""
        for number in self._breadth_first():
            if number >= states_max or time.monotonic() >= until:
                break
            self.successors(number)
        return {"edges": {str(number): edges for number, edges in self.edges.items()}}

    def _breadth_first(self) -> Iterator[int]:
        number = 0
        while number < len(self.states):
            yield number
            number += 1


def places_of(system: System, place_of: Any, shown: Iterable[Property] = ()) -> dict[int | str, tuple[str, int]]:
    """Where each action and property is declared: the name of its file, without folders, and the line.

    `place_of`: that of the specification.
    """
    found: dict[int | str, tuple[str, int]] = {}
    named: list[tuple[int | str, Any]] = [*enumerate(system.actions), *((one.name, one) for one in system.properties)]
    for key, item in named:
        if place := place_of(item):
            path, _, line = place.rpartition(":")
            found[key] = (path.replace("\\", "/").rpartition("/")[2], int(line))
    return found
