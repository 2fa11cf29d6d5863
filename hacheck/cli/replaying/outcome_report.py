"""How a replay is shown: model and product side by side, step by step, then the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.cli.console import seconds, symbols
from hacheck.replay.outcomes import ReplayResult, StepResult
from hacheck.replay.product import Product
from hacheck.wording import plural

STYLES = {
    "confirmed": "good",
    "refuted": "bad",
    "masked": "doubt",
    "not_carried_out": "warn",
    "environment": "warn",
}


def products_table(products: Sequence[Product]) -> RenderableType:
    """Every product with the specs whose runs it carries out, and what is missing."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="head")
    table.add_column("product", style="name", no_wrap=True)
    table.add_column("runs of")
    table.add_column("here", overflow="fold")
    for one in products:
        table.add_row(one.name, ", ".join(one.specs), one.missing() or "can be started")
    return table


def heading(console: Console, title: str, product: Product, place: Path) -> RenderableType:
    """What is carried out, on what, and where it is recorded."""
    return Group(
        Text(title, style="head"),
        Text(f"on {product.name}: {product.description}"),
        Text(f"recording: {place}", style="quiet"),
        Text(""),
    )


def step(console: Console, result: StepResult) -> RenderableType:
    """A step: what the model says it changes, and what the product shows."""
    marks = symbols(console)
    good = not result.differences
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", width=4)
    table.add_column(width=1)
    table.add_column(overflow="fold")
    words = Text(result.title, style="action")
    words.append(f"  {seconds(result.at)}", style="quiet")
    mark = Text(marks.holds, "good") if good else Text(marks.violated, "bad")
    table.add_row(str(result.number or ""), mark, words)
    if result.changes:
        table.add_row("", "", Text(f"model    {'; '.join(result.changes)}"))
    for line in observed_lines(result.observed):
        table.add_row("", "", Text(f"product  {line}", style="quiet"))
    for line in result.differences:
        table.add_row("", "", Text(f"differs  {line}", style="bad"))
    return table


def observed_lines(observed: Mapping[str, Any]) -> list[str]:
    """The product's state, a line for each node and one for the rest."""
    nodes: dict[str, list[str]] = {}
    rest = []
    for variable, value in observed.items():
        owner, _, name = variable.partition(".")
        if name and isinstance(value, Mapping):
            for key, item in value.items():
                nodes.setdefault(f"{owner} {key}", []).append(f"{name} {_shown(item)}")
        elif value not in ([], None, {}):
            rest.append(f"{variable} {_shown(value)}")
    lines = [f"{node}: {', '.join(words)}" for node, words in sorted(nodes.items())]
    return [*lines, *([", ".join(rest)] if rest else [])]


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list | tuple | set | frozenset):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


def outcome(console: Console, result: ReplayResult) -> RenderableType:
    """The verdict first, the reason second, the evidence third."""
    where = f" at step {result.at_step}, {result.step}" if result.at_step else ""
    head = Text(result.outcome.replace("_", " "), style=STYLES[result.outcome])
    head.append(f"{where}: {result.reason}", style="default")
    compared = len({one.number for one in result.steps if one.number and not one.differences})
    figures = f"{compared} of {plural(result.total_steps, 'step')} compared equal, {seconds(result.seconds)}"
    parts: list[RenderableType] = [Text(""), head]
    parts += [Padding(Text(line, overflow="fold"), (0, 0, 0, 2)) for line in result.evidence]
    parts += [Text(figures, style="quiet"), Text(f"recording: {result.recording}", style="quiet"), Text("")]
    return Group(*parts)


def totals(console: Console, results: Sequence[ReplayResult]) -> RenderableType:
    """Of several: how often each outcome came."""
    counts = Counter(result.outcome for result in results)
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.most_common())
    compared = sum(not one.differences for result in results for one in result.steps if one.number)
    return Text(f"{plural(len(results), 'run')}: {words}; {plural(compared, 'step')} compared equal", style="head")
