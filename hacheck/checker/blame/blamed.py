"""A counterexample with what it needs and the nearest good run, as data for documents and pictures."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from hacheck.checker.blame.good_run import GoodRun, nearest_good_run
from hacheck.checker.blame.trials import Blame, Elsewhere, Subject, TrialResult, blame
from hacheck.checker.engine import Limits, Report
from hacheck.model.ir import Property
from hacheck.model.runs import Run
from hacheck.wording import plural

Json: TypeAlias = Any

BLAMED_KINDS = ("invariant", "lemma", "step", "deadlock", "eventually", "leads_to")
"""Kinds of properties of which a run is a counterexample."""


class Blamed(Struct, frozen=True):
    """What a counterexample needs. `good`: the nearest good run, where one was found."""

    blame: Blame
    good: GoodRun | None

    def to_json(self) -> Json:
        """Its parts in a view and in documents: `blame` and `good_run`, without the states of the good run."""
        trials = [{**asdict(one.trial), **_result(one)} for one in self.blame.results]
        good = None
        if self.good is not None:
            differences = [asdict(one) for one in self.good.differences]
            good = {"shared": self.good.shared, "length": len(self.good.run.steps), "differences": differences}
        return {"blame": {"seconds": round(self.blame.seconds, 3), "trials": trials}, "good_run": good}

    def sentence(self) -> str:
        """What the story says of causes: faults, assumptions and settings that were shown to be some."""
        causes = [
            one for one in self.blame.causes if one.trial.kind in ("fault", "assumption", "setting") and not one.implied
        ]
        if not causes:
            searched = [one for one in self.blame.results if one.trial.kind == "fault" and one.outcome == "violated"]
            which = "its fault" if len(searched) == 1 else "any one of its faults"
            return f"It is violated without {which}, too." if searched else ""
        said = "; ".join(one.trial.words for one in causes)
        return f"Within the same bounds it is not violated {said} (each tried alone)."


def _result(found: TrialResult) -> dict[str, Json]:
    return {
        "outcome": found.outcome,
        "result": found.words,
        "states": found.states,
        "length": found.length,
        "faults": found.faults,
        "same_run": found.same,
        "implied": found.implied,
        "stopped": found.stopped or None,
    }


def is_blamable(prop: Property, run: Run | None) -> bool:
    """Whether a run is a counterexample that can be tried without its parts."""
    return run is not None and run.error is None and prop.kind in BLAMED_KINDS


def blamed(
    subject: Subject, limits: Limits, report: Report, threads: int, elsewhere: Elsewhere | None = None
) -> Blamed:
    """What a counterexample needs, and the nearest good run. Cost: that of `blame` and `nearest_good_run`."""
    found = blame(subject, limits, report, threads, elsewhere)
    return Blamed(found, nearest_good_run(subject.system, subject.run, subject.prop, report))


def heading(found: Blame) -> str:
    """How much was tried: `22 trials, 3.1 s`."""
    return f"{plural(len(found.results), 'trial')}, {found.seconds:.1f} s"
