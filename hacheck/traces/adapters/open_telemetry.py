"""Exports of OpenTelemetry logs as JSON lines: each line has many records, with what they share around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def unwrapped(export: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The records of one line: `time` (nanoseconds since 1970, or when it was observed), `severity`, `body`, `scope`,
    and below `resource` and `attributes` what these say, keys with dots as nested objects.

    **Source**: OpenTelemetry protocol specification 1.3, logs/v1/logs.proto in its JSON encoding.
    """
    for resource in _listed(export, "resourceLogs"):
        shared = _attributes(_held(resource, "resource"))
        for scope in _listed(resource, "scopeLogs"):
            name = _held(scope, "scope").get("name", "")
            for record in _listed(scope, "logRecords"):
                time = record.get("timeUnixNano") or record.get("observedTimeUnixNano")
                yield {
                    "time": None if time is None else str(time),
                    "severity": record.get("severityText", ""),
                    "body": _value(record.get("body")),
                    "scope": name,
                    "resource": shared,
                    "attributes": _attributes(record),
                }


def _listed(held: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = held.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _held(held: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = held.get(key)
    return found if isinstance(found, dict) else {}


def _attributes(held: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in _listed(held, "attributes"):
        *path, last = str(one.get("key", "")).split(".")
        inner = found
        for part in path:
            below = inner.setdefault(part, {})
            if not isinstance(below, dict):
                break  # a key that is a value, and a prefix of another one, as well
            inner = below
        else:
            inner[last] = _value(one.get("value"))
    return found


def _value(held: object) -> Any:
    """A value out of its wrapping, such as `{"stringValue": "x"}`; 64-bit numbers are texts there."""
    if not isinstance(held, dict):
        return held
    for kind, value in held.items():
        if kind == "intValue":
            return int(value)
        if kind in ("stringValue", "boolValue", "doubleValue"):
            return value
        if kind == "arrayValue":
            return [_value(one) for one in value.get("values", [])]
    return None
