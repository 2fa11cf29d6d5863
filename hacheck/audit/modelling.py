"""What a configuration amounts to: the mode of the product, and each setting of its spec, with what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError, require_known
from hacheck.audit.configuration import AllNodes, Configuration, SettingValue
from hacheck.audit.expressions import BadExpression, Value, evaluate, names_in
from hacheck.audit.reader import Mode
from hacheck.checker.timing.time_constants import interval_of
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.api.specification import Spec


class Modelled(Struct, frozen=True):
    """A configuration as a spec under settings. `made_of`: for each setting of the spec the product's settings that it
    was made of; `scope`: faults and how many; `notes`: what else the user has to know, a sentence each; `by_version`:
    settings of the spec that an older version of the product has otherwise."""

    mode: Mode
    settings: dict[str, str]
    scope: dict[str, int]
    made_of: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    by_version: tuple[str, ...] = ()


def mode_of(configuration: Configuration) -> Mode:
    """The mode of the product that the files choose. Errors: `InputError` where none fits."""
    reader, scope = configuration.reader, AllNodes(configuration)
    for mode in reader.mode:
        try:
            if evaluate(mode.when, scope):
                helping = tuple(one for one in mode.remedies if evaluate(one.when, scope))
                return replace(mode, remedies=helping)
        except BadExpression as error:
            raise InputError(f"{reader.path}: mode {mode.name}: when: {error}") from None
    nodes, names = plural(len(configuration.nodes), "node"), ", ".join(node.name for node in configuration.nodes)
    needs = "; ".join(dict.fromkeys(mode.needs for mode in reader.mode if mode.needs))
    raise InputError(
        f"{reader.title}: {nodes} found ({names}), which is nothing that can be audited",
        f"{needs or 'name the files of all nodes'}; {reader.path} says when each mode counts",
    )


def modelled(configuration: Configuration, spec: Spec, mode: Mode, faults: Mapping[str, int]) -> Modelled:
    """The settings of the spec. `faults`: how many of each kind, where not as the reader says. Errors: `InputError` for
    a fault that the reader does not name, or more of it than the spec takes."""
    if faults and not mode.scope:
        raise InputError(
            f"--faults {next(iter(faults))}: the spec {spec.name} has fixed numbers of faults", "leave it out"
        )
    require_known("fault", faults, mode.scope)
    scope = {**mode.scope, **faults}
    for name, number in faults.items():
        interval = interval_of(spec.specification, name)
        if interval is not None and not interval[0] <= number <= interval[1]:
            raise InputError(f"--faults {name}={number}: the spec takes {interval[0]} to {interval[1]}")
    values, notes = _settings(configuration, spec, mode)
    older: dict[str, str] = {}
    if configuration.version is None and configuration.reader.versions is not None:
        first = Configuration(
            configuration.reader, configuration.nodes, configuration.passed, configuration.reader.versions[0]
        )
        older, _ = _settings(first, spec, mode)
    return Modelled(
        mode,
        {**mode.fixed, **values, **{name: str(number) for name, number in scope.items()}},
        scope,
        {name: tuple(sorted(names_in(text))) for name, text in mode.set.items()},
        tuple(notes),
        tuple(name for name, value in older.items() if values.get(name) != value),
    )


def _settings(configuration: Configuration, spec: Spec, mode: Mode) -> tuple[dict[str, str], list[str]]:
    known = {one.name for one in spec.settings}
    made, notes = {}, []
    for name, text in mode.set.items():
        if name not in known:
            raise InputError(f"{configuration.reader.path}: mode {mode.name}: {spec.name} has no setting `{name}`")
        try:
            value = evaluate(text, AllNodes(configuration))
        except BadExpression as error:
            raise InputError(f"{configuration.reader.path}: mode {mode.name}: set.{name}: {error}") from None
        if value is None:
            continue  # nothing in the files or among the defaults says so: the spec's own default counts
        made[name], note = _as_setting(spec, name, value)
        notes += [note] if note else []
    return made, notes


def _as_setting(spec: Spec, name: str, value: Value) -> tuple[str, str]:
    """A value as the spec writes it, and a note where the spec does not reach so far."""
    if isinstance(value, bool):
        return "on" if value else "off", ""
    interval = interval_of(spec.specification, name)
    if interval is None or isinstance(value, str) or value is None:
        return str(value), ""
    number = round(value)
    within = max(interval[0], min(interval[1], number))
    note = f"{name} is {number}, and explored as {within}: the spec has {interval[0]} to {interval[1]}"
    return str(within), note if within != number else ""


def settings_behind(configuration: Configuration, names: tuple[str, ...]) -> list[SettingValue]:
    """The values, on all nodes, of some of the product's settings."""
    return [node.values[name] for name in names for node in configuration.nodes if name in node.values]


def node_names(configuration: Configuration, mode: Mode) -> dict[str, str]:
    """What the nodes of the spec are called in the files: `Server 1` is `broker-a`."""
    found: dict[str, str] = {}
    for kind, groups in mode.nodes.items():
        number = 1
        for group in groups:
            if group.startswith("="):
                found[f"{kind} {number}"] = group[1:]
                number += 1
                continue
            for name in _of_group(configuration, group):
                found[f"{kind} {number}"] = name
                number += 1
    return found


def _of_group(configuration: Configuration, group: str) -> list[str]:
    """The nodes of a role or a kind of file; `primary#1` is the first of them, `primary#2+` are all from the second."""
    group, _, part = group.partition("#")
    names = [node.name for node in configuration.nodes if group in ("*", node.role, node.kind)]
    if not part:
        return names
    first = int(part.rstrip("+")) - 1
    return names[first:] if part.endswith("+") else names[first : first + 1]
