"""A spec as tests use it: its system under one check's settings, the actions that are driven, what follows it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hacheck import shipped
from hacheck.checker.verify import default_check
from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from hacheck.model.language.declarations import ActionDeclaration, FaultDeclaration
from hacheck.model.language.diagnostics import Diagnostic
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.model.observing.record_layout import ObservingError
from hacheck.testing.adapter import Adapter, methods
from hacheck.testing.driven_system import DONE, NotDriven, as_method, driven, method_names, methods_of, words
from hacheck.testing.offered_actions import Offers
from hacheck.testing.scenarios import Scenario, named
from hacheck.testing.state_tracker import Tracker
from hacheck.testing.stimuli import Step

_MODELS: dict[type[Adapter], Model] = {}
_BY_KIND: dict[tuple[object, ...], Model] = {}  # by what kinds of adapters say

REPAIRS = {"restart": "crash", "resume": "pause", "heal": "cut"}
"""The faults that repairs end."""

FAULT_LINES = {
    "crash": "crash KIND",
    "wipe": "wipe KIND",
    "blackout": "blackout KIND",
    "pause": "pause KIND",
    "cut": "cut KIND - KIND",
    "isolate": "isolate KIND",
}
"""How faults that a test can drive are declared."""


NEEDED = {
    "start": "starts the system anew, as the model begins",
    "events": 'returns what it has shown since the last call: `[Event("Server-1", "started")]`, or `[]`',
}
"""The methods that every adapter has, and what each does."""


class BadModel(Exception):
    """A spec cannot be used to test something; says which, why, and what to do."""

    __module__ = "hacheck.testing"  # where people find it


class Model(Struct, frozen=True):
    """A model that a kind of system under test is compared with. `actions`: by method of the adapter, those that it
    drives; `scenarios`: what runs of it are to come to; `violable`: the invariants looked at that its check expects to
    be violated."""

    system: System
    actions: Mapping[str, tuple[int, ...]]
    tracker: Tracker
    offers: Offers
    scenarios: tuple[Scenario, ...] = ()
    violable: tuple[str, ...] = ()

    def names_role(self, step: Step) -> bool:
        """Whether a step of the model's actions is about somebody that the model does not name: a role."""
        actions = [self.system.actions[index] for index in self.actions.get(step.method, ())]
        kinds = {name: kind for action in actions for name, kind in action.parameters}
        return any(
            isinstance(value, str) and name in kinds and value not in words(kinds[name])
            for name, value in step.arguments
        )


def model_for(adapter: type[Adapter]) -> Model:
    """The model that runs of an adapter are compared with: what its `spec`, `check`, `settings` and so on say. Made
    once for all kinds of adapters that say the same. Errors: `BadModel`."""
    found = _MODELS.get(adapter)
    if found is None:
        said = _said(adapter)
        found = _BY_KIND.get(said)
        if found is None:
            found = _BY_KIND[said] = _made(adapter)
        _take_their_arguments(adapter, found)
        _MODELS[adapter] = found
    return found


def _said(adapter: type[Adapter]) -> tuple[object, ...]:
    """All that a model depends on."""
    given = (sorted(adapter.settings.items()), sorted(adapter.called.items()), adapter.invariants, adapter.capacity)
    wanted = (adapter.drives, adapter.besides, sorted(adapter.scenarios.items()), sorted(adapter.aims.items()))
    return (place_of(adapter.spec, adapter), adapter.check, repr((*given, *wanted)), methods(adapter))


def is_fault(model: Model, method: str) -> bool:
    """Whether a method makes something go wrong: also one that the model does not see."""
    return method not in model.actions or any(
        model.system.actions[index].kind == "fault" for index in model.actions[method]
    )


