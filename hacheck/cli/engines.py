"""The engines a user can choose, and how much memory one may take by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hacheck.cli.options import all_known

if TYPE_CHECKING:
    from hacheck.checker.engine import Engine

NAMES = ("python",)


def engine_named(name: str) -> Engine:
    """The engine of that name. Errors: `BadInput` when there is none."""
    all_known("engine", (name,), NAMES)
    from hacheck.checker.explicit.engine import PortableEngine

    return PortableEngine()


def memory_default() -> int | None:
    """Three quarters of the memory this process may use, or `None` where that cannot be found out."""
    found = []
    try:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        pass
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found) * 3 // 4 if found else None
