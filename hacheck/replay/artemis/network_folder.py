"""A folder that several servers mount, as one of a network file system: a mount can fail, or be slow, for one server
alone, and the locks are kept here, so that one can be refused, and given away while its holder lives.

Each mount is answered by a thread of this process, over the kernel's FUSE protocol; nothing is cached. It needs Linux,
`/dev/fuse`, and the right to mount. **Source**: `include/uapi/linux/fuse.h`, version 7.31.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

DEVICE = "/dev/fuse"
DETACHED = 2
STALL_SECONDS = 0.02
REQUEST_BYTES, WRITE_BYTES = 1 << 18, 1 << 17
VERSION, POSIX_LOCKS, BIG_WRITES, DIRECT_IO = (7, 31), 1 << 1, 1 << 5, 1
IN, OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
ATTRIBUTES = struct.Struct("<6Q10I")
INIT, INIT_OUT = struct.Struct("<IIII"), struct.Struct("<IIIIHHIIHHI28x")
SET = struct.Struct("<IIQQQQQQIIIIIIII")
FILE, READ, WRITE = struct.Struct("<II"), struct.Struct("<QQI"), struct.Struct("<QQI20x")
LOCK = struct.Struct("<QQQQIIII")
OPENED, ENTRY, LOCKED = struct.Struct("<QII"), struct.Struct("<QQQQII"), struct.Struct("<QQII")
SET_MODE, SET_SIZE, SET_ACCESSED, SET_CHANGED, ACCESSED_NOW, CHANGED_NOW = 1, 8, 16, 32, 128, 256
FORGET, BATCH_FORGET, INTERRUPT = 2, 42, 36
FREE, WRITE_LOCK = 2, 1
ROOT = 1


def lacking() -> str | None:
    """Why no folder can be mounted here."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
    except OSError as error:
        return f"{DEVICE} cannot be opened: {error.strerror}"
    return None if os.geteuid() == 0 else "a folder is mounted by root only"


class Locks:
    """Who has which lock: byte ranges of files, by server and owner. `may_take`: whether a lock may be given."""

    def __init__(self) -> None:
        self.may_take: Callable[[int, str], bool] = lambda member, name: True
        self._held: dict[tuple[str, int, int], tuple[int, int]] = {}
        self._guard = threading.Lock()

    def take(self, member: int, owner: int, name: str, start: int, end: int) -> bool:
        """Gives a lock, unless another has a part of it."""
        with self._guard:
            if self._other(member, owner, name, start, end) is not None or not self.may_take(member, name):
                return False
            self._held[name, start, end] = (member, owner)
            return True

    def free(self, member: int, owner: int, name: str, start: int = 0, end: int = (1 << 63) - 1) -> None:
        """Frees what an owner has within a range."""
        with self._guard:
            for key, holder in list(self._held.items()):
                if holder == (member, owner) and key[0] == name and start <= key[1] and key[2] <= end:
                    del self._held[key]

    def is_taken(self, member: int, owner: int, name: str, start: int, end: int) -> bool:
        """Whether another has a part of it."""
        with self._guard:
            return self._other(member, owner, name, start, end) is not None

    def holder(self, name: str) -> int | None:
        """The server that has a lock of a file."""
        with self._guard:
            return next((member for (one, _, _), (member, _) in self._held.items() if one == name), None)

    def lose(self, name: str) -> None:
        """The locks of a file are given away, and their holder does not hear of it."""
        with self._guard:
            for key in [one for one in self._held if one[0] == name]:
                del self._held[key]

    def _other(self, member: int, owner: int, name: str, start: int, end: int) -> tuple[int, int] | None:
        mine = (member, owner)
        overlaps = (holder for (one, a, b), holder in self._held.items() if one == name and a <= end and start <= b)
        return next((holder for holder in overlaps if holder != mine), None)


