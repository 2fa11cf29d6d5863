"""Settings of a protocol from text. A protocol's settings are one class; each field's type says what may be written.

- `bool`: `true` or `false`; `yes`, `on`, `1` and `no`, `off`, `0` mean the same.
- `Literal["a", "b"]`: one of the words.
- `int`: a whole number from 1 on, or in the range of an annotation: `OrZero`, `OrUnlimited`, `FromMinusOne`.
- `int` in a field whose name ends in `_us`: a time, `500ms`, `1.5s`, `2min`, or a number of microseconds.

Names are written with dashes or underscores; the ending `_us` may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from hacheck.impl.system import Refused
from hacheck.wording import did_you_mean

SECOND_US = 1_000_000
UNITS_US: Mapping[str, int] = {"us": 1, "ms": 1_000, "s": SECOND_US, "min": 60 * SECOND_US}
NUMBER_MAX = 10**15
"""The largest number: of microseconds, 30 years."""

_NUMBER = re.compile(r"-?[0-9]{1,16}")
_TIME = re.compile(r"(?P<number>[0-9]{1,16}([.][0-9]{1,9})?) ?(?P<unit>us|ms|s|min|)")
_TRUTH = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}


class Range(Struct, frozen=True):
    """The numbers a setting may have: from `least` on, and -1 where that stands for "no limit" (`unlimited`)."""

    least: int = 1
    unlimited: bool = False


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of a protocol: its fields with their defaults are declared in a subclass."""

    def check(self) -> None:
        """Errors: `Refused`, for settings that contradict each other."""


SettingsT = TypeVar("SettingsT", bound=Settings)

OrZero: TypeAlias = Annotated[int, Range(0)]
OrUnlimited: TypeAlias = Annotated[int, Range(1, unlimited=True)]
FromMinusOne: TypeAlias = Annotated[int, Range(-1)]


def read_settings(
    kind: type[SettingsT], given: Mapping[str, str], *, without: Collection[str] = (), others: Collection[str] = ()
) -> SettingsT:
    """Settings of one class from text. `without`: fields of the class that cannot be set here; `others`: names to
    propose for an unknown one besides the fields of the class. Errors: `Refused`, naming the setting, what it may be,
    and the nearest name; or which settings contradict each other."""
    types = {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name not in without}
    values: dict[str, Any] = {}
    for name, text in given.items():
        field = field_of(name, types)
        if not field:
            raise Refused(f"there is no setting `{name}`{_hint(name, sorted({*types, *others}))}")
        if field in values:
            raise Refused(f"`{field}` is set twice, the second time as `{name}`; leave one of them out")
        values[field] = _value(field, types[field], text.strip())
    settings = kind(**values)
    settings.check()
    return settings


def field_of(name: str, fields: Collection[str]) -> str:
    """The field that a written name stands for; empty, if there is none."""
    plain = name.replace("-", "_")
    return next((field for field in (plain, f"{plain}_us") if field in fields), "")


def _hint(name: str, known: list[str]) -> str:
    plain = name.replace("-", "_")
    near = did_you_mean(plain, known, most=1) or did_you_mean(f"{plain}_us", known, most=1)
    return f"; {near}" if near else f": there are {', '.join(known)}"


def _value(field: str, kind: Any, text: str) -> bool | int | str:
    if kind is bool:
        if text.lower() not in _TRUTH:
            raise Refused(f"`{field}` is `true` or `false`, not `{text}`")
        return _TRUTH[text.lower()]
    if get_origin(kind) is Literal:
        words: tuple[str, ...] = get_args(kind)
        if text not in words:
            near = get_close_matches(text, words, 1)
            raise Refused(f"`{field}` is one of {', '.join(words)}, not `{text}`; try `{(near or words)[0]}`")
        return text
    allowed = next((extra for extra in get_args(kind) if isinstance(extra, Range)), Range())
    return _time(field, text, allowed) if field.endswith("_us") else _number(field, text, allowed)


def _number(field: str, text: str, allowed: Range) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else None
    if number is None or not (allowed.least <= number <= NUMBER_MAX or (allowed.unlimited and number == -1)):
        unlimited = ", or -1 for no limit" if allowed.unlimited else ""
        raise Refused(f"`{field}` is a whole number from {allowed.least} to {NUMBER_MAX}{unlimited}, not `{text}`")
    return number


def _time(field: str, text: str, allowed: Range) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise Refused(f"`{field}` is a time such as `500ms`, `2s` or `2000000` (microseconds), not `{text}`")
    time_us = round(float(found["number"]) * UNITS_US[found["unit"] or "us"])
    if not allowed.least <= time_us <= NUMBER_MAX:
        raise Refused(f"`{field}` is a time {'from 0' if allowed.least == 0 else 'above 0'} to 30 years, not `{text}`")
    return time_us
