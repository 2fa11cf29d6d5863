"""Writes reports: of what `verify` found, and of saved runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from hacheck import __version__
from hacheck.cli.page.html_page import html_page
from hacheck.cli.page.page_diagrams import diagrams_of
from hacheck.cli.page.report_data import ShownRun, frame, good_run_name, verdicts_of, views_of
from hacheck.model.language import Specification

if TYPE_CHECKING:
    from hacheck.checker.blame.other_runs import OtherRuns
    from hacheck.checker.verify import CheckResult

Json: TypeAlias = Any


def runs_of_results(results: Sequence[CheckResult]) -> list[ShownRun]:
    """Every run that the checks found: violations, witnesses, and where the spec has an error."""
    shown = []
    for result in results:
        for found in result.properties:
            if found.answer.run is not None:
                urgent = found.outcome == "unexpected" or found.without_value
                shown.append(
                    ShownRun(
                        result.check.name,
                        found.prop.name,
                        result.system,
                        found.answer.run,
                        found.prop,
                        found.answer.verdict,
                        found.outcome,
                        found.answer.scope,
                        urgent,
                        found.blamed,
                    )
                )
                shown += [*good_runs(shown[-1]), *other_counterexamples(shown[-1], found.others)]
        if result.answer.error is not None:
            name = "error of the spec"
            shown.append(ShownRun(result.check.name, name, result.system, result.answer.error, None, urgent=True))
    return shown


def good_runs(about: ShownRun) -> list[ShownRun]:
    """The nearest good run of a counterexample, as a run of its own, where there is one."""
    if about.blamed is None or about.blamed.good is None:
        return []
    run = about.blamed.good.run
    return [ShownRun(about.check, good_run_name(about.name), about.system, run, about.prop)]


def other_counterexamples(about: ShownRun, others: OtherRuns | None) -> list[ShownRun]:
    """The counterexamples besides the first one, each as a run of its own."""
    runs = () if others is None else others.runs
    return [
        ShownRun(
            about.check, f"{about.name}, counterexample {number}", about.system, one.run, about.prop,
            about.verdict, about.outcome, f"differs from the first: {one.words}", about.urgent,
        )
        for number, one in enumerate(runs, start=2)
    ]  # fmt: skip


def verify_report(specification: Specification, document: Json, results: Sequence[CheckResult]) -> str:
    """The page about what `verify` found. `document`: its JSON."""
    report = frame(specification, __version__) | verdicts_of(document)
    shown = runs_of_results(results)
    return html_page(report | {"diagrams": diagrams_of(shown)}, views_of(specification, shown))


def runs_report(specification: Specification, document: Json, shown: Sequence[ShownRun]) -> str:
    """The page about saved runs. `document`: the JSON in which they were saved; it may hold verdicts."""
    report = frame(specification, __version__)
    if "checks" in document:
        report |= verdicts_of(document)
    return html_page(report | {"diagrams": diagrams_of(shown)}, views_of(specification, shown))
