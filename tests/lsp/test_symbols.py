"""The index of names, over every shipped spec: each use is a place where that name stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.lsp.spec_file import SpecFile

SPECS = shipped.specs()


def read(path: str) -> str | None:
    place = Path(path)
    return place.read_text(encoding="utf-8") if place.exists() else None


@pytest.mark.parametrize("path", SPECS, ids=[path.stem for path in SPECS])
def test_each_use_of_a_name_is_where_it_stands(path: Path) -> None:
    file = SpecFile(path.as_uri(), path.read_text(encoding="utf-8"), read)
    texts = {file.path: file.text, **file.libraries}
    assert len(file.index.uses) > 20
    for use in file.index.uses:
        name = texts[use.span.path][use.span.start : use.span.end]
        assert name == use.symbol.name, use
    for (owner, name), symbol in file.index.symbols.items():
        assert texts[symbol.span.path][symbol.span.start : symbol.span.end] == name, owner


def test_every_kind_of_symbol_is_met() -> None:
    kinds = {
        symbol.kind
        for path in SPECS
        for symbol in SpecFile(path.as_uri(), path.read_text(encoding="utf-8"), read).index.symbols.values()
    }
    expected = {"node", "field", "shared", "ghost", "message", "operation", "lock", "definition", "procedure", "action"}
    assert kinds >= {*expected, "step", "check", "word", "type", "record", "identity", "part", "param", "invariant"}


def test_parameters_of_messages_are_found_where_they_are_given() -> None:
    path = next(path for path in SPECS if path.stem == "icestorm")
    file = SpecFile(path.as_uri(), path.read_text(encoding="utf-8"), read)
    parts = [symbol for symbol in file.index.symbols.values() if symbol.kind == "part"]
    assert any(len(file.index.uses_of(symbol)) > 1 for symbol in parts)
