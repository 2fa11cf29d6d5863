"""Every shipped spec has a meaning for the direct interpreter, and its states are what they are observed to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.model.direct import SpecificationError, State, load
from hacheck.model.language.specification import Specification
from hacheck.model.language.specification import load as read

SPECS = sorted((Path(__file__).resolve().parents[2] / "spec").glob("*.ha"))
STATES = 150
OF_A_STATE = ("invariant", "lemma", "reachable", "deadlock_free")


def specification_of(path: Path) -> Specification:
    """A shipped spec, not examined."""

    def library(name: str) -> str | None:
        beside = path.parent / name
        return beside.read_text(encoding="utf-8") if beside.is_file() else None

    loaded = read(path.read_text(encoding="utf-8"), path.name, library, examined=False)
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_first_states_of_a_spec_are_computed_and_restored(path: Path) -> None:
    system = load(specification_of(path))
    asked = [name for name, kind in system.properties().items() if kind in OF_A_STATE]
    found = [step.outcome for step in system.initial()]
    seen = set(found)
    for state in found[:STATES]:
        assert isinstance(state, State)
        assert system.restore(system.observe(state)) == state
        for name in asked:
            system.holds(name, state)
        for step in system.successors(state):
            assert not isinstance(step.outcome, SpecificationError), step
            if isinstance(step.outcome, State) and step.outcome not in seen and len(found) < STATES:
                seen.add(step.outcome)
                found.append(step.outcome)
    assert len(found) > 1


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_checks_of_a_spec_have_initial_states(path: Path) -> None:
    specification = specification_of(path)
    for check in specification.checks[:: max(1, len(specification.checks) // 3)]:
        outcomes = [step.outcome for step in load(specification, check=check.name).initial()]
        assert outcomes != [], check.name
        assert all(isinstance(outcome, State) for outcome in outcomes), check.name
