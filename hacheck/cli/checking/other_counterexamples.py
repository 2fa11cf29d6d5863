"""Several counterexamples of one property: looked for and shown as commands do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hacheck.checker.blame.blamed import is_blamable
from hacheck.checker.blame.other_runs import OtherRuns, other_runs
from hacheck.checker.blame.trials import Subject
from hacheck.checker.described_run import run_title
from hacheck.checker.engine import Progress
from hacheck.cli.checking.shown_runs import shown_run
from hacheck.cli.console import error_console
from hacheck.cli.progress import progress_display
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores

if TYPE_CHECKING:
    from hacheck.cli.checking.request import Request


def others_of(
    request: Request, system: System, prop: Property, run: Run, interruption: Interruption
) -> OtherRuns | None:
    """The counterexamples besides a known one; `None` where the run is none."""
    if not is_blamable(prop, run):
        return None
    errors = error_console(no_color=request.no_color)
    with progress_display(errors, f"counterexamples of {prop.name}", quiet=request.quiet) as display:

        def report(progress: Progress) -> bool:
            display.update(progress)
            return not interruption.requested

        wanted, threads = request.counterexamples - 1, request.exploring.threads or usable_cores()
        return other_runs(Subject(system, prop, run), wanted, request.limits, report, threads)


def show_others(console: Console, system: System, prop: Property, others: OtherRuns, *, steps: bool) -> None:
    """Each with how it differs from the first one, and why there are no more where there are fewer than wanted."""
    for number, one in enumerate(others.runs, start=2):
        console.print()
        title = f"counterexample {number} of {prop.name}: {run_title(system, one.run)}"
        console.print(Text(title, style="head"))
        console.print(Text(f"  differs from the first: {one.words}", style="quiet"))
        console.print()
        console.print(shown_run(console, system, one.run, prop, steps=steps))
    if others.words:
        console.print(Text(f"\n{others.words}", style="quiet"))
