"""A configuration: the nodes that files describe, each with the values of its settings, given or assumed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError
from hacheck.audit.entries import HIDDEN, Entry, Found, Unreadable, found_at, leaves
from hacheck.audit.expressions import BadExpression, Value, evaluate
from hacheck.audit.reader import SECONDS, FileKind, Reader, SettingRule
from hacheck.audit.source_files import Recognised

TRUE, FALSE = ("true", "yes", "on", "1", "enabled"), ("false", "no", "off", "0", "disabled")
NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")
RANKS = ("first", "second", "third", "further")
BYTES = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}
REFERENCE = re.compile(r"\$\{[^}:]*:-?([^}]*)\}")
"""A variable with a default, as products and compose files write it."""


class SettingValue(Struct, frozen=True):
    """The value of a setting on a node. `text`: as it stands in the file, or as it is assumed; `line`: `None` where the
    setting is absent; `unknown`: the file has a value that the reader does not know, so that the default counts."""

    name: str
    path: str
    value: Value
    text: str
    file: str
    line: int | None
    source: str = ""
    unknown: str = ""
    changed: bool = False

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def label(self) -> str:
        """The setting in the words of the file: the last part of its path; of an attribute or a short one two parts."""
        parts = [part for part in self.path.split("/") if part not in ("*", "**")]
        return "/".join(parts[-2:]) if len(parts) > 1 and (parts[-1][0] == "@" or len(parts[-1]) < 8) else parts[-1]


class Node(Struct, frozen=True):
    """A node: its name, the kind of its file, its role, and its settings by the reader's names."""

    name: str
    kind: str
    role: str
    file: str
    line: int | None
    values: Mapping[str, SettingValue]
    folder: str = ""


class Passed(Struct, frozen=True):
    """An entry that the reader has no setting for."""

    file: str
    line: int
    path: str
    value: str


class Configuration(Struct, frozen=True):
    """What the files of a system say. `passed`: what no setting of the reader is about; `ignored`: what the reader says
    has no bearing on availability. `version`: of the product, if
    it is known; else the newest that the reader knows counts."""

    reader: Reader
    nodes: tuple[Node, ...]
    passed: tuple[Passed, ...]
    version: str | None = None
    ignored: tuple[Passed, ...] = ()

    def with_values(self, name: str, text: str, nodes: Iterable[str] = ()) -> Configuration:
        """The configuration with a setting at another value, on these nodes, or on all that have it."""
        wanted = set(nodes)
        changed = []
        for node in self.nodes:
            if name in node.values and (not wanted or node.name in wanted):
                before = node.values[name]
                value = parse_value(self.reader.setting[name], text, before.file, before.line)[0]
                made = replace(before, value=value, text=text, changed=True)
                node = replace(node, values={**node.values, name: made})
            changed.append(node)
        return replace(self, nodes=with_roles(self.reader, changed, self.version))


def read_configuration(reader: Reader, found: Sequence[Recognised], version: str | None) -> Configuration:
    """The configuration that files describe. Errors: `Unreadable` for a value that means nothing."""
    main = [one for one in found if not reader.file[one.kind].companion]
    beside = [one for one in found if reader.file[one.kind].companion]
    names = _names(reader, main)
    nodes, used = (
        [],
        {
            id(inner.entry)
            for one in found
            for path in reader.file[one.kind].name
            for inner in found_at(one.entries, path)
        },
    )
    for one, entry, name in names:
        entries = one.entries if entry is None else entry.inner
        mine = [other for other in beside if other.source.folder == one.source.folder]
        parts = [(one, entries), *((other, other.entries) for other in mine or beside)]
        values: dict[str, SettingValue] = {}
        for part, inner in parts:
            for setting, rule in reader.setting.items():
                if reader.file_kind(setting) == part.kind and setting not in values:
                    above = _above(reader.file[one.kind]) if entry is not None and part is one else ""
                    values[setting] = _value(setting, rule, inner, part.source.shown, version, used, above)
        line = None if entry is None else entry.line
        nodes.append(Node(name, one.kind, "", one.source.shown, line, values, one.source.folder))
    roled = with_roles(reader, nodes, version)
    checked = [
        replace(
            node, values={name: value for name, value in node.values.items() if _has(reader.setting[name], node.role)}
        )
        for node in roled
    ]
    passed, ignored = _passed(reader, found, used)
    return Configuration(reader, tuple(checked), tuple(passed), version, tuple(ignored))


