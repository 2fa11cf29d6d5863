"""A search kept on disk is gone on with where it was, and anything but what was kept is refused."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hacheck.checker.engine import Limits, Progress, Report
from hacheck.checker.explicit.search import checkpoint, search_limits
from hacheck.checker.explicit.search.breadth_first_search import Options, Search
from hacheck.checker.explicit.search.checkpoint import Keeping
from hacheck.checker.explicit.search.checkpoint_manifest import (
    NAME,
    CheckpointError,
    Manifest,
    read_manifest,
    write_manifest,
)
from hacheck.checker.explicit.search.exploration import explore
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.state_log import Log
from hacheck.model.interpreter import EvaluationError
from tests.native.searching import Model, election, kernels_for, model_of, never_stop
from tests.nightly import first_of
from tests.strategies import seeded_system

ROOT = Path(__file__).parents[2]
SLOW = Options(table_bits=6, slice_seconds=0.0)
"""Slices of one block, so that a search rests often."""


@contextmanager
def kept(
    model: Model,
    folder: Path | None,
    resumes: bool = False,
    options: Options = SLOW,
    limits: Limits | None = None,
    report: Report = never_stop,
    identity: str = "a model",
    fingerprint: bool = False,
) -> Iterator[Log]:
    """A search that is kept whenever it rests and nothing is being written."""
    keeping = None if folder is None else Keeping(folder, identity, resumes, every_seconds=0.0)
    kernels = kernels_for(model.functions.program.words, fingerprint, options.threads == 1)
    search = Search(model.functions, kernels, options, Bounds(limits or Limits(), report))
    log = explore(search, model.system, model.packed_initial(), keeping=keeping)
    try:
        yield log
    finally:
        log.close()


def assert_same(log: Log, expected: Log) -> None:
    """All that there is to say about a search."""
    assert (log.size, log.depth, log.stopped) == (expected.size, expected.depth, expected.stopped)
    assert (log.counts, log.bounds_reached) == (expected.counts, expected.bounds_reached)
    assert set(log.states()) == set(expected.states())
    assert [sum(end - first for first, end in level) for level in log.levels] == [
        sum(end - first for first, end in level) for level in expected.levels
    ]
    assert all(log.index_of(state) is not None for state in expected.states())
    assert log.found.keys() == expected.found.keys()
    for key in log.found:
        assert log.path_to(log.closest(key)) == expected.path_to(expected.closest(key))
    assert log.hits.keys() == expected.hits.keys()
    assert len(log.errors) == len(expected.errors)


# ---- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", first_of([((2, 1, 3),), ((1, 1, 1),), ((1, 4, 2),)]))
def test_a_search_interrupted_again_and_again_ends_as_if_it_had_not_been(
    tmp_path: Path, threads: tuple[int, ...]
) -> None:
    model = election(3, 2, 1, votes_lost=True)
    sizes = []
    for session, number in enumerate(threads):
        most = (20_000, 45_000, None)[session]
        options = Options(threads=number, table_bits=6, slice_seconds=0.0)
        with kept(model, tmp_path, session > 0, options, Limits(states_max=most)) as log, kept(model, None) as expected:
            sizes.append(log.size)
            assert log.trouble is None
            if most is None:
                assert_same(log, expected)
    assert sizes[:2] == [20_000, 45_000]


def test_random_systems_can_be_gone_on_with(tmp_path: Path) -> None:
    kept_early = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        try:
            model = model_of(seeded_system(seed, risky=seed % 2 == 0))
        except EvaluationError:
            continue
        with kept(model, None, limits=Limits(states_max=2_000)) as expected:
            if expected.stopped is not None or expected.size < 4:
                continue
            with kept(model, folder, limits=Limits(states_max=expected.size // 2)) as log:
                kept_early += log.stopped is not None
            with kept(model, folder, resumes=True, options=Options(threads=2)) as log:
                assert_same(log, expected)
    assert kept_early > 10


def test_a_search_that_had_ended_has_nothing_more_to_do(tmp_path: Path) -> None:
    model = election(3, 2, 1)
    with kept(model, tmp_path, options=Options()) as expected:
        pass
    with kept(model, tmp_path, resumes=True) as log, kept(model, None, options=Options()) as expected:
        assert_same(log, expected)


def test_fingerprints_can_be_gone_on_with(tmp_path: Path) -> None:
    model = election(3, 2, 1)
    with kept(model, tmp_path, limits=Limits(states_max=9_000), fingerprint=True):
        pass
    with kept(model, tmp_path, resumes=True, options=Options(), fingerprint=True) as log:
        assert (log.size, log.stopped) == (63_873, None)


def test_time_spent_before_is_told(tmp_path: Path) -> None:
    model = election(3, 2, 1)
    with kept(model, tmp_path, limits=Limits(states_max=9_000)) as log:
        before = log.seconds
    with kept(model, tmp_path, resumes=True) as log:
        assert log.seconds > before


def test_a_search_killed_at_any_time_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"from {__name__} import keep_for_long; keep_for_long({str(tmp_path)!r})"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for session in range(4):
        with subprocess.Popen([*command], env=environment, cwd=ROOT) as process:
            before = (tmp_path / NAME).stat().st_mtime_ns if session else None
            while not (tmp_path / NAME).exists() or (tmp_path / NAME).stat().st_mtime_ns == before:
                assert process.poll() is None, "it was killed before it ended"
                time.sleep(0.001)
            time.sleep(0.03 * session)
            process.send_signal(signal.SIGKILL)
    states = read_manifest(tmp_path).states
    assert 0 < states < 797_189
    model = election(3, 3, 1)
    with kept(model, tmp_path, resumes=True, options=Options(threads=2)) as log:
        assert (log.size, sum(log.counts), log.depth, log.stopped) == (797_189, 7_355_568, 17, None)


def keep_for_long(folder: str) -> None:
    """What is killed: a search that is kept all the time, and waits so often that nothing is faster than the signal."""
    resumes = (Path(folder) / NAME).exists()

    def report(_: Progress) -> bool:
        time.sleep(0.05)
        return True

    with kept(election(3, 3, 1), Path(folder), resumes, report=report):
        pass


def test_going_on_can_be_interrupted(tmp_path: Path) -> None:
    model = election(3, 2, 1)
    with kept(model, tmp_path, limits=Limits(states_max=60_000)):
        pass
    before = read_manifest(tmp_path)

    def report(progress: Progress) -> bool:
        return progress.phase != "resuming"

    with kept(model, tmp_path, resumes=True, report=report) as log:
        assert log.stopped == "interrupted"
    assert read_manifest(tmp_path) == before
    with kept(model, tmp_path, resumes=True) as log:
        assert (log.size, log.stopped) == (63_873, None)


def test_too_little_memory_to_go_on_is_said(tmp_path: Path) -> None:
    model = election(3, 2, 1)
    with kept(model, tmp_path, limits=Limits(states_max=60_000)):
        pass
    with kept(model, tmp_path, resumes=True, limits=Limits(memory_bytes_max=2**20)) as log:
        assert log.stopped is not None
        assert log.stopped.endswith("1 MiB of memory used")


# ---- what is refused -----------------------------------------------------------------------------------------------


def refused(folder: Path, resumes: bool = True, **changed: object) -> str:
    """What is said when a search cannot be kept or gone on with."""
    with pytest.raises(CheckpointError) as caught, kept(election(3, 2, 1), folder, resumes, **changed):  # type: ignore[arg-type]
        pass
    return str(caught.value)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A folder with a checkpoint."""
    options = Options(threads=2, table_bits=6, slice_seconds=0.0)
    with kept(election(3, 2, 1), tmp_path, options=options, limits=Limits(states_max=30_000)):
        pass
    return tmp_path


