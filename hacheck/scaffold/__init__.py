"""The beginning of a project: a spec, a service under test, a log adapter and a workflow, all of which pass.

`files/` has them as they are written, with `NAME`, `Name` and `TITLE` in place of the system's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FILES = Path(__file__).with_name("files")
WORD = re.compile(r"[a-z][a-z0-9_]{0,39}")


def written(name: str, title: str) -> Iterator[tuple[str, str]]:
    """Each file of a project: its path in the folder, and its text. `name`: lower-case letters, digits and `_`, which
    also names the files; `title`: what the system is, without quotation marks."""
    assert WORD.fullmatch(name), "the name was checked before"
    camel = "".join(part.capitalize() for part in name.split("_"))
    for path in sorted(FILES.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            text = path.read_text(encoding="utf-8").replace("NAME", name).replace("Name", camel)
            place = str(path.relative_to(FILES)).removesuffix(".txt").replace("NAME", name)
            yield place.replace("dot-", "."), text.replace("TITLE", title)
