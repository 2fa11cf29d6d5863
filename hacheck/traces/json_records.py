"""One line of JSON as a record, checked value by value: the slow way, which says what is wrong.

`json_lines` reads whole blocks with Arrow and comes here for the blocks that Arrow refuses. Both must accept the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hacheck.traces.findings import Kind
from hacheck.traces.records import CAUSES, FIELDS, LINE, REQUIRED, SEQ, STANDARD, TIME, FieldType

INT_MIN, INT_MAX = -(2**63), 2**63 - 1

TYPES = {
    name: FieldType.INT if name in (SEQ, TIME, LINE) else FieldType.STRINGS if name == CAUSES else FieldType.STRING
    for name, _ in STANDARD
}
"""The types of the standard columns, as those of fields."""

WORDS = {
    FieldType.BOOL: "true or false",
    FieldType.INT: "a whole number",
    FieldType.FLOAT: "a number",
    FieldType.STRING: "a string",
    FieldType.INTS: "a list of whole numbers",
    FieldType.STRINGS: "a list of strings",
}


class Problem(Struct, frozen=True):
    """Why a line is no record. `trace_id`: the trace it names all the same."""

    kind: Kind
    message: str
    trace_id: str | None = None


class _Duplicate(ValueError):
    """A key that stands twice in an object."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Duplicate(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def _constant(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


def parsed(line: bytes) -> dict[str, Any] | Problem:
    """The object on a line, or why there is none."""
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        return Problem(Kind.NOT_JSON, f"not UTF-8: byte 0x{line[error.start]:02x} in column {error.start + 1}")
    except _Duplicate as error:
        return Problem(Kind.NOT_JSON, f"not one record: {error}")
    except json.JSONDecodeError as error:
        return Problem(Kind.NOT_JSON, f"not JSON: {error.msg}, column {error.colno}")
    except (ValueError, RecursionError) as error:
        return Problem(Kind.NOT_JSON, f"not JSON: {str(error) or 'nested too deeply'}")
    if not isinstance(found, dict):
        return Problem(Kind.NOT_JSON, f"a JSON {type(found).__name__}, where an object is expected")
    return found


def problem_of(record: Mapping[str, Any], fields: Mapping[str, FieldType]) -> Problem | None:
    """What keeps an object from being a record with these fields; nothing if it is one."""
    trace = record.get("trace_id")
    trace_id = trace if isinstance(trace, str) and trace and encodable(trace) else None

    def problem(kind: Kind, message: str) -> Problem:
        return Problem(kind, message, trace_id)

    for name in REQUIRED:
        if record.get(name) is None:
            return problem(Kind.MISSING_COLUMN, f"no {name}")
    for name, value in record.items():
        if name == FIELDS:
            continue
        if name not in TYPES:
            return problem(Kind.EXTRA_COLUMN, f"unknown column {name!r}; what an event shows belongs into `fields`")
        wrong = problem_of_value(value, TYPES[name])
        if wrong is not None:
            return problem(wrong, f"{name} is {_shown(value)}, not {WORDS[TYPES[name]]}{_range(wrong)}")
    for name in REQUIRED:
        if record[name] == "":
            return problem(Kind.WRONG_VALUE, f"{name} is empty")
    if record[SEQ] < 1:
        return problem(Kind.WRONG_VALUE, f"seq is {record[SEQ]}; records are numbered from 1")
    return _problem_of_fields(record.get(FIELDS), fields, trace_id)


def _problem_of_fields(found: Any, fields: Mapping[str, FieldType], trace_id: str | None) -> Problem | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        return Problem(Kind.WRONG_TYPE, f"fields is {_shown(found)}, not an object", trace_id)
    for name, value in found.items():
        if name not in fields:
            return Problem(Kind.EXTRA_COLUMN, f"unknown field {name!r}; the header names all fields", trace_id)
        wrong = problem_of_value(value, fields[name])
        if wrong is not None:
            message = f"field {name} is {_shown(value)}, not {WORDS[fields[name]]}{_range(wrong)}"
            return Problem(wrong, message, trace_id)
    return None


def problem_of_value(value: object, kind: FieldType) -> Kind | None:
    """How a value is none of a type: the type is another, or it is out of range."""
    match kind:
        case _ if value is None:
            return None
        case FieldType.BOOL:
            return None if isinstance(value, bool) else Kind.WRONG_TYPE
        case FieldType.INT | FieldType.FLOAT if isinstance(value, bool):
            return Kind.WRONG_TYPE
        case FieldType.INT:
            if not isinstance(value, int):
                return Kind.WRONG_TYPE
            return None if INT_MIN <= value <= INT_MAX else Kind.WRONG_VALUE
        case FieldType.FLOAT:
            if not isinstance(value, int | float):
                return Kind.WRONG_TYPE
            return None if _is_finite(value) else Kind.WRONG_VALUE
        case FieldType.STRING:
            if not isinstance(value, str):
                return Kind.WRONG_TYPE
            return None if encodable(value) else Kind.WRONG_VALUE
        case FieldType.INTS | FieldType.STRINGS:
            if not isinstance(value, list) or None in value:
                return Kind.WRONG_TYPE
            inner = FieldType.INT if kind is FieldType.INTS else FieldType.STRING
            return next((wrong for item in value if (wrong := problem_of_value(item, inner)) is not None), None)


def type_of(value: object) -> FieldType | None:
    """The type of a field with this value; `None` if the value does not show it."""
    if isinstance(value, bool):
        return FieldType.BOOL
    if isinstance(value, int):
        return FieldType.INT
    if isinstance(value, float):
        return FieldType.FLOAT
    if isinstance(value, str):
        return FieldType.STRING
    if isinstance(value, list) and value:
        return {FieldType.INT: FieldType.INTS, FieldType.STRING: FieldType.STRINGS}.get(
            type_of(value[0]) or FieldType.BOOL
        )
    return None


def storable(fields: Mapping[str, Any], types: Mapping[str, FieldType]) -> dict[str, Any]:
    """Values of fields as Arrow takes them: whole numbers are no floats there."""
    return {
        name: float(value) if value is not None and types[name] is FieldType.FLOAT else value
        for name, value in fields.items()
    }


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def encodable(text: str) -> bool:
    """Whether a text can be stored: JSON may escape halves of characters, which are none."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _range(wrong: Kind) -> str:
    return " that can be stored" if wrong is Kind.WRONG_VALUE else ""


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
