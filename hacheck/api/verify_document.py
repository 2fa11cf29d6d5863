"""The document of `verify`, made from what the checks found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field, to_builtins

from hacheck import __version__
from hacheck.api.run_document import run_rows
from hacheck.checker.verify import CheckResult, PropertyResult, no_step, not_reached, unused_actions
from hacheck.documents.document import from_dict
from hacheck.documents.verify import (
    BlameResult,
    Bound,
    CheckVerdict,
    Difference,
    NearestGoodRun,
    OtherCounterexample,
    OtherCounterexamples,
    PropertyVerdict,
    RaisedLimits,
    RaisedProperty,
    RecheckResult,
    SpecificationFault,
    UnreachedBound,
    VerifyAllDocument,
    VerifyDocument,
)

if TYPE_CHECKING:
    from hacheck.checker.blame.other_runs import OtherRuns
    from hacheck.checker.recheck_result import Rechecked
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.model.runs import Run


class RaisedPart(Struct, frozen=True):
    """What is known of the raised limits of a check: in all, and of each property that claims something."""

    limits: RaisedLimits
    properties: Mapping[str, RaisedProperty] = field(default_factory=dict)


def verify_document(
    specification: Specification,
    spec: str,
    results: Sequence[CheckResult],
    not_run: Iterable[str],
    exit_code: int,
    raised: Mapping[str, RaisedPart] | None = None,
) -> VerifyDocument:
    """Everything that was found. `spec`: as the user named it; `raised`: by check."""
    known = raised or {}
    return VerifyDocument(
        hacheck=__version__,
        spec=spec,
        path=os.path.abspath(specification.path),
        system=specification.name,
        exit_code=int(exit_code),
        not_run=list(not_run),
        checks=[check_verdict(specification, result, known.get(result.check.name)) for result in results],
    )


def verify_all_document(specs: Sequence[VerifyDocument], not_run: Iterable[str], exit_code: int) -> VerifyAllDocument:
    """What `verify --all` found."""
    return VerifyAllDocument(hacheck=__version__, exit_code=int(exit_code), not_run=list(not_run), specs=list(specs))


def check_verdict(specification: Specification, result: CheckResult, raised: RaisedPart | None = None) -> CheckVerdict:
    """One check."""
    system, coverage, answer = result.system, result.answer.coverage, result.answer
    meanings = dict(system.bounds)
    return CheckVerdict(
        name=result.check.name,
        description=result.check.description,
        expected={"expected": True, "unexpected": False, "undecided": None}[result.outcome],
        outcome=result.outcome,
        settings=dict(system.settings),
        faults=list(system.faults),
        assumptions=dict(system.assumptions),
        engine=answer.engine,
        threads=answer.threads,
        phases={name: round(seconds, 3) for name, seconds in answer.phases},
        states=coverage.states,
        transitions=coverage.transitions,
        depth=coverage.depth,
        seconds=round(coverage.wall_seconds, 3),
        complete=coverage.complete,
        stopped=coverage.stopped,
        bytes_per_state=None if coverage.bytes_per_state is None else round(coverage.bytes_per_state, 1),
        omission_probability=coverage.omission,
        recheck=recheck_result(answer.rechecked),
        notes=list(answer.notes),
        reach=answer.reach or None,
        lemmas_found=list(answer.lemmas),
        bounds=[
            Bound(name=name, meaning=meanings.get(name, ""), cut_steps=count) for name, count in coverage.bounds_reached
        ],
        bounds_not_reached=[UnreachedBound(name=name, meaning=meaning) for name, meaning in not_reached(result)],
        reductions=list(answer.reductions),
        no_step_possible=no_step(result),
        never_happened=list(unused_actions(result)),
        never_reached={}
        if coverage.ended_early
        else {variable: list(members) for variable, members in coverage.unreached if members},
        actions=action_counts(system, coverage.action_counts),
        fault=None if answer.error is None else specification_fault(specification, system, answer.error),
        raised=None if raised is None else raised.limits,
        properties=[property_verdict(specification, result, found, raised) for found in result.properties],
    )


def action_counts(system: System, counts: tuple[int, ...]) -> dict[str, int]:
    """Steps taken by action name; actions of one name are added up."""
    totals: dict[str, int] = {}
    for action, count in zip(system.actions, counts, strict=False):
        totals[action.name] = totals.get(action.name, 0) + count
    return totals


def property_verdict(
    specification: Specification, result: CheckResult, found: PropertyResult, raised: RaisedPart | None = None
) -> PropertyVerdict:
    """One property of a check with its run."""
    system, run, cti = result.system, found.answer.run, found.answer.cti
    never = {} if found.answer.verdict == "violated" else dict(result.answer.coverage.unexercised)
    return PropertyVerdict(
        name=found.prop.name,
        kind=found.prop.kind,
        description=found.prop.description,
        source=found.prop.source,
        place=specification.place_of(found.prop),
        verdict=found.answer.verdict,
        scope=found.answer.scope,
        expected_verdict=found.expected,
        outcome=found.outcome,
        never_exercised=never.get(found.prop.name),
        run=None if run is None else run_rows(system, run),
        loop=None if run is None else run.loop,
        gap=None if cti is None else run_rows(system, cti),
        raised=None if raised is None else raised.properties.get(found.prop.name),
        **blame_parts(system, found),
        others=msgspec.UNSET if found.others is None else other_counterexamples(system, found.others),
    )


def other_counterexamples(system: System, others: OtherRuns) -> OtherCounterexamples:
    """The counterexamples besides the first one, where the user wants several."""
    runs = [
        OtherCounterexample(differs=one.words, run=run_rows(system, one.run), loop=one.run.loop) for one in others.runs
    ]
    return OtherCounterexamples(
        wanted=others.wanted,
        exhausted=others.exhausted,
        stopped=others.stopped,
        seconds=round(others.seconds, 3),
        runs=runs,
    )


def blame_parts(system: System, found: PropertyResult) -> dict[str, Any]:
    """What a counterexample needs and the nearest good run, where that was tried."""
    blamed = found.blamed
    if blamed is None:
        return {}
    parts = blamed.to_json()
    good = parts["good_run"]
    if good is not None and blamed.good is not None:
        good = from_dict(NearestGoodRun, good | {"run": to_builtins(run_rows(system, blamed.good.run))})
    return {"blame": from_dict(BlameResult, parts["blame"]), "good_run": good}


def specification_fault(specification: Specification, system: System, run: Run) -> SpecificationFault:
    """A run into an error of the spec: what went wrong in its last step, and where that is declared."""
    failed = run.error
    return SpecificationFault(
        run=run_rows(system, run),
        message="" if failed is None else failed.message,
        place="" if failed is None else specification.place_of(system.actions[failed.action]),
    )


def recheck_result(found: Rechecked | None) -> RecheckResult | None:
    """What a second interpreter found, where one was used."""
    if found is None:
        return None
    return RecheckResult(
        states=found.states,
        steps=found.steps,
        of_states=found.of,
        seconds=round(found.seconds, 3),
        everything=found.everything,
        not_supported=found.unsupported or None,
        differences=[
            Difference(
                where=one.where,
                path=list(one.path),
                state=list(one.state),
                explored=one.first,
                second=one.second,
            )
            for one in found.differences
        ],
    )
