"""What `hacheck verify` writes for CI systems: JUnit XML, SARIF, annotations; and what a baseline excuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from tests.cli.command import hacheck

SPEC = """system Pair "Two servers."
node Server[2] symmetric { active: bool = false }
action go(s: Server) when not s.active do s.active := true
invariant one "never <two> & more": at most one s: Server where s.active
invariant none_yet: no s: Server where s.active
check default expect none_yet violated
check quiet only none_yet expect none_yet violated
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec of which one property does not come out as it says."""
    path = tmp_path / "pair.ha"
    path.write_text(SPEC)
    return path


def test_junit_has_a_case_for_each_property_and_the_run_of_what_failed(spec: Path, tmp_path: Path) -> None:
    ended = hacheck("verify", str(spec), "--junit", str(tmp_path / "out.xml"))
    assert ended.code == 1
    suites = list(fromstring((tmp_path / "out.xml").read_text()))
    assert [(suite.get("tests"), suite.get("failures")) for suite in suites] == [("2", "1"), ("1", "0")]
    (failure,) = suites[0].iter("failure")
    assert failure.get("message") == "one is violated in check default, expected: holds (never <two> & more)"
    assert "2 Server 1 go" in (failure.text or "") or "2 Server 2 go" in (failure.text or "")


def test_sarif_has_what_is_not_as_expected_at_its_line(spec: Path, tmp_path: Path) -> None:
    hacheck("verify", str(spec), "--sarif", str(tmp_path / "out.sarif"))
    (run,) = json.loads((tmp_path / "out.sarif").read_text())["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"], result["baselineState"]) == ("one", "error", "new")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4


def test_annotations_stand_at_the_line_of_the_property(spec: Path) -> None:
    ended = hacheck("verify", str(spec), "--annotations", "github")
    (line,) = [one for one in ended.out.splitlines() if one.startswith("::")]
    assert line.startswith("::error file=")
    assert ",line=4,title=one is violated in check default%2C expected%3A holds" in line
    assert "%0A" in line


def test_baseline_excuses_what_was_known_and_nothing_new(spec: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert hacheck("verify", str(spec), "--json", str(known)).code == 1
    assert hacheck("verify", str(spec), "--baseline", str(known)).code == 0
    spec.write_text(SPEC.replace("check quiet only none_yet expect none_yet violated", "check quiet expect all hold"))
    assert hacheck("verify", str(spec), "--baseline", str(known)).code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--baseline", "missing.json"), "cannot be read"),
        (("--baseline", "{spec}"), "is no output of hacheck verify --json"),
        (("--annotations", "gitlab"), "write --annotations github"),
        (("--junit", "{spec}"), "is read"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_lost(spec: Path, words: tuple[str, ...], said: str) -> None:
    ended = hacheck("verify", str(spec), *(word.format(spec=spec) for word in words))
    assert ended.code == 2
    assert spec.read_text() == SPEC
    assert said in " ".join(ended.err.split()) or words[0] == "--junit"
