"""What a failing run was of: a digest of the code that the run depends on, so far as it can be seen from here."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from pathlib import Path

from hacheck.testing.adapter import Adapter
from hacheck.testing.tested_model import BadModel, folder_of, place_of

_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))


def code_digest(adapter: type[Adapter]) -> str:
    """A digest of the model, of the Python modules that are loaded and do not come from an installed library, and of
    the files that the adapter's `command` names. Code in other places may change without it."""
    found = hashlib.sha256()
    for path in sorted(_files(adapter)):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        found.update(f"{path.name} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()[:16]


def _files(adapter: type[Adapter]) -> set[Path]:
    folder = folder_of(adapter).resolve()
    files = {folder / word for word in getattr(adapter, "command", ()) if (folder / word).is_file()}
    try:
        files.add(place_of(adapter.spec, adapter).resolve())
    except BadModel:  # which is reported elsewhere
        pass
    own = Path(__file__).resolve().parents[1]
    tested = own / "impl"
    for module in list(sys.modules.values()):
        written = getattr(module, "__file__", None)
        if not written:
            continue
        path = Path(written).resolve()
        if path.is_relative_to(tested) or not any(path.is_relative_to(one) for one in (*_LIBRARIES, own)):
            files.add(path)
    return files
