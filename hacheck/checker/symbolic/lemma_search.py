"""Looks for the lemmas that a proof by induction lacks, for one setting.

What speaks against a proof is a state and a step from it. Of that state the few facts are kept from which the step
follows whatever else holds; a claim is looked for that some facts of the state never hold together, one of these facts
among them, which is true of every reachable state: first of two facts, then of three, then of as many as it takes. Such
claims are assumed from then on, and those that are used have to be kept by every step like the properties to prove. In
the end what can be spared is dropped. Nothing is believed because the explicit search found nothing against it: the
lemmas are handed back as properties, to be proved like any others.

**Source**: Bradley: SAT-Based Model Checking without Unrolling, VMCAI 2011 (a clause for each counterexample to
induction, generalised); Padon and others: Ivy, PLDI 2016 (claims about any members).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec.structs import replace

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.inductive_claims import largest_inductive, with_premises
from hacheck.checker.symbolic.fact_table import Table, fact_name, unlike
from hacheck.checker.symbolic.implications import base
from hacheck.checker.symbolic.lemma_candidates import Claim, ClaimPrinter, Cube, Literal
from hacheck.checker.symbolic.lemma_facts import facts
from hacheck.checker.symbolic.prepared_encoding import Prepared, prepare
from hacheck.checker.symbolic.reachable_states import reached
from hacheck.checker.symbolic.system_encoding import DOMAIN
from hacheck.checker.symbolic.z3_library import Formula, Model, Solver, held, minimal_core
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled

CANDIDATES_MAX = 24
"""So many claims, the plainest, are tried against one counterexample for one that steps keep."""
ROUNDS_MAX = 400
CORE_MAX = 24

Item = TypeVar("Item")


def _never() -> bool:
    """Nothing ends the search but an exception: `Cancelled` where a limit is reached."""
    return False


class Finder:
    """The search. `pool`: claims found, which may be assumed; `used`: for each goal kept the claims it was kept by."""

    def __init__(self, prepared: Prepared, table: Table, printer: ClaimPrinter, assumed: tuple[str, ...]) -> None:
        self.prepared, self.table, self.printer, self.assumed = prepared, table, printer, assumed
        self.unrolling, self.library = prepared.unrolling, prepared.library
        self.encoding = prepared.encoding
        self.pool: dict[frozenset[Cube], Claim] = {}
        self.rounds = self._queries = 0
        self._solvers: dict[int, Solver] = {}
        self._claims_added: dict[int, int] = {}
        self._before: list[tuple[Formula, Claim]] = []
        self._known = [fact for fact in range(table.size) if fact_name(fact) in self.encoding.sought]
        self._constants = {
            slot: self.library.constant(symbol.name[1:-1], symbol.sort) for slot, symbol in self.encoding.before.items()
        }
        self._truths: dict[Literal, Formula] = {}
        self._later: dict[int, dict[Literal, Formula]] = {}
        self._lifting: Solver | None = None
        self._selectors: dict[str, tuple[Formula, Literal]] = {}
        self._written = [{slot for slot, _ in outcome.updates} for outcome in self.encoding.behaviour.steps]
        self._outcomes = tuple(unlike(self.encoding))

    # ---- formulas ----

    def _fresh(self, word: str) -> Formula:
        """A truth value that no question used before."""
        self._queries += 1
        return self.library.constant(f"{word} {self._queries}", "Bool")

    def _now(self, literal: Literal) -> Formula:
        if not self._truths:
            self._put(self._truths, self._known, {})
        return self._truths[literal] if literal in self._truths else self._absent(literal)

    def _then(self, literal: Literal, outcome: int) -> Formula:
        if outcome not in self._later:
            self._later[outcome] = {}
            written = self._written[outcome]
            touched = [fact for fact in self._known if written & self.encoding.reads[fact_name(fact)]]
            self._put(self._later[outcome], touched, self.unrolling.writes(outcome))
        later = self._later[outcome]
        return later[literal] if literal in later else self._now(literal)

    def _absent(self, literal: Literal) -> Formula:
        """Of a fact that never holds."""
        never = self.library.any_of(())
        return self.library.negation(never) if literal[1] is False else never

    def _put(self, into: dict[Literal, Formula], numbers: Sequence[int], writes: Mapping[int, Formula]) -> None:
        """Facts about the first state, all at once, where slots hold what is written; the same denied."""
        formulas = self._first([fact_name(number) for number in numbers], writes)
        for number, formula in zip(numbers, formulas, strict=True):
            into[number, True], into[number, False] = formula, self.library.negation(formula)

    def _first(self, names: Sequence[str], writes: Mapping[int, Formula]) -> list[Formula]:
        unrolling, library = self.unrolling, self.library
        here, constants = unrolling.state(0), self._constants
        whole = library.all_of(unrolling.formulas[name] for name in names)
        if writes:
            whole = library.replaced(whole, [(constants[slot], value) for slot, value in writes.items()])
        whole = library.replaced(whole, [(constant, here[slot]) for slot, constant in constants.items()])
        parts = list(whole.children())[1:]
        assert len(parts) == len(names), "a copy has the parts of what it is copied from"
        return parts

    def _broken(self, goal: str | Claim, outcome: int) -> list[Formula]:
        """The ways in which an outcome may break a goal."""
        written = self._written[outcome]
        if isinstance(goal, str):
            return [
                self.unrolling.after(key, outcome, 0)
                for key in self.encoding.keys_of(goal)
                if self.encoding.sought[key].kind == "step" or written & self.encoding.reads[key]
            ]
        return [
            self.library.all_of(self._then(one, outcome) for one in cube)
            for cube in goal.cubes
            if any(
                fact_name(fact) in self.encoding.sought and written & self.encoding.reads[fact_name(fact)]
                for fact, _ in cube
            )
        ]

    def _holds(self, claim: Claim) -> Formula:
        """That a claim holds before the step."""
        negation, all_of = self.library.negation, self.library.all_of
        return all_of(negation(all_of(self._now(one) for one in cube)) for cube in claim.cubes)

    def _solver(self, outcome: int) -> Solver:
        """A solver for one outcome, in which every claim of the pool may be assumed."""
        solver = self._solvers.get(outcome)
        if solver is None:
            solver = self._solvers[outcome] = self.library.solver()
            solver.add(self.unrolling.at(DOMAIN, 0), self.unrolling.can(outcome, 0))
            for name in self.assumed:
                solver.add(*(self.library.negation(self.unrolling.at(key, 0)) for key in self.encoding.keys_of(name)))
            self._claims_added[outcome] = 0
        for use, claim in self._before[self._claims_added[outcome] :]:
            solver.add(self.library.implies(use, self._holds(claim)))
        self._claims_added[outcome] = len(self._before)
        return solver

    # ---- the search ----

    def _begin(self) -> None:
        """Puts into the pool what is true of one or two facts, as far as steps keep it."""
        true = base(self.printer, self.table.bits[1], self.table.rows, self.table.never)
        claims = {self._take(frozenset(claim.cubes), claim): claim for claim in true}
        breaks = {outcome: self._breaking(claims, outcome) for outcome in self._outcomes}

        def broken(outcome: int, left: Sequence[int]) -> list[int]:
            return self._broken_of(left, breaks[outcome], outcome)

        kept = [claims[number] for number in largest_inductive(claims, self._outcomes, broken, _never)]
        self.rounds = 0
        self.pool.clear()
        self._before.clear()
        self._solvers.clear()
        for claim in kept:
            self._take(frozenset(claim.cubes), claim)

    def _breaking(self, claims: Mapping[int, Claim], outcome: int) -> dict[int, Formula]:
        """For each claim that an outcome may break a constant that says that it does."""
        solver, found = self._solver(outcome), {}
        for number, claim in claims.items():
            violations = self._broken(claim, outcome)
            if violations:
                found[number] = self.library.constant(f"breaks {number}", "Bool")
                solver.add(self.library.implies(found[number], self.library.any_of(violations)))
        return found

    def _broken_of(self, left: Sequence[int], breaks: Mapping[int, Formula], outcome: int) -> list[int]:
        """Some of these claims that an outcome breaks, where all of them hold before; none if it breaks none."""
        mine = frozenset(left)
        pending = {number: one for number, one in breaks.items() if number in mine}
        self.rounds += 1
        solver, some = self._solver(outcome), self._fresh("begins")
        solver.add(self.library.implies(some, self.library.any_of(pending.values())))
        model = solver.model(some, *(self._before[number][0] for number in left))
        return [] if model is None else [number for number, one in pending.items() if model.holds(one)]

    def find(self, goals: tuple[str, ...]) -> tuple[Claim, ...]:
        """Claims that are kept, and with which these goals are; fewer goals where some cannot be."""
        self._begin()
        wanted: tuple[str | Claim, ...] = goals
        chosen = with_premises(wanted, self._outcomes, self._premises, _never)
        return self._spared(goals, [one for one in chosen if isinstance(one, Claim)])

    def _premises(self, goal: str | Claim, outcome: int, chosen: Collection[str | Claim]) -> list[Claim]:
        """Claims by which an outcome keeps a goal; more are found where those at hand are not enough."""
        violations = self._broken(goal, outcome)
        if not violations:
            return []
        broken = self._fresh("broken")
        self._solver(outcome).add(self.library.implies(broken, self.library.any_of(violations)))
        own = [(use, claim) for use, claim in self._before if claim in chosen]
        if self._solver(outcome).model(broken, *(use for use, _ in own)) is None:
            return self._core(outcome, broken, own)
        while True:
            self.rounds += 1
            if self.rounds > ROUNDS_MAX:
                raise Cancelled(f"{ROUNDS_MAX} counterexamples to induction were not enough")
            model = self._solver(outcome).model(broken, *(use for use, _ in self._before))
            if model is None:
                return self._core(outcome, broken, self._before)
            self._learn(model, outcome, violations)

    def _core(self, outcome: int, broken: Formula, own: Sequence[tuple[Formula, Claim]]) -> list[Claim]:
        """Few of these claims with which the goal is kept."""
        by_name = {self.library.name_of(use): (use, claim) for use, claim in own}
        core = self._least(self._solver(outcome), broken, by_name, lambda claim: claim.weight)
        assert core is not None, "these claims keep the goal"
        return core

    def _least(
        self,
        solver: Solver,
        always: Formula,
        assumed: Mapping[str, tuple[Formula, Item]],
        weight: Callable[[Item], int],
    ) -> list[Item] | None:
        """Few of what is assumed, by name, that cannot hold beside a constant, the weightiest left out first; `None` if
        all of it can."""

        def refuted(names: Iterable[str]) -> list[str] | None:
            found = solver.refuted((always, *(assumed[name][0] for name in names)))
            return None if found is None else [name for name in found if name in assumed]

        core = refuted(assumed)
        if core is None:
            return None
        core.sort(key=lambda name: -weight(assumed[name][1]))
        return [assumed[name][1] for name in minimal_core(core, refuted)]

    def _learn(self, model: Model, outcome: int, violations: list[Formula]) -> None:
        """Puts a claim into the pool that a counterexample to induction does not agree with."""
        contents = held(model, self.unrolling.state(0))
        holds = self.table.literals(contents, self.encoding.lowered.layout)
        state: list[Literal] = list(enumerate(holds))
        core = self._lifted(state, outcome, violations)
        plain: dict[frozenset[Cube], Claim] = {}
        for cube in sorted(set(self._cubes(core, state)), key=self.printer.far):
            claim = self.printer.claim(tuple(sorted(cube)))
            if claim is not None and all(self.table.never(one) for one in claim.cubes):
                plain.setdefault(frozenset(claim.cubes), claim)
            if len(plain) == CANDIDATES_MAX:
                break
        if not plain:
            raise Cancelled("a state that no run leads to is like one that runs lead to in every fact")
        for key, claim in plain.items():
            if self._inductive(claim):
                self._take(key, claim)
                return
        self._take(*next(iter(plain.items())))

    def _take(self, key: frozenset[Cube], claim: Claim) -> int:
        """Puts a claim into the pool; its place there."""
        self.pool[key] = claim
        self._before.append((self.library.constant(f"uses {len(self._before)}", "Bool"), claim))
        return len(self._before) - 1

    def _inductive(self, claim: Claim) -> bool:
        """Whether steps keep a claim where it and the pool hold before."""
        use = self._fresh("tries")
        before = self._holds(claim)
        for outcome in self._outcomes:
            violations = self._broken(claim, outcome)
            if not violations:
                continue
            solver = self._solver(outcome)
            solver.add(self.library.implies(use, self.library.all_of((before, self.library.any_of(violations)))))
            if solver.model(use, *(one for one, _ in self._before)) is not None:
                return False
        return True

    def _lifted(self, state: list[Literal], outcome: int, violations: list[Formula]) -> list[Literal]:
        """Few facts of a state from which it follows that the outcome comes about and breaks something; all where
        facts do not say enough."""
        solver = self._lifter()
        only = self._fresh("lifts")
        breaks = self.library.all_of((self.unrolling.can(outcome, 0), self.library.any_of(violations)))
        solver.add(self.library.implies(only, self.library.negation(breaks)))
        own = {self._selector(literal): self._selectors[self._selector(literal)] for literal in state}
        core = self._least(solver, only, own, self._far)
        return state if core is None else core

    def _selector(self, literal: Literal) -> str:
        return f"selects {literal[0]} {literal[1]}"

    def _lifter(self) -> Solver:
        """A solver about one state in which each fact and its opposite may be assumed."""
        if self._lifting is None:
            solver = self._lifting = self.library.solver()
            solver.add(self.unrolling.at(DOMAIN, 0))
            said = []
            for literal in ((fact, holds) for fact in range(self.table.size) for holds in (False, True)):
                selector = self.library.constant(self._selector(literal), "Bool")
                self._selectors[self._selector(literal)] = selector, literal
                said.append(self.library.implies(selector, self._now(literal)))
            solver.add(*said)
        return self._lifting

    def _far(self, literal: Literal) -> int:
        return 2 * self.printer.facts[literal[0]].weight + (not literal[1])

    def _cubes(self, core: list[Literal], state: list[Literal]) -> Iterator[Cube]:
        """Facts of a state that never hold together: one, two or three of which one or two are of the core, then the
        fewest of the core that do."""
        near = sorted(core, key=self._far)[:CORE_MAX]
        some = False
        for one in near:
            if self.table.never((one,)):
                some = True
                yield (one,)
        if some:
            return
        for one in near:
            for other in self.table.completing((one,), state):
                some = True
                yield one, other
        for first, second in combinations(near, 2):
            if self.table.never((first, second)):
                continue
            for third in self.table.completing((first, second), near if some else state):
                if third not in (first, second):
                    yield first, second, third
        yield tuple(self._fewest(core))

    def _fewest(self, core: list[Literal]) -> list[Literal]:
        """Those of the core that are needed, the plainest kept."""
        plainest_last = sorted(core, key=self._far, reverse=True)
        kept = minimal_core(plainest_last, lambda rest: rest if rest and self.table.never(rest) else None)
        return sorted(kept, key=self._far)

    # ---- what is needed ----

    def _spared(self, goals: tuple[str, ...], needed: list[Claim]) -> tuple[Claim, ...]:
        """The claims without those that can go, the most far-fetched first."""
        left = list(needed)
        for claim in sorted(needed, key=lambda one: -one.weight):
            rest = [one for one in left if one is not claim]
            if self._carry(goals, rest):
                left = rest
        return tuple(left)

    def _carry(self, goals: tuple[str, ...], claims: list[Claim]) -> bool:
        """Whether these are kept by every outcome, and the goals with them."""
        uses = [use for use, claim in self._before if any(claim is one for one in claims)]
        for outcome in self._outcomes:
            both: tuple[str | Claim, ...] = (*goals, *claims)
            violations = [violation for goal in both for violation in self._broken(goal, outcome)]
            if not violations:
                continue
            self.rounds += 1
            broken = self._fresh("carried")
            solver = self._solver(outcome)
            solver.add(self.library.implies(broken, self.library.any_of(violations)))
            if solver.model(broken, *uses) is not None:
                return False
        return True


FINDING_SECONDS_MAX = 60.0
"""So long is looked for lemmas."""


def lemmas(
    system: System, names: tuple[str, ...], limits: Limits, report: Report, watch: Stopwatch
) -> tuple[tuple[Property, ...], tuple[str | None, ...]]:
    """Lemmas with which all these properties may be inductive, and each as text of a spec if it can be said there; none
    where none were found. Errors: `Cancelled`, `Refused`, `EvaluationError` as `prepare`."""
    own = tuple(one for one in system.properties if one.name in names)
    known = facts(system)
    properties = tuple(
        Property(fact_name(number), "reachable", fact.condition, None, (), "", "", 0)
        for number, fact in enumerate(known)
    )
    with watch.phase("exploring for lemmas"):
        states = reached(system, limits, report, watch)
    if states is None:
        return (), ()
    prepared = prepare(replace(system, properties=(*own, *properties)), (), limits, report, watch)
    if prepared is None:
        return (), ()
    table = Table(prepared, states.columns, states.count, len(known))
    finder = Finder(prepared, table, ClaimPrinter(system, known), tuple(one.name for one in own if one.kind != "step"))
    with watch.phase("finding lemmas"):
        chosen = finder.find(tuple(one.name for one in own))
    taken = {one.name for one in system.properties}
    free = (name for name in (f"found_{number}" for number in range(1, 10_000)) if name not in taken)
    rendered = [(name, *finder.printer.condition(claim)) for name, claim in zip(free, chosen, strict=False)]
    made = tuple(Property(name, "lemma", goal, None, (), "found", "", 0) for name, goal, _ in rendered)
    return made, tuple(None if text is None else f"lemma {name}: {text}" for name, _, text in rendered)
