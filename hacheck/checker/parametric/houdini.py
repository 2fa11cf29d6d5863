"""Of many claims those that are inductive together, at one small size, and of those the few that are needed.

All of it is propositional, so each question is answered, and fast; whether the same holds for every size is examined
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec import Struct, field

from hacheck.checker.inductive_claims import largest_inductive, with_premises
from hacheck.checker.parametric.finite_instances import Grounding, grounding, negated, sizes_of
from hacheck.checker.parametric.first_order_logic import renamed
from hacheck.checker.parametric.obligation_solving import untouched
from hacheck.checker.parametric.proof_obligations import Obligation, afterwards
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.parametric.theory import Claim, Theory, Transition, after
from hacheck.checker.symbolic.z3_library import minimal_core, z3_module


class Steps(Struct):
    """One transition at a small size, with every claim before and after it, in one solver that stays.

    `touched`: the claims that the transition may break; `before`, `broken`: a literal for each claim.
    """

    transition: Transition
    touched: tuple[Claim, ...]
    solver: Any
    before: dict[str, Any] = field(default_factory=dict)
    broken: dict[str, Any] = field(default_factory=dict)

    def breaks(self, claims: Sequence[Claim]) -> tuple[str, ...]:
        """The names of claims that one step breaks where all of these hold before; none if no step breaks any."""
        pending = [one for one in self.touched if one in claims]
        if not pending:
            return ()
        self.solver.push()
        try:
            self.solver.add(z3_module().Or([self.broken[one.name] for one in pending]))
            if str(self.solver.check([self.before[one.name] for one in claims])) != "sat":
                return ()
            model = self.solver.model()
            return tuple(one.name for one in pending if z3_module().is_true(model.eval(self.broken[one.name])))
        finally:
            self.solver.pop()

    def needed(self, claim: Claim, claims: Sequence[Claim]) -> tuple[str, ...] | None:
        """The names of claims that are needed before a step so that one holds after it; `None` if they do not do."""
        if claim not in self.touched:
            return ()
        core = self._core(claim, [one.name for one in claims])
        return None if core is None else tuple(minimal_core(core, lambda names: self._core(claim, names)))

    def _core(self, claim: Claim, names: Sequence[str]) -> list[str] | None:
        if str(self.solver.check([*(self.before[name] for name in names), self.broken[claim.name]])) != "unsat":
            return None
        literals = {str(one) for one in self.solver.unsat_core()}
        return [name for name in names if str(self.before[name]) in literals]


def steps_of(theory: Theory, claims: Sequence[Claim], size: int, go_on: Callable[[str], bool]) -> list[Steps]:
    """Every transition at a size. `go_on` is called now and then, and says whether to."""
    found = []
    for transition in theory.transitions:
        if not go_on(f"{len(claims)} candidates, {transition.name}"):
            break
        found.append(_steps(theory, transition, claims, grounding(theory, sizes_of(theory, size))))
    return found


def _steps(theory: Theory, transition: Transition, claims: Sequence[Claim], base: Grounding) -> Steps:
    base.updates = {after(update.symbol.name): update for update in transition.updates}
    texts = [base.truth(fact, {}) for fact in (*theory.typing, *transition.defined, *transition.conditions)]
    before = [(one, base.truth(one.formula, {})) for one in claims]
    touched, broken = [], []
    for one in claims:
        obligation = Obligation(theory, transition, one, (one,))
        if not untouched(obligation):
            touched.append(one)
            broken.append((one, negated(base.truth(renamed(one.formula, afterwards(obligation)), {}))))
    lines = [*base.lines, *(f"(assert {one})" for one in texts)]
    for place, (_, text) in enumerate(before):
        lines.append(f"(declare-fun b{place} () Bool)(assert (=> b{place} {text}))")
    for place, (_, text) in enumerate(broken):
        lines.append(f"(declare-fun a{place} () Bool)(assert (= a{place} {text}))")
    z3 = z3_module()
    solver = z3.SolverFor("QF_FD", ctx=z3.Context())
    solver.from_string("\n".join(lines))
    return Steps(
        transition,
        tuple(touched),
        solver,
        {one.name: z3.Bool(f"b{place}", ctx=solver.ctx) for place, (one, _) in enumerate(before)},
        {one.name: z3.Bool(f"a{place}", ctx=solver.ctx) for place, (one, _) in enumerate(broken)},
    )


def inductive(claims: Sequence[Claim], steps: Sequence[Steps], session: SolverSession) -> tuple[Claim, ...]:
    """The largest set of these claims that every step keeps."""
    by_name = {one.name: one for one in claims}

    def broken(step: Steps, left: Sequence[str]) -> tuple[str, ...]:
        return step.breaks([by_name[name] for name in left])

    return tuple(by_name[name] for name in largest_inductive(by_name, steps, broken, lambda: session.over))


def needed(
    wanted: Sequence[Claim], claims: Sequence[Claim], steps: Sequence[Steps], session: SolverSession
) -> tuple[Claim, ...]:
    """Few of an inductive set of claims that are inductive together with those wanted, these first."""
    by_name = {one.name: one for one in claims}

    def premises(name: str, step: Steps, chosen: Collection[str]) -> tuple[str, ...]:
        if step.needed(by_name[name], [by_name[one] for one in chosen]) is not None:
            return ()  # what was chosen for others is enough here, too
        return step.needed(by_name[name], claims) or ()

    goals = [one.name for one in wanted]
    return tuple(by_name[name] for name in with_premises(goals, steps, premises, lambda: session.over))
