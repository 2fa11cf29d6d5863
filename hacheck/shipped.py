"""The specs and documents that travel with hacheck: where they are, what they are called, and their text.

In a checkout they are the folders `spec/` (whole products), `examples/` (small known protocols) and `docs/`; in an
installed wheel the copies of them beside this module. A shipped spec is called by its file's name without `.ha`.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

SUFFIX = ".ha"


class UnknownSpec(LookupError):
    """Neither a file nor a shipped spec: `message` says what the user wants, `hint` what there is instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


def directory() -> Path:
    """The folder that holds the shipped specs."""
    return _shipped("spec")


def specs() -> tuple[Path, ...]:
    """The files of the shipped specs, by name. Library files, in folders below, are no specs of their own."""
    return tuple(sorted(directory().glob(f"*{SUFFIX}")))


def examples() -> tuple[Path, ...]:
    """The files of the examples that are specs of a protocol, by name: `NAME/NAME.ha`."""
    found = _shipped("examples").glob(f"*/*{SUFFIX}")
    return tuple(sorted(path for path in found if path.stem == path.parent.name))


def example(place: str) -> Path:
    """A file of the examples by its place there: `timing/lease.ha`."""
    return _shipped("examples") / place


def pages() -> dict[str, Path]:
    """The documents, by name: `language`, `decisions/0001-layout-and-dependencies`."""
    folder = _shipped("docs")
    found = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return dict(sorted(found.items(), key=lambda one: ("/" in one[0], one[0])))


def _shipped(folder: str) -> Path:
    """A folder that travels with hacheck.

    The packaged copy comes first: a checkout has none, and what stands beside an installed package is not
    ours.
    """
    package = Path(__file__).resolve().parent
    packaged = package / folder
    return packaged if packaged.is_dir() else package.parent / folder


def names() -> tuple[str, ...]:
    """What the shipped specs are called."""
    return tuple(path.stem for path in specs())


def find(spec: str) -> Path:
    """The file that `spec` means: a path, or a shipped spec by its name, with or without `.ha`.

    A file of the user's comes before a shipped one of that name, also where `.ha` is left out. A folder does not: who
    keeps a folder `icestorm` can still ask for the spec.

    Errors: `UnknownSpec`; `OSError` for a link that leads nowhere.
    """
    path = Path(spec)
    if path.is_symlink() and not path.exists():
        path.stat()  # says what is wrong with the link
    if path.exists() and not path.is_dir():
        return path
    named = path.with_name(path.name + SUFFIX) if path.name else path
    if named.is_file():
        return named
    shipped = {file.stem: file for file in (*examples(), *specs())}
    name = spec.removesuffix(SUFFIX)
    if name in shipped:
        return shipped[name]
    raise UnknownSpec(*_unknown(spec, path, tuple(shipped)))


def read(spec: str) -> str:
    """The text of the spec that `find` finds.

    Errors: `UnknownSpec`; `OSError` and `UnicodeDecodeError` for a user's file that cannot be read.
    """
    return find(spec).read_text(encoding="utf-8")


def _unknown(spec: str, path: Path, shipped: tuple[str, ...]) -> tuple[str, str]:
    close = get_close_matches(path.name.removesuffix(SUFFIX), shipped, n=3)
    if close:
        hint = f"did you mean the shipped spec {' or '.join(f'`{name}`' for name in close)}?"
    else:
        hint = f"shipped specs: {', '.join(shipped)}"
    if path.is_dir():
        return f"`{spec}` is a folder, not a spec", hint
    if os.sep in spec or spec.endswith(SUFFIX):
        return f"there is no file `{spec}`", hint
    return f"`{spec}` is neither a file nor a shipped spec", hint
