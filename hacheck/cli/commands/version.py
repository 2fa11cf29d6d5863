"""`hacheck version`: which hacheck this is."""

from __future__ import annotations

from hacheck.cli.guard import ExitCode, guarded, version


@guarded
def print_version() -> ExitCode:
    """Print the version of hacheck."""
    print(f"hacheck {version()}")
    return ExitCode.AS_EXPECTED
