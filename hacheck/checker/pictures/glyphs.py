"""The characters that a space-time diagram is drawn with: one set for terminals that show Unicode, one of ASCII."""

from __future__ import annotations

from msgspec import Struct


class Glyphs(Struct, frozen=True):
    """One character for each thing that a diagram shows; `arrow` and `dots` stand in captions."""

    start: str
    other: str
    named: str
    down: str
    paused: str
    step: str
    traffic: str
    crash: str
    pause: str
    fault: str
    restart: str
    message: str
    call: str
    right: str
    left: str
    failed: str
    wall: str
    loop_top: str
    loop_side: str
    loop_bottom: str
    wrong: str
    free: str
    held: str
    joined: str
    breaks: str
    turn: str
    arrow: str
    dots: str

    def text(self, words: str) -> str:
        """Words with the characters of this set for arrows, dots and quotes."""
        if self is UNICODE:
            return words.replace(" -> ", " → ")
        for there, here in (("→", "->"), ("…", ".."), ("“", '"'), ("”", '"')):
            words = words.replace(there, here)
        return words

    def cut(self, words: str, columns: int) -> str:
        """Words in at most so many columns."""
        return words if len(words) <= columns else words[: max(columns - 1, 0)] + "."


UNICODE = Glyphs(
    start="┊", other="│", named="┃", down=" ", paused="░", step="◆", traffic="●",
    crash="✖", pause="‖", fault="↯", restart="▲", message="─", call="═", right="▶", left="◀", failed="✗",
    wall="▒", loop_top="╭", loop_side="│", loop_bottom="╰",
    wrong="?", free="·", held="║", joined="@", breaks="!", turn="»", arrow="→", dots="…",
)  # fmt: skip
ASCII = Glyphs(
    start=":", other="|", named="#", down=" ", paused="z", step="*", traffic="o",
    crash="X", pause="Z", fault="~", restart="^", message="-", call="=", right=">", left="<", failed="x",
    wall="%", loop_top="/", loop_side="|", loop_bottom="\\",
    wrong="?", free=".", held="=", joined="@", breaks="!", turn=">", arrow="->", dots="..",
)  # fmt: skip

HUES = ("cyan", "green", "magenta", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
"""The colours of modes, in the order of their enum."""
