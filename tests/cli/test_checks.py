"""Checks come out as expected, not as expected, or undecided; and no run is shown that does not replay."""

from __future__ import annotations

from io import StringIO

import pytest
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from hacheck.checker.engine import Answer, Coverage, Limits, Progress, PropertyAnswer, Report
from hacheck.checker.verify import CheckResult, Prepared, Question, RunDoesNotReplay, run_check, unused_actions
from hacheck.cli.checking import report
from hacheck.cli.checking.summary import exit_code, remark
from hacheck.cli.console import THEME
from hacheck.cli.guard import ExitCode
from hacheck.model.interpreter import replay
from hacheck.model.ir import System
from hacheck.model.runs import Run, StepError
from tests.cli.pair import ANSWER, PAIR, SPLIT_BRAIN, START

QUESTION = Question("default", expect_violated=("one_active", "recovers"))


class Fixed(Struct, frozen=True):
    """An engine that has one answer."""

    answer: Answer

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """The answer, whatever is asked."""
        report(Progress(1, 1, 1, 1, 0.1, 1))
        return self.answer


def result_of(answer: Answer, question: Question = QUESTION) -> CheckResult:
    """What is made of an answer."""
    prepared = Prepared(question, PAIR, question.only)
    return run_check(prepared, Fixed(answer), Limits(), lambda _: True, lambda system, run: None)


def answering(name: str, verdict: str, run: Run | None = None) -> Answer:
    """The answer with another verdict on one property."""
    changed = tuple(
        PropertyAnswer(name, verdict, "why", run) if found.name == name else found  # type: ignore[arg-type]
        for found in ANSWER.properties
    )
    return replace(ANSWER, properties=changed)


def test_violations_that_are_expected_are_as_expected() -> None:
    result = result_of(ANSWER)
    assert result.outcome == "expected"
    assert exit_code([result], all_ran=True) == ExitCode.AS_EXPECTED
    assert remark(result) == "one_active, recovers violated, as expected"


def test_a_violation_that_is_not_expected_is_not() -> None:
    result = result_of(ANSWER, Question("default"))
    assert result.outcome == "unexpected"
    assert exit_code([result], all_ran=True) == ExitCode.NOT_AS_EXPECTED


def test_a_violation_expected_and_not_found_is_not_as_expected() -> None:
    result = result_of(answering("one_active", "holds"))
    assert result.outcome == "unexpected"
    assert remark(result) == "one_active holds, but a violation is expected"


@pytest.mark.parametrize("verdict", ["unknown", "not-inductive"])
def test_neither_yes_nor_no_is_undecided(verdict: str) -> None:
    result = result_of(answering("stored_grows", verdict))
    assert result.outcome == "undecided"
    assert exit_code([result], all_ran=True) == ExitCode.UNDECIDED


def test_a_surprise_counts_more_than_what_is_undecided() -> None:
    result = result_of(answering("stored_grows", "unknown"), Question("default"))
    assert exit_code([result], all_ran=True) == ExitCode.NOT_AS_EXPECTED


def test_who_interrupts_gets_3_unless_a_surprise_was_found_before() -> None:
    stopped = replace(ANSWER.coverage, complete=False, stopped="interrupted")
    interrupted = replace(ANSWER, coverage=stopped)
    assert exit_code([result_of(interrupted)], all_ran=True) == ExitCode.UNDECIDED
    assert exit_code([result_of(ANSWER)], all_ran=False) == ExitCode.UNDECIDED
    assert exit_code([result_of(interrupted, Question("default"))], all_ran=False) == ExitCode.NOT_AS_EXPECTED


def test_a_property_without_a_value_is_bad_input() -> None:
    run = next(found.run for found in ANSWER.properties if found.run is not None)
    nothing = PropertyAnswer("one_active", "unknown", "an error of the spec", run)
    others = tuple(found for found in ANSWER.properties if found.name != "one_active")
    result = result_of(replace(ANSWER, properties=(nothing, *others)))
    assert (result.outcome, remark(result)) == ("unexpected", "the spec has an error, see above")
    assert exit_code([result], all_ran=True) == ExitCode.BAD_INPUT


def test_an_error_of_the_spec_is_bad_input() -> None:
    fault = Run(START, (), error=StepError(0, (1,), (), "mode would be 7"))
    result = result_of(replace(ANSWER, error=fault))
    assert exit_code([result], all_ran=True) == ExitCode.BAD_INPUT


def test_a_spec_that_cannot_even_begin_is_bad_input() -> None:
    nothing = Coverage(0, 0, 0, 0.0, False, "an error of the spec", (), ())
    result = result_of(replace(ANSWER, coverage=nothing, unstartable=True))
    assert exit_code([result], all_ran=True) == ExitCode.BAD_INPUT


def test_properties_left_out_by_the_check_are_not_looked_at() -> None:
    result = result_of(ANSWER, Question("default", only=("failover",)))
    assert [found.prop.name for found in result.properties] == ["failover"]
    assert result.outcome == "expected"


def test_a_run_that_does_not_replay_is_our_bug() -> None:
    prepared = Prepared(QUESTION, PAIR, ())
    wrong = Run(START, SPLIT_BRAIN.steps[1:])
    broken = answering("one_active", "violated", wrong)
    with pytest.raises(RunDoesNotReplay, match="one_active"):
        run_check(prepared, Fixed(broken), Limits(), lambda _: True, replay)


def test_the_runs_of_the_pair_do_replay() -> None:
    run_check(Prepared(QUESTION, PAIR, ()), Fixed(ANSWER), Limits(), lambda _: True, replay)


def test_a_property_without_an_answer_is_our_bug() -> None:
    prepared = Prepared(QUESTION, PAIR, ())
    with pytest.raises(RunDoesNotReplay, match="no answer"):
        run_check(prepared, Fixed(replace(ANSWER, properties=())), Limits(), lambda _: True, replay)


def test_actions_that_never_happened_are_named() -> None:
    assert unused_actions(result_of(ANSWER)) == ("retire",)


def test_what_states_take_is_told_where_there_are_many() -> None:
    many = replace(ANSWER.coverage, states=54_512_334, bytes_per_state=36.2)
    assert "memory    1.8 GiB, 36 bytes a state" in facts_of(replace(ANSWER, coverage=many))
    assert "bytes" not in facts_of(replace(ANSWER, coverage=replace(many, states=999_999)))


def test_notes_and_the_chance_of_an_omission_are_told() -> None:
    unsure = replace(ANSWER.coverage, complete=True, stopped=None, omission=3.21e-5)
    shown = facts_of(replace(ANSWER, coverage=unsure, notes=("the checkpoint is no longer kept: no space",)))
    assert "a state was left out with a probability of at most 3e-05" in shown
    assert "note      the checkpoint is no longer kept: no space" in shown


def facts_of(answer: Answer) -> str:
    """What is said of an answer before its properties."""
    out = StringIO()
    Console(file=out, width=120, theme=THEME, highlight=False).print(report.facts(result_of(answer), {}))
    return out.getvalue()
