"""The smallest change of the product's settings under which a violation cannot happen: one setting, then two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError
from hacheck.api.specification import Spec
from hacheck.audit.configuration import Configuration
from hacheck.audit.exploration import Explorer, Interrupted
from hacheck.audit.expressions import names_in
from hacheck.audit.modelling import Modelled, mode_of, modelled
from hacheck.audit.reader import Remedy, SettingRule

HELPING_MAX = 4
"""So many changes of one size are reported."""


class Edit(Struct, frozen=True):
    """A setting at another value. `nodes`: on these; `places`: where it stands now, with its value there."""

    name: str
    value: str
    nodes: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    label: str


class Change(Struct, frozen=True):
    """Edits that go together: what is violated no more, and what is violated instead."""

    edits: tuple[Edit, ...]
    cures: frozenset[str]
    brings: frozenset[str]


class OneKind(Struct, frozen=True):
    """What faults of one kind alone lead to, and the single settings that prevent some of it."""

    fault: str
    violated: frozenset[str]
    changes: tuple[Change, ...]


class Help(Struct, frozen=True):
    """What helps beyond the settings, and, where the spec was explored so, what it prevents."""

    remedy: Remedy
    cures: frozenset[str]


class Search(Struct, frozen=True):
    """What the search for changes found. `tried`: how many; `complete`: all with one and two settings were;
    `by_fault`: what each kind of fault alone leads to, where no single setting prevents everything."""

    changes: tuple[Change, ...]
    tried: int
    complete: bool
    remedies: tuple[Help, ...] = ()
    by_fault: tuple[OneKind, ...] = ()


class _Candidate(Struct, frozen=True):
    edit: Edit
    configuration: Configuration
    settings: dict[str, str]


def search_changes(
    explorers: tuple[Explorer, Explorer], configuration: Configuration, model: Modelled, violated: frozenset[str]
) -> Search:
    """Looks for changes. Those that cure everything come first, then those that cure most. `explorers`: one of what is
    violated alone, which is quick and says whether a change helps, and one of all properties, for what helps."""
    explorer = explorers[1]
    singles = list(_singles(configuration, explorer.spec, model))
    found: list[Change] = []
    kinds: list[OneKind] = []
    tried = 0
    try:
        for one in singles:
            tried += 1
            found += _effect(explorers, (one.edit,), one.settings, violated)
        if not _cured(found, violated):
            kinds += _by_fault(explorers[0], singles, model)
            for left, right in combinations(singles, 2):
                settings = _both(left, right, configuration, explorer.spec, model)
                if settings is None or settings in (left.settings, right.settings):
                    continue
                tried += 1
                found += _effect(explorers, (left.edit, right.edit), settings, violated)
                if _cured(found, violated) and len([one for one in found if one.cures == violated]) >= HELPING_MAX:
                    break
    except Interrupted:
        return Search(_best(found, violated), tried, False, by_fault=tuple(kinds))
    return Search(_best(found, violated), tried, True, by_fault=tuple(kinds))


def _by_fault(explorer: Explorer, singles: list[_Candidate], model: Modelled) -> Iterator[OneKind]:
    """What each kind of fault alone leads to, where there are several."""
    kinds = [name for name, number in model.scope.items() if number and name != model.mode.total]
    if len(kinds) < 2:
        return
    for kind in kinds:
        others = {name: "0" for name in kinds if name != kind}
        violated = explorer.violated({**model.settings, **others})
        if not violated:
            continue
        changes = []
        for one in singles:
            cures = violated - explorer.violated({**one.settings, **others})
            changes += [Change((one.edit,), cures, frozenset())] if cures else []
        yield OneKind(kind, violated, tuple(sorted(changes, key=lambda one: -len(one.cures))))


def _cured(found: list[Change], violated: frozenset[str]) -> bool:
    """Whether each violation is cured by some change that brings no other."""
    return violated == frozenset().union(*(one.cures for one in found if not one.brings))


def _best(found: list[Change], violated: frozenset[str]) -> tuple[Change, ...]:
    order = sorted(found, key=lambda one: (bool(one.brings), -len(one.cures), len(one.edits)))
    whole = [one for one in order if one.cures == violated and not one.brings]
    if whole:
        least = min(len(one.edits) for one in whole)
        return tuple(one for one in whole if len(one.edits) == least)[:HELPING_MAX]
    kept: list[Change] = []
    for one in order:  # one that cures no more than a smaller one, with as much harm, says nothing
        if not any(other.cures >= one.cures and other.brings <= one.brings for other in kept):
            kept.append(one)
    return tuple(kept[:HELPING_MAX])


def _effect(
    explorers: tuple[Explorer, Explorer], edits: tuple[Edit, ...], settings: Mapping[str, str], violated: frozenset[str]
) -> Iterator[Change]:
    narrow, whole = explorers
    if violated - narrow.violated(settings):
        after = whole.violated(settings)
        yield Change(edits, violated - after, after - violated)


def _singles(configuration: Configuration, spec: Spec, model: Modelled) -> Iterator[_Candidate]:
    """Every other value of each setting that the spec's settings are made of, where it makes a difference."""
    used = sorted({name for names in model.made_of.values() for name in names} | names_in(model.mode.when))
    for name in used:
        rule = configuration.reader.setting[name]
        holders = [node for node in configuration.nodes if name in node.values]
        if rule.fixed or not holders:
            continue
        for value in _alternatives(rule, {node.values[name].text for node in holders}):
            made = _with(configuration, {name: value}, spec, model)
            if made is None or made[1] == model.settings:
                continue
            changed = [node for node in holders if node.values[name].text != value]
            edit = Edit(
                name,
                value,
                tuple(node.name for node in changed),
                tuple((node.values[name].place, node.values[name].text) for node in changed),
                changed[0].values[name].label,
            )
            yield _Candidate(edit, made[0], made[1])


