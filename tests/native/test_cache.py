"""The object cache: what is found is what was kept, by this user; whatever else lies there is replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hacheck.compile.machine import object_cache as cache_module
from hacheck.compile.machine.build_identity import UnknownIdentityError
from hacheck.compile.machine.compiler import KERNEL_LEVELS, Levels
from hacheck.compile.machine.object_cache import BYTES_MAX, Entry, ObjectCache, cache_folder, key_of

KEY, OTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4
ENTRY = Entry((b"some code", b"", b"\x7fELF more"), {"words": 2, "names": ["a", "ü"], "none": None})


@pytest.fixture
def kept(tmp_path: Path) -> ObjectCache:
    """A cache with one entry."""
    found = ObjectCache(tmp_path / "a" / "objects")
    found.store(KEY, ENTRY.objects, ENTRY.facts)
    assert found.trouble == ""
    return found


def path_of(cache: ObjectCache, key: str = KEY) -> Path:
    return cache.folder / f"object-{key}"


def test_what_was_kept_is_found_by_whoever_asks_later(kept: ObjectCache) -> None:
    assert ObjectCache(kept.folder).lookup(KEY) == ENTRY
    assert ObjectCache(kept.folder).lookup(OTHER) is None
    assert [path.name for path in kept.folder.iterdir()] == [f"object-{KEY}"]


def test_nobody_else_can_read_or_write_an_entry(kept: ObjectCache) -> None:
    assert path_of(kept).stat().st_mode & 0o777 == 0o600
    assert kept.folder.stat().st_mode & 0o777 == 0o700


def test_later_content_replaces_what_was_there(kept: ObjectCache) -> None:
    kept.store(KEY, [b"new"])
    assert kept.lookup(KEY) == Entry((b"new",), None)


def test_entry_with_any_byte_changed_is_not_used_but_replaced(kept: ObjectCache) -> None:
    path = path_of(kept)
    content = path.read_bytes()
    for position in range(len(content)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        assert kept.lookup(KEY) is None, position
        assert kept.trouble.startswith("not used: "), position
    kept.store(KEY, ENTRY.objects, ENTRY.facts)
    assert kept.lookup(KEY) == ENTRY
    assert kept.trouble == ""


def test_entry_cut_off_or_longer_is_not_used(kept: ObjectCache) -> None:
    path = path_of(kept)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert kept.lookup(KEY) is None, length
    path.write_bytes(content + b"\0")
    assert kept.lookup(KEY) is None
    path.write_bytes(content)
    assert kept.lookup(KEY) == ENTRY


def test_entry_of_another_key_or_format_is_not_used(kept: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    path_of(kept).rename(path_of(kept, OTHER))
    assert kept.lookup(OTHER) is None
    assert kept.trouble == "not used: it belongs to another key"
    monkeypatch.setattr(cache_module, "_FORMAT", 2)
    kept.store(KEY, [b"later"])
    monkeypatch.undo()
    assert kept.lookup(KEY) is None
    assert kept.trouble == "not used: it is of another format"


def test_file_of_another_user_is_not_used(kept: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept.lookup(KEY) is None
    assert kept.trouble == "not used: it is not a file of this user"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_file_given_to_another_user_is_replaced(kept: ObjectCache) -> None:
    os.chown(path_of(kept), 12345, -1)
    assert kept.lookup(KEY) is None
    kept.store(KEY, ENTRY.objects, ENTRY.facts)
    assert kept.lookup(KEY) == ENTRY


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_file_that_others_may_write_is_not_used(kept: ObjectCache, mode: int) -> None:
    path_of(kept).chmod(mode)
    assert kept.lookup(KEY) is None
    assert kept.trouble == "not used: others may write it"
    kept.store(KEY, ENTRY.objects, ENTRY.facts)
    assert kept.lookup(KEY) == ENTRY


def test_what_is_no_plain_file_is_not_used(kept: ObjectCache) -> None:
    real = kept.folder / "real"
    path_of(kept).rename(real)
    path_of(kept).symlink_to(real)
    assert kept.lookup(KEY) is None
    path_of(kept).unlink()
    path_of(kept).mkdir()
    assert kept.lookup(KEY) is None
    kept.store(KEY, [b"new"])
    assert kept.trouble.startswith("not kept: ")
    assert kept.lookup(KEY) is None


def test_folder_that_cannot_be_made_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ObjectCache(tmp_path / "file" / "objects")
    cache.store(KEY, ENTRY.objects, ENTRY.facts)
    assert cache.trouble.startswith("not kept: ")
    assert cache.lookup(KEY) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_may_not_be_written_is_still_read(kept: ObjectCache) -> None:
    kept.folder.chmod(0o500)
    try:
        kept.store(OTHER, [b"new"])
        assert kept.trouble.startswith("not kept: ")
        assert kept.lookup(OTHER) is None
        assert kept.lookup(KEY) == ENTRY
    finally:
        kept.folder.chmod(0o700)


def run(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output_of(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output.strip()


def test_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    program = f"""
import resource, signal, sys
from pathlib import Path
from hacheck.compile.machine.object_cache import ObjectCache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # it would be cut short, and taken for whole by who comes next
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
cache = ObjectCache(Path(sys.argv[1]))
cache.store("{KEY}", [bytes(5000)])
print(cache.trouble.startswith("not kept: "), list(cache.folder.iterdir()), cache.lookup("{KEY}"))
"""
    assert output_of(run(program, str(tmp_path))) == "True [] None"


def test_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, bytes_max=3500)
    keys = [f"{number:064x}" for number in range(6)]
    for number, key in enumerate(keys[:3]):
        cache.store(key, [bytes(900)])
        os.utime(path_of(cache, key), (number, number))
    assert cache.lookup(keys[0]) is not None
    cache.store(keys[3], [bytes(900)])
    assert [cache.lookup(key) is not None for key in keys] == [True, False, True, True, False, False]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3500


def test_entry_larger_than_all_may_be_is_not_kept(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, bytes_max=3500)
    cache.store(KEY, [bytes(900)])
    cache.store(OTHER, [bytes(4000)])
    assert "more than the cache may have" in cache.trouble
    assert [cache.lookup(KEY) is None, cache.lookup(OTHER) is None] == [False, True]


def test_half_written_files_are_removed_when_nobody_writes_them_any_more(kept: ObjectCache) -> None:
    old, young = kept.folder / "object-old.new", kept.folder / "object-young.new"
    for path in (old, young):
        path.write_bytes(bytes(1000))
    kept.bytes_max = 1000
    os.utime(old, (time.time() - 7200,) * 2)
    stranger = kept.folder / "not-ours"
    stranger.write_bytes(b"something else")
    os.utime(stranger, (0, 0))
    kept.store(OTHER, [b"new"])
    assert [path.exists() for path in (old, young, stranger)] == [False, True, True]


def test_processes_at_once_find_whole_entries_only(tmp_path: Path) -> None:
    program = """
