"""A search that takes long gets better code while it goes on; what it finds stays the same."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit import tier_up
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.native_program import Builder, Built
from hacheck.checker.explicit.search.breadth_first_search import Options, Search
from hacheck.checker.explicit.search.control_words import EXPAND
from hacheck.checker.explicit.search.kernel_groups import Kernels
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.worker_memory import Functions
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.explicit.tier_up import TierUp, functions_of
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.ir import System
from tests.models.quorum_election import quorum_election
from tests.native.searching import never_stop

SYSTEM, LONGER = quorum_election(3, 2, 1), quorum_election(3, 3, 1)
STATES, STEPS = 63_873, 465_114


def builder(folder: Path, optimise: bool = False, system: System = SYSTEM) -> Builder:
    return Builder(system, (), False, ObjectCache(folder), Stopwatch(Limits(), never_stop), optimise)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_goes_on_with_better_code_and_finds_the_same(threads: int, tmp_path: Path) -> None:
    quick, optimised = builder(tmp_path).for_search(), builder(tmp_path).optimised()
    assert (quick.quick_lines > 1_000, optimised.quick_lines) == (True, 0)
    assert builder(tmp_path / "other", optimise=True).for_search().quick_lines == 0
    kernels = Kernels(quick.program.words, False, threads == 1, ObjectCache(tmp_path))
    search = Search(functions_of(quick), kernels, Options(threads), Bounds(Limits(), never_stop, 0.0))
    asked: list[float] = []

    def after_some_slices(seconds: float) -> Functions | None:
        asked.append(seconds)
        return functions_of(optimised) if len(asked) == 9 else None

    search.better = after_some_slices
    try:
        search.begin(quick.initial)
        search.run(None)
        assert (search.size, sum(search.tally.all_counts())) == (STATES, STEPS)
        assert search.shared[EXPAND] == optimised.functions.address("expand")
    finally:
        search.free()
    assert len(asked) > 9
    assert sorted(asked) == asked


def test_better_code_is_made_only_when_it_is_worth_while() -> None:
    def never() -> Built:
        raise AssertionError("not asked for")

    for lines, seconds in ((1_000, 0.29), (1_000_000, 4.9)):
        with closing(TierUp(never, lines)) as tier_up_code:
            assert tier_up_code.functions(seconds) is None


def test_nobody_waits_for_code_that_is_not_needed_any_more() -> None:
    released = threading.Event()

    def waiting() -> Built:
        released.wait(60)
        raise MemoryError

    tier_up_code = TierUp(waiting, 1_000)
    assert tier_up_code.functions(0.3) is None
    before = time.perf_counter()
    tier_up_code.close()
    assert time.perf_counter() - before < 30
    released.set()


def test_what_goes_wrong_while_better_code_is_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier_up, "GRACE_SECONDS", 60.0)

    def failing() -> Built:
        raise MemoryError

    tier_up_code = TierUp(failing, 1_000)
    with suppress(MemoryError):
        tier_up_code.functions(0.3)
    tier_up_code.close()
    with pytest.raises(MemoryError):
        tier_up_code.functions(0.3)


@pytest.mark.parametrize("in_this_process", [True, False])
def test_better_code_is_kept_for_the_next_time(
    in_this_process: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_this_process:
        assert builder(tmp_path, system=LONGER).for_search().quick_lines
    monkeypatch.setattr(tier_up, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(tier_up, "GRACE_SECONDS", 60.0)
    answer = NativeEngine(cache=tmp_path, reductions=False).check(LONGER, (), Limits(), never_stop)
    assert (answer.coverage.states, answer.coverage.transitions) == (797_189, 7_355_568)
    assert builder(tmp_path, system=LONGER).for_search().quick_lines == 0
