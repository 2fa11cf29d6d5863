"""Every rule of a shipped spec says where it comes from, and every statement of the documents is carried by something.

Rules are actions, receipts, services, notices, restarts, faults and promised properties: `hacheck.cli.document.rules`
says what counts as one. The tables are in `docs/sources/`.
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
from hacheck.model.language import Specification, load
from hacheck.model.language import declarations as d

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "sources"
DOCUMENTS = sorted(path for path in SOURCES.glob("*.toml") if path.stem != "rules")
LATER = {"topics", "transactions", "clients", "colocation", "scale-down", "standalone"}
ANSWERS = {"carried", "later", "left_out"}


@cache
def table(path: Path) -> dict[str, Any]:
    """A file of `docs/sources/`."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def specification(name: str) -> Specification:
    """A shipped spec."""
    path = ROOT / "spec" / f"{name}.ha"
    loaded = load(path.read_text(encoding="utf-8"), str(path), lambda one: Path(one).read_text(encoding="utf-8"))
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_statement_is_carried_by_something_that_is_there(path: Path) -> None:
    wrong = [
        f"{one['section']}, {one['number']}: {claim}"
        for one in table(path)["statement"]
        for claim in one.get("carried", ())
        if not is_there(claim)
    ]
    assert wrong == []


def is_there(claim: str) -> bool:
    """Whether `spec: name` names something that is declared."""
    spec, _, name = claim.partition(": ")
    return spec in shipped.names() and name in declared(spec)


@cache
def declared(name: str) -> frozenset[str]:
    """What can carry a statement: whatever is declared in a spec and its libraries, fields as `Node.field`."""
    found = {rule.name for rule in rules_of(specification(name))}
    for one in specification(name).declarations:
        match one:
            case d.NodeDeclaration():
                found |= {one.name.text, *(f"{one.name.text}.{field.name.text}" for field in (*one.fields, *one.views))}
            case d.ClockDeclaration() | d.FaultDeclaration() | d.LostDeclaration() | d.RestartDeclaration():
                pass
            case d.ObserveDeclaration() | d.TraceDeclaration() | d.Initially():
                pass
            case _:
                found.add(one.name.text)
    return frozenset(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_statement_has_its_place_and_one_answer(path: Path) -> None:
    content = table(path)
    assert set(content) == {"document", "about", "statement"}
    places = [(one["section"], one["number"]) for one in content["statement"]]
    sections = list(dict.fromkeys(section for section, _ in places))
    in_order = [
        (section, number) for section in sections for number in range(1, 1 + [s for s, _ in places].count(section))
    ]
    assert places == in_order
    for one in content["statement"]:
        (answer,) = set(one) - {"section", "number", "says"}
        assert answer in ANSWERS
        assert one["says"].strip()
        assert one[answer]
        assert one.get("later", "topics") in LATER


def test_what_is_to_be_written_later_is_not_there_yet() -> None:
    """When a spec of that part arrives, its statements are to be looked at again."""
    assert [name for name in shipped.names() if any(later.replace("-", "_") in name for later in LATER)] == []


def test_five_documents_are_read() -> None:
    assert len({table(path)["document"] for path in DOCUMENTS}) == 5


def test_a_claim_that_names_nothing_is_found() -> None:
    assert is_there("icestorm: merge_continue")
    assert is_there("icestorm: Replica.max")
    assert is_there("icestorm: crash Replica")
    assert not is_there("icestorm: no_such_rule")
    assert not is_there("no_such_spec: merge_continue")