def _has(rule: SettingRule, role: str) -> bool:
    return not rule.roles or role in rule.roles


def _above(kind: FileKind) -> str:
    return kind.nodes


# ---- nodes ----


def _names(reader: Reader, found: Sequence[Recognised]) -> list[tuple[Recognised, Entry | None, str]]:
    """Each node: its file, its entry where one file has several, and a name that no other node has."""
    made: list[tuple[Recognised, Entry | None, str]] = []
    for one in found:
        kind = reader.file[one.kind]
        if kind.nodes:
            made += [
                (one, inner.entry, _own_name(kind, inner.entry.inner)) for inner in found_at(one.entries, kind.nodes)
            ]
        else:
            made.append((one, None, one.source.host or _own_name(kind, one.entries)))
    stems = [PurePath(one.source.shown).stem for one, _, _ in made]
    folders = [PurePath(one.source.shown).parent.name for one, _, _ in made]
    by_file = stems if len(set(stems)) == len(stems) and (len(stems) > 1 or not folders[0]) else folders
    own = [name for _, _, name in made]
    if not all(own) or len(set(own)) < len(own):
        own = [name if name and own.count(name) == 1 else by_file[place] for place, name in enumerate(own)]
    kinds = list(reader.file)
    taken: set[str] = set()
    result: dict[int, tuple[Recognised, Entry | None, str]] = {}
    for place in sorted(range(len(made)), key=lambda place: kinds.index(made[place][0].kind)):
        one, entry, _ = made[place]
        name = own[place] or one.kind
        others = (f"{name} ({one.kind})", *(f"{name} ({one.kind} {number})" for number in range(2, len(made) + 2)))
        name = next(text for text in (name, *others) if text not in taken)
        taken.add(name)
        result[place] = one, entry, name
    return [result[place] for place in range(len(made))]


def _own_name(kind: FileKind, entries: tuple[Entry, ...]) -> str:
    for path in kind.name:
        for found in found_at(entries, path):
            if found.entry.value and "$" not in found.entry.value:
                return found.entry.value
    return ""


class OneNode(Struct):
    """What names stand for in an expression about one node."""

    node: Node
    version: str | None = None

    def value(self, name: str) -> Value:
        """The node's value of a setting."""
        found = self.node.values.get(name)
        return None if found is None else found.value

    def is_given(self, name: str) -> bool:
        """Whether its file has the setting."""
        found = self.node.values.get(name)
        return found is not None and (found.line is not None or found.changed)

    def over(self, inner: str, names: frozenset[str], group: str | None) -> list[Value]:
        """The value on this node alone."""
        return [evaluate(inner, self)]

    def count(self, group: str | None) -> int:
        """Whether this node is of the group."""
        return int(group is None or group in (self.node.role, self.node.kind))

    def since(self, version: str) -> bool:
        """Whether the product is this version or later."""
        return is_since(self.version, version)

    def beside(self, group: str, other: str) -> int:
        """Of one node nothing is known about others."""
        return 0


