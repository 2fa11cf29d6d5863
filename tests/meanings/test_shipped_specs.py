"""Both meanings of every shipped spec: the first states of its checks, and by night random states of whole searches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hacheck import shipped
from tests.cli.command import hacheck
from tests.direct.test_shipped import specification_of
from tests.meanings.exploring import compared, comparison
from tests.nightly import by_night, nightly

SECONDS = 2
STATES = 25
STATES_MAX = 2_000
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
    checks = rechecked(path, tmp_path)
    endless = [name for name, found in checks.items() if found["not_supported"] == "a counter without an end"]
    if endless:  # explored up to the counter's number, that of generated Python is compared
        few = ("--engine", "python", "--states", str(STATES_MAX))
        checks |= rechecked(path, tmp_path, *few, *(word for name in endless for word in ("--check", name)))
    assert checks
    for name, found in checks.items():
        assert found["differences"] == [], name
        assert found["not_supported"] is None, name
        assert found["steps"] > 0, name


def rechecked(path: Path, folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    """By check, what a second interpreter says of its states."""
    target = folder / "found.json"
    ended = hacheck("verify", str(path), "--recheck", f"{SECONDS}s", "--json", str(target), *options)
    assert ended.code == 0 or ("--states" in options and ended.code in (1, 3)), ended.out
    checks = json.loads(target.read_text(encoding="utf-8"))["checks"]
    return {check["name"]: check["recheck"] for check in checks}
