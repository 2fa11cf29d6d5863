"""Runs `hacheck` in this process, as a user would, and gives back what it printed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from hacheck.cli.main import exit_code


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def hacheck(*arguments: str, columns: int = 80, stdin: str | bytes | None = None, **variables: str) -> Ended:
    """Runs `hacheck` with some arguments on a console of a given width, not a terminal."""
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb", **variables}
    content = stdin.encode() if isinstance(stdin, str) else stdin or b""
    with (
        patch.dict(os.environ, environment),
        streams(content) as (out, err),
        patch.object(sys, "argv", ["hacheck", *arguments]),
    ):
        code = exit_code(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    return Ended(code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def streams(content: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Puts others in the place of this process's standard streams."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    mine = sys.stdout, sys.stderr
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in mine:
            stream.flush()
            stream.detach()
