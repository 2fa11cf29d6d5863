"""The document of `prove`, made from what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hacheck import __version__
from hacheck.api.run_document import run_object
from hacheck.checker.parametric.cti_states import Counterexample
from hacheck.checker.parametric.proof import Proof
from hacheck.checker.parametric.small_violations import Violation
from hacheck.documents.document import Json
from hacheck.documents.prove import (
    InductionCounterexample,
    ProofObligation,
    ProofVerdict,
    ProveDocument,
    SmallViolation,
)
from hacheck.model.runs import State
from hacheck.model.value_json import value_to_json


def outside_document(spec: str, system: str, reasons: str) -> ProveDocument:
    """A spec that cannot be encoded in first-order logic. `reasons`: why, a line for each."""
    return ProveDocument(
        hacheck=__version__, spec=spec, system=system, proved=False, in_fragment=False, reasons=reasons.splitlines()
    )


def unfinished_document(spec: str, system: str, check: str, stopped: str, seconds: float) -> ProveDocument:
    """A proof that had to stop before anything was found."""
    return ProveDocument(
        hacheck=__version__,
        spec=spec,
        system=system,
        check=check,
        proved=False,
        seconds=round(seconds, 3),
        stopped=stopped,
    )


def proof_document(
    spec: str,
    check: str,
    found: Proof,
    violated: Sequence[Violation],
    examples: Iterable[tuple[str, Counterexample]],
    seconds: float,
) -> ProveDocument:
    """Everything that was found. `examples`: by the claim that failed."""
    return ProveDocument(
        hacheck=__version__,
        spec=spec,
        system=found.theory.name,
        check=check,
        proved=found.proved,
        in_fragment=True,
        covers=list(found.theory.covers),
        left_open=list(found.theory.notes),
        seconds=round(seconds, 3),
        stopped=found.stopped,
        circle=list(found.circle),
        properties=[ProofVerdict(name=one.name, kind=one.kind, verdict=verdict) for one, verdict in found.verdicts],
        violations=[_violation(one) for one in violated],
        found=[one for one in found.texts if one is not None],
        found_without_words=sum(one is None for one in found.texts),
        obligations=[
            ProofObligation(
                shows=one.obligation.title,
                kind=one.obligation.kind,
                verdict=one.verdict,
                seconds=round(one.seconds, 3),
            )
            for one in (*found.outcomes, *found.failed)
        ],
        counterexamples=[_counterexample(name, one) for name, one in examples],
    )


def _violation(found: Violation) -> SmallViolation:
    return SmallViolation(
        property=found.property.name,
        nodes={node.name: node.size for node in found.system.nodes},
        run=run_object(found.system, found.run),
    )


def _counterexample(name: str, found: Counterexample) -> InductionCounterexample:
    action = found.system.actions[found.action]
    arguments = None
    if found.arguments is not None:
        named = zip(action.parameters, found.arguments, strict=True)
        arguments = {name: value_to_json(kind, value) for (name, kind), value in named}
    return InductionCounterexample(
        claim=name,
        size=found.size,
        reachable=found.reachable,
        action=action.name,
        arguments=arguments,
        before=_state(found, found.before),
        after=None if found.after is None else _state(found, found.after),
    )


def _state(found: Counterexample, state: State) -> dict[str, Json]:
    return {one.name: value_to_json(one.type, value) for one, value in zip(found.system.variables, state, strict=True)}
