"""What a checkpoint says of itself: a text file, put in place at once, with a digest of its content in the first line.

States are in other files, which only grow. The manifest says how much of them counts, as *chunks* with a checksum each,
and which *pieces* of them make up each level, in the order in which the level is expanded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
from msgspec import Struct

NAME = "checkpoint"
_HEAD = "hacheck checkpoint, format 1, "

Piece: TypeAlias = tuple[str, int, int]
"""States of a level: a file, the number of its first state there, and how many."""

Chunk: TypeAlias = tuple[int, int]
"""A part of a file, behind the one before it: its length in bytes and its checksum (CRC-32)."""


class CheckpointError(Exception):
    """A checkpoint that cannot be kept or gone on with. Says what is wrong, where, and what to do."""


class Manifest(Struct, frozen=True):
    """A search at rest.

    - `identity`: what is searched, and how.
    - `states`: how many there are.
    - `depth`, `expanded`: the level that is being expanded, and how many of its states are.
    - `levels`: the pieces of each level. `files`: the chunks of each file.
    - `counts`, `bounds_reached`, `found`, `hits`, `error`, `met_at`: as in `Tally`.
    - `seconds`: how long the search took so far.
    """

    identity: str
    states: int
    depth: int
    expanded: int
    levels: tuple[tuple[Piece, ...], ...]
    files: dict[str, tuple[Chunk, ...]]
    counts: list[int]
    bounds_reached: list[int]
    found: dict[str, int]
    hits: dict[str, tuple[int, int]]
    error: tuple[int, int] | None
    met_at: dict[str, int]
    seconds: float


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Puts a manifest in the place of the one before. Errors: `OSError`."""
    content = json.dumps({name: getattr(manifest, name) for name in Manifest.__struct_fields__}, indent=1) + "\n"
    text = f"{_HEAD}{hashlib.sha256(content.encode()).hexdigest()}\n{content}"
    fresh = folder / f"{NAME}.new"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        sync(file)
    fresh.replace(folder / NAME)
    _sync_folder(folder)


def sync(file: IO[Any]) -> None:
    """Has what was written survive a loss of power. Errors: `OSError`."""
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Has the names in a folder survive a loss of power, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a checkpoint. Errors: `CheckpointError` if there is none, or it is damaged."""
    path = folder / NAME
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint in {folder}; --checkpoint {folder} begins one") from None
    except OSError as failure:
        raise CheckpointError(f"the checkpoint {path} cannot be read: {failure.strerror}") from None
    if not head.startswith(_HEAD.encode()):
        raise CheckpointError(f"{path} is not a checkpoint of this version of hacheck; begin again in another folder")
    if head != f"{_HEAD}{hashlib.sha256(content).hexdigest()}".encode():
        raise damaged(path, "its content is not what was written")
    try:
        fields = json.loads(content)
        found = msgspec.convert(fields, type=Manifest)
    except (ValueError, RecursionError) as error:  # msgspec's errors are of this kind, too
        raise damaged(path, f"its content is not what is expected: {error}") from None
    if fields.keys() != set(Manifest.__struct_fields__) or not _is_sound(found):
        raise damaged(path, "its parts contradict each other")
    return found


def damaged(path: Path, what: str) -> CheckpointError:
    """That a file is not as it was written."""
    return CheckpointError(f"the checkpoint is damaged: {path}: {what}; remove {path.parent} and begin again")


def _is_sound(found: Manifest) -> bool:
    """Whether no number is negative, each piece lies in a file beside the manifest, and the pieces are all states."""
    pieces = [piece for level in found.levels for piece in level]
    chunks = [number for file in found.files.values() for chunk in file for number in chunk]
    hits = [number for pair in found.hits.values() for number in pair]
    numbers = [found.states, found.depth, found.expanded, *chunks, *hits, *(found.error or ()), *found.counts]
    numbers += [*found.bounds_reached, *found.found.values(), *found.met_at.values()]
    numbers += [number for _, first, count in pieces for number in (first, count)]
    fits = all(0 <= number < 2**64 for number in numbers) and found.seconds >= 0
    known = all(re.fullmatch(r"[\w-]+", name) for name in found.files)
    known = known and all(name in found.files for name, _, _ in pieces)
    whole = sum(count for _, _, count in pieces) == found.states and found.depth <= len(found.levels)
    return fits and known and whole
