"""The limits of a spec under one of its checks, and the spec with one of them raised by one.

A limit is where the author ended an exploration: a bound (`up to` of a counter, collection, link, pool or clock), the
number of nodes of a kind, the budget of a fault, any other number among the settings, how finely calls are explored,
and an assumption. A setting is raised by its value; a limit without a setting in it is raised in the tree of
declarations, before elaboration.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.specification import Specification, written_setting
from hacheck.model.language.tree_walk import parts

LimitKind = Literal["bound", "size", "fault budget", "setting", "granularity", "assumption"]

Change: TypeAlias = Callable[["_Site"], t.Expression | None]
"""Given where a limit stands, the expression that is to stand there."""

ORDER: tuple[LimitKind, ...] = ("assumption", "setting", "bound", "granularity", "fault budget", "size")
"""Kinds of limits, those first whose raise is likely to add the fewest states."""


class Raise(Struct, frozen=True):
    """One limit, and its next value. `setting`: whether `--set NAME=AFTER` raises it; else it stands at `place`, the
    `index`-th limit of the declarations. `index` is -1 for a setting."""

    kind: LimitKind
    name: str
    before: str
    after: str
    setting: bool
    place: str = ""
    index: int = -1

    @property
    def title(self) -> str:
        """The raised limit: `generations = 4`, or `S.term up to 3`."""
        if self.setting:
            return f"{self.name} = {self.after}"
        joint = "size" if self.kind == "size" else "up to"
        return f"{self.name} {joint} {self.after}"

    @property
    def words(self) -> str:
        """The same, and where the limit stands if no setting raises it: `S.term up to 3 (spec.ha:4)`."""
        return self.title if self.setting else f"{self.title} ({self.place})"


class Fixed(Struct, frozen=True):
    """A limit that cannot be raised, and why."""

    name: str
    reason: str


class _Site(Struct, frozen=True):
    """Where a limit stands. `written`: its expression, `None` where the language has one without a word. `is_endless`:
    whether it is the number of a `counter up to N or more`."""

    kind: LimitKind
    name: str
    written: t.Expression | None
    span: Span
    is_endless: bool = False


def raises(
    specification: Specification, values: Mapping[str, str], bounds_reached: bool, endless: Collection[str] = ()
) -> tuple[tuple[Raise, ...], tuple[Fixed, ...]]:
    """Every limit of a spec with its next value, where settings have these values; and the limits that have none.

    `bounds_reached`: whether the exploration under these settings met a bound. Where it met none, one that is made of
    settings is not raised beyond what raising the settings does. `endless`: the counters that it followed without an
    end, whose number after `up to` limits nothing.
    """
    found: list[Raise] = []
    fixed: list[Fixed] = []
    roles = limit_roles(specification)
    without_end = _of_endless_alone(specification, endless)
    for one in specification.declarations:
        if isinstance(one, d.Setting):
            name = one.name.text
            made = _of_setting(one, values[name], roles.get(name, "setting"))
            if isinstance(made, Raise) and name in without_end:
                fixed.append(Fixed(name, f"{without_end[name]} has no end under these settings"))
            elif isinstance(made, Raise):
                found.append(made)
            elif made is not None:
                fixed.append(made)
    settings = {one.name for one in specification.parameters}
    definitions = _definitions(specification)
    for index, site in enumerate(_sites(specification.declarations)):
        if site.is_endless and site.name in endless:
            if site.written is not None and not _names(site.written, definitions) & settings:
                fixed.append(Fixed(site.name, "it has no end under these settings"))
        elif _raised_in_tree(site, settings, definitions, bounds_reached):
            before = "1" if site.written is None else written_setting(site.written)
            after = str(int(before) + 1) if before.lstrip("-").isdigit() else f"{before} + 1"
            place = f"{site.span.path}:{site.span.line}"
            found.append(Raise(site.kind, site.name, before, after, False, place, index))
    found.sort(key=lambda one: ORDER.index(one.kind))
    return tuple(found), tuple(fixed)


def raised(specification: Specification, chosen: Iterable[Raise]) -> tuple[Specification, dict[str, str]]:
    """The spec with some of its limits raised in its tree, and the settings that raise the others."""
    settings = {one.name: one.after for one in chosen if one.setting}
    indices = {one.index for one in chosen if not one.setting}
    if not indices:
        return specification, settings
    numbers = count()

    def change(site: _Site) -> t.Expression | None:
        return _one_more(site) if next(numbers) in indices else site.written

    return replace(specification, declarations=_changed(specification.declarations, change)), settings


def digest(specification: Specification) -> str:
    """Changes whenever the systems that a spec can mean may change: not with its checks, logs, comments and texts, nor
    with what is marked `acknowledged to clients`."""
    hashed = hashlib.sha256()
    unsaid = (d.CheckDeclaration, d.TraceDeclaration, d.ObserveDeclaration)
    for one in specification.declarations:
        if not isinstance(one, unsaid):
            _feed(hashed.update, one)
    return hashed.hexdigest()


_SILENT = ("text", "source", "promised")
"""Parts of declarations that change no system."""


def _feed(update: Callable[[bytes], None], part: object) -> None:
    """A tree as bytes, without places and texts for people. A part that says nothing is left out: so a spec keeps its
    digest when the language gets one part more."""
    match part:
        case Span():
            return
        case tuple() | frozenset():
            update(f"({len(part)}".encode())
            for item in sorted(part) if isinstance(part, frozenset) else part:
                _feed(update, item)
        case Struct():
            form = type(part)
            update(f"<{form.__name__}".encode())
            silent = _SILENT if form.__module__ == d.__name__ else ()
            for name in form.__struct_fields__:
                value = getattr(part, name)
                if name not in silent and not _says_nothing(value):
                    update(f".{name}".encode())
                    _feed(update, value)
        case _:
            update(f"={part!r};".encode())


def _says_nothing(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str | tuple | frozenset) and not value)


# ---- settings ----


def _of_setting(written: d.Setting, value: str, role: LimitKind) -> Raise | Fixed | None:
    """A setting with its next value, or why it has none; `None` for what limits nothing."""
    name = written.name.text
    if written.kind == "assumption":
        is_on = value == "on" and written_setting(written.default) == "on"
        return Raise("assumption", name, "on", "off", True) if is_on else None
    if written.kind == "switch":
        return None
    if written.type is not None and written.type.kind == "enum":
        if role != "granularity":
            return None
        words = [word.text for word in written.type.names]
        at = words.index(value) + 1
        return Raise(role, name, value, words[at], True) if at < len(words) else Fixed(name, f"{value} is the last")
    if not value.lstrip("-").isdigit():
        return None
    if value.startswith("-"):
        return Fixed(name, f"{value} is negative: it stands for something other than a number")
    if written.type is not None and written.type.kind == "range":
        low, high = (written_setting(limit) for limit in written.type.limits)
        if high.lstrip("-").isdigit() and int(value) >= int(high):
            return Fixed(name, f"{value} is the end of its range {low}..{high}")
    return Raise(role, name, value, str(int(value) + 1), True)


def limit_roles(specification: Specification) -> dict[str, LimitKind]:
    """What each setting limits: a number of nodes, a budget of faults, a bound, or how finely calls are explored."""
    definitions = _definitions(specification)
    found: dict[str, LimitKind] = {}

    def note(kind: LimitKind, part: object) -> None:
        for name in _names(part, definitions):
            if ORDER.index(kind) >= ORDER.index(found.get(name, "setting")):
                found[name] = kind

    for site in _sites(specification.declarations):
        if site.written is not None:
            note(site.kind, site.written)
    for one in specification.declarations:
        if isinstance(one, d.OperationDeclaration) and one.atomic_when is not None:
            note("granularity", one.atomic_when)
    return found


def _of_endless_alone(specification: Specification, endless: Collection[str]) -> dict[str, str]:
    """The settings that stand nowhere but in the `up to` of these counters, each with one of them."""
    if not endless:
        return {}
    found: dict[str, str] = {}

    def without(site: _Site) -> t.Expression | None:
        if not (site.is_endless and site.name in endless):
            return site.written
        found.update(dict.fromkeys(_names(site.written, {}), site.name))
        return t.Number(0, site.span)

    changed = _changed(specification.declarations, without)
    # A declaration of settings and what a check sets them to use none of them.
    uses = (one for one in changed if not isinstance(one, d.Setting | d.CheckDeclaration))
    used = set().union(*(_names(one, {}) for one in uses))
    return {name: counter for name, counter in found.items() if name not in used}


def _definitions(specification: Specification) -> dict[str, d.Definition]:
    return {one.name.text: one for one in specification.declarations if isinstance(one, d.Definition)}


def _names(part: object, definitions: Mapping[str, d.Definition]) -> set[str]:
    """The names in an expression, and in what the definitions among them stand for."""
    found: set[str] = set()
    waiting = [part]
    while waiting:
        for one in parts(waiting.pop()):
            if isinstance(one, t.Name) and one.text not in found:
                found.add(one.text)
                if one.text in definitions:
                    waiting.append(definitions[one.text].value)
    return found


# ---- limits in the tree ----


def _raised_in_tree(
    site: _Site, settings: set[str], definitions: Mapping[str, d.Definition], bounds_reached: bool
) -> bool:
    """Whether raising a limit where it stands explores something that raising settings does not."""
    if site.written is None or not _names(site.written, definitions) & settings:
        return True
    is_setting = isinstance(site.written, t.Name) and site.written.text in settings
    return site.kind == "bound" and bounds_reached and not is_setting


def _one_more(site: _Site) -> t.Expression:
    match site.written:
        case None:
            return t.Number(2, site.span)
        case t.Number(value, span):
            return t.Number(value + 1, span)
        case written:
            return t.Infix("+", written, t.Number(1, written.span), written.span)


def _sites(declarations: Iterable[d.Declaration]) -> Iterator[_Site]:
    """Every limit of the declarations, in the order in which `_changed` comes across them."""
    found: list[_Site] = []

    def note(site: _Site) -> t.Expression | None:
        found.append(site)
        return site.written

    _changed(declarations, note)
    return iter(found)


def _changed(declarations: Iterable[d.Declaration], change: Change) -> tuple[d.Declaration, ...]:
    """The declarations with every limit replaced by what `change` says."""
    return tuple(_declaration(one, change) for one in declarations)


def _declaration(one: d.Declaration, change: Change) -> d.Declaration:
    match one:
        case d.IdentityDeclaration(name, written) if written is not None:
            return replace(one, size=change(_Site("bound", name.text, written, written.span)))
        case d.TypeDeclaration(name, kind):
            return replace(one, type=_type(kind, name.text, change))
        case d.RecordDeclaration(name):
            kinds = tuple((field, _type(kind, f"{name.text}.{field.text}", change)) for field, kind in one.fields)
            return replace(one, fields=kinds)
        case d.FieldDeclaration(name, _, kind):
            return replace(one, type=_type(kind, name.text, change))
        case d.NodeDeclaration(name, written):
            size = None if written is None else change(_Site("size", name.text, written, written.span))
            own = tuple(
                replace(field, type=_type(field.type, f"{name.text}.{field.name.text}", change)) for field in one.fields
            )
            return replace(one, size=size, fields=own)
        case d.MessageDeclaration(name, order=order, capacity=written) if order != "latest":
            span = one.span if written is None else written.span
            return replace(one, capacity=change(_Site("bound", name.text, written, span)))
        case d.ClockDeclaration(kind, limit):
            most = change(_Site("bound", f"clock {kind.text}", limit, limit.span))
            assert most is not None, "a clock has a limit"
            return replace(one, limit=most)
        case d.FaultDeclaration(budget=written) if written is not None:
            title = "all together" if one.kind == "total" else one.title
            return replace(one, budget=change(_Site("fault budget", title, written, written.span)))
        case _:
            return one


def _type(kind: t.TypeTree, name: str, change: Change) -> t.TypeTree:
    """A type with the bounds of its counters, sequences and bags replaced."""
    inner = tuple(_type(part, name, change) for part in kind.parts)
    limits = kind.limits
    if kind.kind in ("counter", "endless", "sequence", "bag"):
        limits = (_bound(limits[0], name, kind.kind == "endless", change), *limits[1:])
    return replace(kind, parts=inner, limits=limits)


def _bound(written: t.Expression, name: str, is_endless: bool, change: Change) -> t.Expression:
    changed = change(_Site("bound", name, written, written.span, is_endless))
    assert changed is not None, "a bound that is written is never left out"
    return changed
