"""A text file in blocks of whole lines, in bounded memory; compressed ones (`.gz`, `.zst`, `.bz2`) are unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from msgspec import Struct

from hacheck.traces.findings import Finding, Findings, Kind, text_of

BLOCK_BYTES = 4 << 20
"""So much is read at a time."""

PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
"""How files with these endings are compressed."""

LINE_BYTES_MAX = 16 << 20
"""A line that is longer is no record and no line of a log: the file is something else."""


class Block(Struct, frozen=True):
    """Whole lines of a file. `line`: the number of the first one. `last`: the file ends with it. `complete`: the last
    line ends as lines do, which only the end of a file may lack."""

    line: int
    data: bytes
    last: bool

    @property
    def complete(self) -> bool:
        """Whether the last line has its end."""
        return self.data.endswith(b"\n")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Number and content of each line, without its end."""
        rows = self.data.split(b"\n")
        if not rows[-1]:
            rows.pop()
        for number, row in enumerate(rows, self.line):
            yield number, row.removesuffix(b"\r")


def blocks(path: Path, name: str, findings: Findings) -> Iterator[Block]:
    """The blocks of a file. What cannot be read is a finding under the name of the file, and ends it."""
    line, rest = 1, b""
    try:
        with path.open("rb") as raw, pa.input_stream(raw, compression=PACKED.get(path.suffix)) as stream:
            while data := stream.read(BLOCK_BYTES):
                end = data.rfind(b"\n") + 1
                if not end:
                    rest += data
                    if len(rest) > LINE_BYTES_MAX:
                        message = f"a line of more than {LINE_BYTES_MAX >> 20} MiB; the rest of the file is left out"
                        findings.add(Finding(Kind.UNREADABLE, message, name, line, text=text_of(rest[:200])))
                        return
                    continue
                whole, rest = rest + data[:end], data[end:]
                yield Block(line, whole, last=False)
                line += whole.count(b"\n")
    except (OSError, EOFError) as error:
        findings.add(unreadable(name, error, line))
    if rest:
        yield Block(line, rest, last=True)


def unreadable(name: str, error: Exception, line: int | None = None) -> Finding:
    """The finding that a file cannot be read (on)."""
    first = next(iter(str(error).splitlines()), type(error).__name__)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else first
    return Finding(Kind.UNREADABLE, f"cannot be read: {reason}", name, line)
