"""What the checks of a shipped spec find, pinned: states, and for each property the length of a shortest run.

Each check is explored in full, every state of it, and once more with reductions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hacheck.checker.engine import Coverage, Engine, Limits
from hacheck.checker.explicit.native.engine import NativeEngine
from hacheck.checker.explicit.portable.engine import PortableEngine
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, Question, run_check
from hacheck.model.language.specification import Check
from hacheck.model.semantics import replay
from tests.seeds.driving import specification

PORTABLE_MAX = 100_000
"""States that the portable engine explores within seconds."""


@dataclass(frozen=True)
class Found:
    """What exploring a check finds.

    `counts`: states, transitions, depth. `violated`: by property the steps of a shortest run, a loop included; `None`
    for a `reachable` one that nothing reaches. `reached`: the same for those reached. `holds`: the names of all others.
    """

    counts: tuple[int, int, int]
    violated: dict[str, int | None] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    holds: str = ""

    @property
    def told(self) -> dict[str, str]:
        """By property what is found of it, in words."""
        broken = {name: f"violated{_length(steps)}" for name, steps in self.violated.items()}
        met = {name: f"reached{_length(steps)}" for name, steps in self.reached.items()}
        return {**broken, **met, **dict.fromkeys(self.holds.split(), "holds")}


def _length(steps: int | None) -> str:
    return "" if steps is None else f" in {steps} steps"


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
    if answer.verdict == "holds" and result.asked.kind == "reachable":
        return f"reached{_length(steps)}"
    return f"{answer.verdict}{_length(steps)}"


def differences(pinned: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What was found otherwise than pinned, one sentence for each property."""
    missing = "not asked"
    return [
        f"{name}: pinned as {pinned.get(name, missing)}, found {found.get(name, missing)}"
        for name in sorted({*pinned, *found})
        if pinned.get(name) != found.get(name)
    ]


def exact_engine(pinned: Found) -> Engine:
    """Who explores every state: the portable engine what it can within seconds, else compiled code."""
    return PortableEngine() if pinned.counts[0] <= PORTABLE_MAX else NativeEngine(reductions=False)


def assert_finds(spec: str, name: str, pinned: Found, engine: Engine) -> None:
    """An engine that leaves no state out finds exactly what is pinned."""
    coverage = _assert_found(name, pinned, explored(spec, name, engine), lassos=True)
    assert (coverage.states, coverage.transitions, coverage.depth) == pinned.counts


def assert_finds_among_fewer_states(spec: str, name: str, pinned: Found) -> None:
    """With reductions the same is found."""
    # A loop may have to be gone round several times until the very same state comes back.
    coverage = _assert_found(name, pinned, explored(spec, name, NativeEngine()), lassos=False)
    states, _, depth = pinned.counts
    assert coverage.states <= states
    assert coverage.depth <= depth


def _assert_found(name: str, pinned: Found, result: CheckResult, lassos: bool) -> Coverage:
    """Every state was seen, and of each property the verdict and the length of the run are those pinned. `lassos`:
    that of runs with a loop, too."""
    coverage = result.answer.coverage
    assert coverage.complete, f"{name} stopped: {coverage.stopped}"
    assert result.answer.fault is None, f"{name} has an error of the spec"
    told, found = pinned.told, {one.asked.name: words(one) for one in result.properties}
    if not lassos:
        for one in result.properties:
            if one.asked.kind in ("eventually", "leads_to"):
                told[one.asked.name] = told[one.asked.name].partition(" ")[0]
                found[one.asked.name] = found[one.asked.name].partition(" ")[0]
    wrong = differences(told, found)
    assert not wrong, "\n".join([f"check {name}:", *wrong])
    return coverage


def assert_expected(spec: str, name: str, pinned: Found) -> None:
    """The spec expects what is pinned."""
    assert set(pinned.violated) == set(check_of(spec, name).expect_violated)


def unrequested(spec: str) -> list[str]:
    """The checks that need no request."""
    return [check.name for check in specification(spec).checks if not check.by_request]


def never_violated(spec: str, pinned: Mapping[str, Found]) -> set[str]:
    """The properties, witnesses aside, that every check leaves whole: such a one may say nothing at all."""
    instance = specification(spec).instantiate()
    assert instance.system is not None, instance.diagnostics
    broken = {name for found in pinned.values() for name in found.violated}
    return {one.name for one in instance.system.properties if one.kind != "reachable"} - broken
