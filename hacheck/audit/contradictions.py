"""Settings that do not fit together: of two nodes, or of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from hacheck.api.errors import InputError
from hacheck.audit.configuration import AllNodes, Configuration, Node, OneNode, SettingValue
from hacheck.audit.expressions import BadExpression, evaluate, names_in
from hacheck.audit.misspelt import Misspelt, misspelt
from hacheck.audit.reader import Mode, Rule


class Contradiction(Struct, frozen=True):
    """What does not fit together: the rule, and the places, each with its node."""

    rule: Rule
    places: tuple[tuple[str, SettingValue], ...]


def contradictions(configuration: Configuration, mode: Mode) -> list[Contradiction]:
    """Every rule of the reader that the files break. Errors: `InputError` where a rule means nothing."""
    found = [_unknown(configuration, one) for one in misspelt(configuration)]
    for rule in configuration.reader.rule:
        if rule.modes and mode.name not in rule.modes:
            continue
        try:
            found += _broken(configuration, rule)
        except BadExpression as error:
            raise InputError(f"{configuration.reader.path}: rule `{rule.says}`: {error}") from None
    return found


def _unknown(configuration: Configuration, one: Misspelt) -> Contradiction:
    """A name that is nearly one that the reader knows: what it was to say is not said, and the default counts."""
    says = (
        f"`{one.written}` is nothing that is known of {configuration.reader.title}: did you mean `{one.wanted}`? What "
        "counts is the default of that setting"
    )
    places = tuple(
        (node, SettingValue(one.setting, entry.path, entry.value, entry.value, entry.file, entry.line))
        for node, entry in one.places
    )
    return Contradiction(Rule("False", says, hint=f"write `{one.wanted}`"), places)


def _broken(configuration: Configuration, rule: Rule) -> Iterator[Contradiction]:
    names = names_in(rule.require)
    shown = names | set(rule.settings)
    if rule.each:
        for node in configuration.nodes:
            scope = OneNode(node, configuration.version)
            if names <= node.values.keys() and evaluate(rule.when, scope) and not evaluate(rule.require, scope):
                yield Contradiction(rule, tuple(_places((node,), shown)))
        return
    scope_of_all = AllNodes(configuration)
    if evaluate(rule.when, scope_of_all) and not evaluate(rule.require, scope_of_all):
        yield Contradiction(rule, _shown_places(rule, configuration.nodes))


def _places(nodes: tuple[Node, ...], names: frozenset[str] | set[str]) -> Iterator[tuple[str, SettingValue]]:
    for name in sorted(names):
        for node in nodes:
            if name in node.values:
                yield node.name, node.values[name]


SAME, DISTINCT = re.compile(r"\s*same\((\w+)\)\s*"), re.compile(r"\s*distinct\((\w+)\)\s*")


def _shown_places(rule: Rule, nodes: tuple[Node, ...]) -> tuple[tuple[str, SettingValue], ...]:
    """The places that show what is wrong: of values that must be the same the first of the most common one and all
    others, of values that must differ those that do not; else all."""
    every = tuple(_places(nodes, names_in(rule.require) | set(rule.settings)))
    counts = Counter(value.value for _, value in every)
    if SAME.fullmatch(rule.require):
        common = counts.most_common(1)[0][0]
        first = next(one for one in every if one[1].value == common)
        return tuple(one for one in every if one is first or one[1].value != common)
    if DISTINCT.fullmatch(rule.require):
        return tuple(one for one in every if one[1].value is not None and counts[one[1].value] > 1)
    return every
