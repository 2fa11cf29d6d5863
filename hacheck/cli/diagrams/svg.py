"""State diagrams as SVG that stands alone: no program, font or script is needed to read it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from hacheck.cli.console import visible
from hacheck.cli.diagrams.diagram_layout import Box, Link, Placed, place
from hacheck.cli.diagrams.markup import ABSENT, COLORS
from hacheck.cli.diagrams.view import ANY, SEVERAL, Label, View

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
STATE_SIZE, ACTION_SIZE, GUARD_SIZE, TITLE_SIZE = 15.0, 12.0, 10.5, 17.0
GUARD_COLUMNS, GUARD_LINES = 40, 3
MARGIN = 24.0
NARROW, BROAD = frozenset("iljtfr.,:;'|!()[] "), frozenset("mwMWQOG@%")


def svg(views: Sequence[View]) -> str:
    """The diagrams one beneath the other."""
    drawn = [draw(view) for view in views]
    width = max((wide for _, wide, _ in drawn), default=0.0) + 2 * MARGIN
    parts, y = [], MARGIN
    for body, _, height in drawn:
        parts.append(f'<g transform="translate({MARGIN:.1f} {y:.1f})">{body}</g>')
        y += height + 2 * MARGIN
    title = escape(", ".join(view.title for view in views))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y:.0f}" '
        f'viewBox="0 0 {width:.0f} {y:.0f}" role="img" font-family="{FONT}">\n'
        f"<title>State diagram of {title}</title>\n{definitions()}\n"
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def definitions() -> str:
    """An arrow head for each colour."""
    heads = "".join(
        f'<marker id="head-{color[1:]}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M0 0.8 L10 5 L0 9.2 z" fill="{color}"/></marker>'
        for color in sorted({*COLORS.values(), ABSENT})
    )
    return f"<defs>{heads}</defs>"


def draw(view: View) -> tuple[str, float, float]:
    """One diagram: its elements, width and height."""
    numbers = {state: number for number, state in enumerate(view.states)}
    ends = [end for arrow in view.arrows for end in (arrow.source, arrow.target)]
    boxes = [
        Box(max(76.0, text_width(state, STATE_SIZE) + 30, ends.count(state) * 15 + 24), 38.0) for state in view.states
    ]
    lines = [label_lines(arrow.labels, view.absent) for arrow in view.arrows]
    links = [
        Link(numbers[arrow.source], numbers[arrow.target], label_box(said))
        for arrow, said in zip(view.arrows, lines, strict=True)
    ]
    placed = place(boxes, links, [numbers[state] for state in view.initial])
    heading = (
        f'<text x="0" y="14" font-size="{TITLE_SIZE}" font-weight="600" fill="#111827">{escape(view.title)}</text>'
        f'<text x="0" y="32" font-size="{ACTION_SIZE}" fill="#6b7280">{escape(view.footing)}</text>'
    )
    body = edges(view, placed) + labels(placed, lines) + states(view, boxes, placed)
    top = 62.0
    width = max(placed.width, text_width(view.title, TITLE_SIZE), text_width(view.footing, ACTION_SIZE))
    legend_y = top + placed.height + 26
    footer = legend(view, legend_y)
    return f'{heading}<g transform="translate(0 {top})">{body}</g>{footer}', width, legend_y + 6


Line = tuple[str, float, str, str, str]
"""A line of a label: its text, size, colour, further attributes, and what is shown when it is pointed at."""


def label_lines(found: Sequence[Label], absent: str) -> list[Line]:
    """The lines of an edge's label: each action, and beneath it when it happens."""
    lines: list[Line] = []
    for label in found:
        color = ABSENT if label.seen is False else COLORS[label.kind]
        name = label.action + (f"  ({absent})" if label.seen is False else "")
        lines.append((name, ACTION_SIZE, color, 'font-weight="600"', label.guard))
        lines += [(said, GUARD_SIZE, "#6b7280", "", label.guard) for said in guard_lines(label.guard)]
    return lines


def guard_lines(guard: str) -> list[str]:
    """The guard in a few short lines; what does not fit is cut off (and shown when pointed at)."""
    import textwrap

    if not guard:
        return []
    lines = textwrap.wrap(visible(f"when {guard}"), GUARD_COLUMNS, break_long_words=True)
    return lines if len(lines) <= GUARD_LINES else [*lines[: GUARD_LINES - 1], f"{lines[GUARD_LINES - 1][:-1]}…"]


