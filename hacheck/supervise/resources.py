"""How many cores and how much memory this process may use, and how much memory it does."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


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


def process_bytes() -> int:
    """Bytes of physical memory held now; where the system does not say, the most held so far."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * resource.getpagesize()
