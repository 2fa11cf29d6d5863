"""Where output goes and how it looks: consoles, the few symbols, the colours, and text made safe to print."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, TextIO, cast

from msgspec import Struct
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from hacheck.checker.pictures.charset import IN_ASCII, shows_unicode

if TYPE_CHECKING:
    from hacheck.model.language import Specification

THEME = Theme(
    {
        "ok": "green",
        "good": "bold green",
        "expected": "cyan",
        "bad": "bold red",
        "warn": "yellow",
        "doubt": "bold yellow",
        "fault": "bold yellow",
        "action": "bold",
        "node": "cyan",
        "name": "bold",
        "quiet": "dim",
        "before": "dim",
        "after": "bold green",
        "head": "bold",
        "loop": "magenta",
    }
)


class Symbols(Struct, frozen=True):
    """The marks used in the output; an ASCII set serves terminals that can show nothing else.

    `foreseen`: of a violation that the spec expects.
    """

    holds: str
    violated: str
    foreseen: str
    unknown: str
    arrow: str
    fault: str
    repair: str
    separator: str
    loop_top: str
    loop_side: str
    loop_bottom: str
    rule: str


UNICODE = Symbols("✔", "✘", "◇", "?", "→", "↯", "✚", "·", "╭", "│", "╰", "━")
ASCII = Symbols("+", "x", "~", "?", "->", "!", "*", "-", ",", "|", "`", "=")


def output_console(*, no_color: bool = False) -> Console:
    """The console for answers: standard output."""
    return console_for(sys.stdout, no_color=no_color)


def error_console(*, no_color: bool = False) -> Console:
    """The console for progress and for what went wrong: standard error."""
    return console_for(sys.stderr, no_color=no_color)


def console_for(stream: TextIO, *, no_color: bool = False, unicode: bool | None = None) -> Console:
    """A console on a stream, with the characters that `charset` finds unless `unicode` says so. NO_COLOR and TERM=dumb
    are honoured; what the encoding lacks is replaced, not an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    plain = no_color or os.environ.get("NO_COLOR", "") != ""
    in_ascii = not (shows_unicode(stream) if unicode is None else unicode)
    return _Console(
        file=cast(TextIO, Plain(stream, in_ascii=in_ascii)) if in_ascii or not stream.isatty() else stream,
        theme=THEME,
        highlight=False,
        emoji=False,
        color_system=None if plain else "auto",
    )


class _Console(Console):
    """A console that leaves it to the caller what a reader who has gone means."""

    def on_broken_pipe(self) -> None:
        """Raises on, where rich would end the process with an exit code of its own."""
        self.quiet = True
        raise BrokenPipeError


class Plain:
    """A stream without the blanks with which tables are filled up at the end of lines, unless it is a terminal; in
    ASCII where that is what is to be written."""

    def __init__(self, stream: TextIO, *, in_ascii: bool) -> None:
        self._stream = stream
        self._in_ascii = in_ascii
        self.encoding = "ascii" if in_ascii else stream.encoding

    def write(self, text: str) -> int:
        """Writes whole lines; rich never writes less."""
        if self._in_ascii:
            text = text.translate(IN_ASCII)
        return self._stream.write(text if self.isatty() else re.sub(r"[ ]+(?=\n|$)", "", text))

    def flush(self) -> None:
        """Writes out what is buffered."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own descriptor."""
        return self._stream.fileno()


def symbols(console: Console) -> Symbols:
    """The symbols this console can show."""
    return ASCII if console.options.ascii_only else UNICODE


def visible(text: str) -> str:
    """The text with every character that is not printed (or moves the cursor) written as an escape; line ends
    stay."""
    return "".join(char if char == "\n" or not _hidden(char) else escaped(char) for char in text)


def _hidden(char: str) -> bool:
    """Whether the character prints nothing, or worse, moves or reorders what is printed around it, or only looks
    like a blank."""
    return not char.isprintable()


def escaped(char: str) -> str:
    r"""How an unprintable character is written: `\t`, `\x1b`, `\u202e`."""
    code = ord(char)
    if char in "\t\r\n":
        return {"\t": "\\t", "\r": "\\r", "\n": "\\n"}[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown(char: str) -> str:
    """One character of source text as it is printed."""
    return escaped(char) if _hidden(char) else char


def heading(specification: Specification, check: str) -> Text:
    """The first line of a command on one check: which spec and which check."""
    return Text.assemble(
        (visible(specification.name), "head"), (f"  {visible(specification.path)}", "quiet"), f", check {check}"
    )


def say(console: Console, text: str | Text, style: str = "") -> None:
    """Prints a line, which may hold anything. A terminal that is narrower gets it broken between words, what goes on
    standing two columns further in; a file or a pipe gets one line."""
    line = Text(visible(text), style=style) if isinstance(text, str) else text
    if not console.is_terminal or line.cell_len <= console.width:
        console.print(line, highlight=False, soft_wrap=True)
        return
    indent = len(line.plain) - len(line.plain.lstrip())
    rest = line[indent:]
    for number, part in enumerate(rest.wrap(console, max(console.width - indent - 2, 20))):
        part.rstrip()
        console.print(Text(" " * (indent + 2 * (number > 0))) + part, highlight=False, soft_wrap=True)


def seconds(value: float) -> str:
    """A time as people say it: `0.04 s`, `12.3 s`, `4 min 05 s`."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def size(amount: int) -> str:
    """A number of bytes in binary units: `312 MiB`."""
    value = float(amount)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
