"""Runs `hacheck` in this process, as a user would, and gives back what it printed."""

from __future__ import annotations

from dataclasses import dataclass

from typer.testing import CliRunner

from hacheck.cli.main import app


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def hacheck(*arguments: str, columns: int = 80, stdin: str | bytes | None = None, **variables: str) -> Ended:
    """Runs `hacheck` with some arguments on a console of a given width, not a terminal."""
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb", **variables}
    result = CliRunner().invoke(app, list(arguments), env=environment, input=stdin, prog_name="hacheck")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ended(result.exit_code, result.stdout, result.stderr)
