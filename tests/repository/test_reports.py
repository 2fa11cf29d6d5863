"""The reports of defects: their commands exist, their figures are those of `docs/truth.md`, and each has a cure."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from hacheck.model.language.specification import Check
from hacheck.replay import products
from tests.seeds.driving import specification, system

DOCS = Path(__file__).parents[2] / "docs"
REPORTS = sorted(one for one in (DOCS / "reports").glob("*.md") if one.name != "README.md")
SECTIONS = (
    "The script",
    "What the logs say",
    "The cause",
    "What users lose",
    "What can be set today",
    "The cure",
)
STATES = {"predicted", "confirmed", "refuted", "masked", "not carried out"}
COMMAND = re.compile(r"^hacheck .+$", re.MULTILINE)

for_every_report = pytest.mark.parametrize("report", REPORTS, ids=lambda one: one.stem)


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [one.strip() for one in line.strip().strip("|").split("|")]


@cache
def truth() -> dict[tuple[str, str], list[str]]:
    """The rows of `docs/truth.md` by check with settings, and property: product, steps, outcome, rate."""
    text = (DOCS / "truth.md").read_text(encoding="utf-8")
    table = text.split("<!-- table: begin -->\n")[1].split("<!-- table: end")[0]
    rows = (cells(line) for line in table.splitlines()[2:])
    return {(row[1], row[2].strip("`")): [row[0], row[3], row[4].partition(" at step")[0], row[5]] for row in rows}


def check_of(spec: str, name: str) -> Check:
    """A check of a shipped spec. Errors: `ValueError` where there is none."""
    (check,) = (one for one in specification(spec).checks if one.name == name)
    return check


def options(command: str) -> dict[str, list[str]]:
    """The options of a command with their values; the words before them under an empty name."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for word in shlex.split(command):
        if word.startswith("--"):
            name = word
            found.setdefault(name, [])
        else:
            found["" if name == "" else name].append(word)
    return found


@cache
def claims(spec: str) -> frozenset[str]:
    """The properties of a shipped spec."""
    return frozenset(one.name for one in system(spec, ()).properties)


def assert_claimed(spec: str, check: str, claim: str) -> Check:
    """The check is there, and has this property among those that it checks."""
    found = check_of(spec, check)
    assert claim in (found.only or claims(spec)), f"{spec}, {check}: {claim}"
    return found


def shown(given: dict[str, list[str]]) -> str:
    """A check with its settings, as tables name it."""
    (check,) = given["--check"]
    return ", ".join([f"`{check}`", *(one.replace("=", " = ") for one in given.get("--set", []))])


@for_every_report
def test_report_has_every_part_in_order(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == SECTIONS
    assert re.findall(r"^\| (product|sentence|state) \| .+ \|$", text, re.MULTILINE) == ["product", "sentence", "state"]


@for_every_report
def test_each_run_of_a_report_came_out_on_the_product_as_the_report_says(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    replays = [options(one) for one in COMMAND.findall(text) if one.startswith("hacheck replay ")]
    assert replays
    named = []
    for given in replays:
        spec, (claim,), (product,) = given[""][2], given["--property"], given["--on"]
        assert_claimed(spec, given["--check"][0], claim)
        assert product in products.names()
        row = truth()[shown(given), claim]
        assert row[0] == product
        named.append([shown(given), f"`{claim}`", *row[1:]])
    table = text.split("| check | property | steps | outcome | rate |\n|---|---|---|---|---|\n")[1].split("\n\n")[0]
    assert [cells(line) for line in table.splitlines()] == named
    state = re.search(r"^\| state \| (.+) \|$", text, re.MULTILINE)
    assert state is not None
    assert {state[1]} == {row[3] for row in named}


@for_every_report
def test_the_cure_of_a_report_holds_where_it_says_so(report: Path) -> None:
    cures = [options(one) for one in COMMAND.findall(report.read_text(encoding="utf-8")) if " verify " in one]
    assert cures
    for given in cures:
        spec, (check,), (claim,) = given[""][2], given["--check"], given["--property"]
        assert claim not in assert_claimed(spec, check, claim).expect_violated


@for_every_report
def test_checks_that_a_report_names_are_there(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for name in set(re.findall(r"`(cure\w*|hardened\w*|smallest_cure|marked_copies|pause_mended)`", text)):
        specs = {"icestorm"} if report.stem.startswith("icestorm") else {"artemis_replication", "artemis_scale_down"}
        specs |= {"artemis_lock_manager"} if name == "pause_mended" else set()
        assert any(name == one.name for spec in specs for one in specification(spec).checks), name


def test_index_has_every_report_with_its_first_run_and_a_state_for_each_claim() -> None:
    text = (DOCS / "reports" / "README.md").read_text(encoding="utf-8")
    with_report, without = text.split("## Without a report")
    rows = [cells(line) for line in with_report.splitlines() if line.startswith("| [")]
    assert sorted(re.findall(r"\]\((\S+)\)", " ".join(row[0] for row in rows))) == [one.name for one in REPORTS]
    for title, product, state, run, steps, rate in rows:
        report = (DOCS / "reports" / re.findall(r"\((\S+)\)", title)[0]).read_text(encoding="utf-8")
        check, _, claim = run.rpartition(", ")
        assert [product.lower(), steps, state, rate] == _of_truth(check, claim)
        assert f"| {check} | {claim} | {steps} | {state} | {rate} |" in report
    others = [cells(line) for line in without.splitlines() if line.startswith("| ") and "`" in line]
    assert {row[2] for row in (*rows, *others)} <= STATES
    for _, product, state, run, steps in others:
        check, _, claim = run.rpartition(", ")
        if state == "predicted":
            assert (check, claim.strip("`")) not in truth()
        else:
            assert [product.lower(), steps, state] == _of_truth(check, claim)[:3]


def _of_truth(check: str, claim: str) -> list[str]:
    product, *figures = truth()[check, claim.strip("`")]
    return [product.partition("-")[0], *figures]
