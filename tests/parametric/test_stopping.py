"""Whoever waits for a proof is answered soon, when time is out and when he asks to stop, whatever is under way."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from hacheck.api import proof_stages
from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.symbolic.z3_library import z3_module
from hacheck.cli.progress import ProgressLine
from hacheck.cli.proving.proof_supervision import ProofSupervisor
from hacheck.supervise.interruption import Interruption
from tests.parametric.proofs import ROOT


def supervisor(seconds: float, memory_max: int | None = None) -> ProofSupervisor:
    """Somebody who waits for so long, or until so many bytes are in use."""
    line = ProgressLine(quiet=True, no_color=True)
    return ProofSupervisor(SolverSession(time.monotonic() + seconds), Interruption(), line, memory_max)


def test_what_ends_is_handed_over_and_so_are_its_errors() -> None:
    assert supervisor(60).run("adding", lambda: 1 + 1) == 2
    with pytest.raises(ZeroDivisionError):
        supervisor(60).run("dividing", lambda: 1 // 0)


def test_nobody_waits_for_what_does_not_end_in_time() -> None:
    waiting, end = supervisor(0.2), threading.Event()
    assert waiting.run("waiting", end.wait) is None
    assert waiting.session.why == "out of time"
    end.set()


def test_who_asks_to_stop_is_heard_while_work_is_under_way() -> None:
    waiting = supervisor(60)

    def work() -> str:
        waiting.interruption.requested = True
        while waiting.report(Progress(1, 2, "the first")) or not waiting.session.over:
            time.sleep(0.01)
        return "what there is"

    assert waiting.run("proving", work) == "what there is"
    assert waiting.session.why == "interrupted"


def test_what_needs_no_time_limit_is_ended_by_who_asks_to_stop_only() -> None:
    waiting = supervisor(0.0)
    assert waiting.run("judging", lambda: time.sleep(0.3) or "judged", timed=False) == "judged"
    waiting.interruption.requested, end = True, threading.Event()
    assert waiting.run("judging", end.wait, timed=False) is None
    end.set()


def test_where_memory_does_not_suffice_that_is_said() -> None:
    waiting = supervisor(60)

    def work() -> None:
        raise MemoryError

    assert waiting.run("proving", work) is None
    assert waiting.session.why == "out of memory"


def test_nobody_waits_for_what_uses_more_memory_than_it_may() -> None:
    waiting, end = supervisor(60, memory_max=1), threading.Event()
    assert waiting.run("waiting", end.wait) is None
    assert waiting.session.why == "out of memory"
    end.set()


def test_where_z3_has_no_memory_left_nothing_more_is_asked() -> None:
    waiting = supervisor(60)

    def work() -> None:
        with waiting.session.context():
            raise z3_module().Z3Exception(b"out of memory")

    assert waiting.run("proving", work) is None
    assert (waiting.session.over, waiting.session.why) == (True, "out of memory")


@pytest.mark.parametrize(
    ("limit", "why"), [(("--time", "0.2"), "out of time"), (("--memory", "1MiB"), "out of memory")]
)
def test_a_model_that_takes_long_to_tell_in_logic_is_not_waited_for(limit: tuple[str, str], why: str) -> None:
    asked = ("prove", str(ROOT / "spec" / "icestorm.ha"), *limit, "--json", "-")
    ended = subprocess.run([sys.executable, "-m", "hacheck", *asked], capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["proved"], found["stopped"]) == (False, why)
    assert "properties" not in found
    assert f"not proved ({why})" in ended.stderr


def test_what_speaks_against_a_proof_is_judged_for_so_long_in_all_where_time_is_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[float] = []

    def judged(example: object, engine: object, seconds: float, go_on: object) -> object:
        given.append(seconds)
        return example

    failed = SimpleNamespace(obligation=SimpleNamespace(claim=SimpleNamespace(name="one")), refutation=True)
    other = SimpleNamespace(obligation=SimpleNamespace(claim=SimpleNamespace(name="other")), refutation=True)
    monkeypatch.setattr(proof_stages, "counterexample", lambda outcome, sized: outcome)
    monkeypatch.setattr(proof_stages, "reached", judged)
    proof = SimpleNamespace(failed=(failed, other))
    here = proof_stages.Supervision(
        SolverSession(0.0), lambda doing, work, timed: work(), lambda progress: True, lambda: True
    )
    for left in (2.0, -5.0, 500.0):
        proof_stages.induction_counterexamples(None, proof, here, time.monotonic() + left)  # type: ignore[arg-type]
    assert all(1 < seconds <= 2 for seconds in given[:2])
    assert given[2:] == [0.1, 0.1, proof_stages.REACHED_SECONDS, proof_stages.REACHED_SECONDS]
