"""The smallest change of the product's settings under which a violation cannot happen: one setting, then two, then the
cures of all violations together."""

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
    """What faults of one kind alone lead to, and the single settings that prevent some of it, each with what it brings
    when all kinds of faults may happen."""

    fault: str
    violated: frozenset[str]
    changes: tuple[Change, ...]


class Help(Struct, frozen=True):
    """What helps beyond the settings, and, where the spec was explored so, what it prevents."""

    remedy: Remedy
    cures: frozenset[str]


class Search(Struct, frozen=True):
    """What the search for changes found. `tried`: how many; `complete`: whether all with one and two settings were, or
    enough of them help; `by_finding`: for each violation that some change prevents without other harm the smallest such
    changes; `by_fault`: what each kind of fault alone leads to, where no single setting prevents everything."""

    changes: tuple[Change, ...]
    tried: int
    complete: bool
    remedies: tuple[Help, ...] = ()
    by_fault: tuple[OneKind, ...] = ()
    by_finding: dict[str, tuple[Change, ...]] = {}


class _Candidate(Struct, frozen=True):
    edit: Edit
    settings: dict[str, str]


def search_changes(
    explorers: tuple[Explorer, Explorer], configuration: Configuration, model: Modelled, violated: frozenset[str]
) -> Search:
    """Looks for changes. Those that cure everything come first, then those that cure most. `explorers`: one of what is
    violated alone, which is quick and says whether a change helps, and one of all properties, for what helps."""
    trials = _Trials(explorers, configuration, model, violated)
    singles = list(_singles(configuration, explorers[1].spec, model))
    kinds: list[OneKind] = []
    try:
        for one in singles:
            trials.single(one)
        if not trials.helping():
            kinds += _by_fault(explorers, singles, model, violated)
            trials.pairs(singles)
        if not trials.helping():
            trials.together()
    except Interrupted:
        return _search(trials, kinds, complete=False)
    return _search(trials, kinds, complete=True)


def _search(trials: _Trials, kinds: list[OneKind], *, complete: bool) -> Search:
    best = _best(trials.found, trials.violated)
    return Search(best, trials.tried, complete, (), tuple(kinds), _by_finding(trials.found, trials.violated))


def _by_finding(found: list[Change], violated: frozenset[str]) -> dict[str, tuple[Change, ...]]:
    made = {}
    for name in violated:
        clean = [one for one in found if name in one.cures and not one.brings]
        least = min((len(one.edits) for one in clean), default=0)
        if clean:
            made[name] = tuple(one for one in clean if len(one.edits) == least)
    return made


