"""Copies of an encoding for one step after the other: the states 0, 1, 2 … of a run, as constants of a solver."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.checker.symbolic.system_encoding import CAN, ONE, Encoding, Symbol
from hacheck.checker.symbolic.z3_library import Formula, Library, Model, Replacement, held
from hacheck.compile.lowering.layout import Layout


class Unrolling:
    """The encoding, parsed once; each copy of a formula is the parsed one with other constants put in."""

    def __init__(self, encoding: Encoding, library: Library) -> None:
        self.encoding, self.library = encoding, library
        names = list(encoding.formulas)
        self._of_steps = [name for name in names if name in (ONE, CAN) or name.startswith(".next ")]
        lines = [symbol.declaration for symbol in encoding.symbols]
        texts = [encoding.formulas[name] for name in names]
        lines += [*encoding.lines, *(f"(assert {text})" for text in (*texts, *encoding.single.values()))]
        parsed = library.parsed("\n".join(lines))
        self.formulas: Mapping[str, Formula] = dict(zip(names, parsed, strict=False))
        self._single: Mapping[tuple[int, int], Formula] = dict(zip(encoding.single, parsed[len(names) :], strict=True))
        self._here = {slot: self._constant(symbol) for slot, symbol in encoding.before.items()}
        self._next = {slot: self._constant(symbol) for slot, symbol in encoding.after.items()}
        self._taken = [self._constant(symbol) for symbol in (*encoding.takes, *encoding.helpers)]
        self._copies: dict[tuple[str, int], Formula] = {}
        self._states: dict[int, dict[int, Formula]] = {}
        self._steps: dict[int, list[Formula]] = {}
        self._moves: dict[int, Replacement] = {}
        self._made_by: dict[tuple[int, bool], Replacement] = {}

    def _constant(self, symbol: Symbol, place: int | None = None) -> Formula:
        name = symbol.name[1:-1]
        return self.library.constant(name if place is None else f"{name}@{place}", symbol.sort)

    def state(self, place: int) -> Mapping[int, Formula]:
        """The constants of a state, by slot."""
        found = self._states.get(place)
        if found is None:
            found = {slot: self._constant(symbol, place) for slot, symbol in self.encoding.before.items()}
            self._states[place] = found
        return found

    def takes(self, place: int) -> list[Formula]:
        """For each outcome whether the step from a state takes it."""
        return self._step(place)[: len(self.encoding.takes)]

    def _step(self, place: int) -> list[Formula]:
        found = self._steps.get(place)
        if found is None:
            symbols = (*self.encoding.takes, *self.encoding.helpers)
            found = self._steps[place] = [self._constant(symbol, place) for symbol in symbols]
        return found

    def step(self, place: int) -> list[Formula]:
        """That there is a step from a state."""
        return [self.at(name, place) for name in self._of_steps]

    def at(self, name: str, place: int) -> Formula:
        """A formula about a state; about a step: the one from that state."""
        found = self._copies.get((name, place))
        if found is not None:
            return found
        found = self._copies[name, place] = self._moved_to(place).of(self.formulas[name])
        return found

    def _moved_to(self, place: int) -> Replacement:
        """What makes the parsed formulas speak of a state and the step from it."""
        found = self._moves.get(place)
        if found is None:
            here, there = self.state(place), self.state(place + 1)
            pairs = [(constant, here[slot]) for slot, constant in self._here.items()]
            pairs += [(constant, there[slot]) for slot, constant in self._next.items()]
            pairs += list(zip(self._taken, self._step(place), strict=True))
            found = self._moves[place] = self.library.replacement(pairs)
        return found

    def after(self, name: str, number: int, place: int) -> Formula:
        """A formula about the state after an outcome, or about the step, moved to the state `place` before it."""
        item = self.encoding.sought.get(name)
        on_step = item is not None and item.kind == "step"
        made = self._made_by.get((number, on_step))
        if made is None:
            target = self._next if on_step else self._here
            writes = self.writes(number)
            new = [(target[slot], value) for slot, value in writes.items()]
            if on_step:
                new += [(target[slot], self._here[slot]) for slot in target if slot not in writes]
            made = self._made_by[number, on_step] = self.library.replacement(new)
        return self._placed(made.of(self.formulas[name]), place)

    def can(self, number: int, place: int) -> Formula:
        """That an outcome can come about in a state."""
        return self._placed(self._single[number, -1], place)

    def writes(self, number: int) -> Mapping[int, Formula]:
        """What an outcome makes of the slots it writes, over the constants of the parsed formulas."""
        slots = (slot for slot, _ in self.encoding.behaviour.steps[number].updates)
        return {slot: self.library.right_side(self._single[number, slot]) for slot in slots}

    def _placed(self, formula: Formula, place: int) -> Formula:
        """A formula about a parsed state, moved to the state `place`; it speaks of no step."""
        return self._moved_to(place).of(formula)

    def differ(self, place: int, other: int) -> Formula:
        """That two states differ."""
        first, second = self.state(place), self.state(other)
        return self.library.differ((first[slot], second[slot]) for slot in first)

    def packed(self, model: Model, place: int) -> int:
        """The state in a model, packed."""
        return packed(self.encoding.lowered.layout, held(model, self.state(place)))

    def packed_after(self, model: Model, place: int, number: int) -> int:
        """The state after an outcome of the step from a state, packed."""
        values = {slot: self._placed(value, place) for slot, value in self.writes(number).items()}
        return packed(self.encoding.lowered.layout, held(model, {**self.state(place), **values}))

    def instance_of(self, number: int) -> int:
        """The instance that an outcome belongs to."""
        return self.encoding.behaviour.steps[number].instance

    def taken(self, model: Model, place: int) -> int:
        """The instance by which a model goes on from a state."""
        steps = self.encoding.behaviour.steps
        return next(
            outcome.instance for outcome, take in zip(steps, self.takes(place), strict=True) if model.holds(take)
        )


def packed(layout: Layout, contents: Mapping[int, int]) -> int:
    """Contents of slots as one number."""
    return sum(content << layout.slots[slot].offset for slot, content in contents.items())
