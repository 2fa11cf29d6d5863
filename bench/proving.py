"""How long proofs for every number of nodes take: with the lemmas that are given, and with none.

    python bench/proving.py [--time SECONDS]

A row for each proof: whether it was found, its obligations, seconds, and how many claims had to be found.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from hacheck.checker.parametric.lemma_search import search
from hacheck.checker.parametric.proof import Proof, Wanted, prepared, prove_given
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.model.language import load
from hacheck.supervise.resources import usable_cores

ROOT = Path(__file__).resolve().parents[1]
PROOFS = (
    ("election, lemmas given", "examples/proofs/quorum_election.ha", False),
    ("election, none given", "bench/quorum_election.ha", True),
    ("locks, lemmas given", "examples/proofs/lock_servers.ha", False),
)


def proved(path: str, seconds: float, searched: bool) -> Proof:
    """The proof of a spec's default check."""
    found = load((ROOT / path).read_text(encoding="utf-8"), path).specification
    assert found is not None, f"{path} cannot be read"
    wanted = Wanted(found, {}, "default")
    session = SolverSession(time.monotonic() + seconds)
    made, theory = prepared(wanted)
    result = prove_given(made, theory, session, lambda _: True, usable_cores())
    if searched and not result.proved:
        result = search(wanted, result, session, lambda _: True, usable_cores())
    return result


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=300.0, help="seconds for each proof at most")
    seconds = parser.parse_args().time
    print(f"{'proof':26}{'':10}{'obligations':>12}{'seconds':>10}{'found':>8}")
    for title, path, searched in PROOFS:
        begun = time.monotonic()
        result = proved(path, seconds, searched)
        passed = time.monotonic() - begun
        said = "proved" if result.proved else "not"
        print(f"{title:26}{said:10}{len(result.outcomes):12}{passed:10.2f}{len(result.found):8}", flush=True)


if __name__ == "__main__":
    main()
