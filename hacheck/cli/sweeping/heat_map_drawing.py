"""Heat maps drawn: in a terminal, as SVG that loads nothing, and as a page with the table of all tasks."""

from __future__ import annotations

import shlex
import textwrap
from html import escape

from rich.console import Console
from rich.text import Text

from hacheck.cli.console import symbols, visible
from hacheck.cli.sweeping.heat_map import Cell, HeatMap, Picture
from hacheck.cli.sweeping.sweep_table import Swept
from hacheck.wording import plural

STYLES = {"holds": "ok", "violated": "bad", "unknown": "warn", "absent": "quiet"}
SPACE, INDENT = 2, 2

# ---- in a terminal ----


def show(console: Console, found: Picture) -> None:
    """Prints the heat maps, and what needs none."""
    for one in found.maps:
        _show_map(console, one)
    for check, names in found.holding:
        verb = " hold" if len(names) > 1 else " holds"
        named = (", ".join(map(visible, names)), "ok")
        console.print(Text.assemble(f"check {visible(check)}, in every task: ", named, verb), soft_wrap=True)


def _show_map(console: Console, one: HeatMap) -> None:
    marks = symbols(console)
    signs = (marks.holds, marks.violated, marks.unknown, "<=" if console.options.ascii_only else "≤")
    texts = [(name, [(cell, cell.text(*signs)) for cell in cells]) for name, cells in one.rows]
    label = max(len(visible(text)) for text in (one.down, *(name for name, _ in texts))) + SPACE
    wide = max(len(text) for text in (*one.columns, *(text for _, cells in texts for _, text in cells))) + SPACE
    room = max((console.width - INDENT - label) // wide, 1)
    console.print(Text.assemble((visible(one.title), "name"), (f"   across: {visible(one.across)}", "quiet")))
    for first in range(0, len(one.columns), room):
        head = "".join(f"{visible(text):>{wide}}" for text in one.columns[first : first + room])
        console.print(Text(f"{' ' * INDENT}{visible(one.down):<{label}}{head}", style="quiet"), soft_wrap=True)
        for name, cells in texts:
            line = Text(f"{' ' * INDENT}{visible(name):<{label}}")
            for cell, text in cells[first : first + room]:
                line.append(" " * (wide - len(text))).append(text, style=STYLES[cell.tone])
            console.print(line, soft_wrap=True)
    console.print()


# ---- as SVG ----

CELL, ROW, TOP, LEFT, CHARACTER = 76, 30, 58, 24, 7.6
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
FILLS = {"holds": "#cfe8d5", "unknown": "#f3e3b3", "absent": "#eef0f2"}
SHORT, LONG = (185, 43, 43), (246, 205, 200)
"""The colours of the shortest and the longest violation."""
LEGEND = "✔ holds, or is reached   ✘ violated by a run of so many steps (darker: shorter)   ? no verdict   ≤ at most"


def svg(swept: Swept, found: Picture) -> str:
    """The heat maps one beneath the other. Every word in it is text, never markup."""
    parts, y, width = [], 34.0, 8 * len(LEGEND) + 2 * LEFT
    parts.append(_text(LEFT, y, f"{swept.system}: where properties hold", size=17, weight=600))
    parts.append(_text(LEFT, y + 20, LEGEND, color="#55606a", size=12))
    y += 44
    for one in found.maps:
        drawn, wide, high = _svg_map(one, y, found.lengths)
        parts += drawn
        width, y = max(width, int(wide)), y + high
    for check, names in found.holding:
        for text in _lines(f"check {check}, in every task hold: {', '.join(names)}", width // 7):
            parts.append(_text(LEFT, y, text, color="#17744a"))
            y += 20
    height = int(y + 16)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    title = f"<title>{escape(swept.system)}: where properties hold</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}" font-size="13">{title}'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def _svg_map(one: HeatMap, y: float, lengths: tuple[int, int]) -> tuple[list[str], float, float]:
    label = max(len(text) for text in (one.down, *(name for name, _ in one.rows))) * CHARACTER + 16
    parts = [
        _text(LEFT, y + 16, one.title, weight=600),
        _text(LEFT + label, y + 34, f"{one.across} →", color="#55606a"),
    ]
    parts.append(_text(LEFT, y + 50, f"{one.down} ↓" if one.down else "", color="#55606a"))
    for place, column in enumerate(one.columns):
        parts.append(_text(LEFT + label + CELL * (place + 0.5), y + 50, column, anchor="middle"))
    for row, (name, cells) in enumerate(one.rows):
        top = y + TOP + ROW * row
        parts.append(_text(LEFT, top + 19, name))
        for place, cell in enumerate(cells):
            parts += _svg_cell(cell, LEFT + label + CELL * place, top, lengths)
    return parts, LEFT * 2 + label + CELL * len(one.columns), TOP + ROW * len(one.rows) + 26


def _svg_cell(cell: Cell, x: float, y: float, lengths: tuple[int, int]) -> list[str]:
    fill, ink = FILLS.get(cell.tone, ""), "#1d2329"
    if cell.tone == "violated":
        shade = _shade(cell.length, lengths)
        fill = "#" + "".join(f"{round(a + (b - a) * shade):02x}" for a, b in zip(SHORT, LONG, strict=True))
        ink = "#ffffff" if shade < 0.5 else ink
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{CELL - 2}" height="{ROW - 2}" rx="3" fill="{fill}"/>'
    text = _text(x + CELL / 2 - 1, y + 19, cell.text("✔", "✘", "?", "≤"), color=ink, anchor="middle")
    return ["<g>", f"<title>{escape(visible(cell.why))}</title>", box, text, "</g>"]


def _shade(length: int | None, lengths: tuple[int, int]) -> float:
    """0 for the shortest violation, 1 for the longest; a violation without a run is as dark as can be."""
    low, high = lengths
    return 0.0 if length is None or high == low else (length - low) / (high - low)


def _text(
    x: float, y: float, text: str, *, color: str = "#1d2329", anchor: str = "", size: int = 13, weight: int = 400
) -> str:
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += f' font-weight="{weight}"' if weight != 400 else ""
    more += f' font-size="{size}"' if size != 13 else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}"{more}>{escape(visible(text))}</text>'


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20))


