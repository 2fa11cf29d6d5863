"""The table of a sweep: a row for each property of each task, as Parquet; and its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from hacheck import __version__
from hacheck.atomic_files import replacing
from hacheck.checker.sweep.sweep_plan import Axis, Task
from hacheck.checker.sweep.sweep_task import Found, TaskResult
from hacheck.documents.sweep import SweepDocument, SweepTask, SweptProperty, VariedSetting

COLUMNS = (
    ("task", pa.int32()),
    ("check", pa.string()),
    ("property", pa.string()),
    ("kind", pa.string()),
    ("verdict", pa.string()),
    ("steps", pa.int32()),
    ("faults", pa.int32()),
    ("follows_from", pa.string()),
    ("scope", pa.string()),
    ("reason", pa.string()),
    ("states", pa.int64()),
    ("transitions", pa.int64()),
    ("depth", pa.int32()),
    ("wall_seconds", pa.float64()),
    ("cpu_seconds", pa.float64()),
)
"""The columns besides those of the settings that are varied, which stand behind `check`."""

NOT_RUN = "not run"


class Swept(Struct, frozen=True):
    """A sweep with what was found: the results of its tasks by number."""

    spec: str
    system: str
    axes: tuple[Axis, ...]
    tasks: tuple[Task, ...]
    results: Mapping[int, TaskResult]

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks in their order."""
        return tuple(dict.fromkeys(one.check for one in self.tasks))

    @property
    def undecided(self) -> list[int]:
        """The tasks without a verdict on each property."""
        return [number for number in range(len(self.tasks)) if not self._decided(number)]

    def _decided(self, number: int) -> bool:
        result = self.results.get(number)
        return result is not None and result.is_decided

    def reason(self, number: int, found: Found | None = None) -> str:
        """Why a task, or one of its properties, has no verdict; nothing where it has."""
        result = self.results.get(number)
        if result is None:
            return NOT_RUN
        if found is None:
            return result.error or result.stopped or "there is no property to decide"
        return "" if found.is_decided else result.error or result.stopped or found.scope


def column_of(axis: Axis) -> str:
    """What the column of a setting is called."""
    return f"setting_{axis.name}" if axis.name in dict(COLUMNS) else axis.name


def table_of(swept: Swept) -> Any:
    """The table. A setting whose values are whole numbers is a column of such."""
    rows = [row for number in range(len(swept.tasks)) for row in _rows(swept, number)]
    fields = []
    for name, kind in COLUMNS:
        fields.append(pa.field(name, kind))
        if name == "check":
            fields += [pa.field(column_of(axis), _type(axis)) for axis in swept.axes]
    return pa.Table.from_pylist(rows, pa.schema(fields))


def _type(axis: Axis) -> Any:
    return pa.int64() if all(_is_number(value) for value in axis.values) else pa.string()


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isdigit()


def _rows(swept: Swept, number: int) -> Iterator[dict[str, Any]]:
    task, result = swept.tasks[number], swept.results.get(number)
    common: dict[str, Any] = {"task": number, "check": task.check}
    for axis, (_, value) in zip(swept.axes, task.varied, strict=True):
        common[column_of(axis)] = int(value) if _type(axis) == pa.int64() else value
    if result is not None:
        for name in ("states", "transitions", "depth", "wall_seconds", "cpu_seconds"):
            common[name] = getattr(result, name)
    if result is None or not result.properties:
        yield {**common, "verdict": "unknown", "reason": swept.reason(number)}
        return
    for one in result.properties:
        found = {name: getattr(one, name) for name in ("kind", "verdict", "steps", "faults", "follows_from", "scope")}
        yield {**common, "property": one.name, **found, "reason": swept.reason(number, one) or None}


def write_table(swept: Swept, path: Path) -> None:
    """Writes the table as a Parquet file in the place of one that is there. Errors: `OSError`."""
    with replacing(path) as own:
        pq.write_table(table_of(swept), own)


def document_of(swept: Swept, exit_code: int) -> SweepDocument:
    """What `--json` writes."""
    return SweepDocument(
        hacheck=__version__,
        spec=swept.spec,
        system=swept.system,
        exit_code=exit_code,
        checks=list(swept.checks),
        settings=dict(swept.tasks[0].fixed) if swept.tasks else {},
        varied=[VariedSetting(name=axis.name, values=list(axis.values)) for axis in swept.axes],
        tasks=[_task(swept, number) for number in range(len(swept.tasks))],
    )


def _task(swept: Swept, number: int) -> SweepTask:
    task, result = swept.tasks[number], swept.results.get(number, TaskResult())
    return SweepTask(
        check=task.check,
        settings=dict(task.varied),
        done=number in swept.results,
        properties=[
            SweptProperty(
                name=one.name,
                kind=one.kind,
                verdict=one.verdict,
                scope=one.scope,
                steps=one.steps,
                faults=one.faults,
                follows_from=one.follows_from,
            )
            for one in result.properties
        ],
        error=result.error or None,
        stopped=result.stopped or None,
        states=result.states,
        transitions=result.transitions,
        depth=result.depth,
        wall_seconds=result.wall_seconds,
        cpu_seconds=result.cpu_seconds,
    )
