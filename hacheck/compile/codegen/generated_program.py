"""What the generated functions of a system are about, as plain data.

With a program, and the system it was made for, everything that the functions return can be read: nothing needs to be
lowered again to use object code that was kept.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile.codegen.thread_notes import Notes, notes_for
from hacheck.compile.codegen.word_layout import word_count
from hacheck.compile.lowering.layout import Layout, lay_out
from hacheck.model.ir import System
from hacheck.model.types import Value, values

Json: TypeAlias = Any

_FORMAT = 1
_KEYS = ("bounds", "states", "deads", "steps", "marks")
_HEXADECIMAL = re.compile("[0-9a-f]+")


class ProgramError(ValueError):
    """JSON that is no program of the system; the message says what is wrong."""


class Program(Struct, frozen=True):
    """The functions' own terms.

    - `layout`: where each slot is; `words`: of a state.
    - `instances`: the action and the arguments of each instance.
    - `bounds`: what can cut a step, in the order of the counters.
    - `states`, `deads`, `steps`: keys of the conditions of each kind, in the order of their notes.
    - `marks`: keys of the conditions that have a function `mark_0`, `mark_1`, ….
    - `affected`: for each instance, and last for initial states, the state conditions (bits) that `inspect` evaluates.
    - `successors_max`: no state has more, those included that are no step where `lists_stops`.
    """

    layout: Layout
    words: int
    actions: int
    instances: tuple[tuple[int, tuple[Value, ...]], ...]
    bounds: tuple[str, ...]
    states: tuple[str, ...]
    deads: tuple[str, ...]
    steps: tuple[str, ...]
    marks: tuple[str, ...]
    affected: tuple[int, ...]
    successors_max: int
    lists_stops: bool

    @property
    def notes(self) -> Notes:
        """Where the functions note what."""
        kinds = len(self.states), len(self.deads), len(self.steps)
        return notes_for(self.words, self.actions, len(self.bounds), *kinds)


def program_to_json(program: Program, system: System) -> Json:
    """The program as JSON. Arguments are given by their place among all arguments of their action."""
    places = [
        {arguments: place for place, arguments in enumerate(_arguments(system, action))}
        for action in range(program.actions)
    ]
    return {
        "format": _FORMAT,
        "slots": [[slot.offset, slot.width, slot.fixed] for slot in program.layout.slots],
        "words": program.words,
        "actions": program.actions,
        "instances": [[action, places[action][arguments]] for action, arguments in program.instances],
        **{name: list(getattr(program, name)) for name in _KEYS},
        "affected": [f"{mask:x}" for mask in program.affected],
        "successors_max": program.successors_max,
        "lists_stops": program.lists_stops,
    }


def program_from_json(json: Json, system: System) -> Program:
    """The program that JSON stands for. Raises `ProgramError` where it is none, or none of this system."""
    fields = {"format", "slots", "words", "actions", "instances", *_KEYS, "affected", "successors_max", "lists_stops"}
    _require(isinstance(json, dict) and set(json) == fields, "the fields are not those of a program")
    _require(json["format"] == _FORMAT, "another format")
    _require(json["actions"] == len(system.actions), "another number of actions")
    for name in _KEYS:
        _require(_is_list(json[name]) and all(isinstance(item, str) for item in json[name]), f"{name} are no words")
    for name in ("words", "successors_max"):
        _require(_is_natural(json[name]), f"{name} is no number")
    _require(isinstance(json["lists_stops"], bool), "lists_stops is neither true nor false")
    layout = _layout(json["slots"], system)
    _require(json["words"] == word_count(layout), "another number of words than its slots take")
    instances = _instances(json["instances"], system)
    bounds, states, deads, steps, marks = (tuple(json[name]) for name in _KEYS)
    return Program(
        layout,
        json["words"],
        json["actions"],
        instances,
        bounds,
        states,
        deads,
        steps,
        marks,
        _affected(json["affected"], len(instances), len(states)),
        json["successors_max"],
        json["lists_stops"],
    )


def _arguments(system: System, action: int) -> Iterator[tuple[Value, ...]]:
    """All arguments of an action, in order."""
    return itertools.product(*(tuple(values(kind)) for _, kind in system.actions[action].parameters))


def _instances(json: Json, system: System) -> tuple[tuple[int, tuple[Value, ...]], ...]:
    _require(_is_list(json), "instances are no list")
    known = [tuple(_arguments(system, action)) for action in range(len(system.actions))]
    instances = []
    for item in json:
        _require(_is_list(item, 2) and all(map(_is_natural, item)), "an instance is no pair of numbers")
        action, place = item
        _require(action < len(known) and place < len(known[action]), "no such action or arguments")
        instances.append((action, known[action][place]))
    return tuple(instances)


def _layout(json: Json, system: System) -> Layout:
    layout = lay_out(system)
    _require(_is_list(json, len(layout.slots)), "another number of slots")
    slots = []
    for slot, item in zip(layout.slots, json, strict=True):
        _require(_is_list(item, 3) and all(map(_is_natural, item[:2])), "a slot is no offset, width and content")
        offset, width, fixed = item
        if fixed is None:
            _require(width == slot.width, "another width of a slot")
        else:
            _require(width == 0 and _is_natural(fixed) and fixed <= slot.high, "a slot that cannot be fixed so")
        slots.append(replace(slot, offset=offset, width=width, fixed=fixed))
    return Layout(tuple(slots), layout.places)


def _affected(json: Json, instances: int, states: int) -> tuple[int, ...]:
    _require(_is_list(json, instances + 1), "another number of masks than of instances and one")
    masks = []
    for item in json:
        _require(isinstance(item, str) and _HEXADECIMAL.fullmatch(item) is not None, "a mask is no number")
        mask = int(item, 16)
        _require(mask < 1 << states, "a mask of more conditions than there are")
        masks.append(mask)
    return tuple(masks)


def _is_list(json: Json, length: int | None = None) -> bool:
    return isinstance(json, list) and (length is None or len(json) == length)


def _is_natural(json: Json) -> bool:
    return isinstance(json, int) and not isinstance(json, bool) and json >= 0


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ProgramError(message)
