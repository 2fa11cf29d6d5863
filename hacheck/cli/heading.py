"""The first line that commands print of what they look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from hacheck.cli.console import visible

if TYPE_CHECKING:
    from hacheck.model.language import Specification


def heading(specification: Specification, check: str) -> Text:
    """Which spec and which check."""
    return Text.assemble(
        (visible(specification.name), "head"), (f"  {visible(specification.path)}", "quiet"), f", check {check}"
    )
