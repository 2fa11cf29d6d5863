"""A search kept on disk while it runs, so that another process can go on with it.

The log of a search only grows, so keeping it means to append what is new. A thread of its own does that, from a moment
at which the search was at rest, while the search goes on. A search killed at any time can be gone on with from the last
such moment: what was appended since is not in the manifest, and not looked at.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from msgspec import Struct

from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.checkpoint_manifest import (
    NAME,
    CheckpointError,
    Chunk,
    Manifest,
    Piece,
    read_manifest,
    sync,
    write_manifest,
)
from hacheck.checker.explicit.search.levels import Ranges
from hacheck.checker.explicit.search.restored_search import restore
from hacheck.supervise.task import Cancelled

PHASE = "writing the checkpoint"

KEEP_SECONDS = 10.0
"""How often what is new is kept."""

CHUNK_BYTES = 2**24
"""What has a checksum of its own, at most."""

_WAIT_SECONDS = 0.1


class Keeping(Struct, frozen=True):
    """What a user asks for. `identity`: what is searched, and how; a search is gone on with only where that is the
    same. `resumes`: the folder has a checkpoint to go on from; else it must have none."""

    folder: Path
    identity: str
    resumes: bool = False
    every_seconds: float = KEEP_SECONDS


class Keeper:
    """Keeps a search. To be finished, or abandoned.

    - `resumes`: the search is one that goes on.
    - `trouble`: why the search is kept no longer, in words; the search itself goes on.
    """

    def __init__(self, keeping: Keeping, search: Search) -> None:
        """Makes the folder ready; where the search is to be gone on with, it then is where it was. Errors:
        `CheckpointError`; `Cancelled` if the report says to stop."""
        self.trouble: str | None = None
        self.resumes = keeping.resumes
        self._keeping, self._search = keeping, search
        self._levels: Sequence[Sequence[Piece]] = ()
        self._files: dict[str, tuple[Chunk, ...]] = {}
        self._lock = _locked(keeping.folder, keeping.resumes)
        self._writing: Thread | None = None
        self._is_abandoned = False
        try:
            if keeping.resumes:
                manifest = read_manifest(keeping.folder)
                restore(manifest, keeping.folder, keeping.identity, search)
                self._levels, self._files = manifest.levels, dict(manifest.files)
        except BaseException:
            self._lock.close()
            raise
        sessions = [int(name.split("-")[1]) for name in self._files]
        threads = range(len(search.workers.all))
        self._names = [f"states-{max(sessions, default=0) + 1}-{number}" for number in threads]
        self._bases = search.workers.ends()
        self._kept = list(self._bases)
        self._last = time.perf_counter()

    def at_rest(self) -> None:
        """Begins to keep what is new, if it is time to and no longer being done. The search is at rest."""
        due = time.perf_counter() - self._last >= self._keeping.every_seconds
        if due and self.trouble is None and not (self._writing is not None and self._writing.is_alive()):
            self._begin()

    def finish(self) -> None:
        """Keeps what is new once more, and lets go of the folder."""
        self._wait()
        if self.trouble is None and self._search.drain():
            self._begin()
            self._wait()
        self._lock.close()

    def abandon(self) -> None:
        """Lets go of the folder as it is."""
        self._is_abandoned = True
        if self._writing is not None:
            self._writing.join()
        self._lock.close()

    def _begin(self) -> None:
        self._last = time.perf_counter()
        self._writing = Thread(target=self._keep, args=(self._moment(), self._search.workers.ends()))
        self._writing.start()

    def _wait(self) -> None:
        """Waits for what is being written, while progress is reported. It does not stop when the report says so: a
        search that is kept is worth what it has found."""
        while self._writing is not None and self._writing.is_alive():
            self._writing.join(_WAIT_SECONDS)
            with suppress(Cancelled):
                self._search.bounds.poll(PHASE)

    # ---- what is kept ------------------------------------------------------------------------------------------

    def _moment(self) -> Manifest:
        """The search as it is now, but for the files."""
        search, tally = self._search, self._search.tally
        return Manifest(
            identity=self._keeping.identity,
            states=search.size,
            depth=search.depth,
            expanded=search.expanded,
            levels=tuple(self._pieces(number, level) for number, level in enumerate(search.levels)),
            files={},
            counts=tally.all_counts(),
            bounds_reached=tally.all_bounds_reached(),
            found=dict(tally.found),
            hits=dict(tally.hits),
            error=tally.error,
            met_at=dict(tally.met_at),
            seconds=search.seconds(),
        )

    def _pieces(self, number: int, level: Ranges) -> tuple[Piece, ...]:
        """Where the states of a level are, or will be when they are kept."""
        pieces = list(self._levels[number]) if number < len(self._levels) else []
        for worker, name, base in zip(self._search.workers.all, self._names, self._bases, strict=True):
            last = self._search.workers.last(worker)
            pieces += [(name, first - base, end - first) for first, end in level if base <= first < last]
        return tuple(pieces)

    def _keep(self, moment: Manifest, ends: Sequence[int]) -> None:
        """Appends the states up to these ends, then says so."""
        folder = self._keeping.folder
        try:
            for number, end in enumerate(ends):
                self._append(number, end)
            if self._is_abandoned:
                return
            moment.files.update(self._files)
            write_manifest(moment, folder)
        except OSError as failure:
            self.trouble = f"the checkpoint in {folder} is no longer kept: {failure.strerror or failure}"

    def _append(self, number: int, end: int) -> None:
        size, name, first = self._search.workers.words * 8, self._names[number], self._kept[number]
        if first == end:
            return
        with (self._keeping.folder / name).open("ab" if name in self._files else "wb") as file:
            for start in range(first * size, end * size, CHUNK_BYTES):
                if self._is_abandoned:
                    return
                length = min(CHUNK_BYTES, end * size - start)
                with self._search.workers.log.view(start, length) as content:
                    file.write(content)
                    self._files[name] = (*self._files.get(name, ()), (length, zlib.crc32(content)))
            sync(file)
        self._kept[number] = end


def _locked(folder: Path, exists: bool) -> IO[bytes]:
    """The folder, ready for use by this process alone."""
    try:
        if not exists:
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / NAME).exists():
                raise CheckpointError(f"there is a checkpoint in {folder} already: resume it, or remove it")
        elif not (folder / NAME).is_file():
            read_manifest(folder)
        file = (folder / "lock").open("wb")
    except OSError as failure:
        raise CheckpointError(f"no checkpoint can be kept in {folder}: {failure.strerror or failure}") from None
    try:
        import fcntl
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise CheckpointError(f"another process keeps a checkpoint in {folder}; use another folder") from None
    return file