class AllNodes(Struct):
    """What names stand for in an expression about all nodes."""

    configuration: Configuration

    def value(self, name: str) -> Value:
        """The value of a setting on the first node that has it."""
        for node in self.configuration.nodes:
            if name in node.values:
                return node.values[name].value
        return None

    def is_given(self, name: str) -> bool:
        """Whether a file has the setting."""
        return any(OneNode(node).is_given(name) for node in self.configuration.nodes)

    def over(self, inner: str, names: frozenset[str], group: str | None) -> list[Value]:
        """The values on the nodes that have these settings."""
        nodes = [
            node
            for node in self.configuration.nodes
            if (group is None or group in (node.role, node.kind)) and names <= node.values.keys()
        ]
        return [evaluate(inner, OneNode(node, self.configuration.version)) for node in nodes]

    def count(self, group: str | None) -> int:
        """How many nodes there are, of a role or a kind of file."""
        return sum(1 for one in self.configuration.nodes if group is None or group in (one.role, one.kind))

    def since(self, version: str) -> bool:
        """Whether the product is this version or later."""
        return is_since(self.configuration.version, version)

    def beside(self, group: str, other: str) -> int:
        """How many nodes of a role or kind have their files in a folder with those of another."""
        hosts = {node.folder for node in self.configuration.nodes if other in (node.role, node.kind)}
        return sum(1 for node in self.configuration.nodes if group in (node.role, node.kind) and node.folder in hosts)


def with_roles(reader: Reader, nodes: Sequence[Node], version: str | None) -> tuple[Node, ...]:
    """The nodes with the roles that their settings give them."""
    made = []
    for node in nodes:
        text = reader.file[node.kind].role
        role = str(_of_node(reader, node, version, text) or "") if text else ""
        made.append(replace(node, role=role))
    ranked = {name: kind.rank for name, kind in reader.file.items() if kind.rank}
    for name, text in ranked.items():
        values = {node.name: _of_node(reader, node, version, text) for node in made if node.kind == name}
        order = sorted(values, key=lambda one: -_number_or_zero(values[one]))
        roles = {one: RANKS[min(place, len(RANKS) - 1)] for place, one in enumerate(order)}
        made = [replace(node, role=roles.get(node.name, node.role)) for node in made]
    return tuple(made)


def _of_node(reader: Reader, node: Node, version: str | None, text: str) -> Value:
    """The value of a reader's expression about a node. Errors: `InputError` where it means nothing."""
    try:
        return evaluate(text, OneNode(node, version))
    except BadExpression as error:
        raise InputError(f"{reader.path}: file.{node.kind}: {error}", "docs/audit.md says what it may hold") from None


