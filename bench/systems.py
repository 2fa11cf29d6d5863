"""The systems that are measured: what a spec means with a check or with settings."""

from __future__ import annotations

import sys
from pathlib import Path

from hacheck.cli.sources import read_library
from hacheck.model.ir import System
from hacheck.model.language import load


def system_of(spec: Path, check: str | None = None, settings: dict[str, str] | None = None) -> System:
    """The system that a check means, or the spec with these settings. Exits with what is wrong."""
    loaded = load(spec.read_text(encoding="utf-8"), str(spec), read_library)
    if loaded.specification is None:
        sys.exit("\n".join(map(str, loaded.diagnostics)))
    instance = loaded.specification.instantiate(settings, check)
    if instance.system is None:
        sys.exit("\n".join(map(str, instance.diagnostics)))
    return instance.system
