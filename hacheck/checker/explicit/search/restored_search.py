"""A search brought to where it was when it was kept: its log read back, its visited set built from the log."""

from __future__ import annotations

import zlib
from array import array
from functools import partial
from itertools import islice
from pathlib import Path

from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.checkpoint_manifest import CheckpointError, Chunk, Manifest, damaged
from hacheck.checker.explicit.search.levels import Ranges, pieces
from hacheck.supervise.task import Cancelled

PHASE = "resuming"

_ENTERED_AT_ONCE = 256  # states that `enter` has room for


def restore(manifest: Manifest, folder: Path, identity: str, search: Search) -> None:
    """Brings a search that has not begun to where the manifest says. All states become those of its first thread.
    Errors: `CheckpointError` if they are of another search, damaged, or too many; `Cancelled`."""
    if manifest.identity != identity:
        raise CheckpointError(
            f"the checkpoint in {folder} is of something else: another model, other settings, properties or options, "
            f"or another version of hacheck; resume with the same ones, or begin again with --checkpoint"
        )
    size, worker = search.workers.words * 8, search.workers.all[0]
    if manifest.states > search.workers.capacity:
        raise CheckpointError(f"the checkpoint in {folder} has more states than {search.options.threads} threads can")
    need = manifest.states * (size + 16)
    if search.bounds.bytes_free(search.taken) < need:
        raise Cancelled(
            f"the checkpoint alone takes {need / 2**20:,.0f} MiB; {search.bounds.out_of_memory(search.taken)}"
        )
    for name, chunks in manifest.files.items():
        _verify(folder / name, chunks, search)
    levels: list[Ranges] = []
    at = worker.first
    for level in manifest.levels:
        first = at
        for name, start, count in level:
            with (folder / name).open("rb") as file:
                file.seek(start * size)
                with search.workers.log.view(at * size, count * size) as content:
                    if file.readinto(content) != count * size:
                        raise damaged(folder / name, "it is shorter than it was")
            at += count
            search.bounds.poll(PHASE)
        levels.append(((first, at),))
    assert at - worker.first == manifest.states, "the pieces of the levels are all states"
    search.resume(levels, manifest)
    try:
        _fill(search, ((worker.first, at),))
    except Cancelled:
        search.visited.free()
        raise


def _verify(path: Path, chunks: tuple[Chunk, ...], search: Search) -> None:
    """Looks at each byte that counts."""
    start = 0
    try:
        with path.open("rb") as file:
            for size, checksum in chunks:
                content = file.read(size)
                if len(content) < size:
                    raise damaged(path, f"it has {start + len(content):,} bytes, of at least {start + size:,}")
                if zlib.crc32(content) != checksum:
                    raise damaged(path, f"the {size:,} bytes from byte {start:,} on are not those that were written")
                start += size
                search.bounds.poll(PHASE)
    except OSError as failure:
        raise CheckpointError(f"{path}, of the checkpoint, cannot be read: {failure.strerror}") from None


def _fill(search: Search, states: Ranges) -> None:
    """Takes all states into the visited set."""
    search.reserve()
    threads = search.options.threads
    rooms = [array("Q", bytes(8 * _ENTERED_AT_ONCE)) for _ in range(threads)]
    work, enter = pieces(states), search.kernels.search["enter"]
    while batch := tuple(islice(work, threads)):
        search.pool.run(
            [
                partial(enter, first, end, search.address, room.buffer_info()[0])
                for (first, end), room in zip(batch, rooms, strict=False)
            ]
        )
        search.bounds.poll(PHASE)
