"""Both meanings of every shipped spec: the first states of its checks, and by night random states of whole searches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck import shipped
from tests.cli.command import hacheck
from tests.direct.test_shipped import specification_of
from tests.meanings.exploring import compared, comparison
from tests.nightly import by_night, nightly

SECONDS = 2
STATES = 25
IN_EVERY_RUN = ("fiorano_shared", "icestorm_topics", "qpid_standalone")


@pytest.mark.parametrize(
    "path", by_night(shipped.specs(), lambda path: path.stem in IN_EVERY_RUN), ids=lambda path: path.stem
)
def test_both_meanings_have_the_same_first_states_and_steps(path: Path) -> None:
    specification = specification_of(path)
    for check in specification.checks[:: max(1, len(specification.checks) // 3)]:
        found = compared(comparison(specification, check.name), STATES)
        assert found.differences == [], check.name
        assert found.steps > 0, check.name


@nightly
@pytest.mark.parametrize("path", shipped.specs(), ids=lambda path: path.stem)
def test_states_of_every_check_are_computed_again(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    ended = hacheck("verify", str(path), "--recheck", f"{SECONDS}s", "--json", str(target))
    assert ended.code == 0, ended.out
    checks = json.loads(target.read_text(encoding="utf-8"))["checks"]
    assert checks
    for check in checks:
        found = check["recheck"]
        assert found["differences"] == [], check["name"]
        assert found["not_supported"] is None, check["name"]
        assert found["steps"] > 0, check["name"]
