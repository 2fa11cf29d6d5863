"""How many cores and how much memory this process may use, and how much memory it does."""

from __future__ import annotations

import os
import resource
import sys
from functools import cache
from pathlib import Path

_STATM = Path("/proc/self/statm")
_CGROUP, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_KEEP_FREE = 2**26  # bytes of the machine's memory that are left to others


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


@cache
def memory_default() -> int | None:
    """Half of the memory that is free when it is first looked up, or `None` where that cannot be found out."""
    free = available_bytes()
    if free is not None:
        return (free + process_bytes()) // 2
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):
        return None


def available_bytes() -> int | None:
    """Bytes of memory that this process can still get before the machine runs out; `None` where nobody says."""
    known = [room for room in (_machine_room(), _group_room()) if room is not None]
    return max(min(known) - _KEEP_FREE, 0) if known else None


def _machine_room() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _group_room() -> int | None:
    """What the process's control group leaves, where there is one with a limit."""
    try:
        group = _CGROUP.read_text(encoding="utf-8").strip().rsplit("::", 1)[-1]
        folder = _GROUPS / group.lstrip("/")
        rooms = [
            int(most) - int((place / "memory.current").read_text(encoding="ascii"))
            for place in (folder, *folder.parents)
            if (place / "memory.max").is_file()
            and (most := (place / "memory.max").read_text(encoding="ascii").strip()) != "max"
        ]
    except (OSError, ValueError):
        return None
    return min(rooms, default=None)


def process_bytes() -> int:
    """Bytes of physical memory held now; where the system does not say, the most held so far."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * resource.getpagesize()
