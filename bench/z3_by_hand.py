"""QuorumElection for Z3, written by hand: the peer of `symbolic.py`.

    python bench/z3_by_hand.py bmc REPLICAS TERMS CRASHES DEPTH
    python bench/z3_by_hand.py induction REPLICAS TERMS CRASHES

The next-state relation has one selector for each action, and for each variable a chain of choices between what the
actions give it; numbers are bit vectors just wide enough. Bounded model checking is one incremental solver; induction
one question about all actions, with the strengthening written by hand. Both use Z3's solver for finite domains.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from z3 import UGT, ULE, ULT, And, BitVec, BitVecVal, Bool, BoolVal, If, Implies, Not, Or, PbGe, SolverFor, unsat

FOLLOWER, CANDIDATE, LEADER = 0, 1, 2
State = dict[str, Any]
Step = tuple[Any, State]


class Election:
    """The model for some settings."""

    def __init__(self, replicas: int, terms: int, crashes: int) -> None:
        self.all, self.terms, self.crashes = range(replicas), terms, crashes
        self.bits: dict[str, int] = {"crashes": max(1, crashes.bit_length())}
        for i in self.all:
            self.bits |= {f"up{i}": 0, f"mode{i}": 2, f"term{i}": self.term_bits, f"voted{i}": replicas.bit_length()}
            for j in self.all:
                self.bits[f"votes{i}_{j}"] = 0
                if i != j:
                    self.bits |= {f"req{i}_{j}": self.term_bits, f"rep{i}_{j}": self.term_bits}

    @property
    def term_bits(self) -> int:
        """Bits of a term."""
        return max(1, self.terms.bit_length())

    def state(self, place: int) -> State:
        """The constants of a state."""
        made = {}
        for name, bits in self.bits.items():
            made[name] = BitVec(f"{name}@{place}", bits) if bits else Bool(f"{name}@{place}")
        return made

    def initial(self, s: State) -> Any:
        """Everybody is up, and nothing has happened."""
        zero = (Not(s[name]) if bits == 0 else s[name] == 0 for name, bits in self.bits.items() if name[:2] != "up")
        return And(*zero, *(s[f"up{i}"] for i in self.all))

    def domain(self, s: State) -> Any:
        """Bit patterns that are a state."""
        tops = {"mode": LEADER, "term": self.terms, "req": self.terms, "rep": self.terms, "crashes": self.crashes}
        tops["voted"] = len(self.all)
        parts = []
        for name, bits in self.bits.items():
            top = tops.get(name.rstrip("0123456789_"), 0)
            if bits and top < 2**bits - 1:
                parts.append(ULE(s[name], BitVecVal(top, bits)))
        return And(parts)

    def majority(self, votes: list[Any]) -> Any:
        """Whether most are among them."""
        return PbGe([(vote, 1) for vote in votes], len(self.all) // 2 + 1)

    def steps(self, s: State) -> Iterator[Step]:
        """The guard of each action, and what it changes."""
        for i in self.all:
            yield self.timeout(s, i)
            down = {f"votes{i}_{j}": BoolVal(False) for j in self.all}
            down |= {f"up{i}": BoolVal(False), f"mode{i}": BitVecVal(FOLLOWER, 2), "crashes": s["crashes"] + 1}
            yield And(s[f"up{i}"], ULT(s["crashes"], BitVecVal(self.crashes, self.bits["crashes"]))), down
            yield Not(s[f"up{i}"]), {f"up{i}": BoolVal(True)}
            for j in self.all:
                if i != j:
                    yield self.asked(s, i, j)
                    yield s[f"req{i}_{j}"] != 0, {f"req{i}_{j}": self.no_term}
                    yield self.answered(s, i, j)
                    yield s[f"rep{j}_{i}"] != 0, {f"rep{j}_{i}": self.no_term}

    @property
    def no_term(self) -> Any:
        """Nothing under way."""
        return BitVecVal(0, self.term_bits)

    def voter(self, i: int) -> Any:
        """Who was voted for."""
        return BitVecVal(i + 1, self.bits["voted0"])

    def timeout(self, s: State, i: int) -> Step:
        """A replica stands for the next term."""
        term = s[f"term{i}"] + 1
        new = {f"votes{i}_{j}": BoolVal(i == j) for j in self.all}
        new |= {f"req{i}_{j}": term for j in self.all if i != j}
        new |= {f"mode{i}": BitVecVal(CANDIDATE, 2), f"term{i}": term, f"voted{i}": self.voter(i)}
        below = ULT(s[f"term{i}"], BitVecVal(self.terms, self.term_bits))
        return And(s[f"up{i}"], s[f"mode{i}"] != LEADER, below), new

    def asked(self, s: State, i: int, j: int) -> Step:
        """A request of i comes to j."""
        term = s[f"req{i}_{j}"]
        newer = ULT(s[f"term{j}"], term)
        voted = If(newer, BitVecVal(0, self.bits["voted0"]), s[f"voted{j}"])
        grants = And(ULE(s[f"term{j}"], term), Or(voted == 0, voted == self.voter(i)))
        new = {f"votes{j}_{k}": And(Not(newer), s[f"votes{j}_{k}"]) for k in self.all}
        new |= {
            f"req{i}_{j}": self.no_term,
            f"term{j}": If(newer, term, s[f"term{j}"]),
            f"mode{j}": If(newer, BitVecVal(FOLLOWER, 2), s[f"mode{j}"]),
            f"voted{j}": If(grants, self.voter(i), voted),
            f"rep{j}_{i}": If(grants, term, s[f"rep{j}_{i}"]),
        }
        return And(s[f"up{j}"], term != 0), new

    def answered(self, s: State, i: int, j: int) -> Step:
        """A reply of j comes to i."""
        term = s[f"rep{j}_{i}"]
        counts = And(term == s[f"term{i}"], s[f"mode{i}"] == CANDIDATE)
        votes = [Or(s[f"votes{i}_{k}"], counts) if k == j else s[f"votes{i}_{k}"] for k in self.all]
        wins = And(counts, self.majority(votes))
        new = {f"rep{j}_{i}": self.no_term, f"votes{i}_{j}": votes[j]}
        new[f"mode{i}"] = If(wins, BitVecVal(LEADER, 2), s[f"mode{i}"])
        return And(s[f"up{i}"], term != 0), new

    def transition(self, s: State, n: State, place: int) -> Any:
        """A step from one state to the next."""
        steps = list(self.steps(s))
        taken = [Bool(f"step{number}@{place}") for number in range(len(steps))]
        parts = [Or(taken), *(Not(And(a, b)) for number, a in enumerate(taken) for b in taken[:number])]
        parts += [Implies(one, guard) for one, (guard, _) in zip(taken, steps, strict=True)]
        for name in self.bits:
            value = s[name]
            for one, (_, new) in zip(taken, steps, strict=True):
                if name in new:
                    value = If(one, new[name], value)
            parts.append(n[name] == value)
        return And(parts)

    def safe(self, s: State) -> Any:
        """No two lead in one term."""
        pairs = ((i, j) for j in self.all for i in range(j))
        both = (And(s[f"mode{i}"] == LEADER, s[f"mode{j}"] == LEADER, s[f"term{i}"] == s[f"term{j}"]) for i, j in pairs)
        return And([Not(one) for one in both])

    def strengthened(self, s: State) -> Any:
        """What carries itself, step by step, together with `safe`."""
        parts = []
        for i in self.all:
            votes = [s[f"votes{i}_{j}"] for j in self.all]
            parts.append(Implies(s[f"mode{i}"] == LEADER, self.majority(votes)))
            for j in self.all:
                parts.append(Implies(votes[j], self.gave(s, j, i, s[f"term{i}"])))
                if i != j:
                    reply = s[f"rep{j}_{i}"]
                    parts.append(Implies(reply != 0, self.gave(s, j, i, reply)))
                    parts += self.once(s, i, j)
        return And(parts)

    def gave(self, s: State, voter: int, to: int, term: Any) -> Any:
        """A voter remembers its vote, or has moved on."""
        return Or(UGT(s[f"term{voter}"], term), And(s[f"term{voter}"] == term, s[f"voted{voter}"] == self.voter(to)))

    def once(self, s: State, i: int, j: int) -> Iterator[Any]:
        """Nobody votes for both in one term, be the vote counted or under way."""
        for k in self.all:
            counted, term = s[f"votes{i}_{k}"], s[f"term{i}"]
            if i < j:
                yield Not(And(counted, s[f"votes{j}_{k}"], term == s[f"term{j}"]))
            if k != j:
                reply = s[f"rep{k}_{j}"]
                yield Not(And(counted, reply != 0, reply == term))
                if i < j and k != i:
                    yield Not(And(s[f"rep{k}_{i}"] != 0, s[f"rep{k}_{i}"] == reply))


def bounded(model: Election, depth: int) -> str:
    """Whether some run of up to so many steps is unsafe."""
    solver, here = SolverFor("QF_FD"), model.state(0)
    solver.add(model.initial(here))
    for place in range(1, depth + 1):
        there = model.state(place)
        solver.add(model.transition(here, there, place))
        solver.push()
        solver.add(Not(model.safe(there)))
        found = solver.check()
        solver.pop()
        if found != unsat:
            return f"unsafe after {place} steps"
        solver.add(model.safe(there))
        here = there
    return f"safe up to depth {depth}"


def inductive(model: Election) -> str:
    """Whether what strengthens the property carries itself."""
    solver, here, there = SolverFor("QF_FD"), model.state(0), model.state(1)
    solver.add(model.domain(here), model.safe(here), model.strengthened(here), model.transition(here, there, 0))
    solver.add(Not(And(model.domain(there), model.safe(there), model.strengthened(there))))
    start = SolverFor("QF_FD")
    start.add(model.initial(here), Not(And(model.safe(here), model.strengthened(here))))
    return "inductive" if solver.check() == unsat and start.check() == unsat else "not inductive"


def main() -> None:
    """Prints what was found, and in how many seconds."""
    what, *numbers = sys.argv[1:]
    settings = [int(number) for number in numbers]
    begun = time.perf_counter()
    model = Election(*settings[:3])
    print(bounded(model, settings[3]) if what == "bmc" else inductive(model), f"{time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    main()
