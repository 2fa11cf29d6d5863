"""Judges traces by the reference interpreter: whether some run writes just these lines, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.model import ir
from hacheck.model.execution import Line
from hacheck.model.interpreter import Interpreter, call
from hacheck.model.runs import State
from hacheck.model.types import Bag, Identity, Map, Option, Record, Sequence, Set, Type, Value, values

Naming = tuple[tuple[tuple[Identity, int], str], ...]
"""Which name each identity has that something holds and a line has shown."""


def held(kind: Type, value: Value) -> Iterator[tuple[Identity, int]]:
    """The identities in a value."""
    match kind:
        case Identity():
            yield kind, value
        case Option(element):
            if value is not None:
                yield from held(element, value)
        case Set(element) | Sequence(element, _) | Bag(element, _):
            for item in value:
                yield from held(element, item)
        case Map(key, element):
            for name, item in zip(values(key), value, strict=True):
                yield from held(element, item)
                if isinstance(key, Identity) and item:
                    yield key, name
        case Record(_, fields):
            for (_, part), item in zip(fields, value, strict=True):
                yield from held(part, item)
        case _:
            return


def in_words(kind: Type, value: Value) -> str:
    """A value as one word, whatever the form of its field."""
    if isinstance(kind, Set):
        return " ".join(sorted(in_words(kind.element, item) for item in value))
    if isinstance(kind, Option):
        return "none" if value is None else in_words(kind.element, value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{kind.name}-{value}" if hasattr(kind, "ranked") else str(value)


def said(value: Any) -> str:
    """What a record says of a field, in the same way."""
    if isinstance(value, list):
        return " ".join(sorted(map(said, value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def agrees(line: Line, shown: ir.Log, record: Mapping[str, Any], naming: Naming, seen: frozenset[str]) -> Naming | None:
    """The naming after a record that may be what a line says; `None` if it cannot be. `seen`: names of this trace."""
    node = "-" if line.node is None else f"{line.node[0]}-{line.node[1]}"
    fields = {name: value for name, value in (record.get("fields") or {}).items() if value is not None}
    if record["event"] != line.event or record["node"] != node or set(fields) != {name for name, _, _ in line.fields}:
        return None
    names = dict(naming)
    for (name, kind, value), field in zip(line.fields, shown.fields, strict=True):
        text = said(fields[name])
        if not field.by_name:
            options = {in_words(kind, value), "" if value is None else in_words(kind, value)}
            if text not in options:
                return None
            continue
        if value is None:
            if text != "none":
                return None
            continue
        inner: Any = kind.element if isinstance(kind, Option) else kind
        key = (inner, value)
        if key in names:
            if names[key] != text:
                return None
        elif text in seen or text in names.values():
            return None
        else:
            names[key] = text
    return tuple(sorted(names.items(), key=repr))


def written_by(system: ir.System) -> dict[tuple[str, tuple[str, ...]], ir.Log]:
    """The log of each event and its fields."""
    from hacheck.model.observing.line_writers import lines_of

    return {
        (line.event, tuple(field.name for field in line.fields)): line
        for action in system.actions
        for line in lines_of(action)
    }


def is_run(system: ir.System, steps: list[dict[str, Any]], records: list[dict[str, Any]]) -> bool:
    """Whether the interpreter can take these steps and write these lines on the way. An action `None` is any."""
    interpreter = Interpreter(system)
    logs = written_by(system)
    kinds = [variable.type for variable in system.variables]
    possible: set[tuple[State, Naming]] = {(state, ()) for state in interpreter.initial_states()}
    waiting = list(records)
    seen: set[str] = set()
    for step in steps:
        mine, waiting = waiting[: step["lines"]], waiting[step["lines"] :]
        after: set[tuple[State, Naming]] = set()
        for state, naming in possible:
            for taken, lines in interpreter.steps_with_lines(state):
                is_it = step["action"] in (None, call(system, taken.action, taken.arguments))
                if not is_it or len(lines) != len(mine):
                    continue
                found: Naming | None = naming
                for line, record in zip(lines, mine, strict=True):
                    log = logs[line.event, tuple(name for name, _, _ in line.fields)]
                    found = None if found is None else agrees(line, log, record, found, frozenset(seen))
                if found is not None:
                    still = {one for kind, value in zip(kinds, taken.state, strict=True) for one in held(kind, value)}
                    left = tuple((key, name) for key, name in found if key in still or not isinstance(key[0], Identity))
                    after.add((taken.state, left))
        possible = after
        for _, naming in possible:
            seen |= {name for (kind, _), name in naming if isinstance(kind, Identity)}
        if not possible:
            return False
    return not waiting


def can_go_on(system: ir.System, steps: list[dict[str, Any]]) -> bool:
    """Whether anything is possible after these steps, whatever they led to."""
    interpreter = Interpreter(system)
    possible = set(interpreter.initial_states())
    for step in steps:
        possible = {
            taken.state
            for state in possible
            for taken, _ in interpreter.steps_with_lines(state)
            if call(system, taken.action, taken.arguments) == step["action"]
        }
    return all(any(True for _ in interpreter.steps_with_lines(state)) for state in possible)
