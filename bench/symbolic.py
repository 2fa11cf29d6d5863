"""Z3 by hacheck and Z3 by hand on QuorumElection, in turn: CPU seconds of whole processes, and their ratio. Then proofs
by induction of which the lemmas have to be found: CPU seconds, and how many there are.

python bench/symbolic.py [RUNS]
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from measuring import Spent, in_turn, machine, middle, spent

HERE = Path(__file__).parent
ROOT = HERE.parent
SPEC, BY_HAND = str(HERE / "quorum_election_lemmas.ha"), str(HERE / "z3_by_hand.py")
RUNS = 3
FOUND = (
    ("QuorumElection (3, 2, 1)", "bench/quorum_election.ha", ("replicas=3", "terms=2", "crashes=1")),
    ("Fiorano, shared database", "spec/fiorano_shared.ha", ()),
    ("two servers and a lock", "examples/proofs/lock_servers.ha", ()),
)
"""Specs of which the default check is proved with lemmas that are found, and settings."""

Settings = tuple[int, int, int]


def by_hacheck(settings: Settings, *options: str) -> list[str]:
    """The command that asks hacheck about the invariant."""
    chosen = [f"--set={name}={value}" for name, value in zip(("replicas", "terms", "crashes"), settings, strict=True)]
    asked = ["--check", "default", "--property", "one_leader_per_term", "--json", "-"]
    return [sys.executable, "-m", "hacheck", "verify", SPEC, *chosen, *asked, *options]


def by_hand(what: str, settings: Settings, *more: str) -> list[str]:
    """The command that asks the peer the same."""
    return [sys.executable, BY_HAND, what, *map(str, settings), *more]


def compare(title: str, own: list[str], peer: list[str], said: tuple[str, str], runs: int) -> None:
    """Prints the middle of some runs of each. Raises `RuntimeError` if either says something else than expected."""
    rivals = [partial(asked, own, said[0]), partial(asked, peer, said[1])]
    results = [middle(found, lambda cost: cost.cpu_seconds) for found in in_turn(rivals, runs)]
    ours, theirs = (result.cpu_seconds for result in results)
    memory = [f"{result.memory_bytes / 2**20:.0f} MiB" for result in results]
    print(f"{title:46} {ours:7.2f} s {theirs:8.2f} s {ours / theirs:6.2f}   {memory[0]:>8} {memory[1]:>8}", flush=True)


def asked(command: list[str], said: str) -> Spent:
    """What a command costs. Raises `RuntimeError` where it does not say what it should."""
    found = spent(["sh", "-c", '"$@"; test $? -le 3', "sh", *command])
    if said not in found.output:
        raise RuntimeError(f"{' '.join(command)} does not say `{said}`:\n{found.output[-1_000:]}")
    return found


def find(title: str, spec: str, settings: tuple[str, ...], runs: int) -> None:
    """Prints what it costs to prove a spec's safety by induction without the lemmas it says, and how many were found.
    Raises `RuntimeError` where it is not proved."""
    text = (ROOT / spec).read_text(encoding="utf-8")
    kept = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("lemma "))
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / Path(spec).name, Path(folder) / "found.json"
        path.write_text(kept, encoding="utf-8")
        (Path(folder) / "lib").symlink_to(ROOT / "spec" / "lib")
        command = [sys.executable, "-m", "hacheck", "verify", str(path), "--check", "default", "--json", str(target)]
        command += ["--engine", "induction", "--depth", "1", *(f"--set={setting}" for setting in settings)]
        costs, found = [], []
        for _ in range(runs):
            costs.append(asked(command, "proved with a lemma that was found"))
            (check,) = json.loads(target.read_text(encoding="utf-8"))["checks"]
            found.append(len(check["lemmas_found"]))
            open_ = [one["name"] for one in check["properties"] if one["verdict"] == "not-inductive"]
            if open_:
                raise RuntimeError(f"{title}: not proved: {', '.join(open_)}")
    cost = middle(costs, lambda one: one.cpu_seconds)
    lemmas = " or ".join(str(count) for count in sorted(set(found)))
    print(f"{title:46} {cost.cpu_seconds:7.2f} s {lemmas:>10} lemmas {cost.memory_bytes / 2**20:6.0f} MiB", flush=True)


def main() -> None:
    """All questions: runs of up to 12 steps, a proof, and proofs that lack lemmas."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"{machine()}\n\n{'':46} {'hacheck':>9} {'by hand':>10} {'ratio':>6}   {'memory':>8} {'memory':>8}")
    small, large = (3, 2, 1), (5, 7, 3)
    compare(
        "bounded model checking, (3, 2, 1), depth 12",
        by_hacheck(small, "--engine", "bmc", "--depth", "12"),
        by_hand("bmc", small, "12"),
        ("not violated up to depth 12", "safe up to depth 12"),
        runs,
    )
    compare(
        "induction with lemmas, (5, 7, 3)",
        by_hacheck(large, "--engine", "induction", "--depth", "1"),
        by_hand("induction", large),
        ("every depth (inductive)", "inductive"),
        runs,
    )
    print()
    for title, spec, settings in FOUND:
        find(title, spec, settings, runs)


if __name__ == "__main__":
    main()
