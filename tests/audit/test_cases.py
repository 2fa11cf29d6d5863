"""What threads report is found, and what manuals recommend raises no false alarm. The cases were there first."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.audit.cases import (
    BEGIN,
    CASES,
    END,
    PAGE,
    audited,
    case_names,
    false_alarms,
    load_case,
    missing,
    unnamed,
)

NAMES = case_names()
QUICK = ("keepalived", "patroni", "redis")
"""Products whose specs are explored in a second, also while a change is sought."""


@pytest.mark.parametrize("name", NAMES)
def test_case_is_complete(name: str) -> None:
    case = load_case(name)
    assert case.kind in ("misconfiguration", "recommended")
    assert bool(case.findings) == (case.kind == "misconfiguration")
    assert case.kind == "misconfiguration" or case.safe_from
    assert not set(case.safe_from) & set(case.admits)
    for wanted in case.findings:
        for setting in wanted.settings:
            assert (CASES / name / setting.partition(":")[0]).is_file(), setting


def test_every_product_has_three_of_both_kinds() -> None:
    counts = Counter((load_case(name).product.replace("hornetq", "artemis"), load_case(name).kind) for name in NAMES)
    for product in ("artemis", "keepalived", "patroni", "redis", "qpid", "icestorm"):
        assert counts[product, "misconfiguration"] >= 3, product
        assert counts[product, "recommended"] >= 3, product


@pytest.mark.parametrize("name", [name for name in NAMES if load_case(name).is_readable])
def test_audit_finds_what_was_reported(name: str) -> None:
    case = load_case(name)
    quick = case.product in QUICK
    found = audited(name, case, search=quick)
    wrong = missing(case, found) + false_alarms(case, found)
    assert bool(wrong) is bool(case.missed), f"{wrong}; expected: {case.missed or 'nothing amiss'}"
    if quick and not wrong:
        assert bool(unnamed(name, case, found)) is bool(case.unnamed), unnamed(name, case, found)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [n for n in NAMES if load_case(n).is_readable and load_case(n).product not in QUICK])
def test_audit_names_the_settings(name: str) -> None:
    case = load_case(name)
    found = audited(name, case, search=True)
    if not case.missed:
        assert bool(unnamed(name, case, found)) is bool(case.unnamed), unnamed(name, case, found)


def test_table_has_every_case() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text[text.index(BEGIN) : text.index(END)]
    rows = {line.split("|")[1].strip(): line for line in shown.splitlines() if line.startswith("| ")}
    assert rows.keys() - {"case"} == set(NAMES)
    for name in NAMES:
        case = load_case(name)
        verdict = rows[name].split("|")[4].strip()
        assert verdict.startswith("right") is (case.is_readable and not case.missed), rows[name]