def _alternatives(rule: SettingRule, now: set[str]) -> list[str]:
    words = list(rule.tries) or list(rule.values)
    if not words and rule.kind in ("flag", "present"):
        words = ["true", "false"]
    return [word for word in words if {word} != now]


def _with(
    configuration: Configuration, values: Mapping[str, str], spec: Spec, model: Modelled
) -> tuple[Configuration, dict[str, str]] | None:
    """The configuration with other values, and the settings of the spec, also where another mode would have another
    one; `None` where it is of no mode then."""
    for name, value in values.items():
        configuration = configuration.with_values(name, value)
    try:
        mode_of(configuration)
        faults = {name: number for name, number in model.scope.items() if name in model.mode.scope}
        return configuration, modelled(configuration, spec, model.mode, faults).settings
    except InputError:
        return None


def _both(
    left: _Candidate, right: _Candidate, configuration: Configuration, spec: Spec, model: Modelled
) -> dict[str, str] | None:
    if left.edit.name == right.edit.name:
        return None
    values = {left.edit.name: left.edit.value, right.edit.name: right.edit.value}
    made = _with(configuration, values, spec, model)
    return None if made is None or made[1] == model.settings else made[1]


def helping(
    explorer: Explorer, configuration: Configuration, model: Modelled, violated: frozenset[str]
) -> tuple[Help, ...]:
    """What helps beyond the settings: the newest version, and remedies: those that cannot be explored, and those that,
    explored, prevent something."""
    found = []
    try:
        for remedy, settings in (*_newest(explorer, configuration, model), *_remedies(model)):
            cures = frozenset() if settings is None else violated - explorer.violated(settings)
            found += [Help(remedy, cures)] if cures or settings is None else []
    except Interrupted:
        pass
    return tuple(found)


def _newest(
    explorer: Explorer, configuration: Configuration, model: Modelled
) -> Iterator[tuple[Remedy, dict[str, str] | None]]:
    """The newest version of the product that the reader knows, where it makes a difference."""
    if configuration.version is None:
        return
    made = _with(replace(configuration, version=None), {}, explorer.spec, model)
    if made is not None and (others := {name for name, value in made[1].items() if model.settings.get(name) != value}):
        yield Remedy(f"a newer version of {configuration.reader.title} ({', '.join(sorted(others))})"), made[1]


def _remedies(model: Modelled) -> Iterator[tuple[Remedy, dict[str, str] | None]]:
    for remedy in model.mode.remedies:
        yield remedy, {**model.settings, **remedy.set} if remedy.set else None
