"""Models of other checkers' collections, written anew, have the published numbers of states and the published verdicts.

`published.toml` has what was published, and where; `models/` has the specs. Every state is counted: no reduction.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.language import load
from hacheck.model.language.format import format_text
from tests.nightly import by_night

FOLDER = Path(__file__).parent
MODELS = FOLDER / "models"
LINES_MAX = 80


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the table. `states`: distinct states, `None` where only verdicts were published. `properties`: the
    verdicts by our names. `seconds`: CPU seconds here where they are more than one, which leaves it to the night."""

    spec: str
    source: str
    states: int | None = None
    settings: dict[str, str] = field(default_factory=dict)
    properties: dict[str, tuple[str, str]] = field(default_factory=dict)
    counting: str = ""
    seconds: int = 0

    def __str__(self) -> str:
        return " ".join((self.spec, *(f"{name}={value}" for name, value in self.settings.items())))


def published() -> list[Published]:
    """The rows of the table."""
    table: dict[str, list[dict[str, Any]]] = tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8"))
    return [Published(**row) for row in table["published"]]


ROWS = published()


def explored(row: Published) -> Answer:
    """What the native engine finds of a row's model, each state counted for itself."""
    path = MODELS / f"{row.spec}.ha"
    loaded = load(path.read_text(encoding="utf-8"), str(path))
    assert loaded.specification is not None, loaded.diagnostics
    instance = loaded.specification.instantiate(row.settings)
    assert instance.system is not None, instance.diagnostics
    return NativeEngine(reductions=False).check(instance.system, (), Limits(), lambda _: True)


@pytest.mark.parametrize("row", by_night(ROWS, lambda row: row.seconds <= 1), ids=str)
def test_states_and_verdicts_are_those_published(row: Published) -> None:
    answer = explored(row)
    assert answer.coverage.complete
    if row.states is not None:
        assert answer.coverage.states == row.states
    found = {(item.name.partition("(")[0], item.verdict) for item in answer.properties}
    expected = {(name, verdict) for name, (_, verdict) in row.properties.items()}
    assert expected <= found
    assert {verdict for name, verdict in found - expected} <= {"holds"}, "of its own, a model claims only what holds"


def test_table_and_folder_have_the_same_models() -> None:
    assert {row.spec for row in ROWS} == {path.stem for path in MODELS.glob("*.ha")}
    assert len({str(row) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.ha")), ids=lambda path: path.stem)
def test_model_is_short_and_in_the_standard_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES_MAX
    assert format_text(text) == text
