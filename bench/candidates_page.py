"""The page `docs/candidates.md`: which of the claims that a raised limit refutes are true of the products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bounds import protocol
from truth import shortened

from hacheck.cli.checking.raised_page import checks_of, refutations

OUTCOMES = ("confirmed", "refuted", "masked", "environment", "not_carried_out")
NOT_MAPPED = ("artemis_client", "artemis_colocated", "artemis_lock_manager", "icestorm_clients", "icestorm_topics")
"""Specs of the same products of which no plug-in carries runs out."""

HEAD = """# Candidates: what the next bound refutes

Each claim of a check that is refuted when one of its limits is raised ([bounds.md](bounds.md)) is a candidate: perhaps
the product does that, too. This page says of each candidate of IceStorm and Artemis what came of it when it was carried
out ([replay.md](replay.md)). It is made by

    python bench/candidates.py --time 2h

which resumes where it stopped. Many candidates are the same run under several bounds: the same steps with the same
arguments, violating the same property. Such a run is carried out once, and stands for all of them. *Not tried*: a check
with a mend or a mistake that the product has not, calls in several steps, which cannot be mapped to messages, a
configuration that the plug-in does not write, or no time yet.

"""
READING = """
What the refuted ones and those that were not carried out are, as far as it was looked into:

- *Artemis does otherwise*: it waits for ever for a primary that waits for the lock (`give_up_on_primary`; the check
  `failing_back_for_ever` has that rule, and these checks have not). A server that moved its data away serves under
  a new node id ([truth.md](truth.md)).
- *The replay's own limits*: when voters forget a server is theirs, so a vote that the run has lost is won
  (`p10_someone_serves`), or a server that comes back finds its stand-in (`p1_one_serving`, quorum_size = 1). From the
  lock to serving a server goes by itself, so nothing can happen to it in between. Variables that only the model has
  (`Client.goes_to`, `Server.monitor`). Time-outs of an election, on a machine with thirty other processes.
- *Not looked into yet*: the other refuted ones. Each is a rule that the spec lacks, or a mistake of the replay.
"""
COLUMNS = ("spec", "candidates", "runs", *(one.replace("_", " ") for one in OUTCOMES), "not tried", "candidates tried")
RUN_COLUMNS = ("property", "faults", "steps", "candidates", "for one", "outcome", "seconds", "why")


def page(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page. `kept`: by spec, what `bench/candidates` has."""
    parts = [HEAD, _line(COLUMNS), _rule(COLUMNS, 1)]
    parts += [_summary(spec, one) for spec, one in kept.items()]
    for spec in NOT_MAPPED:
        count = len(refutations(checks_of(protocol(spec))))
        parts.append(_line((spec, count, "", *("" for _ in OUTCOMES), "no plug-in carries its runs out", 0)))
    parts.append("\nCandidates tried: how many have a run that was carried out, for itself or for another one.\n")
    parts.append(READING)
    for spec, one in kept.items():
        parts += [f"\n## {spec}\n\n", _line(RUN_COLUMNS), _rule(RUN_COLUMNS, 0), *_tried(one)]
        parts += ["\nNot tried:\n\n", *_not_tried(one)]
    return "".join(parts)


def _summary(spec: str, kept: Mapping[str, Any]) -> str:
    """A spec in the first table."""
    runs = kept["runs"].values()
    outcomes = Counter(run["tried"]["outcome"] for run in runs if run["tried"])
    done = sum(1 for one in kept["flips"] if one[4] and kept["runs"][one[4]]["tried"])
    left = len(kept["runs"]) - sum(outcomes.values())
    return _line(
        (f"[{spec}](#{spec})", len(kept["flips"]), len(kept["runs"]), *(outcomes[one] for one in OUTCOMES), left, done)
    )


def _tried(kept: Mapping[str, Any]) -> Iterable[str]:
    """The runs that were carried out, those of one outcome together."""
    found = [(key, run) for key, run in kept["runs"].items() if run["tried"]]
    for key, run in sorted(found, key=lambda one: (OUTCOMES.index(one[1]["tried"]["outcome"]), one[1]["claim"])):
        flips = [one for one in kept["flips"] if one[4] == key]
        check, limits = min(flips, key=lambda one: (one[5] is not None, not one[6], len(one[1])))[:2]
        tried = run["tried"]
        at = f" at step {tried['at']}, `{tried['step']}`" if tried["at"] else ""
        outcome = tried["outcome"].replace("_", " ") + at
        faults = run["faults"] or "none"
        example = f"`{check}`, {limits}"
        why = shortened(tried["why"])
        yield _line(
            (f"`{run['claim']}`", faults, run["steps"], len(flips), example, outcome, f"{tried['seconds']:.0f}", why)
        )


def _not_tried(kept: Mapping[str, Any]) -> Iterable[str]:
    """What was not tried, by reason."""
    reasons: Counter[str] = Counter()
    tried = {(run["claim"], run["faults"]) for run in kept["runs"].values() if run["tried"]}
    fit = {one[4] for one in kept["flips"] if one[5] is None}
    for flip in kept["flips"]:
        run = kept["runs"].get(flip[4])
        if run is not None and run["tried"]:
            continue
        if run is None or flip[4] not in fit:
            reasons[flip[5]] += 1
        elif (run["claim"], run["faults"]) in tried:
            reasons["no time yet; a run with the same property and faults was tried"] += 1
        else:
            reasons["no time yet"] += 1
    for why, count in reasons.most_common():
        yield f"- {count}: {why}\n"
    if not reasons:
        yield "- nothing\n"


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(one) for one in cells)} |\n"


def _rule(cells: Sequence[object], text: int) -> str:
    """The line below a head. `text`: how many columns are words, if the others are numbers; 0: all of them."""
    return "|---" * (text or len(cells)) + ("|--:" * (len(cells) - text) if text else "") + "|\n"
