"""QuorumElection as somebody would write it for Spin.

    python bench/by_hand.py N T K > model.pml

One process, whose loop offers every action instance as one `d_step`, so that Spin stores no state between the reads
and the writes of an action. `down` is the opposite of `up`, so that all zeros are the initial state.
"""

from __future__ import annotations

import sys
from itertools import combinations, permutations


def quorum_election(replicas: int, terms: int, crashes: int) -> str:
    """The model, its invariant asserted where a replica becomes leader."""
    nodes = range(replicas)
    lines = [
        f"/* QuorumElection, {replicas} replicas, terms up to {terms}, {crashes} crashes */",
        "#define FOLLOWER 0",
        "#define CANDIDATE 1",
        "#define LEADER 2",
        f"bit down[{replicas}]; byte mode[{replicas}], term[{replicas}], voted[{replicas}], votes[{replicas}];",
        f"byte req[{replicas**2}], rep[{replicas**2}]; byte crashes;",
        "active proctype Model() {",
        "end: do",
    ]
    for i in nodes:
        lines.append(_step(_timeout(i, replicas, terms)))
        lines.append(_step([f"!down[{i}] && crashes < {crashes}", *_crash(i)]))
        lines.append(_step([f"down[{i}]", f"down[{i}] = 0"]))
    for sender, receiver in permutations(nodes, 2):
        lines.append(_step(_request(sender, receiver, replicas)))
        lines.append(_step(_reply(sender, receiver, replicas)))
        for channel in ("req", "rep"):
            slot = f"{channel}[{sender * replicas + receiver}]"
            lines.append(_step([f"{slot} > 0", f"{slot} = 0"]))
    return "\n".join([*lines, "od", "}", ""])


def _step(parts: list[str]) -> str:
    guard, *rest = parts
    return f":: d_step {{ {guard} -> {'; '.join(rest)} }}"


def _timeout(i: int, replicas: int, terms: int) -> list[str]:
    return [
        f"!down[{i}] && mode[{i}] != LEADER && term[{i}] < {terms}",
        f"mode[{i}] = CANDIDATE",
        f"term[{i}] = term[{i}] + 1",
        f"voted[{i}] = {i + 1}",
        f"votes[{i}] = {1 << i}",
        *(f"req[{i * replicas + j}] = term[{i}]" for j in range(replicas) if j != i),
    ]


def _crash(i: int) -> list[str]:
    return [f"down[{i}] = 1", f"mode[{i}] = FOLLOWER", f"votes[{i}] = 0", "crashes = crashes + 1"]


def _request(i: int, j: int, replicas: int) -> list[str]:
    """Receiver j hears that i asks for its vote."""
    slot, answer = f"req[{i * replicas + j}]", f"rep[{j * replicas + i}]"
    return [
        f"!down[{j}] && {slot} > 0",
        f"if :: {slot} > term[{j}] -> term[{j}] = {slot}; mode[{j}] = FOLLOWER; voted[{j}] = 0; votes[{j}] = 0"
        " :: else fi",
        f"if :: {slot} == term[{j}] && (voted[{j}] == 0 || voted[{j}] == {i + 1}) ->"
        f" voted[{j}] = {i + 1}; {answer} = {slot} :: else fi",
        f"{slot} = 0",
    ]


def _reply(j: int, i: int, replicas: int) -> list[str]:
    """Candidate i hears that j has voted for it."""
    slot = f"rep[{j * replicas + i}]"
    votes = " + ".join(f"((votes[{i}] >> {node}) & 1)" for node in range(replicas))
    two = " || ".join(
        f"(mode[{a}] == LEADER && mode[{b}] == LEADER && term[{a}] == term[{b}])"
        for a, b in combinations(range(replicas), 2)
    )
    return [
        f"!down[{i}] && {slot} > 0",
        f"if :: {slot} == term[{i}] && mode[{i}] == CANDIDATE -> votes[{i}] = votes[{i}] | {1 << j};"
        f" if :: 2 * ({votes}) > {replicas} -> mode[{i}] = LEADER; assert(!({two})) :: else fi :: else fi",
        f"{slot} = 0",
    ]


if __name__ == "__main__":
    print(quorum_election(*map(int, sys.argv[1:4])), end="")
