"""Explores a spec under the settings of a configuration: each exploration once, however often it is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product

from msgspec import Struct

from hacheck.api.engines import engine_named
from hacheck.api.errors import InputError
from hacheck.api.specification import Spec
from hacheck.checker.described_run import fault_count
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, run_check
from hacheck.model.interpreter import replay
from hacheck.model.property_names import declared_name, expanded

SEARCH_SECONDS = 20.0
"""So much work of the processor the search for a change may take, where no limit is given."""


class Interrupted(Exception):
    """The user, or the time limit, has ended the search."""


class Explorer:
    """Explores one spec. `limits`: of each exploration; `proceeding`: called often, returns whether to go on."""

    def __init__(
        self, spec: Spec, check: str | None, properties: tuple[str, ...], limits: Limits, proceeding: Callable[[], bool]
    ) -> None:
        self.spec, self.check, self.properties = spec, check, properties
        self.limits, self.proceeding = limits, proceeding
        self.engine = engine_named("native", None)
        self.explored = 0
        self._known: dict[tuple[tuple[str, str], ...], CheckResult] = {}

    def result(self, settings: Mapping[str, str]) -> CheckResult:
        """What holds under some settings. Errors: `SpecError` for what they make of the spec."""
        key = tuple(sorted(settings.items()))
        if key not in self._known:
            system, question = self.spec.system(self.check, settings)
            known = [one.name for one in system.properties]
            declared = {declared_name(name) for name in known} | set(known)
            if missing := [name for name in self.properties if name not in declared]:
                raise InputError(f"{self.spec.name} has no property `{missing[0]}`", "the reader names it as a finding")
            prepared = Prepared(question, system, expanded(self.properties, known))
            self._known[key] = run_check(prepared, self.engine, self.limits, self._report, replay)
            self.explored += 1
        return self._known[key]

    def violated(self, settings: Mapping[str, str]) -> frozenset[str]:
        """The properties that are violated under some settings; one that is not decided counts. Errors: `Interrupted`
        where the search is over."""
        if not self.proceeding():
            raise Interrupted
        found = self.result(settings).properties
        return frozenset(one.prop.name for one in found if one.answer.verdict != "holds")

    def _report(self, progress: Progress) -> bool:
        return self.proceeding()


class Violation(Struct, frozen=True):
    """A violated property with its run of fewest faults."""

    result: PropertyResult
    check: CheckResult
    faults: int
    scope: dict[str, int]

    @property
    def name(self) -> str:
        """The property."""
        return self.result.prop.name


def violations(explorer: Explorer, settings: Mapping[str, str], scope: Mapping[str, int]) -> list[Violation]:
    """The violated properties, each with the run that needs the fewest faults."""
    whole = explorer.result(settings)
    found = {}
    for one in whole.properties:
        if one.answer.verdict == "violated" and one.answer.run is not None:
            found[one.prop.name] = Violation(one, whole, fault_count(whole.system, one.answer.run), dict(scope))
    if not found:
        return []
    most = max(one.faults for one in found.values())
    for smaller in _smaller(scope, most):
        if not any(one.faults > sum(smaller.values()) for one in found.values()) or not explorer.proceeding():
            break
        result = explorer.result({**settings, **{name: str(number) for name, number in smaller.items()}})
        for one in result.properties:
            before = found.get(one.prop.name)
            if before is None or one.answer.verdict != "violated" or one.answer.run is None:
                continue
            faults = fault_count(result.system, one.answer.run)
            if faults < before.faults:
                found[one.prop.name] = Violation(one, result, faults, dict(smaller))
    return list(found.values())


def _smaller(scope: Mapping[str, int], most: int) -> Iterator[dict[str, int]]:
    """Every smaller scope with fewer faults than `most`, the smallest first."""
    every = product(*(range(number + 1) for number in scope.values()))
    fewer = sorted((one for one in every if sum(one) < most), key=lambda one: (sum(one), one))
    return (dict(zip(scope, one, strict=True)) for one in fewer)


def until(seconds: float | None, proceeding: Callable[[], bool]) -> Callable[[], bool]:
    """Goes on until a time has passed by the clock, by default `SEARCH_SECONDS` of this process's own work, which other
    work on the machine does not shorten, or until the user ends it."""
    if seconds is not None:
        end = time.monotonic() + seconds
        return lambda: time.monotonic() < end and proceeding()
    last = time.process_time() + SEARCH_SECONDS
    return lambda: time.process_time() < last and proceeding()
