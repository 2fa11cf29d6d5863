"""Spin as a peer: a Promela model verified exhaustively, its figures read from what it prints."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from measuring import Spent, spent

PLAIN = ("-O3", "-DSAFETY", "-DNOREDUCE")
"""What a user writes who wants safety, and every state: the model has one process, so that partial order reduction
could leave nothing out."""

TUNED = (*PLAIN, "-DNOCOMP", "-DNOBOUNDCHECK", "-DNOFAIR")
"""The fastest flags found that still store every state in full."""

_PATTERNS = {
    "states": r"(\d+) states, stored",
    "steps": r"(\d+) transitions \(= stored\+matched\)",
    "errors": r"errors: (\d+)",
    "vector": r"State-vector (\d+) byte",
}
_SLOTS = 24  # as a power of two: what Spin takes unless told otherwise
_DEPTH_MAX = 100_000  # room for the stack costs memory and the time to clear it


@dataclass(frozen=True, slots=True)
class Verified:
    """One run of a verifier: states stored, steps taken, bytes of a state vector, and what the run cost."""

    states: int
    steps: int
    vector_bytes: int
    cost: Spent

    @property
    def states_per_second(self) -> float:
        """States for each CPU second."""
        return self.states / self.cost.cpu_seconds

    @property
    def bytes_per_state(self) -> float:
        """The process's memory for each state."""
        return self.cost.memory_bytes / self.states


@dataclass(frozen=True, slots=True)
class Verifier:
    """A compiled verifier in its folder, and what it cost to make (Spin and the C compiler)."""

    folder: Path
    made: float

    def run(self, slots: int = _SLOTS) -> Verified:
        """Explores everything, with 2^`slots` places in the hash table. Raises `RuntimeError` if Spin does not."""
        cost = spent(("./pan", "-E", f"-w{slots}", f"-m{_DEPTH_MAX}"), self.folder)
        found = {name: _number(pattern, cost.output) for name, pattern in _PATTERNS.items()}
        if "max search depth too small" in cost.output or found["errors"]:
            raise RuntimeError(f"Spin did not search everything:\n{cost.output}")
        return Verified(found["states"], found["steps"], found["vector"], cost)


def missing() -> str | None:
    """Why Spin cannot be run here, if it cannot."""
    absent = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    return f"{' and '.join(absent)} not found" if absent else None


def verifier(model: str, folder: Path, flags: tuple[str, ...] = PLAIN) -> Verifier:
    """The verifier of a Promela model. Spin's `-o2` keeps what no guard reads: the states must be those of the
    model, not fewer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pml").write_text(model, encoding="utf-8")
    printed = spent(("spin", "-o2", "-a", "model.pml"), folder)
    if not (folder / "pan.c").exists() or "Error" in printed.output:
        raise RuntimeError(f"Spin refuses the model:\n{printed.output}")
    compiled = spent(("gcc", "-w", *flags, "-o", "pan", "pan.c"), folder)
    return Verifier(folder, printed.cpu_seconds + compiled.cpu_seconds)


def slots_for(states: int) -> int:
    """The size of a hash table that is good for a number of states, as a power of two."""
    return states.bit_length() + 1


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"Spin prints no {pattern!r}:\n{text}")
    return int(found[1])
