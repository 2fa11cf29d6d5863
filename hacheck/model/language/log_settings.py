"""What only logs show: settings that records give, and how long an invariant may be broken by the log's clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Diagnostic, near

UNITS = {"ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
"""Units of time, in nanoseconds."""


class FromRecord(Struct, frozen=True):
    """What a record of `event` says of the setting `setting`: `value`, or without that what it shows in `field`, or how
    many elements that has (`counted`). A record that does not show the field says nothing."""

    event: str
    setting: str
    value: str | None
    field: str | None = None
    counted: bool = False

    @property
    def words(self) -> str:
        """Where the value comes from, in words."""
        if self.field is None:
            return f"`{self.event}`"
        return f"{'the size of ' * self.counted}`{self.field}` of `{self.event}`"


class Restored(Struct, frozen=True):
    """An invariant that no log shows broken for longer than `nanoseconds`."""

    name: str
    nanoseconds: int


def derived(
    written: Sequence[d.FromLog], settings: Collection[str], text_of: Callable[[t.Expression], str]
) -> tuple[tuple[FromRecord, ...], list[Diagnostic]]:
    """The settings that records give. `text_of`: a setting's value as it was written.

    Errors: `HA140` for what is no setting, `HA144` for what is neither a value nor of a field that is named.
    """
    made: list[FromRecord] = []
    wrong: list[Diagnostic] = []
    for one in written:
        fields = {name.text for name in one.fields}
        for name, value in one.settings:
            if name.text not in settings:
                hint = near(name.text, settings)
                wrong.append(Diagnostic("HA140", f"there is no setting `{name.text}`", name.span, hint=hint))
            found = _from_record(one.event.text, name.text, value, fields, text_of(value))
            if found is None:
                hint = "write a value, FIELD or size(FIELD), with FIELD in `from EVENT(FIELD)`"
                message = "a setting takes a literal, a field of the record, or the size of a field"
                wrong.append(Diagnostic("HA144", message, value.span, hint=hint))
            else:
                made.append(found)
    return tuple(made), wrong


def _from_record(event: str, setting: str, value: t.Expression, fields: set[str], text: str) -> FromRecord | None:
    match value:
        case t.Name(word) if word in fields:
            return FromRecord(event, setting, None, word)
        case t.Apply(t.Name("size"), arguments) if len(arguments) == 1:
            inside = arguments[0].value
            if isinstance(inside, t.Name) and inside.text in fields:
                return FromRecord(event, setting, None, inside.text, True)
            return None
        case t.Number() | t.Word() | t.Name() | t.Prefix("negate", t.Number()):
            return FromRecord(event, setting, text)
        case _:
            return None


def restored(
    written: Sequence[d.Restored], invariants: Collection[str]
) -> tuple[tuple[Restored, ...], list[Diagnostic]]:
    """How long invariants may be broken. Errors: `HA142` for what is no invariant, `HA145` for a wrong unit."""
    made: list[Restored] = []
    wrong: list[Diagnostic] = []
    for one in written:
        if one.name.text not in invariants:
            hint = near(one.name.text, invariants)
            wrong.append(Diagnostic("HA142", f"there is no invariant `{one.name.text}`", one.name.span, hint=hint))
        if one.unit.text not in UNITS:
            hint = f"there are: {', '.join(UNITS)}"
            wrong.append(Diagnostic("HA145", f"`{one.unit.text}` is not a unit of time", one.unit.span, hint=hint))
            continue
        made.append(Restored(one.name.text, one.number * UNITS[one.unit.text]))
    return tuple(made), wrong
