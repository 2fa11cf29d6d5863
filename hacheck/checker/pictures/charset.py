"""Which characters a stream is written with: Unicode on a terminal that shows it, ASCII everywhere else."""

from __future__ import annotations

import os
from typing import TextIO

IN_ASCII = str.maketrans({
    "→": "->", "…": "..", "“": '"', "”": '"', "·": "-", "≤": "<=", "≥": ">=", "≠": "!=",
})  # fmt: skip
"""How punctuation is written where there is only ASCII. What a spec has beyond it is kept, where the encoding can."""


def shows_unicode(stream: TextIO | None) -> bool:
    """Whether more than ASCII is written to a stream.

    A terminal gets Unicode, unless its encoding or its locale (`LC_ALL`, `LC_CTYPE` or `LANG` is `C` or `POSIX`) has no
    more than ASCII; Python itself takes UTF-8 for these. Who reads a pipe or a file is not known, so it gets ASCII,
    unless PYTHONIOENCODING says UTF-8.
    """
    if stream is None or not (stream.encoding or "").lower().startswith("utf"):
        return False
    if os.environ.get("PYTHONIOENCODING", "").partition(":")[0]:
        return True
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return stream.isatty() and next(filter(None, named), "") not in ("C", "POSIX")
