"""What `hacheck verify` does about raised limits: has the trials run and shows what they found, or shows what earlier
ones found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from hacheck.checker.limit_trials import explored_of, plan
from hacheck.checker.verify import CheckResult
from hacheck.cli.console import error_console
from hacheck.model.language import Specification
from hacheck.supervise.interruption import Interruption

if TYPE_CHECKING:
    from hacheck.cli.checking.kept_trials import KeptTrials, Raised
    from hacheck.cli.checking.request import Request


class Earlier:
    """What earlier runs have kept of a spec, read when it is first used. `settings`: those that the user gave."""

    def __init__(self, specification: Specification, settings: tuple[tuple[str, str], ...]) -> None:
        self._specification, self._settings = specification, settings
        self._kept: KeptTrials | None = None

    def known(self, result: CheckResult) -> Raised | None:
        """What is kept of a check's raised limits; `None` where nothing is."""
        from hacheck.cli.checking.kept_trials import bounds_folder, kept_trials, known

        if self._kept is None:
            if not bounds_folder().is_dir():
                return None
            self._kept = kept_trials(self._specification)
        if not self._kept.results:
            return None
        return known(self._kept, plan(self._specification, explored_of(result), self._settings))


def raise_limits(
    request: Request,
    console: Console,
    specs: Sequence[tuple[str, Specification, Sequence[CheckResult]]],
    interruption: Interruption,
) -> list[dict[str, Raised]]:
    """Runs the trials of all checks that were run, shows what they found, and returns it by check for each spec.
    `specs`: how the user calls each, and its results."""
    from hacheck.cli.checking.raised_bounds import TOTAL_SECONDS, Raising, limits_of_trials
    from hacheck.cli.checking.side_by_side import jobs_default
    from hacheck.cli.progress import progress_of_several

    seconds = TOTAL_SECONDS if request.seconds_max is None else request.seconds_max
    limits = limits_of_trials(request.states_max, seconds, request.limits.memory_bytes_max)
    jobs, settings = request.jobs or jobs_default(), tuple(request.settings.items())
    errors = error_console(no_color=request.no_color)
    with progress_of_several(errors, quiet=request.quiet) as display:
        keeping = not request.exploring.fingerprint
        raising = Raising(jobs, request.exploring, limits, seconds, display, interruption, keeping=keeping)
        for name, specification, results in specs:
            raising.add(specification, name, [explored_of(result) for result in results], settings=settings)
        found = iter(raising.run())
        display.hide()
    by_spec = []
    for name, _, results in specs:
        known = {}
        for result in results:
            known[result.check.name] = raised = next(found)
            show_raised(console, raised, command_of(request, result, name), title=f"{name}: check {result.check.name}")
        by_spec.append(known)
    return by_spec


def command_of(request: Request, result: CheckResult, name: str = "") -> list[str]:
    """The words that run this check as the user had it run."""
    settings = [word for setting, value in request.settings.items() for word in ("--set", f"{setting}={value}")]
    return ["hacheck", "verify", name or request.spec, "--check", result.check.name, *settings]


def show_raised(console: Console, raised: Raised, command: Sequence[str], *, title: str = "") -> None:
    """What is known of a check's raised limits."""
    from hacheck.cli.checking.raised_report import section

    shown = section(console, raised, command, title)
    if shown is not None:
        console.print(shown)
