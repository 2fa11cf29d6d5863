"""The comments of a spec as Markdown, and the words and marks of Markdown that every part of a page uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

HOW_TO_READ = "How to read this file"
"""The first line of the comment that explains a spec."""

SECTION = re.compile(r"^# -{2,} (.+?) -{2,}\s*$", re.MULTILINE)
"""A comment that opens a part of a file: `# ---- messages ----`."""

ITEM = re.compile(r"^- ")
VERBATIM = re.compile(r"^ {2,}\S")


def how_to_read(text: str) -> str:
    """The comment `# How to read this file` of a spec, or its first comment of several lines, as Markdown."""
    blocks = list(comments(text))
    for lines in blocks:
        if lines[0] == HOW_TO_READ:
            return markdown(lines[1:])
    longest = next((lines for lines in blocks if len(lines) > 1), None)
    return "" if longest is None else markdown(longest)


def comments(text: str) -> Iterator[list[str]]:
    """The comments that have lines of their own, each as its lines without `#`."""
    block: list[str] = []
    for line in (*text.splitlines(), ""):
        if line.startswith("#"):
            block.append(uncommented(line))
        elif block:
            yield block
            block = []


def uncommented(line: str) -> str:
    """A line of a comment without its `#`."""
    return line.removeprefix("#").removeprefix(" ")


def markdown(lines: Sequence[str]) -> str:
    """A comment as Markdown: paragraphs and lists stay what they are, indented tables become blocks of code."""
    parts: list[str] = []
    verbatim: list[str] = []
    in_item = False

    def end_verbatim() -> None:
        if verbatim:
            shared = min(len(line) - len(line.lstrip()) for line in verbatim)
            parts.extend(["```text", *(line[shared:].rstrip() for line in verbatim), "```"])
            verbatim.clear()

    for line in lines:
        continues_item = in_item and line.startswith("  ")
        if VERBATIM.match(line) and not continues_item:
            verbatim.append(line)
            continue
        end_verbatim()
        if ITEM.match(line) and parts and parts[-1] and not in_item:
            parts.append("")
        in_item = bool(ITEM.match(line)) or continues_item
        parts.append(line.rstrip() if not in_item else line)
    end_verbatim()
    return "\n".join(parts).strip("\n")


def sections(text: str) -> list[tuple[int, str]]:
    """Where each part of a file begins, as a line number, and its title."""
    return [(text.count("\n", 0, found.start()) + 1, found[1]) for found in SECTION.finditer(text)]


def section_of(line: int, found: Sequence[tuple[int, str]]) -> str:
    """The title of the part a line stands in, or nothing."""
    return next((title for begin, title in reversed(found) if begin <= line), "")


def code(text: str) -> str:
    """Text in a span of code, on one line."""
    words = " ".join(text.split())
    fence = "``" if "`" in words else "`"
    return f"{fence}{words}{fence}"


def sentence(text: str) -> str:
    """A description with a capital letter and a full stop."""
    words = " ".join(text.split())
    if not words:
        return ""
    return words[0].upper() + words[1:] + ("" if words[-1] in ".!?:" else ".")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; a `|` in a cell is no border."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)]


def details(summary: str, lines: Sequence[str]) -> list[str]:
    """A part that is folded away until somebody opens it."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]
