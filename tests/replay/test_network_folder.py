"""A folder that several servers mount: locks are exclusive, can be refused and given away, and one mount can fail."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest

from hacheck.replay.artemis.network_folder import Locks, Mount, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no folder can be mounted here: {lacking()}")


@pytest.fixture
def mounts(tmp_path: Path) -> Iterator[tuple[Mount, Mount]]:
    shared, locks = tmp_path / "shared", Locks()
    shared.mkdir()
    with ExitStack() as closing:
        made = [Mount(n, shared, tmp_path / f"mount-{n}", locks, hard=False) for n in (1, 2)]
        for one in made:
            closing.callback(one.close)
        yield made[0], made[1]


def locked(file: IO[bytes]) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_what_one_writes_the_other_reads(mounts: tuple[Mount, Mount]) -> None:
    first, second = (one.point for one in mounts)
    (first / "journal").mkdir()
    (first / "journal" / "a").write_bytes(b"x" * 100_000)
    os.rename(first / "journal" / "a", first / "journal" / "b")
    assert (second / "journal" / "b").read_bytes() == b"x" * 100_000
    assert os.listdir(second / "journal") == ["b"]
    (second / "journal" / "b").unlink()
    assert not (first / "journal" / "b").exists()


def test_a_lock_has_one_holder_until_it_is_freed_or_given_away(mounts: tuple[Mount, Mount]) -> None:
    first, second = mounts
    with (first.point / "lock").open("wb") as mine, (second.point / "lock").open("r+b") as other:
        assert locked(mine)
        assert not locked(other)
        assert first.locks.holder("lock") == 1
        first.locks.lose("lock")  # the first one does not hear of it
        assert locked(other)
    assert first.locks.holder("lock") is None


def test_a_lock_can_be_refused(mounts: tuple[Mount, Mount]) -> None:
    first, _ = mounts
    first.locks.may_take = lambda member, name: False
    with (first.point / "lock").open("wb") as mine:
        assert not locked(mine)


def test_a_mount_that_is_cut_fails_for_its_server_alone(mounts: tuple[Mount, Mount]) -> None:
    first, second = mounts
    (first.point / "file").write_bytes(b"before")
    first.is_cut = True
    with pytest.raises(OSError, match="Input/output error"):
        (first.point / "file").read_bytes()
    assert (second.point / "file").read_bytes() == b"before"
    first.is_cut = False
    assert (first.point / "file").read_bytes() == b"before"


def test_a_file_that_stalls_does_not_hold_up_others(mounts: tuple[Mount, Mount]) -> None:
    first, _ = mounts
    for name in ("slow", "quick"):
        (first.point / name).write_bytes(name.encode())
    first.stalls = lambda path: path == "slow"
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((first.point / "slow").read_bytes()))
    reader.start()
    time.sleep(0.1)
    assert (first.point / "quick").read_bytes() == b"quick"
    assert read == []
    first.stalls = lambda path: False
    reader.join()
    assert read == [b"slow"]
