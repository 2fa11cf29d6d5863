"""The page of an audit: findings and settings as tables."""

from __future__ import annotations

import json

import pytest

from tests.audit.cases import CASES
from tests.cli.command import hacheck


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the page of two routers shows."""
    page = tmp_path_factory.mktemp("page") / "page.html"
    assert hacheck("audit", str(CASES / "keepalived_weight_too_small"), "--report", str(page)).code == 1
    text = page.read_text().partition('id="report"')[2].partition(">")[2].partition("</script>")[0]
    return dict(json.loads(text))


def test_each_finding_is_a_row_with_its_settings(found: dict[str, object]) -> None:
    audit = found["audit"]
    assert isinstance(audit, dict)
    rows = {one["kind"]: one for one in audit["findings"]}
    assert set(rows) == {"settings contradict each other", "split brain", "it does not recover by itself"}
    assert [rows[kind]["avoidable"] for kind in rows] == [True, False, True]
    settings = rows["it does not recover by itself"]["settings"]
    assert all("keepalived.conf" in one["file"] for one in settings)
    assert {one["path"] for one in settings if one["line"]}
    assert rows["it does not recover by itself"]["changes"]


def test_every_setting_has_its_place(found: dict[str, object]) -> None:
    audit = found["audit"]
    assert isinstance(audit, dict)
    priority = [one for one in audit["settings"] if one["path"] == "priority"]
    assert len(priority) == 2
    assert all(one["line"] for one in priority)


def test_nothing_is_said_of_what_is_expected(found: dict[str, object]) -> None:
    audit, checks = found["audit"], found["checks"]
    assert isinstance(audit, dict)
    assert isinstance(checks, list)
    assert str(audit["verdict"]).startswith("violated: ")
    assert all(one["expected_verdict"] == one["verdict"] for check in checks for one in check["properties"])
