"""Random states of every check of every shipped spec are computed again by the second interpreter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck import shipped
from tests.cli.command import hacheck
from tests.nightly import nightly

SECONDS = 2


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
