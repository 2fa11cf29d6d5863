"""`hacheck verify --recheck`: a second interpreter computes states of a finished search again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.meanings.old_mistakes import KEY_FORGOTTEN

KEY = """system Key "A local that a later step uses only as a key."
node A[2] symmetric { done: bool = false  second: bool = false }
shared g: map bool to 0..1 = 0
action go(a: A) when not a.done do
  choose q: bool
  a.done := true
  step one:
  a.second := q
  step two:
  g[q] := 1
faults { crash A up to 1 }
reachable set: g[true] == 1
check default expect all hold
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "key.ha"
    path.write_text(KEY, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("how", [(), ("--no-reductions",), ("--engine", "python")])
def test_everything_of_a_small_system_is_rechecked(spec: str, how: tuple[str, ...]) -> None:
    ended = hacheck("verify", spec, "--recheck", "60s", *how, columns=200)
    assert ended.code == 0, ended.out
    (line,) = [line for line in ended.out.splitlines() if line.strip().startswith("rechecked")]
    assert "by a second interpreter (everything, " in line
    assert line.endswith("no difference")


@pytest.mark.parametrize("how", [(), ("--engine", "python")])
def test_states_behind_a_limit_are_no_difference(spec: str, how: tuple[str, ...]) -> None:
    ended = hacheck("verify", spec, "--recheck", "60s", "--states", "6", *how, columns=200)
    assert ended.code in (0, 3), ended.out
    (line,) = [line for line in ended.out.splitlines() if line.strip().startswith("rechecked")]
    assert line.endswith("no difference")


def test_recheck_is_part_of_the_json(spec: str, tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    assert hacheck("verify", spec, "--recheck", "60s", "--json", str(target)).code == 0
    found = json.loads(target.read_text(encoding="utf-8"))["checks"][0]["recheck"]
    assert found["everything"]
    assert found["differences"] == []
    assert found["steps"] > found["states"] > found["of_states"] > 10, "states that are alike are rechecked each"


@pytest.mark.parametrize("how", [(), ("--no-reductions",), ("--engine", "python")])
def test_a_wrong_elaboration_is_a_bug_of_ours(spec: str, tmp_path: Path, how: tuple[str, ...]) -> None:
    target = tmp_path / "found.json"
    with KEY_FORGOTTEN.made():
        ended = hacheck("verify", spec, "--recheck", "60s", "--json", str(target), *how, columns=200)
        alone = hacheck("verify", spec, *how)
    assert alone.code == 1, "without a second interpreter the verdict is wrong, and nothing says so"
    assert ended.code == 4
    assert "no step reads `q` of `go` any more" in ended.out
    (difference,) = json.loads(target.read_text(encoding="utf-8"))["checks"][0]["recheck"]["differences"]
    assert difference["where"] == "forgotten"
    assert "go" in difference["path"]
    assert any("at A(" in value for value in difference["state"])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (("--recheck", "soon"), "--recheck soon: not a time"),
        (("--recheck", "5s", "--engine", "bmc"), "--recheck is not for bmc"),
        (("--recheck", "5s", "--fingerprint"), "--fingerprint keeps none"),
    ],
)
def test_what_keeps_no_states_is_not_rechecked(spec: str, how: tuple[str, ...], said: str) -> None:
    ended = hacheck("verify", spec, *how, columns=200)
    assert ended.code == 2
    assert said in ended.err