def label_box(lines: Sequence[Line]) -> Box:
    """The room a label takes."""
    width = max(text_width(text, size) for text, size, *_ in lines)
    return Box(width + 12, sum(size * 1.3 for _, size, *_ in lines) + 6)


def edges(view: View, placed: Placed) -> str:
    """The lines from state to state."""
    parts = []
    for arrow, points in zip(view.arrows, placed.paths, strict=True):
        kinds = {label.kind for label in arrow.labels if label.seen is not False}
        color = COLORS[kinds.pop()] if len(kinds) == 1 else COLORS["protocol"]
        dash = ""
        if not arrow.seen:
            color, dash = ABSENT, ' stroke-dasharray="3 4"'
        elif arrow.source == ANY or color == COLORS["fault"]:
            dash = ' stroke-dasharray="7 4"'
        parts.append(
            f'<path d="{curve(points)}" fill="none" stroke="{color}" stroke-width="1.4"{dash} '
            f'marker-end="url(#head-{color[1:]})"/>'
        )
    return "".join(parts)


def curve(points: Sequence[tuple[float, float]]) -> str:
    """A smooth line through the points that is upright at each of them."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path += f" C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return path


def labels(placed: Placed, lines: Sequence[Sequence[Line]]) -> str:
    """The labels on a white ground, so that the line they belong to runs behind them."""
    parts = []
    for (x, y), said in zip(placed.labels, lines, strict=True):
        box = label_box(said)
        parts.append(
            f'<rect x="{x - box.width / 2:.1f}" y="{y - box.height / 2:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="3" fill="#ffffff"/>'
        )
        baseline = y - box.height / 2 + 3
        for text, size, color, extra, hover in said:
            baseline += size * 1.3
            tip = f"<title>{escape(hover)}</title>" if hover else ""
            parts.append(
                f'<text x="{x:.1f}" y="{baseline - size * 0.3:.1f}" text-anchor="middle" font-size="{size}" '
                f'fill="{color}" {extra}>{tip}{escape(text)}</text>'
            )
    return "".join(parts)


def states(view: View, boxes: Sequence[Box], placed: Placed) -> str:
    """The states: a thick border where it starts, a dashed one where it never was."""
    parts = []
    for state, box, (x, y) in zip(view.states, boxes, placed.nodes, strict=True):
        absent = state in view.unseen
        border = ABSENT if absent else "#1f2937"
        faint = absent or state in (ANY, SEVERAL)
        extra = ' stroke-dasharray="4 3"' if faint else ""
        weight = 2.6 if state in view.initial else 1.3
        fill = "#f9fafb" if faint else "#fef3c7" if state.startswith("(") else "#eff6ff"
        parts.append(
            f'<rect x="{x - box.width / 2:.1f}" y="{y - box.height / 2:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="9" fill="{fill}" stroke="{border}" stroke-width="{weight}"{extra}/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" font-size="{STATE_SIZE}" '
            f'fill="{border}" data-state={quoteattr(state)}>{escape(state)}</text>'
        )
    return "".join(parts)


def legend(view: View, y: float) -> str:
    """What the looks mean, as far as the diagram has them."""
    kinds = {label.kind for arrow in view.arrows for label in arrow.labels}
    said = [("thick border: starts here", "#1f2937")]
    said += [(f"{kind}", COLORS[kind]) for kind in ("fault", "repair", "environment") if kind in kinds]
    if view.unseen or any(label.seen is False for arrow in view.arrows for label in arrow.labels):
        said.append((view.absent, ABSENT))
    x, parts = 0.0, []
    for text, color in said:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{GUARD_SIZE}" fill="{color}">{escape(text)}</text>')
        x += text_width(text, GUARD_SIZE) + 18
    return "".join(parts)


def text_width(text: str, size: float) -> float:
    """About how wide a text is, rather too much than too little, since the reader's font is not known."""
    total = 0.0
    for char in text:
        total += 0.4 if char in NARROW else 0.95 if char in BROAD else 1.05 if ord(char) > 0x2E7F else 0.66
    return total * size
