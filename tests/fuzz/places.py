"""Files for one input at a time, in a folder of memory where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

MEMORY = Path("/dev/shm")


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, removed with all that is in it."""
    parent = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    place = Path(mkdtemp(prefix="hacheck-fuzz-", dir=parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
