"""Looks for the claims that a proof lacks.

Candidates that some sampled state refutes are dropped; of the others the largest inductive set at three nodes is found;
of that the few that the properties need are shown for every size, as claims of a spec are. A candidate that cannot be
shown is dropped, and what is left tried anew.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from hacheck.checker.parametric.finite_instances import grounding, sizes_of
from hacheck.checker.parametric.finite_structures import Structure, compiled, structure
from hacheck.checker.parametric.houdini import Steps, inductive, needed, steps_of
from hacheck.checker.parametric.lemma_candidates import candidates
from hacheck.checker.parametric.obligation_solving import Outcome, Progress, prove
from hacheck.checker.parametric.proof import Proof, Wanted, summed_up
from hacheck.checker.parametric.proof_obligations import obligations
from hacheck.checker.parametric.size_independence import Uniform, at_size
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.parametric.theory import Claim, Theory
from hacheck.checker.parametric.theory_builder import theory_of
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.runs import State

SIZE = 3
"""At how many nodes candidates are tried."""
BROAD, WALKS, WALK = 300, 40, 25
"""How many states from the start on, and how many walks of how many steps, candidates are compared with."""
NUMBERS = 3


def search(
    wanted: Wanted, before: Proof, session: SolverSession, report: Callable[[Progress], bool], threads: int
) -> Proof:
    """A proof with more claims, or the one at hand where none was found."""
    begun = time.monotonic() - before.seconds

    def go_on(text: str) -> bool:
        if not report(Progress(0, 0, text)):
            session.stop()
        return not session.over

    made = before.made
    given = tuple(claim.prop for claim in before.theory.claims if claim.prop is not None)
    guesses = tuple(candidates(made.system, frozenset(kind for kind, _ in made.kinds)))
    theory = theory_of(made, (*given, *guesses), wanted.specification.place_of)
    own = {one.name for one in given}
    left = _not_refuted(wanted, theory, made, session, go_on)
    steps = steps_of(theory, left, SIZE, go_on)
    left = inductive(left, steps, session)
    goals = [one for one in left if one.name in own]
    missing = [
        one for one in theory.claims if one.prop is not None and one.prop.kind == "invariant" and one.name in own
    ]
    if session.over or not all(one in goals for one in missing):
        return replace(before, seconds=time.monotonic() - begun, stopped=session.why)
    return _shown(before, theory, missing, left, steps, own, session, report, threads, begun)


def _shown(
    before: Proof,
    theory: Theory,
    missing: Sequence[Claim],
    left: tuple[Claim, ...],
    steps: Sequence[Steps],
    own: set[str],
    session: SolverSession,
    report: Callable[[Progress], bool],
    threads: int,
    begun: float,
) -> Proof:
    """The claims that are needed, shown for every size; what cannot be shown is dropped, and it begins anew."""
    failed: list[Outcome] = []
    stepwise = [one for one in theory.claims if one.of_steps]
    while not session.over and all(one in left for one in missing):
        goals = [one for one in left if one.name in own]
        chosen = needed(goals, left, steps, session)
        outcomes = prove(list(obligations(theory, (*chosen, *stepwise))), session, report, threads)
        wrong = {one.obligation.claim.name for one in outcomes if one.verdict != "shown"}
        if not wrong:
            shown = replace(theory, claims=tuple(one for one in theory.claims if one.name in own))
            extra = tuple(one for one in chosen if one.name not in own)
            rest = [one for one in before.failed if one.obligation.claim.name not in {claim.name for claim in chosen}]
            return summed_up(before.made, shown, (*chosen, *stepwise), outcomes, rest, begun, session, extra)
        failed = [one for one in outcomes if one.verdict != "shown"]
        left = inductive(tuple(one for one in left if one.name not in wrong), steps, session)
    return replace(before, seconds=time.monotonic() - begun, stopped=session.why, failed=tuple(failed) or before.failed)


# ---- sampled states ----------------------------------------------------------------------------------------------


def _not_refuted(
    wanted: Wanted, theory: Theory, made: Uniform, session: SolverSession, go_on: Callable[[str], bool]
) -> tuple[Claim, ...]:
    """The claims about states that no sampled state refutes and that have no symbols of their own."""
    base = grounding(theory, sizes_of(theory, SIZE), NUMBERS + 2)
    samples = _samples(wanted, made, SIZE, go_on)
    kept: list[Claim] = []
    for number, claim in enumerate(theory.claims):
        if claim.of_steps or claim.symbols:
            continue
        if number % 200 == 0 and not go_on(f"{len(theory.claims)} candidates, {len(kept)} of the first {number} left"):
            break
        if claim.prop is not None and not claim.prop.name.startswith("found "):
            kept.append(claim)
            continue
        holds = compiled(claim.formula, base)
        try:
            if all(holds(one) for one in samples):
                kept.append(claim)
        except TypeError:  # it compares what is none: a claim that says too much
            continue
    return tuple(kept)


def _samples(wanted: Wanted, made: Uniform, size: int, go_on: Callable[[str], bool]) -> list[Structure]:
    system = at_size(wanted.specification, wanted.settings, wanted.check, made, size, NUMBERS)
    if system is None:
        return []
    return [structure(system, state) for state in _states(Interpreter(system), go_on)]


def _states(interpreter: Interpreter, go_on: Callable[[str], bool]) -> Iterator[State]:
    """States near the start, and along walks."""
    seen: dict[State, None] = dict.fromkeys(interpreter.initial_states())
    queue = list(seen)
    for state in queue:
        if len(seen) >= BROAD or not go_on(f"sampling states: {len(seen)}"):
            break
        for after in _next(interpreter, state):
            if after not in seen and len(seen) < BROAD:
                seen[after] = None
                queue.append(after)
    chance = random.Random(1)
    for _ in range(WALKS):
        state = chance.choice(queue)
        for _ in range(WALK):
            if not go_on(f"sampling states: {len(seen)}"):
                break
            successors = _next(interpreter, state)
            if not successors:
                break
            state = chance.choice(successors)
            seen[state] = None
    yield from seen


def _next(interpreter: Interpreter, state: State) -> list[State]:
    try:
        return [one.step.state for one in interpreter.outcomes(state) if isinstance(one, Taken)]
    except EvaluationError:
        return []
