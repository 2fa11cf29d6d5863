"""`prove`: safety for every number of nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from hacheck.api.errors import InputError, require_known
from hacheck.api.proof_stages import LATE_SECONDS, Supervision, induction_counterexamples, proof_of
from hacheck.api.prove_document import outside_document, proof_document, unfinished_document
from hacheck.api.run import Counterexample
from hacheck.api.specification import Settings, Spec, as_text, load
from hacheck.api.view import Row, Shown, Tone, View
from hacheck.checker.engine import Refused
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.proof import SAFETY, Proof, Wanted, prepared
from hacheck.checker.parametric.small_violations import Violation
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.symbolic.z3_library import z3_module
from hacheck.supervise.resources import usable_cores

if TYPE_CHECKING:
    from hacheck.documents.document import Json
    from hacheck.documents.prove import ProveDocument

Made = TypeVar("Made")
ProofVerdict = Literal["proved", "violated", "not inductive", "open"]


class ProofResult(Shown, frozen=True):
    """What was proved. `document`: everything that was found; `outside`: why the spec cannot be encoded in first-order
    logic, a reason each; `proof`, `violated`: hacheck's own form, which is no part of the public face."""

    spec: Spec
    check: str
    document: ProveDocument
    outside: tuple[str, ...] = ()
    proof: Proof | None = None
    violated: tuple[Violation, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether everything that was to be proved is."""
        return self.document.proved

    @property
    def verdicts(self) -> dict[str, ProofVerdict]:
        """The verdict of each property. `not inductive` refutes nothing: no lemma was found with which it is."""
        return {} if self.proof is None else {one.name: verdict for one, verdict in self.proof.verdicts}

    @property
    def covers(self) -> tuple[str, ...]:
        """What a proof ranges over: `every number of Replicas from 2`."""
        return () if self.proof is None else tuple(self.proof.theory.covers)

    @property
    def lemmas(self) -> tuple[str, ...]:
        """Lemmas that were found and that a spec can state, as it states them."""
        return () if self.proof is None else tuple(text for text in self.proof.texts if text is not None)

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """Runs of small sizes that violate a property."""
        return tuple(Counterexample(one.system, one.run, one.property.name) for one in self.violated)

    @property
    def stopped(self) -> str:
        """Why it ended early, or nothing."""
        stopped = self.document.stopped
        return stopped if isinstance(stopped, str) else ""

    def to_dict(self) -> dict[str, Json]:
        """The document that `hacheck prove --json` writes."""
        return self.document.to_dict()

    def view(self) -> View:
        """A row for each property, and what the proof covers."""
        tones: dict[str, Tone] = {"proved": "good", "violated": "bad"}
        rows = tuple(Row(tones.get(verdict, "open"), (name, verdict)) for name, verdict in self.verdicts.items())
        lines = [*self.outside, *(f"covers {one}" for one in self.covers)]
        if self.stopped:
            lines.append(f"stopped: {self.stopped}")
        title = "proved" if self.proved else "not in the fragment" if self.outside else "not proved"
        return View(f"{self.spec.name}, check {self.check}: {title}", rows, tuple(lines))

    def __repr__(self) -> str:
        return f"<ProofResult of {self.spec.name}: {'proved' if self.proved else 'not proved'}>"


def prove(
    spec: str | os.PathLike[str] | Spec,
    *,
    check: str | None = None,
    settings: Settings | None = None,
    properties: Sequence[str] = (),
    given_only: bool = False,
    wall_seconds_max: float = 300.0,
    threads: int | None = None,
    report: Callable[[Progress], bool] | None = None,
) -> ProofResult:
    """Proves invariants, lemmas and step invariants for every number of nodes, with Z3.

    `given_only`: look for no lemmas besides those of the spec. `report`: called as obligations are decided; `False`
    ends the proof. Errors: `InputError` for what the caller gave, or where Z3 is missing; `SpecError` for errors of the
    spec's text.
    """
    begun = time.monotonic()
    loaded = load(spec)
    system, question = loaded.system(check, settings)
    require_known("property", properties, [one.name for one in system.properties])
    for one in system.properties:
        if one.name in properties and one.kind not in SAFETY:
            raise InputError(
                f"{one.name} is no invariant, lemma or step invariant", "`verify` decides it within bounds"
            )
    wanted = Wanted(loaded.specification, as_text(settings), question.name, tuple(properties))
    supervision = _supervision(begun + wall_seconds_max, report)
    try:
        z3_module()
        made, theory = prepared(wanted)
    except Refused as refused:
        raise InputError(str(refused)) from None
    except Unsupported as reasons:
        document = outside_document(loaded.called, loaded.name, str(reasons))
        return ProofResult(loaded, question.name, document, tuple(str(reasons).splitlines()))
    if not theory.claims:
        raise InputError(f"check {question.name} has no property that could be proved", "name one")
    until = begun + wall_seconds_max
    proof, violated = proof_of(
        wanted, made, theory, supervision, until, given_only=given_only, threads=threads or usable_cores()
    )
    if proof is None:
        spent = time.monotonic() - begun
        document = unfinished_document(loaded.called, loaded.name, question.name, supervision.session.why, spent)
        return ProofResult(loaded, question.name, document)
    late = max(until, time.monotonic() + LATE_SECONDS)
    examples = [] if proof.proved else induction_counterexamples(wanted, proof, supervision, late)
    spent = time.monotonic() - begun
    document = proof_document(loaded.called, question.name, proof, violated, examples, spent)
    return ProofResult(loaded, question.name, document, (), proof, violated)


def _supervision(until: float, report: Callable[[Progress], bool] | None) -> Supervision:
    """The stages in this thread: each ends by itself soon after the deadline, or after `report` has said so."""
    session = SolverSession(until)

    def run(doing: str, work: Callable[[], Made], *, timed: bool = True) -> Made | None:
        return work()

    def reported(progress: Progress) -> bool:
        if report is not None and not report(progress):
            session.stop()
        return not session.stopped

    return Supervision(session, run, reported, lambda: not session.stopped)
