"""Whether what is said to carry a statement is there: in the specs, the tests, the reference implementation."""

from __future__ import annotations

import ast
import re
from functools import cache

from hacheck import shipped
from hacheck.cli.document.rules import rules_of
from hacheck.model.language import declarations as d
from tests.impl.scenarios import read
from tests.repository.source_tables import ROOT
from tests.seeds.driving import specification

IN_SPEC = re.compile(r"(\w+): (\S.*)")
"""`icestorm: merge_continue`."""

OTHERS = (
    d.TypeDeclaration,
    d.RecordDeclaration,
    d.IdentityDeclaration,
    d.FieldDeclaration,
    d.MessageDeclaration,
    d.OperationDeclaration,
    d.LockDeclaration,
    d.Definition,
)
"""What a spec declares by a name besides rules, properties, checks, settings and nodes."""


def is_there(kind: str, claim: str) -> bool:
    """Whether a claim of a kind (see `source_tables.KINDS`) names something."""
    match kind:
        case "tests":
            return claim.startswith("tests/") and _is_in_module(claim, tests=True)
        case "code":
            return claim.startswith("hacheck/impl/") and _is_in_module(claim, tests=False)
        case "settings" if "::" in claim:
            return claim.partition("::")[0].endswith("/options.py") and _is_in_module(claim, tests=False)
        case _:
            found = IN_SPEC.fullmatch(claim)
            return found is not None and found[1] in shipped.names() and found[2] in declared(found[1])[kind]


def _is_in_module(claim: str, tests: bool) -> bool:
    """Whether `PATH::NAME`, or a whole module, is there. For tests a name is needed: of a function or of a scenario."""
    path, _, name = claim.partition("::")
    if tests and path.startswith("tests/testdata/") and (ROOT / path).is_file():
        return name in scenarios_in(path)
    if not path.endswith(".py") or not (ROOT / path).is_file():
        return False
    return name in names_in(path) if name else not tests


@cache
def scenarios_in(path: str) -> frozenset[str]:
    """What the scenarios of a file claim."""
    return frozenset(one.title for one in read((ROOT / path).read_text(encoding="utf-8")))


@cache
def names_in(path: str) -> frozenset[str]:
    """The classes, functions, and settings with a default of a module, those of a class as `Class.name`. It is read,
    not run."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(name for node in tree.body for name in _names(node))


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.ClassDef(name=name, body=body):
            return [name, *(f"{name}.{inner}" for one in body for inner in _names(one))]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name]
        case _:
            return []


BY_CHANCE = {"nightly", "skip", "skipif", "xfail"}
"""What a test is marked with that not every run takes."""


def runs_always(claim: str) -> bool:
    """Whether a test, `PATH::NAME`, is part of every run of all tests, on every machine."""
    path, _, name = claim.partition("::")
    if path.endswith(".txt"):
        return name in scenarios_in(path)
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return not any(BY_CHANCE & set(_words(mark)) for mark in node.decorator_list)
    return False


def _words(mark: ast.expr) -> list[str]:
    """`pytest.mark.skipif(…)` is `pytest`, `mark` and `skipif`."""
    return ast.unparse(mark.func if isinstance(mark, ast.Call) else mark).split(".")


@cache
def declared(name: str) -> dict[str, frozenset[str]]:
    """What a spec and its libraries declare, by the kind of claim that may name it."""
    found: dict[str, set[str]] = {kind: set() for kind in ("rules", "data", "properties", "checks", "settings")}
    loaded = specification(name)
    for rule in rules_of(loaded):
        found["properties" if rule.kind in ("property", "witness") else "rules"].add(rule.name)
    for one in loaded.declarations:
        match one:
            case d.Setting():
                found["settings"].add(one.name.text)
            case d.CheckDeclaration():
                found["checks"].add(one.name.text)
            case d.Procedure():
                found["rules"].add(one.name.text)
            case d.NodeDeclaration():
                fields = (*one.fields, *one.views)
                found["data"] |= {one.name.text, *(f"{one.name.text}.{field.name.text}" for field in fields)}  # type: ignore[attr-defined]
            case _ if isinstance(one, OTHERS):
                found["data"].add(one.name.text)
            case _:
                continue
    return {kind: frozenset(names) for kind, names in found.items()}
