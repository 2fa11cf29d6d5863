"""The one place where Z3 comes in: formulas out of SMT-LIB text, copies of them, and solvers that obey limits.

Everything here speaks Z3's own Python interface, which has no types; what others see of it are the names below.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from hacheck.checker.engine import Limits, Progress, Refused, Report
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Budget, Cancelled, supervised

Formula: TypeAlias = Any
"""A term of Z3, a truth value or a bit vector."""

Made = TypeVar("Made")
Key = TypeVar("Key", bound=Hashable)

_WAIT_SECONDS = 0.05
_GRACE_SECONDS = 5.0


def z3_module() -> Any:
    """Z3. Errors: `Refused` where it is not installed."""
    try:
        import z3  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise Refused("Z3 is not installed: pip install 'hacheck[prove]'") from None
    return z3


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, Python's or Z3's, says that there is no more memory."""
    return isinstance(error, MemoryError) or "out of memory" in str(error)


def attempted(work: Callable[[], Made]) -> Made:
    """What the work makes. Errors: `Cancelled` where memory does not suffice; else those of the work."""
    try:
        return work()
    except Exception as error:
        if is_out_of_memory(error):
            raise Cancelled("Z3 ran out of memory") from None
        raise


def minimal_core(core: Sequence[Key], refuted: Callable[[Sequence[Key]], Iterable[Key] | None]) -> list[Key]:
    """Those of some assumptions that are needed to be refuted. One after the other, in their order, each is left out if
    the others are refuted without it. `refuted`: those of some that suffice for that; `None` where they are not
    refuted."""
    left = list(core)
    for one in core:
        if one in left and (suffice := refuted([other for other in left if other != one])) is not None:
            kept = set(suffice)
            left = [other for other in left if other in kept]
    return left


class Supervisor:
    """Lets Z3 work while it reports what is being done, and stops it when a limit or the user says so."""

    def __init__(self, limits: Limits, report: Report, started: float) -> None:
        self.report = report
        self.budget = Budget(started, limits.wall_seconds_max, limits.memory_bytes_max)
        self.depth = 0
        self.phase = "solving"

    def reason(self) -> str | None:
        """The reason to stop, if there is one."""
        memory = process_bytes()
        if not self.report(Progress(0, 0, self.depth, 0, self.budget.seconds(), memory, self.phase)):
            return "interrupted"
        return self.budget.exceeded(memory)

    def supervised(self, work: Callable[[], Made], interrupt: Callable[[], None]) -> Made:
        """What the work makes, which goes on in a thread of its own. Errors: `Cancelled`; what the work raises."""
        if (early := self.reason()) is not None:
            raise Cancelled(early)
        running = partial(supervised, work, self.reason, cancel=interrupt)
        return attempted(partial(running, grace_seconds=_GRACE_SECONDS, poll_seconds=_WAIT_SECONDS))


