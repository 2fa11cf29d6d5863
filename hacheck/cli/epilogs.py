"""What stands below a command's help, laid out for the width of the terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_GAP = re.compile(r" {2,}")


def laid_out(text: str, width: int) -> str:
    """The text in lines of at most so many columns, where its words allow it. Parts of a line that stand two spaces or
    more apart stay together: of two, an example and what it does, the second goes below the first; more, such as exit
    codes, fill lines."""
    return "\n".join(line for given in text.split("\n") for line in _lines(given, width))


def _lines(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()))
    parts = _GAP.split(line.strip())
    if len(parts) == 2:
        yield indent + parts[0]
        yield from textwrap.wrap(parts[1], width, initial_indent=indent + "    ", subsequent_indent=indent + "    ")
        return
    held = ""
    for part in parts:
        if held and len(indent) + len(held) + 3 + len(part) > width:
            yield indent + held
            held = part
        else:
            held = f"{held}   {part}" if held else part
    yield from textwrap.wrap(held, width, initial_indent=indent, subsequent_indent=indent + "    ")
