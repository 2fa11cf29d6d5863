"""`explore --log` begins with a shortest run up to where each trace leaves the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.exploring.explored_logs import from_log
from hacheck.cli.exploring.explorer import ExploreRequest, live_page
from hacheck.cli.guard import BadInput
from hacheck.cli.sources import load_specification
from hacheck.model.interpreter import replay
from tests.traces.two_balancers import ADAPTER, SPEC, line

WELL = [line(1, "started", 0.0), line(1, "backup", 0.5), line(2, "started", 1.0), line(2, "backup", 1.5)]
DEVIATES = [*WELL, line(1, "master", 4.0), line(1, "started", 5.0), line(1, "master", 6.0)]


def request_for(folder: Path, lines: list[tuple[str, str]]) -> ExploreRequest:
    """What `hacheck explore guarded.ha --log logs --adapter balancers.toml` requests."""
    (folder / "guarded.ha").write_text(SPEC, encoding="utf-8")
    (folder / "balancers.toml").write_text(ADAPTER, encoding="utf-8")
    (folder / "logs").mkdir()
    for name, text in lines:
        with (folder / "logs" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    return ExploreRequest(
        str(folder / "guarded.ha"), None, {}, None, None, str(folder / "logs"), str(folder / "balancers.toml"), None, 0,
        browser=False, no_color=True,
    )  # fmt: skip


def test_page_begins_with_a_run_up_to_where_the_log_deviates(tmp_path: Path) -> None:
    request = request_for(tmp_path, DEVIATES)
    specification = load_specification(request.spec)
    shown = from_log(request, specification, str(tmp_path / "logs"))
    assert len(shown) == 1
    assert shown[0].run.steps
    assert replay(shown[0].system, shown[0].run) is None
    page, views = live_page(request, specification, shown, {})
    assert "<html" in page
    assert views is not None


def test_log_that_conforms_is_told_and_begins_nothing(tmp_path: Path) -> None:
    request = request_for(tmp_path, WELL)
    with pytest.raises(BadInput, match=r"no trace leaves the protocol \(1 conform"):
        from_log(request, load_specification(request.spec), str(tmp_path / "logs"))
