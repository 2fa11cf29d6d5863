"""Copies of an encoding for one step after the other: the states 0, 1, 2 … of a run, as constants of a solver."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.checker.symbolic.encoding import Encoding, Symbol
from hacheck.checker.symbolic.z3_library import Formula, Library, Model, held
from hacheck.model.lowering.layout import Layout


class Unrolling:
    """The encoding, parsed once; each copy of a formula is the parsed one with other constants put in."""

    def __init__(self, encoding: Encoding, library: Library) -> None:
        self.encoding, self.library = encoding, library
        names = list(encoding.formulas)
        lines = [symbol.declaration for symbol in encoding.symbols]
        lines += [*encoding.lines, *(f"(assert {encoding.formulas[name]})" for name in names)]
        self.formulas: Mapping[str, Formula] = dict(zip(names, library.parsed("\n".join(lines)), strict=True))
        self._here = {slot: self._constant(symbol) for slot, symbol in encoding.before.items()}
        self._next = {slot: self._constant(symbol) for slot, symbol in encoding.after.items()}
        self._taken = [self._constant(symbol) for symbol in (*encoding.takes, *encoding.helpers)]
        self._states: dict[int, dict[int, Formula]] = {}
        self._steps: dict[int, list[Formula]] = {}

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

    def at(self, name: str, place: int) -> Formula:
        """A formula about a state; about a step: the one from that state."""
        here, there = self.state(place), self.state(place + 1)
        pairs = [(constant, here[slot]) for slot, constant in self._here.items()]
        pairs += [(constant, there[slot]) for slot, constant in self._next.items()]
        pairs += list(zip(self._taken, self._step(place), strict=True))
        return self.library.replaced(self.formulas[name], pairs)

    def differ(self, place: int, other: int) -> Formula:
        """That two states differ."""
        first, second = self.state(place), self.state(other)
        return self.library.differ((first[slot], second[slot]) for slot in first)

    def packed(self, model: Model, place: int) -> int:
        """The state in a model, packed."""
        return packed(self.encoding.lowered.layout, held(model, self.state(place)))

    def taken(self, model: Model, place: int) -> int:
        """The instance by which a model goes on from a state."""
        steps = self.encoding.behaviour.steps
        return next(
            outcome.instance
            for outcome, take in zip(steps, self.takes(place), strict=True)
            if model.holds(take)
        )


def packed(layout: Layout, contents: Mapping[int, int]) -> int:
    """Contents of slots as one number."""
    return sum(content << layout.slots[slot].offset for slot, content in contents.items())