def _made(adapter: type[Adapter]) -> Model:
    specification = specification_of(place_of(adapter.spec, adapter))
    check = _check(specification, adapter.check)
    settings = {name: _word(value) for name, value in adapter.settings.items()}
    instance = specification.instantiate(settings, check, logs=True)
    if instance.system is None:
        raise BadModel(listed(instance.diagnostics))
    chosen = methods_of(instance.system, driving_methods(adapter, specification, instance.system))
    if not has_lines(instance.system) and not chosen:
        raise BadModel(f"{specification.path} says of no line what it stands for: write `log` or `observe`")
    names = _checked_invariants(specification, instance.system, check, adapter.invariants)
    scenarios = tuple(Scenario(name, tuple(parts)) for name, parts in adapter.scenarios.items())
    reachables = {one.name for one in instance.system.properties if one.kind == "reachable"}
    conditions = sorted(reachables & named(scenarios))
    try:
        system = driven(logged(instance.system), chosen)
        tracker = Tracker(system, names, adapter.called, adapter.capacity, conditions)
    except (NotDriven, ObservingError) as error:
        raise BadModel(f"{specification.path}: {error}") from None
    actions: dict[str, tuple[int, ...]] = {}
    for index, name in chosen.items():
        actions[name] = (*actions.get(name, ()), index)
    _check_scenarios(scenarios, adapter, tracker, {*actions, *reachables})
    expected = next((one.expect_violated for one in specification.checks if one.name == check), ())
    violable = tuple(name for name in names if name in expected)
    return Model(system, actions, tracker, Offers(tracker, chosen), scenarios, violable)


def _check_scenarios(scenarios: Iterable[Scenario], adapter: type[Adapter], tracker: Tracker, names: set[str]) -> None:
    """Errors: `BadModel`, where a scenario is empty or mentions what there is not. `names`: of actions, faults and
    `reachable`s."""
    for name in sorted(adapter.aims.keys() - {one.name for one in scenarios}):
        raise BadModel(f"{adapter.__name__}.aims: there is no scenario `{name}`")
    lines = {event.name for event in tracker.compiled.shape.events if not event.name.startswith(DONE)}
    known = {*names, *lines, *(step.method for step in adapter.besides)}
    for one in scenarios:
        if not one.parts:
            raise BadModel(f"scenario {one.name} of {adapter.__name__} is empty")
        for name in sorted(named([one]) - known):
            raise BadModel(
                f"scenario {one.name} of {adapter.__name__}: `{name}` is no line, action, fault or `reachable`; there "
                f"are {', '.join(sorted(known))}"
            )


def driving_methods(adapter: type[Adapter], specification: Specification, system: System) -> frozenset[str]:
    """The methods of an adapter that drive actions: all public ones of its own but those whose actions or faults the
    settings switch off. Errors: `BadModel`."""
    given: object = adapter.drives
    if isinstance(given, str):
        raise BadModel(f"{adapter.__name__}.drives is one word; write a tuple of names: ({adapter.drives!r},)")
    found, possible = methods(adapter), method_names(system)
    unknown = found - set(possible)
    switched_off = unknown & _names_under_any_settings(specification) if unknown else frozenset()
    for name in sorted(unknown - switched_off):
        raise BadModel(
            f"{adapter.__name__}.{name} is the name of no action of {specification.path}, which has "
            f"{', '.join(sorted(possible))}; {_remedy(name)}begin the names of methods of your own with `_`"
        )
    return found - switched_off


def _remedy(name: str) -> str:
    """What to write into the spec, where a method has the name of a fault or a repair that it does not declare."""
    word = name.partition("_")[0]
    fault = REPAIRS.get(word, word)
    if fault in FAULT_LINES:
        return f"if the spec is to have this fault, write `faults {{ {FAULT_LINES[fault]} up to 1 }}`; "
    return ""


def require_methods(adapter: type[Adapter]) -> None:
    """Errors: `BadModel` for an adapter without a method that every one needs; `wait` only where time is to pass."""
    for name, does in NEEDED.items():
        if getattr(adapter, name) is getattr(Adapter, name):
            raise BadModel(f"{adapter.__name__} has no `{name}`: write `def {name}(self): …`, which {does}")
    if adapter.waits and adapter.wait is Adapter.wait:
        does = "lets so much time pass; or say `waits = ()`, if time passes by itself"
        raise BadModel(f"{adapter.__name__} has no `wait`: write `def wait(self, seconds): …`, which {does}")


