"""What has to be shown so that claims hold of every state that can be reached, as questions to a solver.

- *base*: each claim holds at the start;
- *step*: where all claims hold, each holds after every step; a claim about steps holds of every step.

Each question is a text of its own: the theory, what is assumed, and the negation of what is to be shown. A solver that
answers `unsat` has shown it. The text is what is proved and what a certificate keeps: there is no other encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.checker.parametric import smtlib_text
from hacheck.checker.parametric.first_order_logic import WHATEVER, Symbol, Term, negation, renamed
from hacheck.checker.parametric.theory import Claim, Theory, Transition, after

TYPES = "the types of the state"


class Obligation(Struct, frozen=True):
    """One question. `assumed`: the claims taken to hold before the step; none at the start."""

    theory: Theory
    transition: Transition
    claim: Claim
    assumed: tuple[Claim, ...]

    @property
    def kind(self) -> str:
        return "base" if self.transition.action is None else "step"

    @property
    def title(self) -> str:
        """The question in words."""
        if self.transition.action is None:
            return f"{self.claim.name} holds at the start"
        if self.claim.of_steps:
            return f"{self.claim.name} holds of {self.transition.name}"
        return f"{self.transition.name} keeps {self.claim.name}"


def obligations(
    theory: Theory, claims: Sequence[Claim], assumed: Sequence[Claim] | None = None
) -> Iterator[Obligation]:
    """All that has to be shown of these claims, where those assumed (by default these) hold before each step."""
    before = tuple(one for one in (claims if assumed is None else assumed) if not one.of_steps)
    for claim in claims:
        if not claim.of_steps:
            yield Obligation(theory, theory.start, claim, ())
    for transition in theory.transitions:
        for claim in claims:
            yield Obligation(theory, transition, claim, before)


def parts(one: Obligation) -> tuple[list[Symbol], list[tuple[str, Term]]]:
    """The symbols that an obligation has beside those of its theory, and its assertions, each with what it says. The
    last one is the negation of what is to be shown. Updates are not among them."""
    symbols = list(one.transition.symbols)
    said: list[tuple[str, Term]] = []
    for fact in one.theory.typing if one.transition.action is not None else ():
        said.append((TYPES, fact))
    for claim in one.assumed:
        symbols += claim.symbols
        said += [(f"a symbol of {claim.name}", fact) for fact in claim.defined]
        said.append((f"{claim.name} holds before", claim.formula))
    said += [("a symbol of the step", fact) for fact in one.transition.defined]
    said += [("the step is possible", fact) for fact in one.transition.conditions]
    names = afterwards(one)
    claimed, facts, formula = one.claim.symbols, one.claim.defined, one.claim.formula
    if one.claim.of_steps:
        names = {after(name): new for name, new in unchanged(one).items()} if one.transition.action is not None else {}
    else:
        names |= {symbol.name: after(symbol.name) for symbol in claimed}
        claimed = tuple(Symbol(after(symbol.name), symbol.arguments, symbol.sort) for symbol in claimed)
    symbols += claimed
    said += [(f"a symbol of {one.claim.name}", renamed(fact, names)) for fact in facts]
    said.append((f"{one.claim.name} does not hold after", negation(renamed(formula, names))))
    return symbols, said


def afterwards(one: Obligation) -> dict[str, str]:
    """The names that symbols of the state have after the step: new ones where it changes them."""
    if one.transition.action is None:
        return {symbol.name: after(symbol.name) for symbol in one.theory.state}
    return {update.symbol.name: after(update.symbol.name) for update in one.transition.updates}


def unchanged(one: Obligation) -> dict[str, str]:
    """The symbols of the state that the step leaves as they are."""
    changed = {update.symbol.name for update in one.transition.updates}
    return {symbol.name: symbol.name for symbol in one.theory.state if symbol.name not in changed}


def text(one: Obligation, seed: int = 0, *, typed: bool = True, needed: frozenset[int] | None = None) -> str:
    """An obligation as SMT-LIB 2, without the command to check it. `seed`: which way a solver tries first; `typed`:
    with what the types of variables say, which is not always needed; `needed`: the assertions, by place in `parts`, to
    which it is to be restricted. To leave out what is assumed makes a question harder, never easier to be shown."""
    theory = one.theory
    symbols, said = parts(one)
    if needed is not None:
        said = [fact for place, fact in enumerate(said) if place in needed]
    if not typed:
        said = [(meaning, fact) for meaning, fact in said if meaning != TYPES]
    started = {update.symbol.name for update in one.transition.updates}
    formulas = [formula for _, formula in (*theory.axioms, *said)]
    formulas += [update.value for update in one.transition.updates]
    idle = sorted({found for found in smtlib_text.undeclared(formulas, ()) if found.startswith(WHATEVER)})
    lines = [smtlib_text.comment(f"{theory.name}: {one.title}. To be shown: unsat.")]
    lines += [f"(set-option :smt.random_seed {seed})"] * (seed != 0)
    lines += smtlib_text.sorts(theory.sorts)
    lines += map(smtlib_text.declaration, theory.rigid)
    lines += (smtlib_text.declaration(Symbol(name, (), name.removeprefix(WHATEVER))) for name in idle)
    for meaning, axiom in theory.axioms:
        lines += [smtlib_text.comment(meaning), smtlib_text.assertion(axiom)]
    if one.transition.action is not None:
        lines += map(smtlib_text.declaration, theory.state)
    else:
        rest = (symbol for symbol in theory.state if symbol.name not in started)
        lines += (smtlib_text.declaration(Symbol(after(symbol.name), symbol.arguments, symbol.sort)) for symbol in rest)
    lines += map(smtlib_text.declaration, symbols)
    lines.append(smtlib_text.comment("what the step changes"))
    for update in one.transition.updates:
        lines.append(
            smtlib_text.definition(after(update.symbol.name), update.formals, update.symbol.sort, update.value)
        )
    for meaning, formula in said:
        lines += [smtlib_text.comment(meaning), smtlib_text.assertion(formula)]
    return "\n".join(lines) + "\n"
