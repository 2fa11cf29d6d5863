"""Trials as data: which are combined, what is kept of them, and the page that says what they found."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck import shipped
from hacheck.checker.engine import Limits
from hacheck.checker.limit_trials import ClaimResult, Explored, Trial, TrialResult, fewer, plan, together
from hacheck.checker.verify import questions_of
from hacheck.cli.checking.kept_trials import KeptTrials, explored_key, kept_trials
from hacheck.cli.checking.raised_page import Protocol, checks_of, page, refutations
from hacheck.cli.checking.raised_reasons import Explained, Reason, read_reasons
from hacheck.cli.guard import BadInput
from hacheck.model.language import Specification, load
from tests.nightly import nightly

ROOT = Path(__file__).resolve().parents[2]

SPEC = """system Two "two bounds"
param a = 1 in 1..5
param b = 2 in 1..5
param c = 3 in 1..5
param crashes = 1 in 0..2
assumption calm = on
node S { x: counter up to a = 0  y: counter up to b = 0  z: counter up to c = 0 }
action go(s: S) when calm do
  s.x := s.x + 1
  s.y := s.y + 1
  s.z := s.z + 1
faults { crash S up to crashes }
invariant small: S.x <= 1
invariant low: S.y <= 2
check default expect all hold
"""
CLAIMS = ("small", "low")


@pytest.fixture(scope="module")
def specification() -> Specification:
    found = load(SPEC, "two.ha").specification
    assert found is not None
    return found


def explored(specification: Specification) -> Explored:
    question = questions_of(specification)[0]
    values = tuple((one.name, one.default) for one in specification.parameters)
    return Explored(question, values, CLAIMS, 100, ("S.x",))


def result(*, refuted: str = "", states: int = 10, stopped: str = "", limited: bool = False) -> TrialResult:
    claims = tuple(
        ClaimResult(name, "refuted", 7, 1) if name == refuted else ClaimResult(name, "open" if stopped else "holds")
        for name in CLAIMS
    )
    return TrialResult(claims, stopped, limited, states, 5, 0.5, 20.0, 1000)


def trials(specification: Specification) -> dict[str, Trial]:
    return {one.raises[0].name: one for one in plan(specification, explored(specification)).trials}


def test_all_limits_that_held_are_combined_but_for_assumptions(specification: Specification) -> None:
    by_name = trials(specification)
    found = [
        (by_name["a"], result(refuted="small")),
        (by_name["b"], result(states=10)),
        (by_name["c"], result(states=99)),
        (by_name["crashes"], result(states=50)),
        (by_name["calm"], result()),
    ]
    combined = together(found)
    assert combined is not None
    assert [one.name for one in combined.raises] == ["b", "c", "crashes"]
    assert combined.claims == ("low",)
    halved = fewer(Trial(combined.question, (), combined.raises, combined.claims, 1.0), found)
    assert halved is None  # half of three is one, which was tried


def test_the_costly_half_is_left_out_where_a_combination_meets_a_limit(specification: Specification) -> None:
    by_name = trials(specification)
    found = [
        (by_name["a"], result(states=40)),
        (by_name["b"], result(states=10)),
        (by_name["c"], result(states=99)),
        (by_name["crashes"], result(states=50)),
    ]
    combined = together(found)
    assert combined is not None
    halved = fewer(combined, found)
    assert halved is not None
    assert [one.name for one in halved.raises] == ["a", "b"]
    assert fewer(halved, found) is None


def test_nothing_is_combined_where_nothing_is_left_to_claim(specification: Specification) -> None:
    by_name = trials(specification)
    one = [(by_name["b"], result()), (by_name["c"], result(refuted="small")), (by_name["a"], result(refuted="low"))]
    assert together(one) is None
    assert together([]) is None


@pytest.mark.parametrize(
    ("seconds", "states", "suffices"), [(20.0, 1000, True), (10.0, 999, True), (21.0, 1000, False), (20.0, None, False)]
)
def test_a_trial_that_met_a_limit_is_run_again_with_more(seconds: float, states: int | None, suffices: bool) -> None:
    met = result(stopped="1,000 states reached", limited=True)
    assert met.suffices(Limits(states, seconds)) is suffices
    assert result().suffices(Limits())
    assert result(stopped="not possible: a reason").suffices(Limits())


def test_what_is_kept_is_read_back_as_it_was(specification: Specification, tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    kept = kept_trials(specification, path)
    by_name = trials(specification)
    made = {
        "a": result(refuted="small"),
        "b": result(),
        "c": result(stopped="20 seconds passed", limited=True),
        "crashes": result(stopped="not possible: a reason"),
    }
    for name, one in made.items():
        kept.store(by_name[name], one)
    key = explored_key(explored(specification).question)
    kept.explored[key] = explored(specification)
    kept.save()
    again = kept_trials(specification, path)
    for name, one in made.items():
        read = again.lookup(by_name[name])
        assert read is not None
        assert read.claims == one.claims
        assert (read.stopped, read.limited, read.states) == (one.stopped, one.limited, one.states)
    assert again.lookup(by_name["calm"]) is None
    assert again.explored[key].values == explored(specification).values
    assert again.explored[key].claims == CLAIMS
    assert again.refuted() == {("default", "a = 2", "small")}


def kept_of(specification: Specification, path: Path) -> KeptTrials:
    kept = kept_trials(specification, path)
    by_name = trials(specification)
    kept.explored[explored_key(explored(specification).question)] = explored(specification)
    kept.store(by_name["a"], result(refuted="small"))
    kept.store(by_name["crashes"], result(refuted="small"))
    kept.store(by_name["calm"], result(refuted="low"))
    kept.store(by_name["b"], result())
    return kept


def test_the_page_counts_refuted_claims_by_what_refutes_them(specification: Specification, tmp_path: Path) -> None:
    kept = kept_of(specification, tmp_path / "two.json")
    text = page([Protocol("two", specification, kept, True)])
    (row,) = (line for line in text.splitlines() if line.startswith("| [two]"))
    assert cells(row) == ["1", "2", "4", "1", "3", "0", "0", "1"]
    (row,) = (line for line in text.splitlines() if line.startswith("| two |"))
    assert cells(row) == ["2", "1", "1", "0", "1", "3", "0", "0", "3"]
    small = next(line for line in text.splitlines() if "`small`" in line)
    assert "`a = 2` in 7 steps, 1 fault" in small
    assert "`crashes = 2` in 7 steps, 1 fault" in small
    assert "`b = 3`" in small
    assert "Tried before" not in text


def cells(row: str) -> list[str]:
    """The cells of a row behind its first."""
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_a_refutation_names_the_check_that_shows_it_or_its_reason(tmp_path: Path) -> None:
    """`alike` shows it within the trial, `odd` only in another variant; of `calm` a sentence was written."""
    checks = """switch odd = off
