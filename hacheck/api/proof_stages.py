"""The stages of a proof for every number of nodes, one after the other, for any caller that runs and watches them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.cti_states import Counterexample, counterexample, reached
from hacheck.checker.parametric.lemma_search import search
from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.proof import Proof, Wanted, prove_given, with_violated, without
from hacheck.checker.parametric.size_independence import Uniform, at_size
from hacheck.checker.parametric.small_violations import Violation, violations
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.parametric.theory import Theory

Made = TypeVar("Made")

EXPLORING_SECONDS = 8.0
"""So long small sizes are explored for what could not be proved."""
REACHED_SECONDS = 10.0
"""So long a run to the first state of a counterexample is looked for."""
LATE_SECONDS = 2.0
"""So long in all where the time is out."""


class Runner(Protocol):
    """Runs a stage: `doing` says what it does. Returns what it makes, or `None` where it had to stop. `timed`: whether
    it is to stop when the time is out, too."""

    def __call__(self, doing: str, work: Callable[[], Made], *, timed: bool = True) -> Made | None: ...


class Supervision(Struct, frozen=True):
    """Who runs the stages, is informed of their progress, and may stop them. `session`: the deadline of all queries."""

    session: SolverSession
    run: Runner
    report: Callable[[Progress], bool]
    go_on: Callable[[], bool]


def proof_of(
    wanted: Wanted,
    made: Uniform,
    theory: Theory,
    supervision: Supervision,
    until: float,
    *,
    given_only: bool,
    threads: int,
) -> tuple[Proof | None, tuple[Violation, ...]]:
    """What was proved with what is given; what small sizes violate of the rest; and what was proved with lemmas that
    were looked for. `None` if nothing was found before it had to stop. `until`: on the monotonic clock, when time is
    out."""
    session, run, report = supervision.session, supervision.run, supervision.report
    proof = run("proving", lambda: prove_given(made, theory, session, report, threads))
    if proof is None or proof.proved:
        return proof, ()
    violated = _violated(wanted, proof, supervision, until)
    rest = without(proof, {one.property.name for one in violated})
    more: Proof | None = rest
    if not (rest.proved or given_only or session.over):
        more = run("looking for lemmas", lambda: search(wanted, rest, session, report, threads))
    if more is None:
        more = replace(rest, stopped=session.why)
    return with_violated(more, [one.property for one in violated]), violated


def _violated(wanted: Wanted, proof: Proof, supervision: Supervision, until: float) -> tuple[Violation, ...]:
    """What exploring small sizes refutes."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    now = time.monotonic()
    end = min(max(until, now + LATE_SECONDS), now + EXPLORING_SECONDS)
    explored = partial(violations, wanted, proof, NativeEngine(), end, supervision.go_on)
    return supervision.run("exploring small sizes", explored, timed=False) or ()


def induction_counterexamples(
    wanted: Wanted, proof: Proof, supervision: Supervision, until: float
) -> list[tuple[str, Counterexample]]:
    """The first step at which each claim failed, with whether its state is reachable. `until`: on the monotonic clock,
    when to come to an end."""
    found: dict[str, Counterexample] = {}
    work = partial(_classify, wanted, proof, supervision, until, found)
    supervision.run("classifying counterexamples", work, timed=False)
    return list(found.items())


def _classify(
    wanted: Wanted, proof: Proof, supervision: Supervision, until: float, found: dict[str, Counterexample]
) -> None:
    """Adds the counterexamples, by the claims that failed, one after the other."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    for one in proof.failed:
        name = one.obligation.claim.name
        if one.refutation is None or name in found or not supervision.go_on():
            continue
        example = counterexample(
            one,
            lambda size, number: at_size(wanted.specification, wanted.settings, wanted.check, proof.made, size, number),
        )
        if example is not None:
            seconds = min(REACHED_SECONDS, max(until - time.monotonic(), 0.1))
            found[name] = reached(example, NativeEngine(), seconds, supervision.go_on)
