"""Locks: files under `fcntl`, which the system lets go when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hacheck.impl.node import Name
from hacheck.impl.system import Refused


class LockFile:
    """One lock. It is held as long as the file stays where it is; a file that was put in its place is another lock."""

    def __init__(self, name: Name, path: Path) -> None:
        """Errors: `Refused`, for a file that cannot be written."""
        self.name, self.path = name, path
        self.held = False
        try:
            self._file = self._opened()
        except OSError as error:
            raise Refused(f"the lock file {path} is not writable: {error.strerror}") from None

    def _opened(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _in_place(self) -> bool:
        try:
            there, here = os.stat(self.path), os.fstat(self._file)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def try_lock(self) -> str:
        """Takes the lock, if it is free. Returns why not, or nothing."""
        try:
            if not self._in_place():
                os.close(self._file)
                self.held = False
                self._file = self._opened()
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held by another process"
        except OSError as error:
            if error.errno in (11, 13):
                return "held by another process"
            return str(error.strerror)
        self.held = True
        return ""

    def lost(self) -> bool:
        """Whether the lock was held, and its file has gone since. Said once."""
        if not self.held or self._in_place():
            return False
        self.held = False
        return True

    def unlock(self) -> None:
        """Gives it back, if it is held."""
        if self.held:
            self.held = False
            fcntl.lockf(self._file, fcntl.LOCK_UN)
