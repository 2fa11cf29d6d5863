"""What a command costs, several commands in turn, and the machine they ran on.

Peers share one machine and often one hour of its moods, so their runs alternate (A B A B …) and the middle one of
each counts. Seconds are CPU seconds of the finished process (user and system), as the operating system counts them.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a finished process cost: CPU and wall seconds, the most memory it held, and what it printed.
    `system_seconds`: of the CPU, in the kernel, mostly for memory that is touched first."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    output: str
    system_seconds: float = 0.0


def spent(command: Sequence[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> Spent:
    """Runs a command to its end. Raises `RuntimeError` with its last words if it fails."""
    with tempfile.TemporaryFile() as kept:
        start = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **(environment or {})}, stdout=kept, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        kept.seek(0)
        output = kept.read().decode(errors="replace")
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}:\n{output[-2_000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * unit, output, used.ru_stime)


def in_turn(rivals: Sequence[Callable[[], Result]], runs: int) -> list[list[Result]]:
    """The results of each rival, run in turn."""
    results: list[list[Result]] = [[] for _ in rivals]
    for _ in range(runs):
        for found, rival in zip(results, rivals, strict=True):
            found.append(rival())
    return results


def middle(results: Sequence[Result], cost: Callable[[Result], float]) -> Result:
    """The result of median cost."""
    return sorted(results, key=cost)[(len(results) - 1) // 2]


def machine() -> str:
    """The facts that a figure depends on, in a few lines."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    lines = [f"{_processor()}, {cores} cores{load}; {platform.system()} {platform.release()}"]
    lines.append(f"Python {platform.python_version()}, llvmlite {_version('llvmlite')}")
    for tool, flag in (("spin", "-V"), ("gcc", "--version")):
        if shutil.which(tool):
            told = subprocess.run([tool, flag], capture_output=True, text=True, check=False).stdout
            lines.append(told.strip().splitlines()[0])
    return "\n".join(lines)


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
