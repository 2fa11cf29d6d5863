"""Every lemma that is printed holds when it is written into the spec: exploring refutes none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.symbolic.k_induction import InductionEngine
from tests.nightly import first_of, nightly
from tests.parametric.proofs import EXAMPLES, proof_of, wanted
from tests.symbolic.test_spec_text import LEASE, specification_of, system_of

FINDING = Limits(wall_seconds_max=120.0)
EXPLORING = Limits(states_max=3_000_000, wall_seconds_max=300.0)
UNHELPED = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.ha"))}


def without_lemmas(text: str) -> str:
    """A text without its lemmas."""
    lines = iter(text.splitlines())
    kept: list[str] = []
    inside = False
    for line in lines:
        inside = line.startswith("lemma") or (inside and line.startswith(" "))
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def found_in(text: str, path: str, check: str | None) -> tuple[str, ...]:
    """The lemmas that a proof by induction of a text finds and prints."""
    system = system_of(text, path, check)
    asked = tuple(one.name for one in system.properties if one.kind in ("invariant", "step"))
    if not asked:
        return ()
    engine = InductionEngine(1, reachability=False, finding=True)
    return engine.check(system, asked, FINDING, lambda _: True).lemmas


def assert_none_is_violated(text: str, path: str, check: str | None, lemmas: tuple[str, ...]) -> None:
    """The text with these lemmas has no run that violates one."""
    system = system_of("\n".join((text, *lemmas, "")), path, check)
    names = tuple(one.split()[1].rstrip(":") for one in lemmas)
    answer = NativeEngine().check(system, names, EXPLORING, lambda _: True)
    wrong = [one.name for one in answer.properties if one.verdict == "violated"]
    assert not wrong, [one for one in lemmas if one.split()[1].rstrip(":") in wrong]


SMALL = {"lease": LEASE, "locks": without_lemmas(UNHELPED["lock_servers"])}


@pytest.mark.parametrize("name", SMALL)
def test_no_lemma_of_a_small_spec_is_refuted(name: str) -> None:
    lemmas = found_in(SMALL[name], "spec.ha", "default")
    assert lemmas
    assert_none_is_violated(SMALL[name], "spec.ha", "default", lemmas)


def test_a_lease_is_proved_with_a_lemma_about_who_holds_it() -> None:
    assert any("holds(Leader, a)" in one for one in found_in(LEASE, "spec.ha", None))


@pytest.mark.parametrize("name", first_of(UNHELPED))
def test_no_lemma_of_a_proof_for_every_size_is_refuted(name: str) -> None:
    text = without_lemmas(UNHELPED[name])
    found = proof_of(wanted(text), searched=True)
    assert found.proved
    assert found.found
    texts = [one for one in found.texts if one is not None]
    assert texts, "the language has words for some"
    lemmas = tuple(f"lemma found_{number}: {one}" for number, one in enumerate(texts))
    assert_none_is_violated(text, "spec.ha", "default", lemmas)


def checks() -> Iterator[tuple[Path, str]]:
    """The checks of the shipped specs."""
    every = [(path, specification_of(path.read_text(encoding="utf-8"), str(path)).checks) for path in shipped.specs()]
    yield from ((path, one.name) for path, found in every for one in found)


@nightly
@pytest.mark.parametrize(("path", "check"), list(checks()), ids=lambda value: getattr(value, "stem", value))
def test_no_lemma_of_a_shipped_spec_is_refuted(path: Path, check: str) -> None:
    text = path.read_text(encoding="utf-8")
    lemmas = found_in(text, str(path), check)
    if lemmas:
        assert_none_is_violated(text, str(path), check, lemmas)
