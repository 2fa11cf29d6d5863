"""Properties about which logs say nothing: what they read never changes in the system that logs are compared with.

What a spec keeps of data, for example, is often left out where its steps are compared with lines. A property over it
then holds in every state, and "not violated" would be a false assurance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hacheck.compile.kept_models import kept_result
from hacheck.model.canonical_text import text_of
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Property, System, Variable
from hacheck.model.rewrite import walk


def empty_properties(system: System, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The properties that hold in every state, or of every step, because of variables that keep their initial content
    in every run: with these variables. Cost: where it is not kept, the system is lowered, and its updates are read
    some times over."""
    checked = [one for one in system.properties if one.name in names and one.kind in ("invariant", "step")]
    if not checked:
        return {}
    text = text_of((system, [one.name for one in checked]))
    return kept_result("empty properties", text, lambda: _empty(system, checked))


def _empty(system: System, checked: Sequence[Property]) -> dict[str, tuple[str, ...]]:
    from hacheck.compile import constant_slots, lower, lower_condition, slots_of, with_constants

    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial, copies_max=1)
    constants = constant_slots(lowered, initial)
    places = {variable.name: place for variable, place in zip(system.variables, lowered.layout.places, strict=True)}
    found: dict[str, tuple[str, ...]] = {}
    for one in checked:
        condition = lower_condition(lowered, one.goal, on_steps=one.kind == "step")
        value = with_constants(lowered, condition.value, constants)
        if not value.is_const or not value.number:
            continue
        read = dict.fromkeys(part.name for part in walk(one.goal) if isinstance(part, Variable))
        found[one.name] = tuple(name for name in read if all(slot in constants for slot in slots_of(places[name])))
    return found
