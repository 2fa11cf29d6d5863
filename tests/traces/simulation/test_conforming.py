"""Two tellings of one model meet: what is written as its runs is read as such, and what was damaged is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hacheck.traces.simulation.part_files import TRUTH
from tests.cli.command import hacheck
from tests.traces.simulation.reference import is_run
from tests.traces.simulation.specs import EVERYTHING, PLAIN, system_of
from tests.traces.simulation.test_records import rows_of


@pytest.mark.parametrize("text", [EVERYTHING, PLAIN], ids=["everything", "plain"])
def test_whole_traces_conform_and_damaged_ones_deviate(tmp_path: Path, text: str) -> None:
    spec, out = tmp_path / "spec.ha", tmp_path / "out"
    spec.write_text(text)
    options = ("--traces", "30", "--steps", "30", "--seed", "1", "--mutate", "0.4")
    options = (*options, "--mutations", "node,value,duplicate")
    made = hacheck("simulate", str(spec), *options, "--out", str(out))
    assert made.code == 0, made.err
    judged = hacheck("conform", str(spec), str(out), "--json", "-")
    assert judged.code == 1, judged.err
    verdicts = {one["trace_id"]: one for one in json.loads(judged.out)["verdicts"]}
    done = {row["trace_id"]: row for row in pq.read_table(out / TRUTH / "damage-00000.parquet").to_pylist()}
    assert len(verdicts) == 30
    assert 5 < len(done) < 20
    assert {verdicts[trace]["kind"] for trace in verdicts if trace not in done} == {"conforms"}
    noticed = {trace for trace in done if verdicts[trace]["kind"] == "deviates"}
    if text == EVERYTHING:
        assert len(noticed) > len(done) / 2, "most damage is no legal run"
        return
    records = rows_of(pq.read_table(out / "part-00000.parquet"))
    any_step = {"action": None, "lines": 1}
    legal = {trace for trace in done if is_run(system_of(text), [any_step] * len(records[trace]), records[trace])}
    assert noticed == set(done) - legal, "each step is a line, so a legal trace is a run of as many steps"
    assert legal
    assert noticed


def test_skewed_and_partial_traces_conform(tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.ha", tmp_path / "out"
    spec.write_text(EVERYTHING)
    options = ("--traces", "20", "--steps", "20", "--skew", "3", "--hide-fields", "group,round.turns")
    made = hacheck("simulate", str(spec), *options, "--out", str(out))
    assert made.code == 0, made.err
    judged = hacheck("conform", str(spec), str(out), "--skew", "3", "--json", "-")
    assert judged.code == 0, judged.err
    assert json.loads(judged.out)["counts"]["conforms"] == 20
