"""What raising the limits of a check found, as part of the document of `hacheck verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.api.verify_document import RaisedPart
from hacheck.checker.limit_trials import Trial, TrialResult
from hacheck.cli.checking.kept_trials import Raised
from hacheck.cli.checking.raised_report import Pushed, pushed
from hacheck.documents.verify import (
    FixedLimit,
    OpenTrial,
    RaisedLimit,
    RaisedLimits,
    RaisedProperty,
    RaisedTrial,
    Refutation,
)
from hacheck.model.language.raised_limits import Raise


def raised_parts(raised: Mapping[str, Raised]) -> dict[str, RaisedPart]:
    """What is known of each check: its trials, and how far each property was pushed that claims something."""
    return {
        check: RaisedPart(raised_limits(found), {one.name: raised_property(one) for one in pushed(found)})
        for check, found in raised.items()
    }


def raised_limits(raised: Raised) -> RaisedLimits:
    """The trials of a check."""
    return RaisedLimits(
        trials=[raised_trial(trial, result) for trial, result in raised.found],
        not_tried=[limits_of(trial.raises) for trial in raised.not_begun],
        not_raised=[FixedLimit(name=one.name, reason=one.reason) for one in raised.plan.fixed],
    )


def raised_trial(trial: Trial, result: TrialResult) -> RaisedTrial:
    """One trial with what it found."""
    return RaisedTrial(
        limits=limits_of(trial.raises),
        complete=not result.stopped,
        stopped=result.stopped or None,
        states=result.states,
        depth=result.depth,
        seconds=round(result.seconds, 3),
        claims={one.name: one.claim for one in result.claims},
    )


def limits_of(raises: Sequence[Raise]) -> list[RaisedLimit]:
    """Limits with their values before and after."""
    return [
        RaisedLimit(
            kind=one.kind,
            name=one.name,
            before=one.before,
            after=one.after,
            set=f"{one.name}={one.after}" if one.setting else None,
            place=one.place or None,
        )
        for one in raises
    ]


def raised_property(one: Pushed) -> RaisedProperty:
    """How far one property was pushed."""
    return RaisedProperty(
        holds_with=[limits_of(trial.raises) for trial in one.held],
        refuted_by=[
            Refutation(limits=limits_of(trial.raises), steps=result.steps, faults=result.faults)
            for trial, result in one.refuted
        ],
        not_decided=[
            OpenTrial(limits=limits_of(trial.raises), stopped=result.stopped or None) for trial, result in one.unknown
        ],
    )