check alike with a = 2 only small expect small violated
check odd with a = 3, odd = on only small, low expect small, low violated
check fewer with b = 1 only small expect small violated
"""
    specification = load(SPEC + checks, "two.ha").specification
    assert specification is not None
    kept = kept_of(specification, tmp_path / "two.json")
    by_name = trials(specification)
    kept.store(by_name["c"], result(refuted="low"))
    kept.store(by_name["a"], result(refuted="small"))
    reasons = (Reason("calm", "Nobody is calm.", ("low",)), Reason("crashes", "Not this.", ("low",)))
    text = page([Protocol("two", specification, kept, True, reasons)])
    (row,) = (line for line in text.splitlines() if line.startswith("| two |"))
    assert cells(row) == ["2", "2", "1", "0", "1", "4", "1", "1", "2"]
    small = next(line for line in text.splitlines() if "| `small` |" in line)
    assert "`a = 2` in 7 steps, 1 fault (`alike`)" in small
    assert "`crashes = 2` in 7 steps, 1 fault |" in small
    assert "- `calm` (`low`): Nobody is calm.\n" in text
    assert "Not this." not in text
    other = page([Protocol("two", of_other_variant(specification), kept, True)])
    assert "`a = 2` in 7 steps, 1 fault (compare `odd`)" in other


def of_other_variant(specification: Specification) -> Specification:
    """Without the check that shows a refutation within the trial."""
    return replace(specification, checks=tuple(one for one in specification.checks if one.name != "alike"))


def test_reasons_are_read_from_tables_of_specs(tmp_path: Path) -> None:
    path = tmp_path / "reasons.toml"
    path.write_text('[[two]]\nlimit = "calm"\nclaims = ["low"]\ntext = """\nNobody\nis calm."""\n', encoding="utf-8")
    assert read_reasons(path) == {"two": [Reason("calm", "Nobody is calm.", ("low",))]}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[[two]]\nlimit = 'calm'", "text"),
        ("[[two]]\nlimit = 'calm'\ntext = 'x'\nclaim = ['low']", "claim"),
        ("[[two]]\nlimit = 'calm'\ntext = 'x'\nclaims = 'low'", "no list of names"),
        ("[[two]", "Expected"),
    ],
)
def test_reasons_of_another_form_are_refused(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "reasons.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=f"reasons.toml.*{wrong}"):
        read_reasons(path)


@nightly
def test_every_refutation_of_a_shipped_spec_has_a_check_or_a_reason_and_every_reason_is_needed() -> None:
    for one in shipped_protocols():
        explained = Explained(one.specification, one.reasons)
        found = refutations(checks_of(one))
        needed = {explained.reason(*item) for item in found if explained.shown(*item) is None}
        assert None not in needed, one.name
        assert needed == set(one.reasons), one.name


def test_the_page_says_where_a_spec_has_changed_since(specification: Specification, tmp_path: Path) -> None:
    text = page([Protocol("two", specification, kept_of(specification, tmp_path / "two.json"), False)])
    assert "Tried before the last change of the spec." in text


@nightly
def test_the_page_of_shipped_specs_is_what_was_found() -> None:
    written = (ROOT / "docs" / "bounds.md").read_text(encoding="utf-8")
    tables = [line for line in page(shipped_protocols()).splitlines() if line.startswith("|")]
    assert [line for line in written.splitlines() if line.startswith("|")] == tables


def shipped_protocols() -> list[Protocol]:
    """What is known of each shipped spec."""
    reasons = read_reasons(ROOT / "bench" / "bounds" / "reasons.toml")
    protocols = []
    for name in shipped.names():
        found = load(shipped.find(name).read_text(encoding="utf-8"), f"spec/{name}.ha", library).specification
        assert found is not None
        kept = kept_trials(found, ROOT / "bench" / "bounds" / f"{name}.json", outdated=True)
        is_current = kept_trials(found, kept.path).digest == kept.digest
        protocols.append(Protocol(name, found, kept, is_current, tuple(reasons.get(name, ()))))
    return protocols


def library(path: str) -> str | None:
    """The text of a library that a shipped spec uses."""
    place = shipped.directory() / "lib" / Path(path).name
    return place.read_text(encoding="utf-8") if place.is_file() else None
