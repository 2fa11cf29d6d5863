"""Where nothing can begin, nothing is said to hold: that is an error of the spec, with every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import hacheck

BEYOND = "node S { n: counter up to 1 = 0 }\ninitially do S.n := 2\n"
NO_CHOICE = "node S { n: 0..1 = 0 }\ninitially do choose v in { k: 0..1 where k > 1 } S.n := v\n"
ASKED = "action go(s: S) do s.n := 1\ninvariant never: S.n == 0\n"


@pytest.mark.parametrize("engine", ["native", "python", "bmc", "induction", "simulation"])
@pytest.mark.parametrize(
    ("start", "why"), [(BEYOND, "goes beyond a bound (S.n)"), (NO_CHOICE, "has nothing to choose from")]
)
def test_no_initial_state_is_an_error(tmp_path: Path, start: str, why: str, engine: str) -> None:
    spec = tmp_path / "nothing.ha"
    spec.write_text('system Nothing "x"\n' + start + ASKED, encoding="utf-8")
    ended = hacheck("verify", str(spec), "--engine", engine, columns=200)
    assert ended.code == 2
    assert f"there is no initial state: `initially` {why}" in " ".join(ended.out.split())
    assert "holds" not in ended.out