def test_no_checkpoint_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "none") == (
        f"there is no checkpoint in {tmp_path}/none; --checkpoint {tmp_path}/none begins one"
    )


def test_a_checkpoint_is_not_overwritten(half: Path) -> None:
    assert refused(half, resumes=False) == (f"there is a checkpoint in {half} already: resume it, or remove it")


@pytest.mark.parametrize("changed", [{"identity": "another model"}, {"fingerprint": True}])
def test_another_search_is_refused(half: Path, changed: dict[str, object]) -> None:
    assert refused(half, **changed).startswith(f"the checkpoint in {half} is of something else")


def test_one_process_at_a_time(half: Path) -> None:
    model = election(3, 2, 1)
    said = []

    def report(progress: Progress) -> bool:
        if not said:
            said.append(refused(half))
        return True

    with kept(model, half, resumes=True, report=report) as log:
        assert log.stopped is None
    assert said == [f"another process keeps a checkpoint in {half}; use another folder"]


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")
    assert refused(tmp_path / "file" / "in", resumes=False) == (
        f"no checkpoint can be kept in {tmp_path}/file/in: Not a directory"
    )


def kept_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != "lock")


def test_a_changed_byte_is_found_wherever_it_is(half: Path) -> None:
    assert len(kept_files(half)) == 3
    for path in kept_files(half):
        content = path.read_bytes()
        for place in [*range(0, len(content), max(len(content) // 7, 1)), len(content) - 1]:
            path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
            said = refused(half)
            assert str(path) in said
            assert "begin again" in said
        path.write_bytes(content)


def test_a_shortened_or_missing_file_is_found(half: Path) -> None:
    for path in kept_files(half):
        content = path.read_bytes()
        for length in (0, 1, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:length])
            assert str(path) in refused(half)
        path.unlink()
        assert str(path.parent) in refused(half)
        path.write_bytes(content)


def test_what_was_appended_after_the_last_manifest_does_not_count(half: Path) -> None:
    for path in kept_files(half):
        if path.name != NAME:
            path.write_bytes(path.read_bytes() + b"the beginning of what was to come")
    with kept(election(3, 2, 1), half, resumes=True) as log:
        assert (log.size, log.stopped) == (63_873, None)


# ---- trouble -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["sync", "write_manifest"])
def test_a_full_disk_ends_the_keeping_but_not_the_search(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, real = itertools.count(), getattr(checkpoint, part)

    def fails(*arguments: object) -> None:
        if next(calls) >= 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(checkpoint, part, fails)
    model = election(3, 2, 1)
    with kept(model, tmp_path) as log:
        assert (log.size, log.stopped) == (63_873, None)
        assert log.trouble == f"the checkpoint in {tmp_path} is no longer kept: No space left on device"
    monkeypatch.undo()
    assert 0 < read_manifest(tmp_path).states < 63_873
    with kept(model, tmp_path, resumes=True) as log:
        assert (log.size, log.stopped, log.trouble) == (63_873, None, None)


def test_a_search_that_fails_lets_go_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_limits, "REPORT_SECONDS", 0.0)
    model, failures = election(3, 2, 1), itertools.count()
    others = set(threading.enumerate())  # of tests before this one, in the same process

    def report(_: Progress) -> bool:
        if (tmp_path / NAME).exists() and next(failures) == 0:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt), kept(model, tmp_path, report=report):
        pass
    assert set(threading.enumerate()) <= others
    with kept(model, tmp_path, resumes=True) as log:
        assert (log.size, log.stopped) == (63_873, None)


@pytest.mark.parametrize(
    "change",
    [
        {"states": "many"},
        {"states": -1},
        {"levels": None},
        {"levels": [[["../states", 0, 1]]]},
        {"files": {"../states": [[1, 2]]}},
        {"hits": {"one": [1]}},
        {"error": [1]},
        {"depth": 99},
        {"more": 1},
        {"counts": [1, None]},
    ],
)
def test_manifest_that_says_something_else_under_a_right_digest_is_damaged(
    tmp_path: Path, change: dict[str, object]
) -> None:
    whole = Manifest("x", 1, 0, 0, ((("s-0", 0, 1),),), {"s-0": ((8, 1),)}, [1], [0], {}, {}, None, {}, 0.1)
    write_manifest(whole, tmp_path)
    assert read_manifest(tmp_path) == whole
    path = tmp_path / "checkpoint"
    head, _, content = path.read_text(encoding="utf-8").partition("\n")
    content = json.dumps(json.loads(content) | change)
    digest = hashlib.sha256(content.encode()).hexdigest()
    path.write_text(f"{head[:-64]}{digest}\n{content}", encoding="utf-8")
    with pytest.raises(CheckpointError, match="the checkpoint is damaged"):
        read_manifest(tmp_path)
