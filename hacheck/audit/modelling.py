"""What a configuration amounts to: the mode of the product, and each setting of its spec, with what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError, require_known
from hacheck.audit.configuration import AllNodes, Configuration, SettingValue, is_since
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
    """The mode of the product that the files choose. Errors: `InputError` where none fits, where the reader refuses
    such files, or where the files of a role are missing that others need."""
    reader, scope = configuration.reader, AllNodes(configuration)
    _refuse(configuration)
    for mode in reader.mode:
        try:
            if evaluate(mode.when, scope):
                _require_roles(configuration, mode)
                return replace(mode, remedies=tuple(one for one in mode.remedies if evaluate(one.when, scope)))
        except BadExpression as error:
            raise InputError(f"{reader.path}: mode {mode.name}: when: {error}") from None
    needs = "; ".join(dict.fromkeys(mode.needs for mode in reader.mode if mode.needs))
    raise InputError(
        f"{_nodes_found(configuration)}, which is nothing that can be audited",
        needs or "name the files of all nodes",
    )


def _nodes_found(configuration: Configuration) -> str:
    nodes, names = plural(len(configuration.nodes), "node"), ", ".join(node.name for node in configuration.nodes)
    return f"{configuration.reader.title}: {nodes} found ({names})"


def _refuse(configuration: Configuration) -> None:
    """Errors: `InputError` for files that the reader says it cannot read, with the places."""
    for one in configuration.reader.refusal:
        try:
            if not evaluate(one.when, AllNodes(configuration)):
                continue
        except BadExpression as error:
            raise InputError(f"{configuration.reader.path}: refusal `{one.says}`: {error}") from None
        values = settings_behind(configuration, tuple(sorted(names_in(one.when))))
        places = "; ".join(f"{value.label} = {value.text}: {value.place}" for value in values if value.line is not None)
        raise InputError(f"{configuration.reader.title}: {one.says} ({places})", one.hint or None)


def _require_roles(configuration: Configuration, mode: Mode) -> None:
    """Errors: `InputError` where the spec's first nodes are of a role that no file has: others would be cast for
    them."""
    for groups in mode.nodes.values():
        lacking = ""
        for group in (one for one in groups if one[0] != "=" and one not in configuration.reader.file):
            there = _of_group(configuration, group)
            if there and lacking:
                raise InputError(
                    f"{_nodes_found(configuration)}, and none is a {lacking}, which a {group.partition('#')[0]} needs",
                    f"name the files of all nodes: that of the {lacking} is missing",
                )
            lacking = lacking or ("" if there else group.partition("#")[0])


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
    notes += _newer_than_known(configuration)
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


def _newer_than_known(configuration: Configuration) -> list[str]:
    """A note where the version is newer than the last that the defaults are right for."""
    reader, version = configuration.reader, configuration.version
    if version is None or reader.versions is None or not is_since(version, f"{reader.versions[1]}.99999"):
        return []
    return [
        f"{reader.title} {version} is newer than {reader.versions[1]}, the last one whose defaults the reader knows"
    ]


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
