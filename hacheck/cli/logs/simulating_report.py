"""Tells how far the writing of traces is, and what was written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hacheck.cli.console import error_console, output_console, plural, seconds
from hacheck.traces.simulation.files import TRUTH, Written
from hacheck.traces.simulation.plan import Plan

if TYPE_CHECKING:
    from rich.status import Status

PLAIN_SECONDS = 5.0
"""How often a line tells how far it is where there is no terminal."""


def told(plan: Plan, spec: str, check: str, every_step: bool) -> dict[str, Any]:
    """How the traces are made, as JSON."""
    return {
        "spec": spec,
        "check": check,
        "settings": dict(plan.system.settings),
        "lines": "every step" if every_step else "as the spec says",
        "traces": plan.traces,
        "steps": plan.steps,
        "seed": plan.seed,
        "hidden": list(plan.hidden),
        "hidden_fields": list(plan.hidden_fields),
        "skew_ms": plan.skew,
        "drop_lines": plan.drop,
        "mutate": plan.mutate,
        "mutations": list(plan.kinds),
        "format": plan.form,
    }


def written(total: Written, files: int, complete: bool) -> dict[str, Any]:
    """What was written, as JSON."""
    return {
        "complete": complete,
        "written": {"files": files, "traces": total.traces, "ended_early": total.ended, "steps": total.steps},
        "records": total.records,
        "damage": total.damage,
    }


class Meter:
    """Shows on standard error how much is written."""

    def __init__(self, plan: Plan, *, quiet: bool, no_color: bool) -> None:
        self._console = error_console(no_color=no_color)
        self._plan, self._quiet = plan, quiet
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._every = 0.2 if self._live else PLAIN_SECONDS
        self._begun = time.monotonic()
        self._due = self._begun + self._every
        self._status: Status | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows it as long as the block runs."""
        if self._quiet or not self._live:
            yield
            return
        with self._console.status("preparing") as self._status:
            yield

    def show(self, total: Written) -> None:
        """Tells it, or not: it may be called often."""
        now = time.monotonic()
        if self._quiet or now < self._due:
            return
        self._due = now + self._every
        passed = now - self._begun
        text = (
            f"{total.traces:,} of {plural(self._plan.traces, 'trace')}, {plural(total.records, 'record')}, "
            f"{total.records / passed:,.0f}/s, {seconds(passed)}"
        )
        if self._status is not None:
            self._status.update(text)
        else:
            self._console.print(text, markup=False, soft_wrap=True)


def show(plan: Plan, out: str, total: Written, files: int, elapsed: float, *, no_color: bool) -> None:
    """What was written, in words."""
    console = output_console(no_color=no_color)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    say(
        f"{plan.system.name}, seed {plan.seed}: {plural(total.traces, 'trace')}, {plural(total.records, 'record')} of "
        f"{plural(total.steps, 'step')}, in {seconds(elapsed)}"
    )
    say(f"  {out}: {plural(files, 'file')}; the truth is in {Path(out) / TRUTH}")
    if total.ended:
        say(f"  {plural(total.ended, 'trace')} ended before step {plan.steps:,}: nothing more was possible")
    if plan.drop or plan.mutate:
        say(f"  {plural(total.damage, 'thing')} done to them")
    if files < plan.files:
        say(f"  stopped: {total.traces:,} of {plural(plan.traces, 'trace')} are there; the files are complete")
