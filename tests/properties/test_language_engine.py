"""What the language makes of every documented example, the portable engine explores as the interpreter does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.checker.engine import Limits
from tests.language.examples import LIVENESS, STATES_MAX, Example, decide, examples, loaded
from tests.models.engines import EXACT, ExplicitEngine

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
EXAMPLES = [pytest.param(one, id=f"{path.stem}: {one.where}") for path in DOCUMENTS for one in examples(path)]


@pytest.mark.parametrize("engine", EXACT)
@pytest.mark.parametrize("example", EXAMPLES)
def test_engine_agrees_with_the_interpreter(example: Example, engine: ExplicitEngine) -> None:
    read = loaded(example).specification
    if read is None:
        return
    for check in (None, *read.checks):
        system = read.instantiate(check=check.name if check else None).system
        assert system is not None
        verdicts, found = decide(system)
        answer = engine.check(system, (), Limits(states_max=STATES_MAX), lambda _: True)
        if found.fault_depth is not None:
            runs = [one.run for one in answer.properties if one.verdict == "unknown"]
            met = [len(run.steps) for run in (answer.error, *runs) if run is not None]
            assert answer.unstartable or min(met, default=None) == found.fault_depth
            continue
        seen = answer.coverage
        assert (seen.states, seen.transitions, seen.depth) == (found.states, found.transitions, found.depth)
        assert dict(seen.bounds_reached) == found.cuts
        assert seen.action_counts == found.action_counts
        for one in answer.properties:
            kind = next(asked.kind for asked in system.properties if asked.name == one.name)
            if kind in LIVENESS:
                continue
            assert (one.verdict == "violated") == (verdicts[one.name] == "violated"), one
            if one.run is not None:
                assert len(one.run.steps) == found.decided[one.name]
