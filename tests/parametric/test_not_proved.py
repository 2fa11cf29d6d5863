"""What is wrong is not proved: broken variants of everything that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.proof import SAFETY, Wanted
from hacheck.cli.sources import load_specification
from hacheck.model.language.specification import Check, Specification
from tests.cli.command import hacheck
from tests.nightly import first_of, nightly
from tests.parametric.proofs import EXAMPLES, ROOT, changed, proof_of, verdicts, wanted
from tests.parametric.test_proved import ICESTORM_CLAIMS
from tests.symbolic.counting import COUNTED, Count

ELECTION = (EXAMPLES / "quorum_election.ha").read_text()
LOCKS = (EXAMPLES / "lock_servers.ha").read_text()

BROKEN_ELECTIONS = {
    "a crash forgets the vote": [("durable (if not votes_lost) voted", "voted")],
    "a crash forgets the term": [("durable term: Term", "term: Term")],
    "any vote elects": [("if majority(i.votes) then i.mode := leader", "if i.votes != {} then i.mode := leader")],
    "a majority but of those up": [("if majority(i.votes)", "if majority(i.votes union { k: Replica where k != i })")],
    "votes twice in a term": [("if t == j.term and j.voted in {none, i} then {", "if t == j.term then {")],
    "votes of other terms count": [("if t == i.term and i.mode == candidate then {", "if i.mode == candidate then {")],
    "votes are kept for the next term": [("  i.votes := {i}\n", "  i.votes := i.votes with i\n")],
    "an old candidate may vote again": [("    j.voted := none\n    j.votes := {}", "    j.votes := {}")],
}
"""Changes of the election after which two may lead in one term; the last one is a near miss, which is right."""
RIGHT = frozenset({"an old candidate may vote again"})

BROKEN_LOCKS = {
    "it serves without the lock": [("    } else s.mode := passive", "    } else s.mode := active")],
    "the lock is lost": [("  lose LockFile when lock_is_lossy", "  lose LockFile")],
    "memory is trusted": [("if trusts_memory and s.served_before then", "if s.served_before then")],
}

VARIANT_SECONDS_MAX = 20.0
"""Of the processor, for each broken variant of a shipped spec; what is not shown then is open, so not proved."""


@pytest.mark.parametrize("title", first_of(sorted(set(BROKEN_ELECTIONS) - RIGHT), 3))
def test_broken_election_is_not_proved(title: str) -> None:
    found = proof_of(wanted(changed(ELECTION, *BROKEN_ELECTIONS[title])))
    assert verdicts(found)["one_leader_per_term"] != "proved"
    assert not found.proved


@nightly
@pytest.mark.parametrize("title", sorted(set(BROKEN_ELECTIONS) - RIGHT))
def test_no_claims_are_found_for_a_broken_election(title: str) -> None:
    found = proof_of(wanted(changed(ELECTION, *BROKEN_ELECTIONS[title])), seconds=60, searched=True)
    assert not found.proved


@pytest.mark.parametrize("title", sorted(BROKEN_LOCKS))
def test_broken_lock_is_not_proved(title: str) -> None:
    found = proof_of(wanted(changed(LOCKS, *BROKEN_LOCKS[title])), searched=True)
    assert verdicts(found)["one_active"] != "proved"
    assert not found.proved


@nightly
@pytest.mark.parametrize("switch", ["majority_not_needed", "rejection_counts"])
def test_icestorm_that_acknowledges_too_soon_is_not_proved(switch: str) -> None:
    text = (ROOT / "spec" / "icestorm.ha").read_text() + ICESTORM_CLAIMS
    found = proof_of(wanted(text, "default", "majority_has_it", **{switch: "on"}), seconds=200)
    assert verdicts(found)["majority_has_it"] == "not inductive"


@nightly
@pytest.mark.parametrize("spec", shipped.names())
def test_no_broken_variant_of_a_shipped_spec_is_proved(spec: str, record_property: Count) -> None:
    specification = load_specification(spec)
    proved = []
    for one in specification.checks:
        if one.expect_violated:
            found = _verdict(specification, one)
            record_property(COUNTED, found)
            if found == "proved":
                proved.append(one.name)
    assert proved == []


def _verdict(specification: Specification, check: Check) -> str:
    """What is found of all that a check expects to be violated, at best."""
    system = specification.instantiate({}, check.name).system
    assert system is not None
    safety = {one.name for one in system.properties if one.kind in SAFETY}
    broken = tuple(name for name in check.expect_violated if name in safety)
    if not broken:
        return "no safety"  # nobody tries to prove it
    try:
        found = proof_of(Wanted(specification, {}, check.name, broken), seconds=VARIANT_SECONDS_MAX)
    except Unsupported:
        return "cannot be expressed in first-order logic"
    said = {verdict for name, verdict in verdicts(found).items() if name in broken}
    return next(verdict for verdict in ("proved", "open", "not inductive") if verdict in said)


def test_what_fixes_a_number_of_nodes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.ha"
    path.write_text(
        "system Pairs\n"
        "node Node[2] symmetric { n: 0..1 = 0 }\n"
        "environment action a(s: Node) when other(s).n == 0 do s.n := 1\n"
        "invariant i: at most one s: Node where s.n == 1\n",
        encoding="utf-8",
    )
    said = " ".join(hacheck("prove", str(path), "--time", "10s").out.split())
    assert "the spec is for Node = 2 only; with Node = 3: `other` is for pairs; there are 3 Nodes" in said
