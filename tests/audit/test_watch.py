"""`audit --watch` audits again on saving, waits over files that cannot be read, and ends at Ctrl-C."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.audit.cases import CASES
from tests.cli.command import hacheck
from tests.cli.watched import SECONDS_MAX, watching

CONTRADICTION = "virtual_router_id"


def test_rounds_follow_what_is_saved_until_ctrl_c(tmp_path: Path) -> None:
    configuration = tmp_path / "pair"
    for host in ("a", "b"):
        shutil.copytree(CASES / "keepalived_two_router_ids" / host, configuration / host)
    file = configuration / "b" / "keepalived.conf"
    wrong = file.read_text("utf-8")
    mended = wrong.replace("virtual_router_id 52", "virtual_router_id 51")
    with watching(file, "audit", "pair", folder=tmp_path) as watched:
        assert CONTRADICTION in watched.round()
        assert CONTRADICTION not in watched.round(mended)
        damaged = watched.round(mended.replace("    virtual_ipaddress {", "    virtual_ipaddress"))
        assert "keepalived.conf" in damaged
        assert "Traceback" not in damaged
        assert CONTRADICTION in watched.round(wrong)
        watched.process.send_signal(signal.SIGINT)
        assert watched.process.wait(SECONDS_MAX) == 1  # what the last round found


@pytest.mark.parametrize("option", ["--json", "--report", "--sarif"])
def test_outputs_that_are_written_anew_need_a_file(option: str) -> None:
    ended = hacheck("audit", str(CASES / "keepalived_two_router_ids"), option, "-", "--watch")
    assert ended.code == 2
    assert "--watch writes a file anew in each round" in ended.err
