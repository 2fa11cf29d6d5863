"""Exploring the checks of a shipped spec, and comparing what is found with what is pinned.

Pinned are states, and for each property the length of a shortest run.
"""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.checker.engine import Coverage, Engine, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, Question, run_check
from hacheck.model.interpreter import replay
from hacheck.model.language.specification import Check
from tests.mutants.table import Found, Table, length
from tests.seeds.driving import specification


def check_of(spec: str, name: str) -> Check:
    """A check of a shipped spec."""
    (check,) = (one for one in specification(spec).checks if one.name == name)
    return check


def explored(spec: str, name: str, engine: Engine) -> CheckResult:
    """Explores a check of a shipped spec; every run found is replayed by the reference interpreter."""
    check = check_of(spec, name)
    instance = specification(spec).instantiate({}, name)
    assert instance.system is not None, instance.diagnostics
    question = Question(name, check.description, check.settings, check.only, check.expect_violated)
    prepared = Prepared(question, instance.system, check.only)
    return run_check(prepared, engine, Limits(), lambda _: True, replay)


def words(result: PropertyResult) -> str:
    """What was found of a property, in the words of `Found.told`."""
    answer = result.answer
    steps = None if answer.run is None else len(answer.run.steps)
    if answer.verdict == "holds" and result.prop.kind == "reachable":
        return f"reached{length(steps)}"
    return f"{answer.verdict}{length(steps)}"


def differences(pinned: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What was found otherwise than pinned, one sentence for each property."""
    missing = "not asked"
    return [
        f"{name}: pinned as {pinned.get(name, missing)}, found {found.get(name, missing)}"
        for name in sorted({*pinned, *found})
        if pinned.get(name) != found.get(name)
    ]


def exact_engine(table: Table, name: str) -> Engine:
    """Who explores every state of a check: the portable engine what it can within seconds, else compiled code."""
    states, _, _ = table.pinned[name].counts
    return PortableEngine() if states <= table.portable_max else NativeEngine(reductions=False)


def assert_finds(table: Table, name: str) -> None:
    """An engine that leaves no state out finds exactly what is pinned."""
    pinned = table.pinned[name]
    coverage = _assert_found(name, pinned, explored(table.spec, name, exact_engine(table, name)), lassos=True)
    counts = (coverage.states, coverage.transitions, coverage.depth)
    assert counts == pinned.counts, f"check {name}: pinned with {pinned.counts}, found {counts}"


def assert_finds_among_fewer_states(table: Table, name: str) -> None:
    """With reductions the same is found, also where these follow a counter beyond the bound of the full exploration."""
    # A loop may have to be gone round several times until the very same state comes back.
    pinned = table.pinned[name]
    result = explored(table.spec, name, NativeEngine())
    coverage = _assert_found(name, pinned, result, lassos=False)
    if result.answer.endless:
        return
    states, _, depth = pinned.counts
    assert coverage.states <= states, f"check {name}: pinned with {states} states, found {coverage.states}"
    assert coverage.depth <= depth, f"check {name}: pinned with a depth of {depth}, found {coverage.depth}"


def _assert_found(name: str, pinned: Found, result: CheckResult, lassos: bool) -> Coverage:
    """Every state was seen, and of each property the verdict and the length of the run are those pinned. `lassos`:
    that of runs with a loop, too."""
    coverage = result.answer.coverage
    assert coverage.complete, f"{name} stopped: {coverage.stopped}"
    assert result.answer.error is None, f"{name} has an error of the spec"
    told, found = pinned.told, {one.prop.name: words(one) for one in result.properties}
    if not lassos:
        for one in result.properties:
            if one.prop.kind in ("eventually", "leads_to"):
                told[one.prop.name] = told[one.prop.name].partition(" ")[0]
                found[one.prop.name] = found[one.prop.name].partition(" ")[0]
    wrong = differences(told, found)
    assert not wrong, "\n".join([f"check {name}:", *wrong])
    return coverage


def assert_expected(table: Table, name: str) -> None:
    """The spec expects what is pinned."""
    pinned, expected = set(table.pinned[name].violated), set(check_of(table.spec, name).expect_violated)
    assert pinned == expected, f"check {name}: only pinned {pinned - expected}, only expected {expected - pinned}"


def unrequested(spec: str) -> list[str]:
    """The checks that need no request."""
    return [check.name for check in specification(spec).checks if not check.by_request]


def never_violated(table: Table) -> set[str]:
    """The properties, witnesses aside, that every check leaves whole: such a one may say nothing at all."""
    instance = specification(table.spec).instantiate()
    assert instance.system is not None, instance.diagnostics
    broken = {name for found in table.pinned.values() for name in found.violated}
    return {one.name for one in instance.system.properties if one.kind != "reachable"} - broken
