"""`hacheck check-impl`: what it says of right code, of wrong code, and of what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.testing.reference_protocols import FOLLOWED
from tests.cli.command import hacheck
from tests.nightly import by_night, nightly
from tests.testing.schedules.voting import SPEC

VOTING = "tests.testing.schedules.voting:VOTING"


@pytest.fixture
def votes(tmp_path: Path) -> str:
    """The model of the vote."""
    path = tmp_path / "votes.ha"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


def check(votes: str, *words: str) -> tuple[int, str, str]:
    ended = hacheck("check-impl", VOTING, "--spec", votes, "--replicas", "3", "--clients", "0", *words)
    return ended.code, ended.out, ended.err


def test_right_code_agrees(votes: str) -> None:
    code, out, _ = check(votes, "--deviations", "1")
    assert code == ExitCode.AS_EXPECTED
    assert "the code conforms to the model" in out
    assert "every schedule with up to 1 deviation was explored" in out


def test_wrong_code_is_told_with_its_schedule(votes: str) -> None:
    code, out, _ = check(votes, "--code", "hasty=true")
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "voter-" in out
    assert "no run of the model writes this line here" in out
    assert "CRASHES: what it was" in out
    assert "  The model could have shown next:\n    Voter 1: wins\n" in out
    assert "  The smallest change that the model accepts: extra line: without this line.\n" in out


def test_disagreements_are_drawn_and_on_a_page(votes: str, tmp_path: Path) -> None:
    page, drawn = tmp_path / "found.html", tmp_path / "found.svg"
    files = ("--report", str(page), "--format", "svg", "--out", str(drawn))
    code, out, _ = check(votes, "--code", "twice=true", *files)
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "no run of the model writes this line here" in out
    assert drawn.read_text(encoding="utf-8").startswith("<svg ")
    assert '"key":"' in (text := page.read_text(encoding="utf-8"))
    assert "/schedule 1/disagreement" in text
    code, out, _ = check(votes, "--code", "twice=true", "--format", "json")
    assert code == ExitCode.NOT_AS_EXPECTED
    view = json.loads(out)
    assert (view["format"], view["check"]) == ("hacheck.view/1", "schedule 1")
    assert "no run of the model writes this line here" in str(view["story"])


def test_nothing_is_drawn_where_nothing_disagrees(votes: str, tmp_path: Path) -> None:
    page = tmp_path / "found.html"
    code, _, err = check(votes, "--deviations", "1", "--report", str(page))
    assert code == ExitCode.AS_EXPECTED
    assert "nothing to draw" in err
    assert not page.exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--format", "itf"), "there is no such format"),
        (("--out", "found.svg"), "--out goes with --format"),
        (("--format", "svg", "--json", "-"), "would both write to standard output"),
    ],
)
def test_drawings_that_cannot_be_made_are_refused(votes: str, words: tuple[str, ...], problem: str) -> None:
    code, _, err = check(votes, *words)
    assert code == ExitCode.BAD_INPUT
    assert problem in err


def test_everything_is_in_the_json(votes: str, tmp_path: Path) -> None:
    code, _, _ = check(votes, "--code", "twice=true", "--json", str(tmp_path / "found.json"))
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["exit_code"] == code == ExitCode.NOT_AS_EXPECTED
    (one,) = found["disagreements"]
    assert "no run of the model" in one["why"]
    assert one["expected"][0] == "Voter 3: stands"
    assert one["expected_before_step"] == []
    assert one["steps"][0] == {"step": ["start", "voter-1"], "about": "starts", "shown": []}
    assert found["lines_never_written"] == []


def test_what_was_not_explored_is_not_said_to_agree(votes: str) -> None:
    code, out, _ = check(votes, "--schedules", "3")
    assert code == ExitCode.UNDECIDED
    assert "not everything was explored" in out
    assert "only some were explored" in out


def test_lines_that_the_code_never_wrote_are_named(votes: str) -> None:
    _, out, _ = check(votes, "--deviations", "0", "--code", "wins_with=4")
    assert "never    lines: wins" in out


def test_code_that_writes_no_line_of_the_model_was_not_compared(votes: str, tmp_path: Path) -> None:
    other = tmp_path / "other.ha"
    other.write_text('system Other "x"\nnode S { }\naction go(s: S) do log gone()\ncheck default expect all hold\n')
    code, out, _ = check(str(other), "--deviations", "0")
    assert code == ExitCode.UNDECIDED
    assert "undecided: nothing was compared, since the code wrote no line that the model has" in out
    assert "conforms to the model" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), "unknown protocol `nonsense`"),
        (("qpid-transaction",), "did you mean qpid-transactions"),
        (("fiorano-shared", "--node", "nonsense=Server-1"), "unknown member `nonsense`"),
        (("fiorano-shared", "--node", "primary=Server-9"), "unknown node `Server-9`"),
        ((VOTING,), "its model is not known"),
        (("fiorano-shared", "--check", "nonsense"), "unknown check `nonsense`"),
        (("fiorano-shared", "--set", "nonsense=1"), "unknown setting `nonsense`"),
        (("icestorm", "--code", "nonsense=1"), "nonsense"),
        (("icestorm", "--code", "nonsense"), "--code nonsense: expected NAME=VALUE"),
        (("icestorm", "--time", "soon"), "--time soon: not a time"),
    ],
)
def test_bad_input_is_told(words: tuple[str, ...], said: str) -> None:
    ended = hacheck("check-impl", *words)
    assert ended.code == ExitCode.BAD_INPUT
    assert said in ended.err


@pytest.mark.parametrize(
    "code", by_night(FOLLOWED, lambda name: name in ("fiorano-shared", "qpid", "icestorm-clients"))
)
def test_reference_implementation_follows_its_spec(code: str) -> None:
    ended = hacheck("check-impl", code, "--deviations", "0", "--quiet")
    assert (ended.code, ended.out.strip()) == (ExitCode.AS_EXPECTED, f"+ {code}: the code conforms to the model")


STEPS = {"qpid-transactions": FOLLOWED["qpid-transactions"].steps}
"""Of a schedule, if not 150: a transaction begins late, when there is a backup."""


@nightly
@pytest.mark.parametrize("code", FOLLOWED)
@pytest.mark.parametrize("fault", ["--crashes", "--cuts"])
def test_reference_implementation_follows_its_spec_in_other_schedules(code: str, fault: str) -> None:
    others = {"--crashes", "--cuts"} - {fault}
    limits = ("--deviations", "1", "--steps", str(STEPS.get(code, 150)), "--time", "20m")
    ended = hacheck("check-impl", code, fault, "1", *others, "0", *limits)
    assert ended.code == ExitCode.AS_EXPECTED, ended.out


def test_what_was_not_tried_is_said(votes: str) -> None:
    words = "coverage: 1 schedule beside Votes only the usual order alone, without a deviation or a fault; raise"
    assert words in " ".join(check(votes, "--deviations", "0")[1].split())
    assert "only     no fault was allowed" in check(votes, "--deviations", "1", "--crashes", "0")[1]


def test_coverage_is_in_text_json_and_page(votes: str, tmp_path: Path) -> None:
    page, found = tmp_path / "found.html", tmp_path / "found.json"
    _, out, _ = check(votes, "--code", "twice=true", "--json", str(found), "--report", str(page))
    covered = json.loads(found.read_text())["coverage"]
    assert covered["model"] == "Votes"
    assert covered["actions"]["stand"] == {"possible": 2, "instances": 3}
    assert set(covered["lines"]) == {"stands", "votes_for", "wins"}
    assert covered["faults"]["crash"] > 0
    assert f"  faults   crash {covered['faults']['crash']}" in out
    assert "faults crash" in page.read_text(encoding="utf-8")


def test_what_an_action_lacks_is_named(votes: str, tmp_path: Path) -> None:
    more = "environment action retire(v: Voter) when v.won and v.votes == {}\ndo v.won := false\nfaults {"
    Path(votes).write_text(SPEC.replace("faults {", more), encoding="utf-8")
    _, out, _ = check(votes, "--deviations", "0", "--json", str(tmp_path / "found.json"))
    assert "never    actions: retire" in out
    assert json.loads((tmp_path / "found.json").read_text())["coverage"]["lacks"]["retire"][0] in " ".join(out.split())
    assert "nearest  retire: `v.w" in out


def test_the_size_of_the_cluster_is_that_of_the_spec() -> None:
    words = ("--replicas", "4", "--schedules", "4", "--deviations", "0", "--steps", "60", "--json", "-")
    found = json.loads(hacheck("check-impl", "icestorm", *words).out)
    assert found["not_compared_to_the_end"] == 0
    ended = hacheck("check-impl", "icestorm", *words, "--set", "replicas=3")
    assert json.loads(ended.out)["not_compared_to_the_end"] > 0, "what the user says comes first"


def test_a_member_that_the_spec_has_no_node_for_is_refused() -> None:
    ended = hacheck("check-impl", "artemis-shared-store", "--replicas", "3", "--schedules", "1")
    assert ended.code == ExitCode.BAD_INPUT
    assert "backup-2 stands for no node of the model" in ended.err
    assert "--node backup-2=NODE" in ended.err
