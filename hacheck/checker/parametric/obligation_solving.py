"""Shows obligations one by one, or finds out that they cannot be shown.

Z3 decides most of them at once. Where it does not, the question is put at a small size, where it is propositional: a
step found there ends the matter, and where there is none, the assumptions needed there are tried alone, which leaves
Z3 less to go astray in. Then it begins anew with other seeds, for longer each time. What was shown was always shown for
every size, by the text that is kept with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Literal

from msgspec import Struct

from hacheck.checker.parametric.finite_instances import Grounding, ground, grounding, sizes_of
from hacheck.checker.parametric.first_order_logic import symbols_of
from hacheck.checker.parametric.proof_obligations import Obligation, parts, text
from hacheck.checker.parametric.solver_queries import SolverSession, solve, solve_propositions

FIRST_SECONDS = 0.3
OBLIGATION_SECONDS = 30.0
"""For how long at most one obligation is tried again and again."""
SIZES = (3, 2)
"""At which sizes a question is put, the first one for what is needed, too."""


class Refutation(Struct, frozen=True):
    """A step at a small size after which the claim does not hold: which propositions are true."""

    size: int
    grounding: Grounding
    true: frozenset[str]


class Outcome(Struct, frozen=True):
    """What became of an obligation. `shown`: by `text`, which plain Z3 answers with `unsat`. `refuted`: not so, by a
    step at a small size. `open`: not decided in time; `why` says what ended it."""

    obligation: Obligation
    verdict: Literal["shown", "refuted", "open"]
    seconds: float
    text: str = ""
    refutation: Refutation | None = None
    why: str = ""


class Progress(Struct, frozen=True):
    """How far a proof is: obligations decided, of how many, and the one decided last."""

    done: int
    total: int
    last: str


def untouched(one: Obligation) -> bool:
    """Whether a step changes nothing that its claim speaks of: then what was assumed is what is to be shown."""
    if one.transition.action is None or one.claim.of_steps or one.claim.symbols or one.claim not in one.assumed:
        return False
    changed = {update.symbol.name for update in one.transition.updates}
    return not any(changed & symbols_of(term) for term in (one.claim.formula, *one.claim.defined))


def prove(
    obligations: Sequence[Obligation],
    session: SolverSession,
    report: Callable[[Progress], bool],
    threads: int,
    *,
    stop_at_first: bool = False,
) -> list[Outcome]:
    """The outcomes of all obligations, in their order. `report` is called several times a second and says whether to go
    on. `stop_at_first`: an obligation that cannot be shown ends it, and the rest are open."""
    found: dict[int, Outcome] = {}
    last = ""
    with ThreadPoolExecutor(threads) as pool:
        waiting: dict[Future[Outcome], int] = {
            pool.submit(decide, one, session): number for number, one in enumerate(obligations)
        }
        while waiting:
            done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                number = waiting.pop(future)
                found[number] = future.result()
                last = found[number].obligation.title
                if stop_at_first and found[number].verdict != "shown":
                    session.stop()
            if not report(Progress(len(found), len(obligations), last)):
                session.stop()
    return [found[number] for number in range(len(obligations))]


def decide(one: Obligation, session: SolverSession) -> Outcome:
    """What becomes of one obligation."""
    begun = time.monotonic()
    if session.over:
        return Outcome(one, "open", 0.0, why=_why(session))
    whole = text(one)
    if untouched(one):
        return Outcome(one, "shown", 0.0, whole)
    weak = False  # Z3 has a structure in which it is not so: none of the attempts can show it
    for attempt, seconds in _attempts(one, whole, session):
        if isinstance(attempt, Refutation):
            return Outcome(one, "refuted", time.monotonic() - begun, refutation=attempt)
        if weak:
            break
        said = solve(session, attempt, seconds)
        if said == "unsat":
            return Outcome(one, "shown", time.monotonic() - begun, attempt)
        if said == "sat" and attempt == whole:
            weak = True
    return Outcome(one, "open", time.monotonic() - begun, why=_why(session))


def _why(session: SolverSession) -> str:
    return "stopped" if session.stopped else "out of time" if session.over else "given up"


def _attempts(one: Obligation, whole: str, session: SolverSession) -> Iterator[tuple[str | Refutation, float]]:
    """Texts to be tried, each for how long; or what refutes them all."""
    yield whole, FIRST_SECONDS
    needed: frozenset[int] | None = None
    for size in SIZES:
        base = grounding(one.theory, sizes_of(one.theory, size))
        said = ground(one, base)
        found = solve_propositions(session, base.lines, [fact for _, fact in said], least=needed is None)
        if found.said == "sat":
            yield Refutation(size, base, found.true), 0.0
        if found.said == "unsat" and needed is None:
            needed = frozenset(found.core)
    if needed is not None:
        needed |= _kept(one)
    seconds = FIRST_SECONDS
    seed = 0
    until = time.monotonic() + OBLIGATION_SECONDS
    while not session.over and time.monotonic() < until:
        for chosen in (needed, None):
            for typed in (True, False):
                if chosen is None or typed:
                    yield text(one, seed, typed=typed, needed=chosen), seconds * (1 if chosen is not None else 0.5)
                seed += 1
        seconds *= 1.5


def _kept(one: Obligation) -> frozenset[int]:
    """The places of assertions always kept: conditions of the step, meanings of fresh symbols, and the goal."""
    _, said = parts(one)
    return frozenset(
        place for place, (meaning, _) in enumerate(said) if meaning.startswith(("the step", "a symbol", one.claim.name))
    )
