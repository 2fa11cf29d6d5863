"""Traces that are handed on have other names, and the same verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hacheck.traces.anonymous_names import AnonymousNames
from hacheck.traces.findings import TracesError
from hacheck.traces.records import FieldType, Order, TraceSchema
from tests.cli.command import hacheck

SPEC = """system Names "who takes what"
node Server[2] ranked { held: set of 0..1 = {} }
environment action take(s: Server, n: 0..1) when no o: Server where n in o.held do
  s.held := s.held with n
  log took(what: n as name) at s
environment action leave(s: Server, n: 0..1) when n in s.held do
  s.held := s.held without n
  log left(what: n as name) at s
invariant both: not (some s: Server where s.held == {0, 1})
check default expect both violated
"""
GOOD = [("db-berlin-1", "took", "payroll"), ("db-berlin-2", "took", "mail"), ("db-berlin-1", "left", "payroll")]
WRONG = [*GOOD, ("db-berlin-1", "took", "mail")]


def written(path: Path, **traces: list[tuple[str, str, str]]) -> Path:
    """A file of traces."""
    lines = [json.dumps(TraceSchema((("what", FieldType.STRING),), Order.TOTAL).header())]
    for name, records in traces.items():
        for seq, (node, event, what) in enumerate(records, 1):
            record = {"trace_id": name, "node": node, "seq": seq, "event": event, "fields": {"what": what}}
            lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def verdicts(place: Path, name: str) -> list[tuple[str, str, int | None]]:
    """Verdict, reason and place of each trace, in order."""
    target = place / "found.parquet"
    hacheck("conform", str(place / "names.ha"), str(place / name), "--out", str(target), "--property", "both")
    found = pq.read_table(target).sort_by("records").to_pylist()
    return [(one["verdict"], one["reason"], one["seq"]) for one in found]


def test_names_are_replaced_and_verdicts_stay(tmp_path: Path) -> None:
    (tmp_path / "names.ha").write_text(SPEC, encoding="utf-8")
    written(tmp_path / "night.jsonl", good=GOOD, wrong=WRONG)
    out = tmp_path / "shown.jsonl"
    place = str(tmp_path / "night.jsonl")
    ended = hacheck("traces", "convert", place, "--anonymise", "what", "--out", str(out))
    assert ended.code == 0, ended.out + ended.err
    text = out.read_text(encoding="utf-8")
    assert not any(secret in text for secret in ("berlin", "payroll", "mail", "good", "wrong"))
    rows = [json.loads(line) for line in text.splitlines()[1:]]
    assert [row["node"] for row in rows[:3]] == ["node-1", "node-2", "node-1"]
    assert [row["fields"]["what"] for row in rows[:3]] == ["name-1", "name-2", "name-1"]
    before, after = verdicts(tmp_path, "night.jsonl"), verdicts(tmp_path, "shown.jsonl")
    assert before == after
    assert [one[0] for one in after] == ["conforms", "deviates"]


def names(*fields: str, kept: tuple[str, ...] = ()) -> AnonymousNames:
    return AnonymousNames(TraceSchema((("what", FieldType.STRING), ("n", FieldType.INT)), Order.TOTAL), fields, kept)


def test_nodes_keep_their_numbers_and_are_kept_apart() -> None:
    found = names()
    assert [found.node(word) for word in ("lb1", "lb2", "db1", "LB-1", "primary", "backup", "-")] == [
        "node-1",
        "node-2",
        "nodeb-1",
        "node-1",
        "node-a",
        "node-b",
        "-",
    ]
    assert names(kept=("Server",)).node("server-3") == "server-3"


@pytest.mark.parametrize(("field", "why"), [("n", "has no text"), ("other", "is no field of these records")])
def test_field_without_names_is_refused(field: str, why: str) -> None:
    with pytest.raises(TracesError, match=why):
        names(field)


def test_only_what_is_written_can_be_anonymous(tmp_path: Path) -> None:
    ended = hacheck("traces", "validate", str(tmp_path), "--anonymise", "-")
    assert (ended.code, "--anonymise is for convert" in ended.err) == (2, True)
