"""A model as a theory: sorts and symbols, axioms, the start, the steps and what is claimed, all in first-order logic.

Every state of the model, at every size, is a structure of the theory, with nodes for the elements of a kind's sort, all
sets of more than half of them for the quorums, and whole numbers for numbers; and every step between two of them meets
the step's conditions, for some meaning of its fresh symbols. So what the theory proves holds of the model. The converse
is not true: where the theory is weaker than the model, a note says where.
"""

from __future__ import annotations

from msgspec import Struct

from hacheck.checker.parametric.first_order_logic import Bound, Sort, Symbol, Term
from hacheck.model import ir
from hacheck.model.render import show_expression
from hacheck.model.spec_conditions import spec_text
from hacheck.model.types import Type

START = "start"


class Update(Struct, frozen=True):
    """What a symbol of the state is after a step, in terms of the state before it."""

    symbol: Symbol
    formals: tuple[Bound, ...]
    value: Term


class Transition(Struct, frozen=True):
    """A kind of step: possible where `conditions` hold, for some meaning of the fresh `symbols` of which `defined`
    holds. What has no update is unchanged. `action`: its index in the system, `None` for the start."""

    name: str
    action: int | None
    symbols: tuple[Symbol, ...]
    defined: tuple[Term, ...]
    conditions: tuple[Term, ...]
    updates: tuple[Update, ...]
    parameters: tuple[tuple[str, Type, tuple[Symbol, ...]], ...]


class Claim(Struct, frozen=True):
    """A property: a formula over the state, and over the one before where it is about steps, whose symbols then
    have names as `after` gives them."""

    name: str
    prop: ir.Property | None
    symbols: tuple[Symbol, ...]
    defined: tuple[Term, ...]
    formula: Term
    of_steps: bool = False

    def text(self, system: ir.System) -> str | None:
        """The claim as text of a spec that means the same, if the language has words for it."""
        return None if self.prop is None else spec_text(system, self.prop.goal)

    @property
    def words(self) -> str:
        """The claim for people, with the names of the model's variables where the language has no words."""
        return "" if self.prop is None else show_expression(self.prop.goal)


class Theory(Struct, frozen=True):
    """`state`: the symbols that steps change. `typing`: what their types say of every state. `covers`: in words, which
    sizes this is about. `notes`: what was left open, each with where."""

    name: str
    system: ir.System
    sorts: tuple[Sort, ...]
    rigid: tuple[Symbol, ...]
    state: tuple[Symbol, ...]
    axioms: tuple[tuple[str, Term], ...]
    typing: tuple[Term, ...]
    start: Transition
    transitions: tuple[Transition, ...]
    claims: tuple[Claim, ...]
    covers: tuple[str, ...]
    notes: tuple[str, ...]
    open_kinds: frozenset[str]
    varied: tuple[str, ...]


def after(symbol: str) -> str:
    """The name that a symbol of the state has in the state after a step."""
    return f"{symbol}'"
