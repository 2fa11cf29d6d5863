"""The words of a next state, or of a merge, put together from what is kept, moved, added and written anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct, field

from hacheck.compile.codegen.instructions import Values
from hacheck.compile.codegen.integer_widths import width_of, width_of_interval
from hacheck.compile.codegen.module import BEFORE, FULL, Place, signed, source_of
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.blocks import Update
from hacheck.compile.lowering.expression_nodes import Node, is_leaf

Moves: TypeAlias = dict[tuple[int, int, int], int]
"""Bits that move together: source, word there, distance to the left; which bits of that word."""


class _Word(Struct):
    """What becomes of a word: bits taken out, a constant joined, names joined, a constant added, names added."""

    cleared: int = 0
    joined: int = 0
    joining: list[str] = field(default_factory=list)
    delta: int = 0
    moves: Moves = field(default_factory=dict)
    adding: list[str] = field(default_factory=list)


def next_words(values: Values, updates: Iterable[Update]) -> dict[int, str]:
    """The words of the next state that differ from the state before."""
    words: dict[int, str] = {}
    here: dict[int, list[tuple[Place, Update]]] = {}
    for update in updates:
        place = values.module.places[update.slot]
        if place.words > 1:
            words.update(_wide_words(values, place, update.value))
        else:
            here.setdefault(place.word, []).append((place, update))
    for index, written in here.items():
        words[index] = _written(values, index, written)
    return words


def merged_words(values: Values, parts: Iterable[Update]) -> dict[int, str]:
    """The words of a merge: the contents of some slots in their places, all other bits 0."""
    words: dict[int, str] = {}
    plans: dict[int, _Word] = {}
    for part in parts:
        place = values.module.places[part.slot]
        if place.words > 1:
            words.update(_wide_words(values, place, part.value))
        else:
            _put(values, plans.setdefault(place.word, _Word()), place, part.value)
    for index, plan in plans.items():
        words[index] = _finished(values, None, plan)
    return words


def _written(values: Values, index: int, written: list[tuple[Place, Update]]) -> str:
    """A word with some of its slots changed."""
    plan = _Word()
    steps = [update.added for _, update in written]
    all_known = all(
        step is not None or update.was is not None for step, (_, update) in zip(steps, written, strict=True)
    )
    for step, (place, update) in zip(steps, written, strict=True):
        if step is not None:
            plan.delta += step << place.shift
            continue
        more = update.joined
        if more is not None and more.is_const:
            plan.joined |= more.number << place.shift
            continue
        if more is not None and width_of(more) <= WORD_BITS:
            plan.joining.append(_placed(values, more, place.shift))
            continue
        if update.was is not None and (all_known or update.was == 0):
            plan.delta -= update.was << place.shift
        else:
            plan.cleared |= place.mask << place.shift
        _put(values, plan, place, update.value)
    return _finished(values, values.word(BEFORE, index), plan)


def _put(values: Values, plan: _Word, place: Place, value: Node) -> None:
    """Puts a new content into a slot whose bits are 0."""
    if value.is_const:
        plan.delta += value.number << place.shift
    elif is_leaf(value) and _moves_in_place(values, value):
        source = values.module.place(value)
        key = source_of(value), source.word, place.shift - source.shift
        plan.moves[key] = plan.moves.get(key, 0) | source.mask << source.shift
    else:
        plan.adding.append(_placed(values, value, place.shift))


def _moves_in_place(values: Values, leaf: Node) -> bool:
    """Whether a slot is better moved where it is in its word than taken out of it."""
    known = values.code.known
    return values.module.place(leaf).words == 1 and leaf not in known and (leaf, WORD_BITS) not in known


def _placed(values: Values, value: Node, shift: int) -> str:
    """A number in the place of a slot. What is wider than a word by its type is not by its content."""
    width = width_of(value)
    name = values.number(value) if width <= WORD_BITS else values.converted(values.value(value), width, WORD_BITS)
    return values.code.put(f"shl i64 {name}, {shift}") if shift else name


def _finished(values: Values, kept: str | None, plan: _Word) -> str:
    code = values.code
    result = kept
    if plan.cleared and kept is not None:
        result = None if plan.cleared == FULL else values.masked(kept, FULL & ~plan.cleared)
    joining = [*([str(signed(plan.joined))] if plan.joined else []), *plan.joining]
    for name in joining:
        result = name if result is None else code.put(f"or i64 {result}, {name}")
    moved = [_moved(values, key, mask) for key, mask in plan.moves.items()]
    delta = signed(plan.delta)
    for name in [*([str(delta)] if delta else []), *moved, *plan.adding]:
        result = name if result is None else code.put(f"add i64 {result}, {name}")
    return "0" if result is None else result


def _moved(values: Values, key: tuple[int, int, int], mask: int) -> str:
    source, word, distance = key
    name = values.word(source, word)
    if mask != values.module.filled(source, word):
        name = values.masked(name, mask)
    if distance:
        name = values.code.put(f"{'shl' if distance > 0 else 'lshr'} i64 {name}, {abs(distance)}")
    return name


def _wide_words(values: Values, place: Place, value: Node) -> dict[int, str]:
    """The words of a slot that has some to itself."""
    width = max(width_of_interval(0, place.mask), width_of(value))
    name = values.number(value, width)
    words: dict[int, str] = {}
    for index in range(place.words):
        part = values.code.put(f"lshr i{width} {name}, {WORD_BITS * index}") if index else name
        words[place.word + index] = values.code.put(f"trunc i{width} {part} to i64")
    return words
