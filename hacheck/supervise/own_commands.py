"""Commands of hacheck, each in a process of its own, which what serves editors and assistants can end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence


async def start(words: Sequence[str], stderr: int = asyncio.subprocess.PIPE) -> asyncio.subprocess.Process:
    """Starts `hacheck WORDS` with nothing to read and its output in a pipe. `stderr`: where its errors go."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hacheck",
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
    )