def _take_their_arguments(adapter: type[Adapter], model: Model) -> None:
    """Methods get their arguments by name, and hypothesis would look for the shortest run to a wrong one: that is said
    before the first run. Errors: `BadModel`."""
    driven_ones = ((name, model.system.actions[index]) for name, indices in model.actions.items() for index in indices)
    for name, action in driven_ones:
        if name in adapter.drives:
            continue
        names = [parameter for parameter, _ in action.parameters]
        written = inspect.getattr_static(adapter, name)
        own = () if isinstance(written, staticmethod | classmethod) else (None,)
        try:
            inspect.signature(getattr(adapter, name)).bind(*own, **dict.fromkeys(names))
        except ValueError:
            continue  # of no Python function: what it takes is not known
        except TypeError as error:
            raise BadModel(
                f"{adapter.__name__}.{name}: {error}; the arguments come by name, as `{action.name}` "
                f"of the spec calls them: write `def {name}({', '.join(('self', *names))})`"
            ) from None


def _names_under_any_settings(specification: Specification) -> frozenset[str]:
    """The names of methods for what the spec declares, whether its settings allow it or not: faults with a budget of
    none, actions whose guard a switch makes false."""
    allowed = tuple(
        replace(one, budget=None, when=None) if isinstance(one, FaultDeclaration) else one
        for one in specification.declarations
    )
    whole = replace(specification, declarations=allowed).instantiate(logs=True)
    faults = () if whole.system is None else method_names(whole.system)
    actions = (as_method(one.name.text) for one in allowed if isinstance(one, ActionDeclaration))
    return frozenset((*faults, *actions))


def _check(specification: Specification, given: str | None) -> str:
    """The check whose settings count. Errors: `BadModel`."""
    names = [one.name for one in specification.checks]
    if given is not None and given not in names:
        raise BadModel(f"{specification.path} has no check `{given}`; it has {', '.join(names) or 'none'}")
    return given or default_check(specification)


def folder_of(adapter: type[Adapter]) -> Path:
    """The folder of an adapter's file; the current one where it has none."""
    try:
        return Path(inspect.getfile(adapter)).parent
    except (OSError, TypeError):  # it was made by hand
        return Path()


def place_of(spec: str | Path, adapter: type[Adapter]) -> Path:
    """The file of a spec: beside the adapter's own, from the current folder, or a shipped one. Errors: `BadModel`."""
    if not spec:
        raise BadModel(f"{adapter.__name__} does not say what it is compared with: give it a `spec`")
    beside = folder_of(adapter) / spec
    if beside.is_file():
        return beside
    try:
        return shipped.find(str(spec))
    except shipped.UnknownSpec as error:
        raise BadModel(str(error)) from None


def specification_of(path: Path) -> Specification:
    """What a file says. Errors: `BadModel`, with all that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadModel(f"{path}: cannot be read: {error}") from None
    loaded = load(text, str(path), _library)
    if loaded.specification is None:
        raise BadModel(listed(loaded.diagnostics))
    return loaded.specification


def _library(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def listed(found: Iterable[Diagnostic]) -> str:
    """What is wrong, a line each."""
    errors = [one for one in found if one.severity == "error"]
    return "\n".join(
        f"{one.span.path}:{one.span.line}: {one.code}: {one.message}{f'; {one.hint}' if one.hint else ''}"
        for one in errors
    )


def _word(value: object) -> str:
    """A setting as the command line has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def kept_invariants(specification: Specification, system: System, check: str | None) -> tuple[str, ...]:
    """The invariants that hold under the settings of a check: those that it asks about, and expects to hold."""
    known = tuple(one.name for one in system.properties if one.kind == "invariant")
    named = next((one for one in specification.checks if one.name == check), None)
    if named is None:
        return known
    return tuple(name for name in known if name in (named.only or known) and name not in named.expect_violated)


def _checked_invariants(
    specification: Specification, system: System, check: str | None, given: Iterable[str] | None
) -> tuple[str, ...]:
    """The invariants to ask about. Errors: `BadModel`."""
    if given is None:
        return kept_invariants(specification, system, check)
    known = [one.name for one in system.properties if one.kind == "invariant"]
    names = tuple(given)
    for name in names:
        if name not in known:
            raise BadModel(f"{specification.path} has no invariant `{name}`; it has {', '.join(known) or 'none'}")
    return names
