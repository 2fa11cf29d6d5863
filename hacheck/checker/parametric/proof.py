"""A proof for every number of nodes, from the spec to a verdict for each property.

What is given is tried first: the properties and the lemmas of the spec, all assumed before a step and each to be shown
after it. A claim that cannot be shown is given up, and the others are tried without it, until all that are left are
shown together. Where a property is given up so, more claims may be looked for (`candidates`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.decidable_fragment import circle
from hacheck.checker.parametric.obligation_solving import Outcome, Progress, prove
from hacheck.checker.parametric.proof_obligations import Obligation, obligations
from hacheck.checker.parametric.size_independence import Uniform, uniform
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.parametric.theory import Claim, Theory
from hacheck.checker.parametric.theory_builder import theory_of
from hacheck.model import ir
from hacheck.model.language import Specification

SAFETY = frozenset({"invariant", "lemma", "step"})
"""The kinds of properties that can be proved so."""

Verdict = Literal["proved", "violated", "not inductive", "open"]


class Proof(Struct, frozen=True):
    """What was found. `claims`: those shown together, with `outcomes` for all their obligations. `verdicts`: of each
    property to prove; `violated`: exploring some size refuted it; `not inductive`: it cannot be shown with what was
    given or found, and `failed` says at which steps; `open`: not decided in time. `circle`: why a solver might not come
    to an end, if it might not. `found`: claims that the spec does not have."""

    theory: Theory
    made: Uniform
    claims: tuple[Claim, ...]
    outcomes: tuple[Outcome, ...]
    verdicts: tuple[tuple[ir.Property, Verdict], ...]
    failed: tuple[Outcome, ...]
    circle: tuple[str, ...]
    seconds: float
    stopped: str = ""
    found: tuple[Claim, ...] = ()

    @property
    def texts(self) -> tuple[str | None, ...]:
        """Each claim of `found` as text of a spec, if the language has words for it."""
        return tuple(one.text(self.theory.system) for one in self.found)

    @property
    def proved(self) -> bool:
        """Whether every property to prove is proved. A lemma is an aid: one that was not needed may be left over."""
        own = [verdict for one, verdict in self.verdicts if one.kind != "lemma"]
        return all(verdict == "proved" for verdict in own or [verdict for _, verdict in self.verdicts])


class Wanted(Struct, frozen=True):
    """What is to be proved: a check of a spec, under settings, some properties or all that it expects to hold."""

    specification: Specification
    settings: Mapping[str, str]
    check: str | None
    properties: tuple[str, ...] = ()

    def goals(self, system: ir.System) -> tuple[ir.Property, ...]:
        """The properties to prove, and the lemmas, which are tried with them. Without names: all of safety that the
        check asks and does not expect to be violated."""
        question = next((one for one in self.specification.checks if one.name == self.check), None)
        expected = () if question is None else question.expect_violated
        only = () if question is None else question.only
        chosen = []
        for one in system.properties:
            if one.kind not in SAFETY:
                continue
            named = (
                one.name in self.properties
                if self.properties
                else (one.name not in expected and (not only or one.name in only))
            )
            if named or (one.kind == "lemma" and one.name not in expected):
                chosen.append(one)
        return tuple(chosen)


def prepared(wanted: Wanted) -> tuple[Uniform, Theory]:
    """The theory of what is wanted. Errors: `Unsupported`, with every reason, one a line."""
    made = uniform(wanted.specification, wanted.settings, wanted.check)
    return made, theory_of(made, wanted.goals(made.system), wanted.specification.place_of)


def prove_given(
    made: Uniform, theory: Theory, session: SolverSession, report: Callable[[Progress], bool], threads: int
) -> Proof:
    """Tries what the spec itself gives."""
    begun = time.monotonic()
    claims = list(theory.claims)
    failed: list[Outcome] = []
    while True:
        todo: list[Obligation] = list(obligations(theory, claims))
        outcomes = prove(todo, session, report, threads)
        wrong = [one for one in outcomes if one.verdict != "shown"]
        failed += wrong
        given_up = {one.obligation.claim.name for one in wrong}
        if not wrong or session.over:
            break
        claims = [one for one in claims if one.name not in given_up]
    return summed_up(made, theory, claims if not wrong else [], outcomes, failed, begun, session)


def without(before: Proof, names: AbstractSet[str]) -> Proof:
    """A proof that does not try these properties again."""
    claims = tuple(one for one in before.theory.claims if one.name not in names)
    verdicts = tuple((one, verdict) for one, verdict in before.verdicts if one.name not in names)
    failed = tuple(one for one in before.failed if one.obligation.claim.name not in names)
    return replace(before, theory=replace(before.theory, claims=claims), verdicts=verdicts, failed=failed)


def with_violated(before: Proof, violated: Sequence[ir.Property]) -> Proof:
    """A proof beside properties that exploring refuted."""
    refuted: tuple[tuple[ir.Property, Verdict], ...] = tuple((one, "violated") for one in violated)
    names = {one.name for one in violated}
    rest = tuple((one, verdict) for one, verdict in before.verdicts if one.name not in names)
    return replace(before, verdicts=(*refuted, *rest))


def summed_up(
    made: Uniform,
    theory: Theory,
    claims: Sequence[Claim],
    outcomes: Sequence[Outcome],
    failed: Sequence[Outcome],
    begun: float,
    session: SolverSession,
    found: Sequence[Claim] = (),
) -> Proof:
    """A proof from what is left of its claims and what became of the others."""
    shown = {one.name for one in claims}
    refuted = {one.obligation.claim.name for one in failed if one.verdict == "refuted"}
    verdicts: list[tuple[ir.Property, Verdict]] = []
    for claim in theory.claims:
        if claim.prop is not None:
            verdict: Verdict = "open"
            if claim.name in shown:
                verdict = "proved"
            elif claim.name in refuted:
                verdict = "not inductive"
            verdicts.append((claim.prop, verdict))
    return Proof(
        theory,
        made,
        tuple(claims),
        tuple(one for one in outcomes if one.obligation.claim.name in shown),
        tuple(verdicts),
        tuple(failed),
        circle(theory, [one.obligation for one in outcomes]),
        time.monotonic() - begun,
        session.why,
        tuple(found),
    )
