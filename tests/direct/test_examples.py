"""What the reference and the cases of each construct say comes out, comes out of the direct interpreter as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.model.direct import DirectSystem, load
from hacheck.model.language.specification import Specification
from hacheck.model.language.specification import load as read
from tests.direct.exploration import INFINITE, Explored, explore
from tests.language.examples import Example, examples

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
STATES_MAX = 6_000


def _is_meant_to_be_read(example: Example) -> bool:
    """Whether the example has a meaning; what is wrong with a text is for the first one to say."""
    return not any(line.startswith("error ") for line in example.expected)


EXAMPLES = [
    pytest.param(example, id=f"{path.stem}: {example.where}")
    for path in DOCUMENTS
    for example in examples(path)
    if _is_meant_to_be_read(example)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_comes_out_as_said(example: Example) -> None:
    specification = read(example.text, "example.ha", example.libraries.get, examined=False).specification
    assert specification is not None
    lines = [line for line in example.expected if not line.startswith("warning ")]
    if lines:
        system, found = _explored(specification, None)
        assert found.errors == [] or "fault" in lines
        for line in lines:
            _compare(line, system, found)
    for check in () if lines else specification.checks:
        system, found = _explored(specification, check.name)
        assert found.errors == []
        asked = [name for name, kind in system.properties().items() if kind not in INFINITE]
        violated = {name for name in asked if found.verdict(name, system.properties()[name]) == "violated"}
        only = set(check.only or asked)
        assert violated & only == set(check.expect_violated) & set(asked), check.name


def _explored(specification: Specification, check: str | None) -> tuple[DirectSystem, Explored]:
    system = load(specification, check=check)
    found = explore(system, STATES_MAX)
    assert found.complete
    return system, found


def _compare(line: str, system: DirectSystem, found: Explored) -> None:
    """Fails when a line of a `result` block is not true."""
    name, _, value = (part.strip() for part in line.partition(":"))
    match name:
        case "fault":
            assert found.errors
        case "states":
            assert found.states == int(value)
        case "cut":
            assert value in found.bounds
        case "not cut":
            assert not found.bounds
        case "taken":
            assert found.steps[value] > 0
        case "never taken":
            assert found.steps[value] == 0
        case _ if system.properties()[name] not in INFINITE:
            verdict, _, length = value.partition(" in ")
            assert found.verdict(name, system.properties()[name]) == verdict, line
            if length:
                assert found.decided[name] == int(length.split()[0]), line
