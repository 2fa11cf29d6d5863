"""Lock files: one holder, whoever ends lets go, a replaced file is another lock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.impl.runtime.folder import hold
from hacheck.impl.runtime.locks import LockFile
from hacheck.impl.system import Refused

HOLDER = """
import sys
from pathlib import Path
from hacheck.impl.runtime.locks import LockFile
lock = LockFile("gate", Path(sys.argv[1]))
print(lock.try_lock() or "mine", flush=True)
sys.stdin.readline()
lock.unlock()
print("given back", flush=True)
sys.stdin.readline()
"""


def test_lock_has_one_holder_who_lets_go_by_word_or_by_ending(tmp_path: Path) -> None:
    path = tmp_path / "gate.lock"
    lock = LockFile("gate", path)
    for ends in (False, True):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"mine\n"
        assert lock.try_lock() == "held by another process"
        if ends:
            holder.kill()
            holder.wait()
        else:
            holder.stdin.write(b"\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == b"given back\n"
        assert lock.try_lock() == ""
        lock.unlock()
        holder.kill()
        holder.communicate()


def test_holder_notices_that_its_file_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "gate.lock"
    lock = LockFile("gate", path)
    assert lock.try_lock() == ""
    assert not lock.lost()
    path.unlink()
    assert lock.lost()
    assert not lock.lost()
    assert lock.try_lock() == ""
    assert path.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_lock_file_that_is_not_writable_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.lock"
    path.touch(mode=0o400)
    with pytest.raises(Refused, match="is not writable: Permission denied"):
        LockFile("gate", path)


def test_lock_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is not writable: Is a directory"):
        LockFile("gate", tmp_path)


def test_data_directory_is_held_by_one_process_which_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = f"from pathlib import Path\nfrom hacheck.impl.runtime.folder import hold\nhold(Path({str(path)!r}), 'x')\n"
    other = subprocess.Popen(
        [sys.executable, "-c", code + "print('held', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(Refused, match=rf"the folder is locked by another process \({other.pid}\)"):
        hold(path, "the folder")
    other.kill()
    other.communicate()
    os.close(hold(path, "the folder"))
