"""Runs of the shipped spec of IceStorm come out on the reference implementation, with the options that follow its
settings; where it is built otherwise, that is named."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.verify import CheckResult, run_check
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.selection import select
from hacheck.cli.sources import load_specification
from hacheck.model.interpreter import replay
from hacheck.model.language import Specification
from hacheck.replay.model_run import ModelRun, model_run
from hacheck.replay.outcomes import ReplayResult
from hacheck.replay.reference.plugin import Reference
from hacheck.replay.replayer import carry_out

FOLLOWS = {"max_after_push": "on"}
"""The reference implementation remembers a full group after all have taken the database, whatever else it is asked."""


REFUSES_AND_STAYS = ("acknowledged_is_stored", "serving_replicas_agree")
"""Runs in which a slave refuses a change while it reorganizes: the released code recovers then, this one does not."""


@cache
def specification() -> Specification:
    return load_specification("icestorm", no_color=True)


@cache
def explored(check: str) -> CheckResult:
    chosen = select(specification(), (check,), FOLLOWS, (), wide=True, no_color=True)
    prepared = chosen.prepare(*chosen.questions)
    return run_check(prepared, engine_for(Exploring()), Limits(None, None, None, None), lambda progress: True, replay)


def runs(check: str) -> Mapping[str, ModelRun]:
    """The runs of a check, by property."""
    found = explored(check)
    return {
        one.prop.name: model_run(found.system, one.answer.run, "icestorm", check, one.prop)
        for one in found.properties
        if one.answer.run is not None
    }


def carried_out(run: ModelRun, folder: Path) -> ReplayResult:
    return carry_out(run, Reference(), folder, lambda result: None)


@pytest.mark.parametrize("check", ["as_released", "stamp_wiped", "rejection_taken_for_success", "no_full_start"])
def test_runs_of_the_released_code_come_out(check: str, tmp_path: Path) -> None:
    results = {name: carried_out(run, tmp_path / name) for name, run in runs(check).items()}
    elsewhere = {name: (one.step, one.reason) for name, one in results.items() if one.outcome != "confirmed"}
    assert set(elsewhere) <= {"majority_serves", *REFUSES_AND_STAYS}, elsewhere
    assert len(results) >= 2
    for result in results.values():
        if result.outcome == "confirmed":
            assert [one.number for one in result.steps if not one.differences][: result.total_steps + 1] == list(
                range(result.total_steps + 1)
            )


def test_lost_change_is_seen_in_what_replicas_hold(tmp_path: Path) -> None:
    result = carried_out(runs("as_released")["acknowledged_survives"], tmp_path / "run")
    assert "client: create T1: ok" in result.evidence
    last = result.steps[-1].observed
    assert last["acknowledged"] == [1]
    assert [replica for replica, topics in last["Replica.topics"].items() if topics == [1]] == ["3"]


def test_same_run_gives_the_same_recording(tmp_path: Path) -> None:
    run = runs("stamp_wiped")["acknowledged_survives"]
    texts = []
    for name in ("one", "other"):
        carried_out(run, tmp_path / name)
        lines = (tmp_path / name / "messages.txt").read_text(encoding="utf-8").splitlines()
        texts.append([line[10:] for line in lines])  # without the time
    assert texts[0] == texts[1]


def test_implementation_that_is_built_otherwise_refutes_the_step(tmp_path: Path) -> None:
    chosen = select(specification(), ("as_released",), {}, ("one_view",), wide=True, no_color=True)
    prepared = chosen.prepare(*chosen.questions)
    limits = Limits(None, None, None, None)
    result = run_check(prepared, engine_for(Exploring()), limits, lambda progress: True, replay)
    (one,) = result.properties
    assert one.answer.run is not None
    refuted = carried_out(
        model_run(result.system, one.answer.run, "icestorm", "as_released", one.prop), tmp_path / "run"
    )
    assert (refuted.outcome, refuted.step) == ("refuted", "merge_continue(3)")
    assert "Replica 3.max is 0, in the model 3" in refuted.reason


def test_settings_that_it_does_not_have_are_named(tmp_path: Path) -> None:
    run = runs("no_majority")["acknowledged_survives"]
    result = carried_out(run, tmp_path / "run")
    assert result.outcome == "not_carried_out"
    assert "no option for majority_not_needed" in result.reason
