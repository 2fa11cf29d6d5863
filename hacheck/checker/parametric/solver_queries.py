"""Queries to Z3 as texts: with a deadline, and stopped when nobody waits any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct, field

from hacheck.checker.symbolic.z3_library import is_out_of_memory, minimal_core, z3_module

Said = Literal["unsat", "sat", "unknown"]


class SolverSession(Struct):
    """A time limit for queries, and whether they were stopped before. Several threads may share one."""

    until: float
    stopped: bool = False
    exhausted: bool = False
    running: dict[int, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether no query may begin any more."""
        return self.stopped or time.monotonic() >= self.until

    @property
    def why(self) -> str:
        """Why no query may begin any more; nothing where one may."""
        if self.exhausted:
            return "out of memory"
        return "" if not self.over else "interrupted" if self.stopped else "out of time"

    def noted(self, error: Exception) -> bool:
        """Ends everything if an error says that there is no more memory; whether it does."""
        if is_out_of_memory(error):
            self.exhaust()
        return self.exhausted

    def exhaust(self) -> None:
        """Ends everything, since there is no more memory."""
        self.exhausted = True
        self.stop()

    def stop(self) -> None:
        """Ends the queries that run now, and all that would come."""
        self.stopped = True
        for context in list(self.running.values()):
            context.interrupt()

    @contextmanager
    def context(self) -> Iterator[Any]:
        """A context of Z3 for one question, which `stop` interrupts. Without memory for it no further query begins."""
        made = z3_module().Context()
        self.running[threading.get_ident()] = made
        try:
            yield made
        except Exception as error:
            self.noted(error)
            raise
        finally:
            del self.running[threading.get_ident()]


def solve(session: SolverSession, text: str, seconds: float) -> Said:
    """What Z3 says of a text in so many seconds at most."""
    left = min(seconds, session.until - time.monotonic())
    if session.stopped or left <= 0:
        return "unknown"
    with session.context() as context:
        solver = z3_module().Solver(ctx=context)
        solver.set("timeout", max(1, int(left * 1000)))
        solver.from_string(text)
        return _said(solver.check())


def _said(result: object) -> Said:
    text = str(result)
    return "unsat" if text == "unsat" else "sat" if text == "sat" else "unknown"


class Propositional(Struct, frozen=True):
    """What was found of propositional assertions: if they can be met, which propositions are true then; else which of
    them, by place, cannot be met together."""

    said: Said
    true: frozenset[str] = frozenset()
    core: tuple[int, ...] = ()


def solve_propositions(
    session: SolverSession, lines: list[str], assertions: list[str], *, least: bool = False
) -> Propositional:
    """What Z3 says of assertions without quantifiers. `least`: of those that cannot be met, none could be left out."""
    left = session.until - time.monotonic()
    if session.stopped or left <= 0:
        return Propositional("unknown")
    z3 = z3_module()
    with session.context() as context:
        solver = z3.SolverFor("QF_FD", ctx=context)
        solver.set("timeout", max(1, int(left * 1000)))
        named = [f"(declare-fun s{place} () Bool)(assert (=> s{place} {one}))" for place, one in enumerate(assertions)]
        solver.from_string("\n".join((*lines, *named)))
        literals = [z3.Bool(f"s{place}", ctx=context) for place in range(len(assertions))]
        said = _said(solver.check(literals))
        if said == "sat":
            model = solver.model()
            true = frozenset(str(one) for one in model.decls() if z3.is_true(model[one]))
            return Propositional("sat", true)
        if said == "unknown":
            return Propositional("unknown")

        def refuted(places: Sequence[int]) -> list[int] | None:
            said = _said(solver.check([literals[place] for place in places]))
            return _places(solver.unsat_core()) if said == "unsat" else None

        core = _places(solver.unsat_core())
        return Propositional("unsat", core=tuple(minimal_core(core, refuted) if least else core))


def _places(literals: Sequence[Any]) -> list[int]:
    return sorted(int(str(one)[1:]) for one in literals)
