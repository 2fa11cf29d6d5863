"""Where the output of a command goes, and the documents that are written there.

The shapes of the documents are in `hacheck.documents`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hacheck.atomic_files import check_replaceable, replace_text
from hacheck.cli.guard import BadInput

if TYPE_CHECKING:
    from hacheck.documents.document import Document

# What the standard library's JSON encoder takes: a recursive type that Python cannot narrow usefully.
Json = Any


class Target(Struct, frozen=True):
    """Where an output goes: a file, or standard output."""

    path: Path | None

    def write(self, document: Document) -> None:
        """Writes a document.

        Errors: `BadInput` when the file cannot be written now, though it could before.
        """
        self.save(json.dumps(document.to_dict(), indent=1, ensure_ascii=False) + "\n")

    def save(self, text: str) -> None:
        """Writes a text as it is. Errors: as `write`."""
        if self.path is None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        try:
            replace_text(self.path, text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be written: {error.strerror}") from None


def open_target(text: str) -> Target:
    """The place a path names; `-` is standard output.

    Errors: `BadInput` when it cannot be written to, found out before any work is done.
    """
    if text == "-":
        return Target(None)
    path = Path(text)
    try:
        if path.is_dir() or not path.name:
            raise BadInput(f"{text}: is a directory", "give the name of a file, or - for standard output")
        if text.endswith(os.sep):
            raise BadInput(f"{text}: names a directory", "give the name of a file, or - for standard output")
        check_replaceable(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{text}: cannot be written: {reason}") from None
    return Target(path)


def open_folder(text: str) -> Path:
    """A folder to write into, made where it is missing. Errors: `BadInput`."""
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{text}: cannot be used as a folder: {reason}") from None
    if not os.access(path, os.W_OK):
        raise BadInput(f"{text}: no permission to write into it")
    return path


def from_rows(found: list[Json], loop: int | None) -> Json:
    """What `run_from_json` reads, from the rows of a document.

    Errors: `ValueError` when it is no such list.
    """
    if not found or not all(isinstance(row, dict) for row in found) or "state" not in found[0]:
        raise ValueError("a run is a list that begins with the initial state")
    failed = found[-1].get("failed") if len(found) > 1 else None
    steps = found[1:-1] if failed is not None else found[1:]
    return {"initial": found[0]["state"], "steps": steps, "loop": loop, "fault": failed}
