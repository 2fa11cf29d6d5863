"""Liveness after a compiled search, with generated functions: the answers are the portable engine's."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.ir import System
from hacheck.model.language.specification import load
from tests.native.test_liveness import larger_systems
from tests.nightly import first_of, nightly

ROOT = Path(__file__).parents[2]
ELECTION = """
eventually led: some i: Replica where i.mode == leader
  fair timeout, request, reply
leads_to follows: (some i: Replica where i.mode == candidate) ~> (some i: Replica where i.mode == leader)
  strongly fair timeout, request
  fair reply
leads_to back: (some i: Replica where not up(i)) ~> (every i: Replica satisfies up(i))
  fair restart
leads_to left: (some i: Replica where i.mode == leader) ~> (no i: Replica where i.mode == leader)
  strongly fair lose, reply
leads_to votes: (some i: Replica where i.mode == leader) ~> (some i: Replica where i.votes == {})
"""


def system_of(path: str, check: str | None, more: str = "", **settings: str) -> System:
    """The system of a check, asked only what is asked of infinite runs."""
    file = ROOT / path
    loaded = load(file.read_text(encoding="utf-8") + more, str(file), lambda name: (file.parent / name).read_text())
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate(settings, check).system
    assert system is not None
    live = tuple(item for item in system.properties if item.kind in ("eventually", "leads_to"))
    return replace(system, properties=live)


def assert_same(native: Answer, portable: Answer, reductions: bool = False) -> None:
    """Verdicts, and the steps to the loops. (Every run was replayed before it was handed out. Over reduced states one
    may go round several times before a state is seen again.)"""
    assert [item.verdict for item in native.properties] == [item.verdict for item in portable.properties]
    for given, expected in zip(native.properties, portable.properties, strict=True):
        assert (given.run is None) == (expected.run is None)
        if given.run is not None and expected.run is not None and not reductions:
            assert given.run.loop == expected.run.loop


def checked(system: System, cache: Path, threads: int, reductions: bool) -> Answer:
    """The native engine's answer."""
    engine = NativeEngine(threads=threads, reductions=reductions, cache=cache)
    return engine.check(system, (), Limits(), lambda _: True)


def test_random_systems_are_judged_alike(tmp_path: Path) -> None:
    verdicts = set()
    for number, system in enumerate(larger_systems(3_000, 30)):
        portable = PortableEngine().check(system, (), Limits(), lambda _: True)
        reductions = number % 3 == 0
        native = checked(system, tmp_path, 1 + number % 2, reductions)
        assert_same(native, portable, reductions)
        verdicts |= {item.verdict for item in native.properties}
    assert verdicts == {"holds", "violated", "unknown"}


@pytest.mark.parametrize("threads", first_of([2, 1, 3]))
def test_an_election_is_judged_alike(tmp_path: Path, threads: int) -> None:
    system = system_of("bench/quorum_election.ha", None, ELECTION)
    portable = PortableEngine().check(system, (), Limits(), lambda _: True)
    assert {item.verdict for item in portable.properties} == {"holds", "violated"}
    native = checked(system, tmp_path, threads, reductions=False)
    assert_same(native, portable)
    again = checked(system, tmp_path, 1, reductions=False)
    assert [item.run for item in native.properties] == [item.run for item in again.properties]


@nightly
@pytest.mark.parametrize("check", ["recovers", "full_disk_blocks"])
def test_icestorm_is_judged_alike(tmp_path: Path, check: str) -> None:
    system = system_of("spec/icestorm.ha", check)
    portable = PortableEngine().check(system, (), Limits(), lambda _: True)
    assert_same(checked(system, tmp_path, 2, reductions=False), portable)