def _number_or_zero(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def is_since(version: str | None, wanted: str) -> bool:
    """Whether a version is a wanted one or later; one that is not known counts as the newest."""
    return version is None or _numbers(version) >= _numbers(wanted)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", version)]


# ---- values ----


def _value(
    name: str, rule: SettingRule, entries: tuple[Entry, ...], file: str, version: str | None, used: set[int], above: str
) -> SettingValue:
    found: Found | None = None
    many: list[Found] = []
    for path in rule.path:
        here = list(found_at(entries, path.removeprefix(f"{above}/") if above else path))
        used.update(id(one.entry) for one in here)
        if rule.kind in ("count", "words"):
            used.update(id(inner) for one in here if one.entry.value is None for inner in one.entry.inner)
        many = many or here
    if rule.kind == "named":
        chosen = {one.entry.value for one in found_at(entries, rule.by)}
        many = [
            one for one in many if any(inner.name == "@name" and inner.value in chosen for inner in one.entry.inner)
        ]
    if many:
        found = many[0]
    default = default_of(rule, version)
    assumed = "" if default is None else _as_text(default)
    if found is None:
        value = False if rule.kind == "present" else default
        return SettingValue(name, rule.path[0], value, assumed, file, None, rule.source)
    entry = found.entry
    where = entry.file or file
    text = entry.value or ""
    if rule.kind == "count":
        number = sum(_many(one.entry) for one in many)
        return SettingValue(name, found.path, number, str(number), where, entry.line)
    if rule.kind == "words":
        words = ", ".join(sorted({word for one in many for word in _words_of(one.entry)}))
        return SettingValue(name, found.path, words, words, where, entry.line)
    if rule.kind == "joined":
        joined = ", ".join(sorted(f"{one.entry.name}={one.entry.value}" for one in many))
        return SettingValue(name, found.path, joined, joined, where, entry.line)
    if rule.kind == "secret":
        return SettingValue(name, found.path, entry.digest or text, HIDDEN, where, entry.line)
    value, unknown = parse_value(rule, text, where, entry.line)
    if unknown:
        return SettingValue(name, found.path, default, assumed, where, entry.line, rule.source, unknown)
    return SettingValue(name, found.path, value, text or "(present)", where, entry.line)


def _many(entry: Entry) -> int:
    """How many items a list has, or how many words there are between commas."""
    return len(entry.inner) if entry.value is None else 1 + entry.value.count(",")


def _words_of(entry: Entry) -> list[str]:
    """The words of an entry's text, or, where it has none, its items, or the names of what is in it."""
    if entry.value is not None:
        return [word for word in re.split(r"[,\s]+", entry.value) if word]
    return [inner.value or "" if inner.name.isdigit() else inner.name for inner in entry.inner]


def default_of(rule: SettingRule, version: str | None) -> bool | int | float | str | None:
    """What is assumed of a setting that is absent."""
    found = rule.default
    for one in rule.defaults:
        if is_since(version, one.since):
            found = one.value
    return found


def _as_text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_value(rule: SettingRule, text: str, file: str, line: int | None) -> tuple[Value, str]:
    """What a text of a file means, and the text again where it is none of the words that the reader knows. Errors:
    `Unreadable` for one that is no number, or neither true nor false."""
    words = REFERENCE.sub(lambda found: found[1], text).strip()
    if rule.values:
        for word, value in rule.values.items():
            if word.lower() == words.lower():
                return value, ""
        if rule.kind == "text":
            return None, words or "(empty)"
    match rule.kind:
        case "present":
            return words.lower() not in FALSE, ""
        case "flag":
            if words.lower() in TRUE or not words:
                return True, ""
            if words.lower() in FALSE:
                return False, ""
            raise Unreadable(file, line, f"{rule.path[0]}: `{words}` is neither true nor false", "write true or false")
        case "text" | "secret" | "words" | "named":
            return words, ""
        case _:
            return _number(rule, words, file, line), ""


def _number(rule: SettingRule, words: str, file: str, line: int | None) -> int | float:
    match = NUMBER.fullmatch(words)
    unit = "" if match is None else match[2].lower()
    if match is None or (rule.kind == "number" and unit):
        raise Unreadable(
            file, line, f"{rule.path[0]}: `{words}` is no number", "write a number, as the product wants it"
        )
    amount = float(match[1])
    if rule.kind == "duration":
        if unit not in SECONDS:
            raise Unreadable(file, line, f"{rule.path[0]}: the unit of `{words}` is not known", "write ms, s, min or h")
        amount = amount * SECONDS[unit or rule.unit] / SECONDS[rule.to]
    if rule.kind == "size":
        amount *= BYTES.get(unit[:1], 1)
    amount = round(amount, 6)
    return int(amount) if amount == int(amount) else amount


# ---- what no setting is about ----


def _passed(reader: Reader, found: Sequence[Recognised], used: set[int]) -> tuple[list[Passed], list[Passed]]:
    """What no setting is about, and what the reader says has no bearing."""
    passed: list[Passed] = []
    ignored: list[Passed] = []
    for one in found:
        without = {
            id(leaf.entry)
            for path in reader.ignored
            for inner in found_at(one.entries, path)
            for leaf in (inner, *leaves((inner.entry,)))
        }
        for leaf in leaves(one.entries):
            known = {id(leaf.entry), *(id(word) for word in leaf.entry.inner)}
            if not known & used:
                entry = Passed(leaf.entry.file or one.source.shown, leaf.entry.line, leaf.path, leaf.entry.value or "")
                (ignored if known & without else passed).append(entry)
    return passed, ignored