import hashlib, sys
from pathlib import Path
from hacheck.compile.machine.object_cache import ObjectCache
cache, found = ObjectCache(Path(sys.argv[1]), bytes_max=120_000), 0
for turn in range(300):
    key = hashlib.sha256(bytes([turn % 7])).hexdigest()
    entry = cache.lookup(key)
    assert not cache.trouble, cache.trouble
    if entry is not None:
        assert entry.objects == (bytes([turn % 7]) * 30_000,) and entry.facts == turn % 7
        found += 1
    else:
        cache.store(key, [bytes([turn % 7]) * 30_000], turn % 7)
        assert not cache.trouble, cache.trouble
print(found)
"""
    processes = [run(program, str(tmp_path)) for _ in range(3)]
    assert sum(int(output_of(process)) for process in processes) > 0
    assert not list(tmp_path.glob("*.new"))


# ---- keys and folders


def test_key_depends_on_all_that_the_code_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "identity", lambda: "this machine")
    keys = [
        key_of("kind", "text", KERNEL_LEVELS),
        key_of("kin", "dtext", KERNEL_LEVELS),
        key_of("kind", "text ", KERNEL_LEVELS),
        key_of("kind", "text", Levels(None, 2)),
        key_of("kind", "text", Levels(2, 0)),
    ]
    monkeypatch.setattr(cache_module, "identity", lambda: "another machine")
    keys.append(key_of("kind", "text", KERNEL_LEVELS))
    assert len(set(keys)) == len(keys)
    assert all(len(bytes.fromhex(key)) == 32 for key in keys)
    assert key_of("kind", b"text", KERNEL_LEVELS) == keys[-1]


def test_nothing_is_kept_where_nobody_knows_what_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise UnknownIdentityError("no sources")

    monkeypatch.setattr(cache_module, "identity", unknown)
    key = key_of("kind", "text", KERNEL_LEVELS)
    cache = ObjectCache(tmp_path / "objects")
    cache.store(key, [b"code"])
    assert cache.lookup(key) is None
    assert cache.trouble == "what the object code depends on is not known"
    assert not cache.folder.exists()


def test_nothing_is_kept_where_files_have_no_owner(kept: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid")
    assert kept.lookup(KEY) is None
    assert "the owner of a file is not known on this system" in kept.trouble


@pytest.mark.parametrize(
    ("variables", "platform", "expected"),
    [
        ({"HACHECK_CACHE_DIR": "/here", "XDG_CACHE_HOME": "/there"}, "linux", "/here"),
        ({"XDG_CACHE_HOME": "/there"}, "darwin", "/there/hacheck"),
        ({"XDG_CACHE_HOME": ""}, "linux", "/home/somebody/.cache/hacheck"),
        ({}, "darwin", "/home/somebody/Library/Caches/hacheck"),
    ],
)
def test_folder_is_where_the_user_or_the_system_says(
    variables: dict[str, str], platform: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HACHECK_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/somebody"} | variables).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(expected)
    assert ObjectCache().folder == Path(expected) / "objects"
    assert ObjectCache().bytes_max == BYTES_MAX


# ---- kernels

KERNELS = """
import json, sys
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.compile.machine.compiler import link
from hacheck.compile.kernels.compiled_kernels import compiled_kernels
import squares
cache = ObjectCache()
code = compiled_kernels([squares.squared], {"FACTOR": int(sys.argv[1])}, ["squared"], cache)
result = link([code]).function("squared", 1)(7)
print(json.dumps([result, "hacheck.compile.kernels.to_llvm" in sys.modules, cache.trouble]))
"""


def test_kernels_are_compiled_once_for_all_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "squares.py"
    module.write_text("FACTOR = 1\n\ndef squared(value):\n    return value * value * FACTOR\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HACHECK_CACHE_DIR", str(tmp_path / "cache"))

    def start(factor: int) -> list[object]:
        result, compiled, trouble = json.loads(output_of(run(KERNELS, str(factor))))
        assert trouble == ""
        return [result, compiled]

    assert start(1) == [49, True]
    assert start(1) == [49, False]
    assert start(2) == [98, True]
    module.write_text("FACTOR = 1\n\ndef squared(value):\n    return value * FACTOR\n")
    assert start(2) == [14, True]
    assert start(2) == [14, False]