# ---- as a page ----

STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#1d2329;background:#fff}"
    "table{border-collapse:collapse;margin-top:1.5rem}th,td{padding:.2rem .7rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #d9dee3}td.n{text-align:right}code{font-size:12px}.violated{color:#b92b2b}"
    ".holds{color:#17744a}.unknown{color:#8a5a00}svg{max-width:100%;height:auto}"
)


def page(swept: Swept, found: Picture) -> str:
    """The picture, and a row for each property of each task with the command that shows its run."""
    head = "".join(f"<th>{escape(text)}</th>" for text in ("check", *(axis.name for axis in swept.axes), "property"))
    head += "<th>verdict</th><th>steps</th><th>scope, or why there is no verdict</th><th>states</th><th>CPU s</th>"
    rows = [row for number in range(len(swept.tasks)) for row in _page_rows(swept, number)]
    title = escape(f"{swept.system}: a sweep of {plural(len(swept.tasks), 'task')}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{svg(swept, found)}"
        f"<table><thead><tr>{head}<th>shows it</th></tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table>\n"
        "</body></html>\n"
    )


def _page_rows(swept: Swept, number: int) -> list[str]:
    task, result = swept.tasks[number], swept.results.get(number)
    first = "".join(f"<td>{escape(visible(text))}</td>" for text in (task.check, *(value for _, value in task.varied)))
    if result is None or not result.properties:
        reason = escape(visible(swept.reason(number)))
        return [f'<tr>{first}<td></td><td class="unknown">unknown</td><td></td><td>{reason}</td>{"<td></td>" * 3}</tr>']
    rows = []
    for one in result.properties:
        steps = "" if one.steps is None else f"{'≤ ' if one.follows_from else ''}{one.steps}"
        scope = escape(visible(swept.reason(number, one) or one.scope))
        states = "" if one.follows_from else f"{result.states:,}"
        command = "" if one.steps is None else f"<code>{escape(command_for(swept, number, one.name))}</code>"
        rows.append(
            f'<tr>{first}<td>{escape(visible(one.name))}</td><td class="{one.verdict}">{one.verdict}</td>'
            f'<td class="n">{steps}</td><td>{scope}</td><td class="n">{states}</td>'
            f'<td class="n">{result.cpu_seconds:.2f}</td><td>{command}</td></tr>'
        )
    return rows


def command_for(swept: Swept, number: int, name: str) -> str:
    """The command that shows the run of a property under the settings of a task."""
    task = swept.tasks[number]
    given = [word for one, value in task.settings.items() for word in ("--set", f"{one}={value}")]
    words = ["hacheck", "verify", swept.spec, "--check", task.check, *given, "--property", name, "--runs"]
    return shlex.join(words)
