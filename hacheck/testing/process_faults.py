"""What goes wrong with a real process of a service: it is killed, paused, its clock is off, its disk fails.

Its clock is shifted by libfaketime and its disk fails by libfiu, libraries that are loaded into the process before its
own (`LD_PRELOAD`): so no code of it changes and nobody needs to be root. Debian has them as `libfaketime` and
`fiu-utils`. A program that is linked statically, or calls the kernel by itself, as those of Go do, does not hear of
them, which is noticed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from errno import EIO, ENOSPC
from pathlib import Path
from types import TracebackType
from typing import Literal

from hacheck.supervise.child_process import ChildProcess

DiskFault = Literal["full", "no_sync"]
"""`full`: every write fails, as no space is left (ENOSPC); `no_sync`: nothing can be made durable (EIO)."""

_CALLS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "full": (("posix/io/rw/write", "posix/io/rw/pwrite", "posix/io/rw/writev"), ENOSPC),
    "no_sync": (("posix/io/sync/fsync", "posix/io/sync/fdatasync"), EIO),
}
_FAKETIME, _FIU = "libfaketime.so.1", "fiu_posix_preload.so"
_FOLDERS = ("/usr/lib", "/usr/local/lib")


class CannotFault(Exception):
    """A fault cannot be brought about here, or had no effect; says why, and what to do."""

    __module__ = "hacheck.testing"  # where people find it


class Process(ChildProcess):
    """A process under test. Each fault returns whether it took effect, as a method of an adapter does.

    - `clock`: its clock can be shifted, both the time of day and the monotonic one, as libfaketime does it;
    - `disk`: its disk can fail.

    A context manager: at the end the process is killed, and what it started. Errors: `CannotFault` where a library is
    missing.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        output: Path | None = None,
        environment: Mapping[str, str] | None = None,
        clock: bool = False,
        disk: bool = False,
    ) -> None:
        super().__init__(command, folder=folder, output=output, environment=environment)
        self._own = Path(tempfile.mkdtemp(prefix="hacheck-"))
        self._loaded: list[str] = []
        if clock and disk:
            raise CannotFault("libfaketime and libfiu do not work in one process: take `clock` or `disk`")
        if clock:
            self._loaded = [_library(_FAKETIME, "libfaketime")]
            self.environment |= {"FAKETIME_TIMESTAMP_FILE": str(self._own / "clock"), "FAKETIME_NO_CACHE": "1"}
            self._write_clock(0.0)
        if disk:
            fiu = _library(_FIU, "fiu-utils")
            self._loaded = [str(Path(fiu).with_name("fiu_run_preload.so")), fiu]
            self.environment |= {"FIU_CTRL_FIFO": str(self._own / "disk")}
        if self._loaded:
            self.environment["LD_PRELOAD"] = " ".join(self._loaded)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kills it, and what it started, and removes what was needed for its faults."""
        self.kill()
        shutil.rmtree(self._own, ignore_errors=True)

    def shift_clock(self, seconds: float) -> bool:
        """From now on, and after a restart, its clocks show so much more (or less) than those of the machine. Returns
        whether it runs. Errors: `CannotFault` without `clock`, or where the process does not use libfaketime."""
        if _FAKETIME not in self.environment.get("LD_PRELOAD", ""):
            raise CannotFault("its clock cannot be shifted: make it `Process(…, clock=True)`")
        self._write_clock(seconds)
        return self._hears(_FAKETIME)

    def fail_disk(self, fault: DiskFault) -> bool:
        """From now on writes, or syncs, fail, until `repair_disk` or its end. `full` is about each `write`, also to
        standard output. Returns whether it runs. Errors: `CannotFault` without `disk`, or where it uses no libfiu."""
        names, number = _CALLS[fault]
        return all(self._ask_disk(f"enable name={name},failinfo={number}") for name in names)

    def repair_disk(self) -> bool:
        """Ends what `fail_disk` began. Returns whether it runs. Errors: those of `fail_disk`."""
        return all(self._ask_disk(f"disable name={name}") for names, _ in _CALLS.values() for name in names)

    def _write_clock(self, seconds: float) -> None:
        (self._own / "clock").write_text(f"{seconds:+.6f}", encoding="ascii")

    def _ask_disk(self, request: str) -> bool:
        if _FIU not in self.environment.get("LD_PRELOAD", ""):
            raise CannotFault("its disk cannot fail: make it `Process(…, disk=True)`")
        if not self._hears(_FIU):
            return False
        command = ["fiu-ctrl", "-f", str(self._own / "disk"), "-c", request, str(self.pid)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        if ended.returncode or ended.stderr.strip():
            raise CannotFault(
                f"libfiu does not answer in process {self.pid}: {ended.stderr.strip() or ended.stdout.strip()}"
            )
        return True

    def _hears(self, library: str) -> bool:
        """Whether it runs, with this library loaded. Errors: `CannotFault` where it runs without."""
        pid = self.pid
        if pid is None:
            return False
        if library not in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace"):
            name = Path(self.command[0]).name
            raise CannotFault(f"{name} (process {pid}) has not loaded {library}: it may be linked statically")
        return True


def _library(name: str, package: str) -> str:
    """The file of a library. Errors: `CannotFault`, with the package that has it."""
    for folder in _FOLDERS:
        found = next(iter(sorted(Path(folder).glob(f"**/{name}"))), None)
        if found is not None:
            return str(found)
    raise CannotFault(f"{name} is not installed: Debian and Ubuntu have it as {package}")
