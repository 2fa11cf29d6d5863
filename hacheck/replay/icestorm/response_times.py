"""The ResponseTimeout of each replica in a run, so that real time-outs end in the order of the run.

A coordinator that found one of higher priority merges that much later, and waits as long for acceptances.
**Source**: Real IceStorm HA, section 2 (3), (5).
"""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.replay.model_run import Json, ModelRun

RESPONSE, SHORT = 8, 1
SHORT_LEADS, RESPONSE_LEADS = 4, 20
SOON_STEPS = 2


def response_times(run: ModelRun) -> dict[int, int]:
    """A ResponseTimeout for each replica, in seconds. One that gives up soon after it has invited others gets a short
    one, which shortens the delay of its merge by priority, too; the others a long one. So time-outs do not race. The
    difference is larger where one that gives up soon leads a group later, since its acceptances must come within its
    own, and where the delay of a merge must be over before another election is."""
    merged: dict[int, int] = {}
    soon: set[int] = set()
    leads: set[int] = set()
    early: set[int] = set()
    for step in run.steps:
        n = int(step.arguments.get("n", 0))
        if step.action in ("merge", "merge.settle"):
            merged[n] = step.number
            if _is_delayed(n, before := run.state(step.number - 1)):
                inviting = before["Replica.inviting"]
                early |= {n} if any(inviting[other] for other in inviting if other != str(n)) else set()
        elif step.action == "merge_continue":
            gave_up = step.state["Replica.mode"][str(n)] == "inactive"
            if not gave_up:
                leads.add(n)
            elif step.number - merged.get(n, 0) <= SOON_STEPS:
                soon.add(n)
    short, long = (SHORT_LEADS, RESPONSE_LEADS) if early or soon & leads else (SHORT, RESPONSE)
    return {n: short if n in soon | early else long for n in range(1, int(run.settings["replicas"]) + 1)}


def _is_delayed(n: int, state: Mapping[str, Json]) -> bool:
    """Whether a replica that is about to merge has found one of higher priority, and so has waited."""
    return any(int(str(found).split()[-1]) > n for found in state["Replica.candidates"][str(n)])
