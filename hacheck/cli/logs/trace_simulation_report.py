"""Shows how far the writing of traces is, and what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hacheck.cli.console import output_console, seconds
from hacheck.traces.simulation.part_files import TRUTH, Written
from hacheck.traces.simulation.plan import Plan
from hacheck.wording import plural


def plan_document(plan: Plan, spec: str, check: str, every_step: bool) -> dict[str, Any]:
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


def far(plan: Plan, total: Written, passed: float) -> str:
    """How much is written after so many seconds."""
    traces, records = plural(plan.traces, "trace"), plural(total.records, "record")
    return f"{total.traces:,} of {traces}, {records}, {total.records / passed:,.0f}/s"


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
        say(f"  {plural(total.ended, 'trace')} ended before step {plan.steps:,}: no further step was possible")
    if plan.drop or plan.mutate:
        say(f"  {plural(total.damage, 'error')} put into them")
    if files < plan.files:
        say(f"  stopped: {total.traces:,} of {plural(plan.traces, 'trace')} are there; the files are complete")
