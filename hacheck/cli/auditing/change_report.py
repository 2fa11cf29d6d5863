"""What a change of configuration files opens and closes."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from hacheck.audit.audit import Audit, Finding
from hacheck.cli.auditing import report
from hacheck.cli.console import symbols, visible
from hacheck.cli.guard import ExitCode


def show_difference(console: Console, before: str, old: Audit, new: Audit) -> ExitCode:
    """Shows what is otherwise, what was wrong before and is no more, what is wrong now and was not before. Returns 1
    where the change opens something, 3 where something is not decided."""
    marks = symbols(console)
    console.print(report.heading(new))
    console.print(Text(f"\nsince {visible(before)}", "head"))
    lines = list(changed_settings(old, new, marks.arrow))
    for line in lines or ["no setting changed that the reader knows"]:
        console.print(Text(f"  {line}"))
    was, now = _by_key(old), _by_key(new)
    opened = [one for key, one in now.items() if key not in was]
    closed = [one for key, one in was.items() if key not in now]
    kept = [one for key, one in now.items() if key in was]
    for number, one in enumerate(opened):
        console.print()
        console.print(Text("the change opens", "bad"))
        for part in report.finding(console, new, one, draw=number == 0):
            console.print(part)
    if opened:
        for part in report.helps(console, new):
            console.print(part)
    for one in closed:
        console.print(Text.assemble((f"\n{marks.holds} the change closes  ", "good"), _named(one)))
    for one in kept:
        console.print(Text.assemble((f"\n{marks.foreseen} as before  ", "expected"), _named(one)))
    if not was and not now:
        console.print(Text(f"\n{marks.holds} nothing is violated, before and after", "good"))
    console.print()
    for part in report.scope(new):
        console.print(part)
    return ExitCode.NOT_AS_EXPECTED if opened else ExitCode.UNDECIDED if new.open or old.open else ExitCode.AS_EXPECTED


def _by_key(found: Audit) -> dict[tuple[str, str], Finding]:
    return {(one.kind, one.name): one for one in found.findings}


def _named(one: Finding) -> str:
    return f"{report.KINDS[one.kind]}: {visible(one.sentence)}"


def changed_settings(old: Audit, new: Audit, arrow: str) -> Iterator[str]:
    """Each setting whose value is otherwise, and nodes that are new or gone."""
    before = {node.name: node for node in old.configuration.nodes}
    after = {node.name: node for node in new.configuration.nodes}
    if old.model.mode.name != new.model.mode.name:
        yield f"mode: {old.model.mode.name} {arrow} {new.model.mode.name}"
    for name in after.keys() - before.keys():
        yield f"new node {visible(name)}"
    for name in before.keys() - after.keys():
        yield f"node {visible(name)} is gone"
    for name, node in after.items():
        values = before[name].values if name in before else {}
        for setting, value in node.values.items():
            earlier = values.get(setting)
            if earlier is not None and (earlier.text, earlier.value) != (value.text, value.value):
                was, now = visible(earlier.text) or "not set", visible(value.text) or "not set"
                yield f"{visible(name)}  {visible(value.label)}: {was} {arrow} {now}  {visible(value.place)}"