class _Trials:
    """The changes that are tried, and those that prevent something."""

    def __init__(
        self,
        explorers: tuple[Explorer, Explorer],
        configuration: Configuration,
        model: Modelled,
        violated: frozenset[str],
    ) -> None:
        self.explorers, self.configuration, self.model, self.violated = explorers, configuration, model, violated
        self.found: list[Change] = []
        self.tried = 0
        self._seen: set[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = set()

    def single(self, one: _Candidate) -> None:
        """Tries one setting, where it makes a difference."""
        if one.settings != self.model.settings:
            self._try((one.edit,), one.settings)

    def pairs(self, singles: list[_Candidate]) -> None:
        """Tries two settings at a time, those first that each prevent a part and together perhaps all; ends where
        enough of them help."""
        cures = {(change.edits[0].name, change.edits[0].value): change.cures for change in self.found}
        parts = [cures.get((one.edit.name, one.edit.value), frozenset()) for one in singles]
        order = sorted(combinations(range(len(singles)), 2), key=lambda two: -len(parts[two[0]] | parts[two[1]]))
        for left, right in ((singles[left], singles[right]) for left, right in order):
            settings = self._settings((left.edit, right.edit))
            if settings is None or settings in (left.settings, right.settings):
                continue
            self._try((left.edit, right.edit), settings)
            if len(self.helping()) >= HELPING_MAX:
                return

    def together(self) -> None:
        """Tries the cures of all violations at once: of each the one that brings the least."""
        edits: dict[str, Edit] = {}
        for name in sorted(self.violated):
            cures = sorted((one for one in self.found if name in one.cures), key=_by_harm)
            if not cures:
                return
            edits |= {edit.name: edit for edit in cures[0].edits if edit.name not in edits}
        chosen = tuple(edits.values())
        settings = self._settings(chosen) if len(chosen) > 2 else None
        if settings is not None:
            self._try(chosen, settings)

    def helping(self) -> list[Change]:
        """The changes that prevent everything, without other harm."""
        return [one for one in self.found if one.cures == self.violated and not one.brings]

    def _settings(self, edits: tuple[Edit, ...]) -> dict[str, str] | None:
        """What the spec is explored with then; `None` where that is nothing new."""
        if len({edit.name for edit in edits}) < len(edits):
            return None
        made = _with(self.configuration, {one.name: one.value for one in edits}, self.explorers[1].spec, self.model)
        return None if made is None or made == self.model.settings else made

    def _try(self, edits: tuple[Edit, ...], settings: Mapping[str, str]) -> None:
        narrow, whole = self.explorers
        key = tuple(one.name for one in edits), tuple(sorted(settings.items()))
        if key in self._seen:
            return  # another value of the same setting, nearer to what it is now, amounts to the same
        self._seen.add(key)
        self.tried += 1
        if self.violated - narrow.violated(settings):
            after = whole.violated(settings)
            self.found.append(Change(edits, self.violated - after, after - self.violated))


def _by_harm(one: Change) -> tuple[int, int, int]:
    return len(one.brings), len(one.edits), -len(one.cures)


def _by_fault(
    explorers: tuple[Explorer, Explorer], singles: list[_Candidate], model: Modelled, violated: frozenset[str]
) -> Iterator[OneKind]:
    """What each kind of fault alone leads to, where there are several."""
    narrow, whole = explorers
    kinds = [name for name, number in model.scope.items() if number and name != model.mode.total]
    if len(kinds) < 2:
        return
    for kind in kinds:
        others = {name: "0" for name in kinds if name != kind}
        alone = narrow.violated({**model.settings, **others})
        if not alone:
            continue
        changes: dict[tuple[str, frozenset[str], frozenset[str]], Change] = {}
        for one in (one for one in singles if one.settings != model.settings):
            if cures := alone - narrow.violated({**one.settings, **others}):
                brings = whole.violated(one.settings) - violated
                changes.setdefault((one.edit.name, cures, brings), Change((one.edit,), cures, brings))
        best = sorted(changes.values(), key=lambda one: (len(one.brings), -len(one.cures)))
        yield OneKind(kind, alone, tuple(best))


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


def _singles(configuration: Configuration, spec: Spec, model: Modelled) -> Iterator[_Candidate]:
    """Every other value of each setting that the spec's settings are made of. One that makes no difference alone may
    make one together with another."""
    used = sorted({name for names in model.made_of.values() for name in names} | names_in(model.mode.when))
    for name in used:
        rule = configuration.reader.setting[name]
        holders = [node for node in configuration.nodes if name in node.values]
        if rule.fixed or not holders:
            continue
        for value in _alternatives(rule, {node.values[name].text for node in holders}):
            made = _with(configuration, {name: value}, spec, model)
            if made is None:
                continue
            changed = [node for node in holders if node.values[name].text != value]
            edit = Edit(
                name,
                value,
                tuple(node.name for node in changed),
                tuple((node.values[name].place, node.values[name].text) for node in changed),
                changed[0].values[name].label,
            )
            yield _Candidate(edit, made)


def _alternatives(rule: SettingRule, now: set[str]) -> list[str]:
    words = list(rule.tries) or list(rule.values)
    if not words and rule.kind in ("flag", "present"):
        words = ["true", "false"]
    others = [word for word in words if {word} != now]
    return sorted(others, key=lambda word: _distance(word, now))


def _distance(word: str, now: set[str]) -> float:
    """How far a number is from what it is now; nothing of other values, which keep their order."""
    try:
        return min(abs(float(word) - float(one)) for one in now)
    except ValueError:
        return 0.0


def _with(
    configuration: Configuration, values: Mapping[str, str], spec: Spec, model: Modelled
) -> dict[str, str] | None:
    """The settings of the spec with other values of the product's, also where another mode would have another one;
    `None` where it is of no mode then."""
    for name, value in values.items():
        configuration = configuration.with_values(name, value)
    try:
        mode_of(configuration)
        faults = {name: number for name, number in model.scope.items() if name in model.mode.scope}
        return modelled(configuration, spec, model.mode, faults).settings
    except InputError:
        return None


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
    if made is not None and (others := {name for name, value in made.items() if model.settings.get(name) != value}):
        yield Remedy(f"a newer version of {configuration.reader.title} ({', '.join(sorted(others))})"), made


def _remedies(model: Modelled) -> Iterator[tuple[Remedy, dict[str, str] | None]]:
    for remedy in model.mode.remedies:
        yield remedy, {**model.settings, **remedy.set} if remedy.set else None
