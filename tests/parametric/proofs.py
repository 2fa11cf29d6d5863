"""Proofs of specs given as text, as the tests ask for them."""

from __future__ import annotations

import time
from pathlib import Path

from hacheck.checker.parametric.lemma_search import search
from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.proof import Proof, Wanted, prepared, prove_given
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.model.language import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "proofs"
THREADS = 2
WAIT = 10
"""So many times as long as the processor is busy a proof may take at most."""


def wanted(text: str, check: str | None = "default", *properties: str, **settings: str) -> Wanted:
    """What is to be proved of a text."""
    found = load(text, "tested.ha", lambda path: (ROOT / "spec" / path).read_text(encoding="utf-8"))
    assert found.specification is not None, found.diagnostics
    return Wanted(found.specification, settings, check, properties)


def proof_of(asked: Wanted, *, seconds: float = 120.0, searched: bool = False) -> Proof:
    """The proof with what is given, and where that does not do, with what is found. `seconds`: for how long at most the
    processor may be busy with it, whatever else it is busy with."""
    session = SolverSession(time.monotonic() + WAIT * seconds)
    until = time.process_time() + seconds

    def report(_: Progress) -> bool:
        return time.process_time() < until

    made, theory = prepared(asked)
    found = prove_given(made, theory, session, report, THREADS)
    if searched and not found.proved:
        found = search(asked, found, session, report, THREADS)
    return found


def verdicts(found: Proof) -> dict[str, str]:
    """What was found of each property."""
    return {one.name: verdict for one, verdict in found.verdicts}


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """A text with parts replaced, each of which it has exactly once."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands there {text.count(old)} times"
        text = text.replace(old, new)
    return text
