"""What raising the limits of a check found, as part of the JSON of `hacheck verify`; its shape is in `json_output`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hacheck.checker.limit_trials import Trial, TrialResult
from hacheck.cli.checking.kept_trials import Raised
from hacheck.cli.checking.raised_report import pushed
from hacheck.model.language.raised_limits import Raise


def check_json(raised: Raised) -> dict[str, Any]:
    """The trials of a check."""
    return {
        "trials": [trial_json(trial, result) for trial, result in raised.found],
        "not_tried": [limits_json(trial.raises) for trial in raised.not_begun],
        "not_raised": [{"name": one.name, "reason": one.reason} for one in raised.plan.fixed],
    }


def trial_json(trial: Trial, result: TrialResult) -> dict[str, Any]:
    """One trial with what it found."""
    return {
        "limits": limits_json(trial.raises),
        "complete": not result.stopped,
        "stopped": result.stopped or None,
        "states": result.states,
        "depth": result.depth,
        "seconds": round(result.seconds, 3),
        "claims": {one.name: one.claim for one in result.claims},
    }


def limits_json(raises: Sequence[Raise]) -> list[dict[str, Any]]:
    """Limits with their values before and after."""
    return [
        {
            "kind": one.kind,
            "name": one.name,
            "from": one.before,
            "to": one.after,
            "set": f"{one.name}={one.after}" if one.setting else None,
            "place": one.place or None,
        }
        for one in raises
    ]


def property_json(raised: Raised, name: str) -> dict[str, Any] | None:
    """How far one property was pushed; `None` for one that claims nothing."""
    one = next((item for item in pushed(raised) if item.name == name), None)
    if one is None:
        return None
    return {
        "holds_with": [limits_json(trial.raises) for trial in one.held],
        "refuted_by": [
            {"limits": limits_json(trial.raises), "steps": result.steps, "faults": result.faults}
            for trial, result in one.refuted
        ],
        "not_decided": [
            {"limits": limits_json(trial.raises), "stopped": result.stopped or None} for trial, result in one.unknown
        ],
    }
