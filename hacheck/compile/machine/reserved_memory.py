"""Memory of the native engine: address space reserved at once, given out by the machine page by page when touched.

A region never moves, so kernels hold addresses into it. What was never touched costs nothing, and reads as 0.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys

PAGE_BYTES = 2**21
"""What a region touches at least, where the machine has huge pages."""


def _reserving() -> int:
    """The flag of `mmap` that takes address space without a promise of memory, which Python 3.11 does not name."""
    if sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
        return 0x4000
    return 0


class Region:
    """A range of addresses, zeros at first. Errors: `MemoryError` if there is not so much address space.

    - `address`: of its first byte, aligned to a page; to a huge one where the region has such.
    - `size`: in bytes.
    """

    __slots__ = ("_map", "_start", "address", "size")

    def __init__(self, size: int, huge: bool = True) -> None:
        """`huge`: much of it will be touched, so large pages are worth their zeroing."""
        self.size = max(size, mmap.PAGESIZE)
        advice = getattr(mmap, "MADV_HUGEPAGE", None) if huge and self.size >= PAGE_BYTES else None
        # A huge page has a place of its own size: in a range that begins anywhere there may be none.
        mapped = -(-self.size // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES if advice else self.size
        try:
            if sys.platform == "win32":
                self._map = mmap.mmap(-1, mapped)
            else:
                flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _reserving()
                self._map = mmap.mmap(-1, mapped, flags=flags)
        except (OSError, OverflowError, ValueError) as failure:
            raise MemoryError(f"no address space for {self.size:,} bytes: {failure}") from None
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._start = -address % PAGE_BYTES if advice else 0
        self.address = address + self._start
        if advice:
            try:
                self._map.madvise(advice)
            except OSError:
                pass  # a machine without them: pages are small, and everything else is the same

    def read(self, start: int, size: int) -> bytes:
        """A copy of some bytes."""
        start += self._start
        return self._map[start : start + size]

    def write(self, start: int, content: bytes | memoryview) -> None:
        """Overwrites some bytes."""
        start += self._start
        self._map[start : start + len(content)] = content

    def view(self, start: int, size: int) -> memoryview:
        """Some bytes, not copied. To be released before the region is freed."""
        whole, start = memoryview(self._map), start + self._start
        try:
            return whole[start : start + size]
        finally:
            whole.release()

    def forget(self, start: int, end: int) -> None:
        """Gives whole pages between two places back to the machine. What they held is lost."""
        start, end = -(-start // PAGE_BYTES) * PAGE_BYTES, end // PAGE_BYTES * PAGE_BYTES
        advice = getattr(mmap, "MADV_DONTNEED", None)
        if advice is not None and start < end:
            self._map.madvise(advice, self._start + start, end - start)

    def free(self) -> None:
        """Gives everything back. Nothing may use its addresses any more."""
        self._map.close()


def reserve(size: int, least: int, huge: bool = True) -> Region:
    """A region of `size` bytes, or the largest half, quarter, … of it that the machine grants; where the process has a
    limit on its addresses, at most a quarter of those. Errors: `MemoryError` where it does not even grant `least`
    bytes."""
    size = max(min(size, _addresses() // 4), least)
    while True:
        try:
            return Region(size, huge)
        except MemoryError:
            if size <= least:
                raise
            size = max(size // 2, least)


def _addresses() -> int:
    """Bytes of address space that the process may use."""
    try:
        import resource
    except ImportError:
        return sys.maxsize
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return sys.maxsize if most == resource.RLIM_INFINITY else most


def touched(size: int) -> int:
    """Bytes of memory that the machine gives for the first `size` bytes of a region, at most."""
    return -(-size // PAGE_BYTES) * PAGE_BYTES