class Library:
    """Z3 with a context of its own, so that several checks do not meet."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.z3 = z3_module()
        self.context = self.z3.Context()
        self.supervisor = supervisor

    def parsed(self, text: str) -> Sequence[Formula]:
        """What a text of SMT-LIB asserts, in its order."""
        return self.supervised(lambda: list(self.z3.parse_smt2_string(text, ctx=self.context)))

    def supervised(self, work: Callable[[], Made]) -> Made:
        """What work of Z3 makes, within the limits. Errors: `Cancelled`."""
        return self.supervisor.supervised(work, self.context.interrupt)

    def constant(self, name: str, sort: str) -> Formula:
        """A constant: `sort` is `Bool` or `(_ BitVec 3)`; `name` is as SMT-LIB has it, without bars."""
        if sort == "Bool":
            return self.z3.Bool(name, self.context)
        return self.z3.BitVec(name, int(sort.split()[-1].rstrip(")")), self.context)

    def replacement(self, pairs: Iterable[tuple[Formula, Formula]]) -> Replacement:
        """What replaces constants, all at once, in as many formulas as there are."""
        return Replacement(self, tuple(pairs))

    def replaced(self, formula: Formula, pairs: Iterable[tuple[Formula, Formula]]) -> Formula:
        """The formula with constants replaced, all at once."""
        return self.replacement(pairs).of(formula)

    def name_of(self, constant: Formula) -> str:
        """The name of a constant."""
        return str(constant.decl().name())

    def right_side(self, equation: Formula) -> Formula:
        """What something is said to be equal to."""
        return equation.arg(1)

    def negation(self, formula: Formula) -> Formula:
        """The opposite."""
        return self.z3.Not(formula)

    def any_of(self, formulas: Iterable[Formula]) -> Formula:
        """Whether one holds at least."""
        return self.z3.Or([self.z3.BoolVal(False, self.context), *formulas])

    def all_of(self, formulas: Iterable[Formula]) -> Formula:
        """Whether all hold."""
        return self.z3.And([self.z3.BoolVal(True, self.context), *formulas])

    def implies(self, premise: Formula, conclusion: Formula) -> Formula:
        """Whether the conclusion holds if the premise does."""
        return self.z3.Implies(premise, conclusion)

    def differ(self, pairs: Iterable[tuple[Formula, Formula]]) -> Formula:
        """Whether the members of a pair differ."""
        return self.any_of(left != right for left, right in pairs)

    def same(self, constant: Formula, model: Model) -> Formula:
        """That a constant is what it is in a model."""
        value = model.number(constant)
        if self.z3.is_bool(constant):
            return constant if value else self.z3.Not(constant)
        return constant == value

    def solver(self) -> Solver:
        """A solver without anything asserted."""
        return Solver(self)


class Replacement:
    """Terms that replace constants. (`substitute` of Z3 looks at the sorts of every pair each time, which takes longer
    than what it is for.)"""

    def __init__(self, library: Library, pairs: Sequence[tuple[Formula, Formula]]) -> None:
        terms = library.z3.Ast * len(pairs)
        self.library, self._pairs = library, pairs  # what is referred to is kept by Z3
        self._old = terms(*(old.as_ast() for old, _ in pairs))
        self._new = terms(*(new.as_ast() for _, new in pairs))

    def of(self, formula: Formula) -> Formula:
        """The formula with the constants replaced. Errors: `Cancelled`."""
        z3, context = self.library.z3, self.library.context
        count, old, new = len(self._pairs), self._old, self._new
        made = attempted(lambda: z3.Z3_substitute(context.ref(), formula.as_ast(), count, old, new))
        return type(formula)(made, context)


class Solver:
    """Formulas asserted one after the other, and questions about them. What is learnt stays."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._solver = library.z3.SolverFor("QF_FD", ctx=library.context)
        self._solver.set("ctrl_c", False)  # who listens to Ctrl-C is for the program to say

    def add(self, *formulas: Formula) -> None:
        """Asserts formulas for good."""
        self._solver.add(*formulas)

    def model(self, *assumed: Formula) -> Model | None:
        """A model of what is asserted and assumed, if there is one. Errors: `Cancelled`."""
        solver, z3 = self._solver, self.library.z3
        found = self.library.supervised(lambda: solver.check(*assumed))
        if found == z3.unknown:
            raise Cancelled(f"Z3 stopped without an answer: {solver.reason_unknown()}")
        return Model(self.library, solver.model()) if found == z3.sat else None

    def core(self) -> list[str]:
        """After there was no model: the names of those of the assumptions, constants all, that suffice for that."""
        return [self.library.name_of(constant) for constant in self._solver.unsat_core()]

    def refuted(self, assumed: Iterable[Formula]) -> list[str] | None:
        """The names of those of some constants that cannot all be true; `None` if they can. Errors: `Cancelled`."""
        return self.core() if self.model(*assumed) is None else None


class Model:
    """Values of constants."""

    def __init__(self, library: Library, model: Any) -> None:
        self.library, self._model = library, model

    def number(self, formula: Formula) -> int:
        """The value of a bit vector; of a truth value 0 or 1."""
        value = self._model.eval(formula, model_completion=True)
        if self.library.z3.is_bool(value):
            return int(self.library.z3.is_true(value))
        return int(value.as_long())

    def holds(self, formula: Formula) -> bool:
        """Whether a formula is true."""
        return bool(self.number(formula))


def held(model: Model, constants: Mapping[int, Formula]) -> dict[int, int]:
    """What slots hold in a model."""
    return {slot: model.number(constant) for slot, constant in constants.items()}
