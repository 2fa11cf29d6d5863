"""Every rule of a shipped spec says where it comes from, in its spec or in `docs/sources/rules.toml`.

Rules are actions, receipts, services, notices, restarts, faults and promised properties: `hacheck.cli.document.rules`
says what counts as one. `test_sources.py` goes the other way: from statements to what carries them.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hacheck import shipped
from hacheck.cli.document.rules import Rule, rules_of, untraced
from tests.seeds.driving import specification

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "sources"


@cache
def table(path: Path) -> dict[str, Any]:
    """A file of `docs/sources/`."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def elsewhere() -> list[dict[str, str]]:
    """The rules of which `rules.toml` says where they come from."""
    found: list[dict[str, str]] = table(SOURCES / "rules.toml")["rule"]
    return found


def of_spec(name: str) -> set[str]:
    """The names of the rules of a spec and its libraries of which `rules.toml` speaks."""
    rules = rules_of(specification(name))
    return {
        rule.name
        for rule in rules
        for entry in elsewhere()
        if entry["name"] == rule.name and is_in(rule, entry["spec"])
    }


def is_in(rule: Rule, spec: str) -> bool:
    """Whether a rule stands in a spec, or in a library called `lib/NAME`."""
    return Path(rule.span.path).resolve() == (ROOT / "spec" / f"{spec}.ha").resolve()


@pytest.mark.parametrize("name", shipped.names())
def test_every_rule_has_a_source(name: str) -> None:
    missing = untraced(specification(name), frozenset(of_spec(name)))
    assert [f"{rule.span.path}:{rule.span.line}: {rule.kind} {rule.name}" for rule in missing] == []


def test_no_source_is_given_twice_or_for_a_rule_that_is_not_there() -> None:
    silent = {(entry["spec"], entry["name"]): 0 for entry in elsewhere()}
    for name in shipped.names():
        for rule in untraced(specification(name)):
            for spec, called in silent:
                silent[spec, called] += rule.name == called and is_in(rule, spec)
    assert [entry for entry, times in silent.items() if not times] == []
    assert [
        entry for entry, times in Counter((one["spec"], one["name"]) for one in elsewhere()).items() if times > 1
    ] == []


@pytest.mark.parametrize("entry", elsewhere(), ids=lambda entry: f"{entry['spec']}: {entry['name']}")
def test_a_source_given_elsewhere_is_a_source_or_a_choice(entry: dict[str, str]) -> None:
    assert set(entry) in ({"spec", "name", "source"}, {"spec", "name", "choice"})
    assert all(value.strip() for value in entry.values())
