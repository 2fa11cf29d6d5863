"""A recording of five real replicas is decided under the manual's protocol, which far more states explain."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import hacheck
from tests.nightly import nightly

RECORDING = Path(__file__).parents[2] / "data" / "icestorm_five" / "kill-coordinator"


@nightly
def test_five_replicas_are_explained_by_the_manuals_protocol(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    command = ("conform", "icestorm", str(RECORDING), "--adapter", "icestorm", "--json", str(place))
    assert hacheck(*command).code == 0
    (verdict,) = json.loads(place.read_text(encoding="utf-8"))["verdicts"]
    assert verdict["kind"] == "conforms"
    assert verdict["width"] > 16_000
