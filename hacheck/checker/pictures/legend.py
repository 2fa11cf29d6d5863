"""What the marks of a space-time diagram mean: of those that occur in it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from hacheck.checker.pictures.glyphs import Glyphs
from hacheck.checker.pictures.lanes import Layout
from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.pictures.styled_line import StyledLine
from hacheck.checker.run_view.view_reader import ViewReader

LEGEND_WIDTH = 120


def legend(
    reader: ViewReader,
    layout: Layout,
    captions: StepCaptions,
    glyphs: Glyphs,
    width: int,
    gutter_marks: Sequence[str] = (),
) -> list[StyledLine]:
    """One or two lines of marks, and one of names that were shortened. `gutter_marks`: what stands before the lanes."""
    room = min(width, LEGEND_WIDTH)
    return [
        *_wrapped([*_marks(reader, layout, glyphs), *gutter_marks], room),
        *_wrapped(_names(reader, layout, captions), room),
    ]


def _wrapped(parts: list[str], width: int) -> list[StyledLine]:
    """The parts in lines; none is broken where it fits into one."""
    joined = "   ".join(part.replace(" ", "\0") for part in parts)
    lines = textwrap.wrap(joined, width, break_on_hyphens=False)
    return [StyledLine(line.replace("\0", " "), "dim") for line in lines]


def _marks(reader: ViewReader, layout: Layout, glyphs: Glyphs) -> list[str]:
    states = range(reader.last + 1)
    named = [mode for kind in reader.view["modes"].values() for mode in kind["named"]]
    each = [effect for step in reader.steps for effect in step["effects"]]
    effects = {effect["t"] for effect in each}
    said = [f"{glyphs.named} {' / '.join(dict.fromkeys(named))}", f"{glyphs.start} as at the start"] if named else []
    said.append(f"{glyphs.other} {'other' if named else 'up'}")
    if any(not reader.is_up(state, node) for state in states for node in layout.nodes):
        said += [f"{glyphs.crash} crash"] if "crash" in effects else []
        said.append("gap = down")
    if any("at" in step and step["kind"] == "fault" and not step["effects"] for step in reader.steps):
        said.append(f"{glyphs.fault} other fault")
    if "restart" in effects:
        said.append(f"{glyphs.restart} restart")
    if any(reader.is_paused(state, node) for state in states for node in layout.nodes):
        said.append(f"{glyphs.paused} paused")
    if "send" in effects:
        said.append(f"{glyphs.message}{glyphs.right} sent")
    if "take" in effects:
        said.append(f"{glyphs.message * 2}{glyphs.right} taken")
    if "call" in effects or "direct" in effects:
        said.append(f"{glyphs.call * 2}{glyphs.right} call")
    if effects & {"send", "call", "direct"}:
        said += [f"{glyphs.traffic} sends or calls", f"{glyphs.step} other step"]
    if any(one["t"] == "call" and one["outcome"] != "answered" for one in each):
        said.append(f"{glyphs.failed} no answer")
    if any(reader.cuts(state) for state in states):
        said.append(f"{glyphs.wall} link cut")
    if reader.view["beliefs"]:
        said.append(f"{glyphs.wrong} is wrong about another")
    if reader.loop is not None and reader.loop < reader.last:
        said.append(f"{glyphs.loop_top}{glyphs.loop_bottom} for ever")
    return said


def _names(reader: ViewReader, layout: Layout, captions: StepCaptions) -> list[str]:
    shown = {reader.mode(state, node) for state in range(reader.last + 1) for node in layout.nodes}
    said = [f"{short} = {mode}" for mode, short in layout.modes.items() if short != mode and mode in shown]
    said += [f"{lane.title} = {lane.name}" for lane in layout.lanes if lane.title != lane.name]
    if layout.not_drawn:
        said.append(f"not drawn: {', '.join(captions.words(node) for node in layout.not_drawn)}")
    return said
