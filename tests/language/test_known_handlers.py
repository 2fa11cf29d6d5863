"""A system that is made of handlers known from other settings is the one that is made without them."""

from __future__ import annotations

import re

import pytest

import hacheck
from hacheck.checker.blame.trials import variants_of
from hacheck.model.ir import System
from tests.nightly import by_night


def parts(system: System | None) -> list[str]:
    """The parts of a system in words, locals numbered in the order in which they appear in each."""
    if system is None:
        return []
    whole = [*system.actions, *system.properties, system.variables, system.initial, system.bounds, system.endless]
    whole += [system.settings, system.nodes, system.faults, system.assumptions, *system.definitions, *system.promises]
    made = []
    for one in whole:
        numbers: dict[str, int] = {}
        made.append(re.sub(r"\$(\d+)", lambda found: f"${numbers.setdefault(found[1], len(numbers))}", repr(one)))  # noqa: B023
    return made


@pytest.mark.parametrize(
    "name", by_night(["artemis_client", "artemis_shared_store", "icestorm", "qpid_ha"], lambda name: name == "qpid_ha")
)
def test_systems_of_other_settings_are_those_that_are_made_anew(name: str) -> None:
    specification = hacheck.load(name).specification
    known = specification.known_handlers()
    first = specification.instantiate({}, known=known).system
    assert first is not None
    assert parts(first) == parts(specification.instantiate({}).system)
    variants = variants_of(specification.parameters, dict(first.settings))
    assert len(variants) > 20
    for one in variants:
        made = specification.instantiate({one.name: one.value}, known=known)
        expected = specification.instantiate({one.name: one.value})
        assert made.diagnostics == expected.diagnostics, one
        assert parts(made.system) == parts(expected.system), one


def test_handlers_that_read_no_changed_setting_are_made_once() -> None:
    specification = hacheck.load("qpid_ha").specification
    known = specification.known_handlers()
    one = specification.instantiate({}, known=known).system
    other = specification.instantiate({}, known=known).system
    assert one is not None
    assert other is not None
    shared = {id(action) for action in one.actions} & {id(action) for action in other.actions}
    assert len(shared) > len(one.actions) // 2
