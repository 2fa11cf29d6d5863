"""Settings of a protocol from text, read by the types that they have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from hacheck.impl.system import Refused

Options = TypeVar("Options")

NUMBER = re.compile(r"-?[0-9]{1,16}")
NUMBER_MAX = 10**15
"""The largest number: of microseconds, 30 years."""


def read_options(
    kind: type[Options],
    given: Mapping[str, str],
    may_be_zero: Collection[str],
    may_be_negative: Collection[str] = (),
) -> Options:
    """Settings from text: `allow-failback` or `allow_failback` = `true`. Numbers are 1 or more, some may be 0, some -1,
    which stands for none. Errors: `Refused`, naming the setting, what it may be, and the nearest name."""
    kinds = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, text in given.items():
        field = name.replace("-", "_")
        if field not in kinds:
            near = get_close_matches(field, sorted(kinds), 1)
            hint = f"; did you mean `{near[0]}`?" if near else f": there are {', '.join(sorted(kinds))}"
            raise Refused(f"there is no setting `{name}`{hint}")
        least = 0 if field in may_be_zero else 1
        values[field] = _value(field, kinds[field], text, least, field in may_be_negative)
    return kind(**values)


def _value(field: str, kind: Any, text: str, least: int, may_be_negative: bool) -> bool | int | str:
    if kind is bool:
        if text not in ("true", "false"):
            raise Refused(f"`{field}` is `true` or `false`, not `{text}`")
        return text == "true"
    if get_origin(kind) is Literal:
        words: tuple[str, ...] = get_args(kind)
        if text not in words:
            near = get_close_matches(text, words, 1)
            raise Refused(f"`{field}` is one of {', '.join(words)}, not `{text}`; try `{(near or words)[0]}`")
        return text
    if not NUMBER.fullmatch(text) or int(text) > NUMBER_MAX:
        raise Refused(f"`{field}` is a whole number up to {NUMBER_MAX}, not `{text}`")
    number = int(text)
    if number < least and not (may_be_negative and number == -1):
        raise Refused(f"`{field}` is {least} or more{' or -1' if may_be_negative else ''}, not {number}")
    return number
