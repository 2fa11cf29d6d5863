"""A run as a drawing of its own: lanes, sloped messages, calls, cuts, modes, captions. One file that loads nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape

from hacheck.checker.pictures.lanes import CLIENTS
from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.run_view.broken_part import broken_parts
from hacheck.checker.run_view.view_reader import Json, ViewReader

LANE, ROW, TOP, LEFT, CAPTION = 130, 34, 64, 60, 430
CAPTION_CHARACTERS = 62
ITEM_CHARACTERS = 18
"""So many characters of what clients are promised have room in their lane."""
HUES = ("#b3bcc4", "#d99a2b", "#7d5aa6", "#2a9d6f", "#2f74ad", "#b0446a", "#7f8c2a", "#4c7a80")
"""The colours of modes, in the order of their enum."""
RED, MESSAGE, CALL, STALE, GREEN, INK = "#b92b2b", "#00718f", "#3a5bbf", "#b93c0a", "#17744a", "#1d2329"


def svg(reader: ViewReader) -> str:
    """The drawing. Every word in it is text, never markup."""
    return _Drawing(reader).text()


class _Drawing:
    def __init__(self, reader: ViewReader) -> None:
        self.reader = reader
        self.captions = StepCaptions(reader, short=False)
        busy = {reader.actor(step) for step in range(1, reader.last + 1)}
        for step in reader.steps:
            busy |= {str(one.get(end)) for one in step["effects"] for end in ("from", "to", "node", "a", "b")}
        self.lanes = [node for node in reader.nodes if node in busy] or list(reader.nodes)
        if reader.acknowledges:
            self.lanes.append(CLIENTS)
        self.x = {node: LEFT + LANE // 2 + place * LANE for place, node in enumerate(self.lanes)}
        members = [one for kind in reader.view["modes"].values() for one in kind["members"]]
        self.hues = {mode: HUES[place % len(HUES)] for place, mode in enumerate(dict.fromkeys(members))}
        self.named = {one for kind in reader.view["modes"].values() for one in kind["named"]}
        self.width = LEFT + LANE * len(self.lanes) + CAPTION
        self.height = TOP + ROW * (reader.last + 1) + 20

    def y(self, state: int) -> int:
        """The height of a step's row."""
        return TOP + ROW * state

    def text(self) -> str:
        """The whole drawing."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        font = 'font-family="system-ui, sans-serif" font-size="12"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
            f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>',
            *self._heads(),
            *(line for node in self.lanes for line in self._lane(node)),
            *self._walls(),
            *(line for step in range(1, self.reader.last + 1) for line in self._step(step)),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _heads(self) -> Iterator[str]:
        for node in self.lanes:
            yield self._words(self.x[node], 24, node, INK, middle=True, bold=True)

    def _lane(self, node: str) -> Iterator[str]:
        """The lane in pieces: thick where the property names the mode, dotted while down."""
        x, reader = self.x[node], self.reader
        if node == CLIENTS:
            yield f'<path d="M{x} {self.y(0)}V{self.y(reader.last) + 12}" stroke="{GREEN}" stroke-dasharray="2 4"/>'
            return
        for state in range(reader.last + 1):
            top, bottom = self.y(state), self.y(state + 1) if state < reader.last else self.y(state) + 12
            mode = reader.mode(state, node)
            colour = self.hues.get(mode, INK)
            if not reader.is_up(state, node):
                yield f'<path d="M{x} {top}V{bottom}" stroke="#9aa5ae" stroke-dasharray="2 5"/>'
            else:
                thick = 8 if mode and mode in self.named else 3
                dashes = ' stroke-dasharray="5 4"' if reader.is_paused(state, node) else ""
                yield f'<path d="M{x} {top}V{bottom}" stroke="{colour}" stroke-width="{thick}"{dashes}/>'
            if mode and (state == 0 or mode != reader.mode(state - 1, node)) and reader.is_up(state, node):
                yield self._words(x + 8, top + 16, mode, colour if state else "#5b6670")
        for one in reader.view["beliefs"]:
            if one["holder"] == node:
                first, last = self.y(one["wrong"]), self.y(one["until"]) + 12
                yield f'<path d="M{x - 9} {first}V{last}" stroke="{STALE}" stroke-width="2" stroke-dasharray="4 3"/>'
                yield self._words(x - 14, first + 12, "?", STALE, middle=True, bold=True)

    def _walls(self) -> Iterator[str]:
        for state in range(1, self.reader.last + 1):
            for one, other in self.reader.cuts(state):
                if one in self.x and other in self.x:
                    x = (self.x[one] + self.x[other]) // 2
                    top = self.y(state) - 6
                    yield f'<path d="M{x} {top}V{top + ROW}" stroke="{RED}" stroke-width="4"/>'

    def _step(self, step: int) -> Iterator[str]:
        reader, y = self.reader, self.y(step)
        breaks = step == reader.last and reader.loop is None and bool(broken_parts(reader))
        if breaks:
            yield f'<rect x="0" y="{y - 14}" width="{self.width}" height="{ROW - 4}" fill="#fdecea"/>'
        looped = reader.loop is not None and step > reader.loop
        yield self._words(8, y + 4, f"{step}{' ↻' if looped else ''}", RED if breaks else "#5b6670")
        for effect in reader.steps[step - 1]["effects"]:
            yield from self._effect(effect, step)
        yield from self._acknowledged(step)
        actor = reader.actor(step)
        if actor in self.x:
            kind = reader.steps[step - 1]["kind"]
            colour = RED if kind == "fault" else GREEN if kind == "repair" else INK
            yield f'<circle cx="{self.x[actor]}" cy="{y}" r="5" fill="{colour}"/>'
        head, body = self.captions.caption(step)
        whole = f"{head}: {body}" if head and body else head + body
        colour = RED if reader.is_fault(step) else INK
        lines = textwrap.wrap(whole, CAPTION_CHARACTERS)
        if len(lines) > 2:
            lines = [lines[0], lines[1][: CAPTION_CHARACTERS - 1] + "…"]
        for number, line in enumerate(lines):
            yield self._words(LEFT + LANE * len(self.lanes) + 12, y + 2 + 14 * number, line, colour)

    def _effect(self, effect: Json, step: int) -> Iterator[str]:
        if effect["t"] not in ("take", "lost", "cleared", "call"):
            return
        start, end = effect["from"], effect["to"]
        if start not in self.x or end not in self.x or start == end:
            return
        y = self.y(step)
        call = effect["t"] == "call"
        arrived = effect["t"] == "take" or (call and effect["outcome"] == "answered")
        begin = y if call else self.y(effect.get("sent", max(step - 1, 0)))
        colour = CALL if call else MESSAGE
        if not arrived:
            colour = RED
        gap = -7 if self.x[end] > self.x[start] else 7
        x = self.x[end] + gap
        path = f'd="M{self.x[start]} {begin}L{x} {y}" fill="none"'
        yield f'<path {path} stroke="{colour}" stroke-width="{3 if call else 1.5}"/>'
        if arrived:
            yield f'<path d="M{x - gap} {y}l{gap} -4v8z" fill="{colour}"/>'
        else:
            yield self._words(x, y + 5, "✗", RED, middle=True, bold=True)
        middle = (
            self.x[start] + (LANE // 2 if self.x[end] > self.x[start] else -LANE // 2)
            if call
            else (self.x[start] + x) // 2
        )
        name = effect["op"] if call else effect["name"]
        if call and not self._is_first(effect, step):
            return
        if len(name) > ITEM_CHARACTERS:
            name = f"{name[: ITEM_CHARACTERS - 1]}…"
        yield self._words(middle, (begin + y) // 2 - 5, name, colour, middle=True)

    def _is_first(self, effect: Json, step: int) -> bool:
        """Whether a call has its name at its arrow: of several from a node to one side the first."""
        right = self.x[effect["to"]] > self.x[effect["from"]]
        calls = [
            one
            for one in self.reader.effects(step, "call")
            if one["from"] == effect["from"]
            and one["to"] in self.x
            and (self.x[one["to"]] > self.x[one["from"]]) == right
        ]
        return calls[0] is effect

    def _acknowledged(self, step: int) -> Iterator[str]:
        """An arrow to the clients, with what they are promised."""
        items = [effect["item"] for effect in self.reader.effects(step, "acknowledged")]
        if not items:
            return
        x, y, start = self.x[CLIENTS], self.y(step), self.x.get(self.reader.actor(step))
        if start is not None:
            yield f'<path d="M{start} {y}H{x - 7}" stroke="{GREEN}" stroke-width="2" fill="none"/>'
            yield f'<path d="M{x} {y}l-7 -4v8z" fill="{GREEN}"/>'
        words = ", ".join(items)
        yield self._words(x, y + 16, f"✔ {words}"[:ITEM_CHARACTERS], GREEN, middle=True, bold=True)

    def _words(self, x: int, y: int, words: str, colour: str, *, middle: bool = False, bold: bool = False) -> str:
        anchor = ' text-anchor="middle"' if middle else ""
        weight = ' font-weight="bold"' if bold else ""
        return f'<text x="{x}" y="{y}" fill="{colour}"{anchor}{weight}>{escape(words)}</text>'
