"""The documents about traces say what is so."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from hacheck.traces.adapters.adapter_files import from_toml
from hacheck.traces.adapters.tables import with_tables
from hacheck.traces.findings import KEPT, MEANINGS, Kind
from hacheck.traces.records import REQUIRED, FieldType, TraceSchema
from tests.traces.sample_files import read_all

DOCS = Path(__file__).parents[2] / "docs"


def blocks(document: str, language: str) -> list[str]:
    """The blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / document).read_text(encoding="utf-8"), re.DOTALL)


def test_tables_of_events_are_those_of_the_adapters() -> None:
    document = (DOCS / "adapters.md").read_text(encoding="utf-8")
    made = "python -m hacheck.traces.adapters.tables docs/adapters.md"
    assert with_tables(document) == document, f"write them anew: {made}"


def test_the_adapter_that_is_shown_is_one() -> None:
    (text,) = blocks("adapters.md", "toml")
    adapter = from_toml(text, "adapters.md")
    assert {event.name for event in adapter.events} == {"lock"}
    assert tomllib.loads(text)["nothing"][0]["name"] == "heartbeats"


def test_the_records_that_are_shown_are_some(tmp_path: Path) -> None:
    (text,) = blocks("traces.md", "json")
    header, first = text.splitlines()
    place = tmp_path / "shown.jsonl"
    place.write_text(f"{header}\n{json.dumps(json.loads(first) | {'seq': 1})}\n")
    records, findings = read_all(place)
    assert findings.total == 0
    assert records[0]["fields"] == {"old": "inactive", "new": "election"}


def test_every_column_is_described() -> None:
    text = (DOCS / "traces.md").read_text(encoding="utf-8")
    described = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (required|optional) \|", text, re.MULTILINE))
    assert list(described) == [
        "trace_id",
        "node",
        "seq",
        "time",
        "event",
        "fields",
        "message",
        "causes",
        "file",
        "line",
    ]
    assert [name for name, need in described.items() if need == "required"] == list(REQUIRED)
    assert list(TraceSchema((("x", FieldType.INT),)).arrow().names) == list(described)


def test_every_kind_of_finding_is_described() -> None:
    text = (DOCS / "traces.md").read_text(encoding="utf-8")
    described = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE))
    kinds = {kind.value for kind in Kind}
    assert kinds <= set(described)
    assert set(MEANINGS) == set(Kind)
    assert {kind.value for kind in KEPT} == {name for name in kinds if described[name].startswith("kept")}