class Mount:
    """The folder as one server sees it. `stalls`: whether the server waits for what it does with a file now; `is_cut`:
    whether all that it does fails, or waits where the mount is hard."""

    def __init__(self, member: int, folder: Path, point: Path, locks: Locks, *, hard: bool) -> None:
        """Errors: `OSError`."""
        self.member, self.folder, self.point, self.locks, self.hard = member, folder, point, locks, hard
        self.is_cut = self._closed = False
        self.stalls: Callable[[str], bool] = lambda path: False
        self._paths: dict[int, str] = {ROOT: ""}
        self._nodes: dict[str, int] = {"": ROOT}
        point.mkdir(parents=True, exist_ok=True)
        self._device = os.open(DEVICE, os.O_RDWR)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"hacheck", os.fsencode(point), b"fuse.hacheck", 0, options.encode()) != 0:
            code = ctypes.get_errno()
            os.close(self._device)
            raise OSError(code, f"{point} cannot be mounted: {os.strerror(code)}")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """A server that has files of it open gets errors from then on."""
        self._closed = True
        ctypes.CDLL(None).umount2(os.fsencode(self.point), DETACHED)
        with suppress(OSError):
            os.close(self._device)
        with suppress(OSError):
            self.point.rmdir()

    # ---- requests ----

    def _serve(self) -> None:
        while True:
            try:
                raw = os.read(self._device, REQUEST_BYTES)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue
                return  # it was unmounted
            if len(raw) < IN.size:
                return
            _, operation, unique, node, *_ = IN.unpack_from(raw)
            path = self._paths.get(node, "")
            if operation in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if self._waits(path, operation):  # others do not wait for it
                threading.Thread(target=self._later, args=(operation, unique, path, raw), daemon=True).start()
            else:
                self._reply(operation, unique, path, raw)

    def _waits(self, path: str, operation: int) -> bool:
        return operation not in ENDS and not self._closed and (self.stalls(path) or (self.hard and self.is_cut))

    def _later(self, operation: int, unique: int, path: str, raw: bytes) -> None:
        while self._waits(path, operation):
            time.sleep(STALL_SECONDS)
        self._reply(operation, unique, path, raw)

    def _reply(self, operation: int, unique: int, path: str, raw: bytes) -> None:
        content, code = b"", 0
        try:
            content = self._answer(operation, path, raw[IN.size :])
        except OSError as error:
            code = error.errno or errno.EIO
        with suppress(OSError):
            os.write(self._device, OUT.pack(OUT.size + len(content), -code, unique) + content)

    def _answer(self, operation: int, path: str, data: bytes) -> bytes:
        handler = self.HANDLERS.get(operation)
        if handler is None:
            raise OSError(errno.ENOSYS, "not supported")
        if self.is_cut and operation not in ENDS:
            raise OSError(errno.EIO, "the mount is cut")
        return handler(self, path, data)

    def _real(self, path: str) -> str:
        return f"{self.folder}/{path}" if path else str(self.folder)

    def _below(self, path: str, name: bytes) -> str:
        own = os.fsdecode(name.rstrip(b"\0"))
        return f"{path}/{own}" if path else own

    def _node(self, path: str) -> int:
        if path not in self._nodes:
            self._nodes[path] = len(self._paths) + ROOT
            self._paths[self._nodes[path]] = path
        return self._nodes[path]

    def _attributes(self, path: str) -> bytes:
        found = os.lstat(self._real(path))
        times = [found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]
        seconds, nanos = zip(*(divmod(one, 10**9) for one in times), strict=True)
        rest = (found.st_mode, found.st_nlink, found.st_uid, found.st_gid, 0, 4096, 0)
        return ATTRIBUTES.pack(found.st_ino, found.st_size, found.st_blocks, *seconds, *nanos, *rest)

    def _entry(self, path: str) -> bytes:
        attributes = self._attributes(path)
        return ENTRY.pack(self._node(path), 0, 0, 0, 0, 0) + attributes

    # ---- what is answered ----

    def init(self, path: str, data: bytes) -> bytes:
        _, _, ahead, flags = INIT.unpack_from(data)
        wanted = flags & (POSIX_LOCKS | BIG_WRITES)
        return INIT_OUT.pack(*VERSION, ahead, wanted, 12, 9, WRITE_BYTES, 1, 32, 0, 0)

    def look_up(self, path: str, data: bytes) -> bytes:
        return self._entry(self._below(path, data))

    def attributes(self, path: str, data: bytes) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(path)

    def change(self, path: str, data: bytes) -> bytes:
        valid, _, _, size, _, accessed, changed, _, accessed_ns, changed_ns, _, mode, *_ = SET.unpack_from(data)
        real = self._real(path)
        if valid & SET_MODE:
            os.chmod(real, stat.S_IMODE(mode))
        if valid & SET_SIZE:
            os.truncate(real, size)
        if valid & (SET_ACCESSED | SET_CHANGED | ACCESSED_NOW | CHANGED_NOW):
            if valid & (ACCESSED_NOW | CHANGED_NOW):
                os.utime(real)
            else:
                now = os.stat(real)
                first = accessed * 10**9 + accessed_ns if valid & SET_ACCESSED else now.st_atime_ns
                second = changed * 10**9 + changed_ns if valid & SET_CHANGED else now.st_mtime_ns
                os.utime(real, ns=(first, second))
        return self.attributes(path, data)

    def make_folder(self, path: str, data: bytes) -> bytes:
        new = self._below(path, data[FILE.size :])
        os.mkdir(self._real(new))
        return self._entry(new)

    def remove(self, path: str, data: bytes) -> bytes:
        old = self._below(path, data)
        os.unlink(self._real(old))
        self._forget(old)
        return b""

    def remove_folder(self, path: str, data: bytes) -> bytes:
        old = self._below(path, data)
        os.rmdir(self._real(old))
        self._forget(old)
        return b""

    def rename(self, path: str, data: bytes) -> bytes:
        return self._renamed(path, struct.unpack_from("<Q", data)[0], data[8:])

    def rename_with_flags(self, path: str, data: bytes) -> bytes:
        return self._renamed(path, struct.unpack_from("<Q", data)[0], data[16:])

    def _renamed(self, path: str, folder: int, names: bytes) -> bytes:
        old_name, new_name = names.split(b"\0")[:2]
        old, new = self._below(path, old_name), self._below(self._paths[folder], new_name)
        os.rename(self._real(old), self._real(new))
        self._forget(new)
        if (node := self._nodes.pop(old, None)) is not None:
            self._nodes[new], self._paths[node] = node, new
        return b""

    def _forget(self, path: str) -> None:
        self._nodes.pop(path, None)

    def open(self, path: str, data: bytes) -> bytes:
        flags, _ = FILE.unpack_from(data)
        handle = os.open(self._real(path), flags & ~(os.O_CREAT | os.O_EXCL))
        return OPENED.pack(handle, DIRECT_IO, 0)

    def create(self, path: str, data: bytes) -> bytes:
        flags, mode = FILE.unpack_from(data)
        new = self._below(path, data[2 * FILE.size :])
        handle = os.open(self._real(new), flags | os.O_CREAT, stat.S_IMODE(mode))
        return self._entry(new) + OPENED.pack(handle, DIRECT_IO, 0)

    def open_folder(self, path: str, data: bytes) -> bytes:
        os.listdir(self._real(path))
        return OPENED.pack(0, 0, 0)

    def read_folder(self, path: str, data: bytes) -> bytes:
        _, offset, size = READ.unpack_from(data)
        out = b""
        for number, name in enumerate([".", "..", *sorted(os.listdir(self._real(path)))][offset:], offset + 1):
            raw = os.fsencode(name)
            row = struct.pack("<QQII", number, number, len(raw), 0) + raw
            row += b"\0" * (-len(row) % 8)
            if len(out) + len(row) > size:
                break
            out += row
        return out

    def read(self, path: str, data: bytes) -> bytes:
        handle, offset, size = READ.unpack_from(data)
        return os.pread(handle, size, offset)

    def write(self, path: str, data: bytes) -> bytes:
        handle, offset, size = WRITE.unpack_from(data)
        return struct.pack("<II", os.pwrite(handle, data[WRITE.size : WRITE.size + size], offset), 0)

    def sync(self, path: str, data: bytes) -> bytes:
        return b""  # what is written is in the cache of the machine, which does not fail

    def flush(self, path: str, data: bytes) -> bytes:
        _, _, _, owner = struct.unpack_from("<QIIQ", data)
        self.locks.free(self.member, owner, path)
        return b""

    def release(self, path: str, data: bytes) -> bytes:
        os.close(struct.unpack_from("<Q", data)[0])
        return b""

    def nothing(self, path: str, data: bytes) -> bytes:
        return b""

    def space(self, path: str, data: bytes) -> bytes:
        found = os.statvfs(self.folder)
        blocks = (found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree)
        return struct.pack("<5Q4I24x", *blocks, found.f_bsize, found.f_namemax, found.f_frsize, 0)

    def look_at_lock(self, path: str, data: bytes) -> bytes:
        _, owner, start, end, *_ = LOCK.unpack_from(data)
        taken = self.locks.is_taken(self.member, owner, path, start, end)
        return LOCKED.pack(start, end, WRITE_LOCK if taken else FREE, 0)

    def lock(self, path: str, data: bytes) -> bytes:
        _, owner, start, end, kind, *_ = LOCK.unpack_from(data)
        if kind == FREE:
            self.locks.free(self.member, owner, path, start, end)
        elif not self.locks.take(self.member, owner, path, start, end):
            raise OSError(errno.EAGAIN, "another has the lock")
        return b""

    HANDLERS: ClassVar[Mapping[int, Callable[[Mount, str, bytes], bytes]]] = {
        1: look_up,
        3: attributes,
        4: change,
        9: make_folder,
        10: remove,
        11: remove_folder,
        12: rename,
        14: open,
        15: read,
        16: write,
        17: space,
        18: release,
        20: sync,
        25: flush,
        26: init,
        27: open_folder,
        28: read_folder,
        29: nothing,
        30: sync,
        31: look_at_lock,
        32: lock,
        33: lock,
        34: nothing,
        35: create,
        45: rename_with_flags,
    }


ENDS = frozenset({18, 25, 26, 29})
"""Operations that a mount that is cut answers as well: closing files, and the beginning."""
