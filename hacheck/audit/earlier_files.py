"""The files of a system as they were: under another path, or in a revision of git."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hacheck.api.errors import InputError

SECONDS_MAX = 60
"""So long git may take for one file."""


@contextmanager
def earlier(before: str, paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Paths of the earlier files, as long as the block runs. Errors: `InputError` where there is no such path and no
    such revision."""
    if Path(before).exists():
        yield (before,)
        return
    with tempfile.TemporaryDirectory(prefix="hacheck-audit-") as folder:
        yield tuple(
            str(_checked_out(before, Path(path), Path(folder) / str(place))) for place, path in enumerate(paths)
        )


def _checked_out(revision: str, path: Path, folder: Path) -> Path:
    """The files of a path in a revision, written into a folder."""
    where = path if path.is_dir() else path.parent
    listed = _git(where, "ls-tree", "-r", "-z", "--name-only", revision, "--", "." if path.is_dir() else path.name)
    if listed is None:
        raise InputError(
            f"--before {revision}: neither a path nor a revision of git that {path} is under",
            "name a folder with the earlier files, or a revision such as HEAD~1",
        )
    names = [name for name in listed.decode("utf-8", "replace").split("\0") if name]
    if not names:
        raise InputError(f"--before {revision}: {path} is not in it", "name a later revision")
    for name in names:
        content = _git(where, "show", f"{revision}:./{name}") or b""
        target = folder / path.name / name if path.is_dir() else folder / path.parent.name / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder / path.name if path.is_dir() else folder / path.parent.name / path.name


def _git(where: Path, *words: str) -> bytes | None:
    try:
        ended = subprocess.run(["git", "-C", str(where), *words], capture_output=True, timeout=SECONDS_MAX, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout if ended.returncode == 0 else None
