"""The database of a process: all of a write or nothing, and a refusal for what is not its own."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.impl.runtime.disk import APPLICATION, VERSION, Database
from hacheck.impl.system import Refused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.sqlite"


def test_what_was_written_is_there_for_the_next_one(path: Path) -> None:
    database = Database(path, "toy")
    assert database.begin_incarnation() == 0
    assert database.write((("a", b"1"), ("b", b"2")), True) == ""
    assert database.write((("a", None), ("c", b"\0")), False) == ""
    database.close()
    database = Database(path, "toy")
    assert database.content() == {"b": b"2", "c": b"\0"}
    assert database.read("b") == (b"2", "")
    assert database.read("a") == (None, "")
    assert database.begin_incarnation() == 1
    database.close()


def test_full_disk_leaves_nothing_of_a_write(path: Path) -> None:
    database = Database(path, "toy")
    database.write((("a", b"1"),), True)
    database._connection.execute("PRAGMA max_page_count=5")
    assert "full" in database.write((("a", b"2"), ("b", b"x" * 1_000_000)), True)
    assert database.content() == {"a": b"1"}
    assert database.write((("a", b"3"),), True) == ""
    database.close()


WRITER = """
import sys
from pathlib import Path
from hacheck.impl.runtime.disk import Database
database = Database(Path(sys.argv[1]), "toy")
number = 0
while True:
    number += 1
    value = str(number).encode()
    assert not database.write((("a", value), ("b", value)), True)
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
"""


def test_writer_that_is_killed_has_lost_nothing_it_spoke_of(path: Path) -> None:
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(20)]
        os.kill(writer.pid, signal.SIGKILL)
        lines += writer.stdout.readlines()
        said = int(lines[-1])
        writer.stdout.close()
        writer.wait()
        database = Database(path, "toy")
        content = database.content()
        database.close()
        assert content["a"] == content["b"]
        assert said <= int(content["a"]) <= said + 1


def test_damaged_database_is_refused(path: Path) -> None:
    database = Database(path, "toy")
    database.write(tuple((f"key {n}", bytes(500)) for n in range(100)), True)
    database.close()
    content = bytearray(path.read_bytes())
    content[4096:20480] = bytes(16384)
    path.write_bytes(content)
    with pytest.raises(Refused, match=r"is damaged .*: restore it, or erase the disk"):
        Database(path, "toy")
    path.write_bytes(b"no database at all, but long enough to be looked at" * 10)
    with pytest.raises(Refused, match="is damaged"):
        Database(path, "toy")


def test_newer_database_is_refused(path: Path) -> None:
    Database(path, "toy").close()
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version={VERSION + 1}")
    other.close()
    with pytest.raises(Refused, match=f"version {VERSION + 1}, and this program reads {VERSION}"):
        Database(path, "toy")


def test_database_of_another_program_or_system_is_refused(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(Refused, match="another program's"):
        Database(path, "toy")
    path.unlink()
    Database(path, "toy").close()
    with pytest.raises(Refused, match="has the data of toy, not of other"):
        Database(path, "other")
    assert APPLICATION < 1 << 31  # as SQLite wants it
