"""Reads the table `data` of an adapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from hacheck.traces.adapters.data_rules import ClientCalls, DataRules, Shown

if TYPE_CHECKING:
    from hacheck.traces.adapters.description import Adapter

Wrong: TypeAlias = tuple[str, str, str]
"""The key at which a table is wrong, what is wrong, and what to write."""

KEYS = ("noun", "start", "load", "take", "add", "remove", "lead", "join", "fetch", "leave", "end", "calls")
OPERATIONS = ("add", "remove", "read", "done")
OF_LOGS = ("load", "take", "add", "remove")
"""What is needed where logs show databases; where clients alone say something of data, there is none of it."""


def data_rules(table: Mapping[str, Any], adapter: Adapter) -> DataRules | Wrong:
    """What the table says; the first thing that is wrong with it. Its events and fields must be those of the adapter,
    or of one beside it."""
    fields = {event.name: {field.name for field in event.fields} for one in adapter.every for event in one.events}
    unknown = next((key for key in table if key not in KEYS), None)
    if unknown is not None:
        return unknown, f"unknown key {unknown!r}", f"there are: {', '.join(KEYS)}"
    noun, start = table.get("noun"), table.get("start")
    if not isinstance(noun, str) or not noun:
        return "noun", "[data] has no noun", 'say what the names are names of: noun = "topic"'
    of_clients = "calls" in table and set(table) <= {"noun", "calls"}
    if start not in fields and not of_clients:
        return "start", f"start is {start!r}, which is no event", 'write start = "started"'
    found: dict[str, Any] = {}
    for key in ("load", "take", "add", "remove", "lead", "join", "fetch", "end"):
        if key in table:
            shown = _shown(table[key], fields)
            if shown is None:
                return key, f"{key} names no event with such a field", f'write {key} = {{ event = "…", field = "…" }}'
            found[key] = shown
        elif key in OF_LOGS and not of_clients:
            return "data", f"[data] has no {key}", f'write {key} = {{ event = "…", field = "…" }}'
    if "leave" in table:
        shown, value = _shown(table["leave"], fields, "value"), dict(table["leave"]).get("value")
        if shown is None or not isinstance(value, str):
            return "leave", "leave names no event", 'write leave = { event = "…", field = "…", value = "…" }'
        found["leave"] = (shown.event, shown.field, value)
    if "calls" in table:
        calls = _calls(table["calls"], fields)
        if calls is None:
            hint = 'write calls = { event = "client_call", add = ["create"], done = ["ok"] }'
            return "calls", "calls names no event, or no operations", hint
        found["calls"] = calls
    return DataRules(noun, start or "", **found)


def _shown(given: object, fields: Mapping[str, set[str]], *further: str) -> Shown | None:
    if not isinstance(given, dict) or not set(given) <= {"event", "field", *further}:
        return None
    event, field = given.get("event"), given.get("field")
    if not isinstance(event, str) or not isinstance(field, str):
        return None
    return Shown(event, field) if field in fields.get(event, ()) else None


def _calls(given: object, fields: Mapping[str, set[str]]) -> ClientCalls | None:
    if not isinstance(given, dict) or not set(given) <= {"event", *OPERATIONS} or given.get("event") not in fields:
        return None
    words = {key: given.get(key, []) for key in OPERATIONS}
    if not all(isinstance(held, list) and all(isinstance(one, str) for one in held) for held in words.values()):
        return None
    return ClientCalls(given["event"], **{key: tuple(held) for key, held in words.items()})
