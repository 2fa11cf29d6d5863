"""How much memory and how many threads an exploration takes by default."""

from __future__ import annotations

import os
from pathlib import Path


def usable_cores() -> int:
    """How many cores this process may keep busy: those it may run on, fewer where its group has less time."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # no such limit
        pass
    return max(cores, 1)


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
