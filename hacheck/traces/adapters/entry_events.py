"""One entry of a log, or one object of JSON lines, as an event with its fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.traces.adapters.description import Adapter, EventRule, FieldRule, JsonPaths, NothingRule
from hacheck.traces.adapters.entries import Entry
from hacheck.traces.json_records import problem_of_value
from hacheck.traces.records import FieldType

_NUMBER = re.compile(r"-?\d+")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


class FoundEvent(Struct, frozen=True):
    """An event with its fields; `node`: who the message says it is about, where it does. `numbered`: fields that the
    caller fills with the number of this event at its node."""

    event: str
    fields: dict[str, Any]
    node: str | None
    numbered: tuple[str, ...]


class Nothing(Struct, frozen=True):
    """A message that means nothing: by a rule of that name, or, without a name, because no rule speaks of it."""

    name: str | None


class Almost(Struct, frozen=True):
    """A message that looks like a known one, and is none: why."""

    message: str


def found_event(entry: Entry, adapter: Adapter) -> FoundEvent | Nothing | Almost:
    """What an entry of a text log means."""
    looked_like: EventRule | None = None
    for rule in adapter.events:
        for text in rule.has:  # before anything else: it is what most rules fail
            if text in entry.message:
                break
        else:
            if rule.has:
                continue
        if not fits(rule, entry.parts):
            continue
        assert rule.pattern is not None, "events of texts have patterns"
        match = rule.pattern.fullmatch(entry.whole if rule.whole else entry.message)
        if match is not None:
            return _happened(rule, match, entry)
        looked_like = looked_like or (rule if rule.has else None)
    if looked_like is not None:
        return Almost(f"looks like the event {looked_like.name}, and does not match its pattern")
    for nothing in adapter.nothing:
        if fits(nothing, entry.parts) and nothing.pattern.search(entry.message):
            return Nothing(nothing.name)
    return Nothing(None)


def fits(rule: EventRule | NothingRule, parts: Mapping[str, str]) -> bool:
    """Whether the parts of a head are what a rule asks for."""
    return all(parts.get(name) in words for name, words in rule.where)


def _happened(rule: EventRule, match: re.Match[str], entry: Entry) -> FoundEvent | Almost:
    groups = match.groupdict()
    fields: dict[str, Any] = {}
    for field in rule.fields:
        if field.numbered:
            continue
        if field.each is not None:
            values = [found[-1] if isinstance(found, tuple) else found for found in field.each.findall(entry.whole)]
            value: Any = values if field.type is FieldType.STRINGS else value_of(",".join(values), field.type)
        elif field.type is FieldType.BOOL and (groups[field.name] or "").lower() not in (*_TRUE, *_FALSE):
            value = True  # the words of the group are there
        else:
            value = value_of(groups[field.name], field.type)
        if isinstance(value, Wrong):
            return Almost(f"looks like the event {rule.name}, but {field.name} is {value.text!r}")
        if value is not None:
            fields[field.name] = value
    numbered = tuple(field.name for field in rule.fields if field.numbered)
    return FoundEvent(rule.name, fields, groups.get("node") or entry.parts.get("node"), numbered)


class Wrong(Struct, frozen=True):
    """A text that is no value of its type."""

    text: str


def value_of(text: str | None, kind: FieldType) -> Any:
    """A text as a value of a type; `None` where there is not a text, `Wrong` where it is none."""
    if kind is FieldType.BOOL:
        low = (text or "").lower()
        return low in _TRUE if low in (*_TRUE, *_FALSE) else Wrong(text or "")
    if text is None:
        return None
    if kind is FieldType.STRING:
        return text
    if kind is FieldType.STRINGS:
        return [word.strip() for word in text.split(",")] if text.strip() else []
    if kind is FieldType.INTS:
        numbers = [int(found) for found in _NUMBER.findall(text)]
        return numbers if problem_of_value(numbers, kind) is None else Wrong(text)
    try:
        number = int(text) if kind is FieldType.INT else float(text)
    except ValueError:
        return Wrong(text)
    return number if problem_of_value(number, kind) is None else Wrong(text)


def at(found: object, path: tuple[str, ...]) -> Any:
    """The value at a path of keys in nested objects; `None` where there is none."""
    if not path:
        return None
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def entry_of_object(number: int, found: Mapping[str, Any], paths: JsonPaths) -> Entry:
    """An object of JSON lines in which a text says what happened, as an entry of a text log. Its parts are the values
    at the top, and those below as `a.b`. The journal of systemd writes texts that are no UTF-8 as lists of bytes."""
    text = at(found, paths.text)
    if isinstance(text, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in text):
        text = bytes(text).decode("utf-8", errors="backslashreplace")
    message, *more = str(text or "").split("\n")
    node = at(found, paths.node)
    parts = dict(_flat("", found)) | ({"node": str(node)} if isinstance(node, str | int) else {})
    return Entry(number, parts, message, tuple(more))


def _flat(prefix: str, found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{key}.", value)
        elif isinstance(value, str | int):
            yield f"{prefix}{key}", str(value)


def stamp_text(stamp: object) -> str:
    """A time stamp of JSON as a text: a number without an exponent."""
    return f"{stamp:.9f}" if isinstance(stamp, float) else str(stamp)


def event_of_object(
    found: Mapping[str, Any], adapter: Adapter, clock: Callable[[str], int | None]
) -> FoundEvent | Nothing | Almost:
    """What an object of JSON lines means. `clock`: reads a time stamp."""
    paths = adapter.json
    assert paths is not None, "the adapter is for JSON"
    event, node = at(found, paths.event), at(found, paths.node)
    for name, value in (("event", event), ("node", node)):
        if isinstance(value, str) and problem_of_value(value, FieldType.STRING) is not None:
            return Almost(f"the {name} {value!r} is not a text")
    node = str(node) if isinstance(node, str | int) and not isinstance(node, bool) else None
    scalars = {key: str(value) for key, value in found.items() if isinstance(value, str | int)}
    words = scalars | ({"event": event} if isinstance(event, str) else {})
    for rule in adapter.events:
        if not fits(rule, words) or not all(key in found for key in rule.has):
            continue
        if not rule.where and not rule.has and event != rule.name:
            continue
        fields = {}
        for field in rule.fields:
            value = at(found, field.path or (*paths.fields, field.name)) if not field.numbered else None
            if value is not None and field.clock:
                value = clock(stamp_text(value))
                if value is None:
                    return Almost(f"looks like the event {rule.name}, but {field.name} is no time")
            if value is not None:
                if field.type is FieldType.STRING and isinstance(value, int) and not isinstance(value, bool):
                    value = str(value)
                if not is_of(value, field):
                    return Almost(f"looks like the event {rule.name}, but {field.name} is {value!r}")
                fields[field.name] = value
        return FoundEvent(rule.name, fields, node, tuple(field.name for field in rule.fields if field.numbered))
    if paths.any_event and isinstance(event, str) and event:
        values = at(found, paths.fields)
        if values is not None and not isinstance(values, dict):
            return Almost(f"{'.'.join(paths.fields)} is not an object")
        return FoundEvent(event, {k: v for k, v in (values or {}).items() if v is not None}, node, ())
    for nothing in adapter.nothing:
        if fits(nothing, words) and nothing.pattern.search(str(event or "")):
            return Nothing(nothing.name)
    if paths.any_event:
        return Almost(f"no event at {'.'.join(paths.event)}")
    return Nothing(None)


def is_of(value: object, field: FieldRule) -> bool:
    """Whether a value of JSON has the type of a field."""
    return problem_of_value(value, field.type) is None
