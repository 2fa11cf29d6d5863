"""State diagrams as Mermaid and as Graphviz DOT, for README files and other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hacheck.cli.console import visible
from hacheck.cli.diagrams.view import Label, View

COLORS = {
    "protocol": "#1f2937",
    "network": "#1f2937",
    "environment": "#6d28d9",
    "fault": "#b45309",
    "repair": "#047857",
}
ABSENT = "#9ca3af"
SIMILAR = (
    ("<=", "≤"),
    (">=", "≥"),
    ("!=", "≠"),
    (": ", " in "),
    (":", "."),
    ("<", "below"),
    (">", "above"),
    (";", ","),
    ("#", "no. "),
    ('"', "'"),
    ("{", "("),
    ("}", ")"),
    ("%", " percent"),
    ("`", "'"),
)
"""Signs that Mermaid reads as its own, and what stands for them in a label."""


def mermaid(views: Sequence[View]) -> str:
    """A Mermaid `stateDiagram-v2`; of several kinds of node each is a state with its own diagram inside."""
    lines = ["stateDiagram-v2", "    direction TB"]
    for number, view in enumerate(views):
        names = {state: f"{chr(ord('a') + number % 26)}{place}" for place, state in enumerate(view.states)}
        indent = "    "
        if len(views) > 1:
            lines.append(f'    state "{_harmless(view.title)}" as kind{number} {{')
            indent = "        "
        for state, name in names.items():
            lines.append(f'{indent}state "{_harmless(state)}" as {name}')
        lines += [f"{indent}[*] --> {names[state]}" for state in view.initial]
        for arrow in view.arrows:
            for label in arrow.labels:
                said = _harmless(described(label, view.absent))
                lines.append(f"{indent}{names[arrow.source]} --> {names[arrow.target]} : {said}")
        absent = [names[state] for state in view.unseen if state in names]
        if len(views) > 1:
            lines.append("    }")
        if absent:
            lines.append(f"    classDef absent{number} stroke-dasharray: 4 3,color:{ABSENT}")
            lines.append(f"    class {','.join(absent)} absent{number}")
    return "\n".join(lines) + "\n"


def dot(views: Sequence[View]) -> str:
    """A Graphviz digraph; each kind of node is a cluster."""
    lines = [
        "digraph hacheck {",
        '  graph [fontname="Helvetica", labelloc=t, labeljust=l];',
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, view in enumerate(views):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(view.title)};"]
        for state in view.states:
            extra = ""
            if state in view.initial:
                extra = ", penwidth=2"
            if state in view.unseen:
                extra = f', style="rounded,dashed", fontcolor="{ABSENT}", color="{ABSENT}"'
            lines.append(f"    {_place(number, state)} [label={_quoted(state)}{extra}];")
        for arrow in view.arrows:
            for label in arrow.labels:
                color = ABSENT if label.seen is False else COLORS[label.kind]
                style = ', style="dashed"' if label.seen is False or label.kind == "fault" else ""
                lines.append(
                    f"    {_place(number, arrow.source)} -> {_place(number, arrow.target)} "
                    f'[label={_quoted(described(label, view.absent))}, color="{color}", '
                    f'fontcolor="{color}"{style}];'
                )
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def described(label: Label, absent: str) -> str:
    """`take_over [free(LockFile)] (unreachable)`."""
    guard = f" [{label.guard}]" if label.guard else ""
    return f"{label.action}{guard}" + (f" ({absent})" if label.seen is False else "")


def _harmless(text: str) -> str:
    """Text for Mermaid, whose labels end at some characters and which shows its own escapes as they are: each of
    them is replaced by what reads like it."""
    for sign, similar in SIMILAR:
        text = text.replace(sign, similar)
    return visible(text)


def _place(number: int, state: str) -> str:
    return _quoted(f"{number}:{state}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
