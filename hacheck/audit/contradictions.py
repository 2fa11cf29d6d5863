"""Settings that do not fit together: of two nodes, or of one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hacheck.api.errors import InputError
from hacheck.audit.configuration import AllNodes, Configuration, Node, OneNode, SettingValue
from hacheck.audit.expressions import BadExpression, evaluate, names_in
from hacheck.audit.reader import Mode, Rule


class Contradiction(Struct, frozen=True):
    """What does not fit together: the rule, and the places, each with its node."""

    rule: Rule
    places: tuple[tuple[str, SettingValue], ...]


def contradictions(configuration: Configuration, mode: Mode) -> list[Contradiction]:
    """Every rule of the reader that the files break. Errors: `InputError` where a rule means nothing."""
    found: list[Contradiction] = []
    for rule in configuration.reader.rule:
        if rule.modes and mode.name not in rule.modes:
            continue
        try:
            found += _broken(configuration, rule)
        except BadExpression as error:
            raise InputError(f"{configuration.reader.path}: rule `{rule.says}`: {error}") from None
    return found


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
        yield Contradiction(rule, tuple(_places(configuration.nodes, shown)))


def _places(nodes: tuple[Node, ...], names: frozenset[str]) -> Iterator[tuple[str, SettingValue]]:
    for name in sorted(names):
        for node in nodes:
            if name in node.values:
                yield node.name, node.values[name]
