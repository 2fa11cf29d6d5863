"""A run as a story in Markdown: a line for each step, with what it changed."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.checker.described_run import StepView, initial_lines, read_by, step_views
from hacheck.checker.step_effects import OVER, REMEMBERS, StepEffect
from hacheck.cli.document.prose import code
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run

POSITION = "is now at "
"""How a handler's place is written: of no interest to who reads a story."""

MARKS = {"fault": "**↯** ", "repair": "**✚** "}


def story(system: System, run: Run, about: Property | None) -> list[str]:
    """The lines of a numbered list, with what it begins with above and what the property reads below."""
    views = step_views(system, run)
    begin = [f"{f'{where}: ' if where else ''}{words}" for where, words in initial_lines(system, run)]
    lines = [f"At first: {'; '.join(begin)}." if begin else "", ""] if begin else []
    loop = len(views) if run.loop is None else run.loop
    lines += [step_line(view) for view in views[:loop]]
    if run.loop is not None and views[loop:]:
        lines += ["", f"From here on, for ever (steps {loop + 1} to {len(views)} again and again):", ""]
        lines += [step_line(view) for view in views[loop:]]
    elif run.loop is not None:
        lines += ["", "From here on nothing happens any more."]
    if run.error is not None:
        failed = code(system.actions[run.error.action].name)
        lines += ["", f"The next step, {failed}, is an error: {run.error.message}."]
    found = [] if about is None else read_by(system, run, about)
    if found:
        lines += ["", "So: " + "; ".join(f"{code(name)} is {words}" for name, words in found) + "."]
    return lines


def step_line(view: StepView) -> str:
    """`12. **Replica 1** accept(from Replica 2): mode election → normal`."""
    where = f"**{view.node}** " if view.node else ""
    said = f" ({view.description})" if view.description else ""
    changes = "; ".join(change_text(change, view.node) for change in shown(view.changes))
    return f"{view.number}. {MARKS.get(view.kind, '')}{where}{code(view.call)}{said}{f': {changes}' if changes else ''}"


def shown(changes: Sequence[StepEffect]) -> list[StepEffect]:
    """What a story shows of a step: not where a handler stands and what it remembers between its steps."""
    return [one for one in changes if not one.what.startswith((POSITION, REMEMBERS)) and not one.what.endswith(OVER)]


def change_text(change: StepEffect, actor: str) -> str:
    """`mode dead → active`; a node is named where it is not the one the step happens on."""
    owner = f"{change.owner} " if change.owner and change.owner != actor else ""
    arrow = f" {change.before} → {change.after}" if change.before or change.after else ""
    return f"{owner}{change.what}{arrow}"
