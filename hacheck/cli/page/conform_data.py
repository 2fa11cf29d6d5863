"""What the page shows of compared logs: of each trace its lines, and where the model stands when the log leaves it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from hacheck import __version__
from hacheck.cli.page.html_page import html_page
from hacheck.cli.page.report_data import ShownRun, frame, key_of, views_of
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.render import show
from hacheck.model.run_json import run_from_json
from hacheck.model.runs import Run, State
from hacheck.model.types import Map, values
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.findings import Findings

if TYPE_CHECKING:
    from hacheck.cli.logs.conformance import ConformResult
    from hacheck.traces.dataset import Located

Json: TypeAlias = Any

TRACES_MAX = 50
"""So many traces are on a page: those that do not conform first."""

LINES_MAX = 200_000
"""So many lines of logs are on a page."""

STEPS_MAX = 1_000
"""Of a longer run up to where a trace leaves the model, the last state and the length are shown, and no picture."""

RAW_BYTES_MAX = 50_000_000
"""A larger log is shown by the fields of its records, not by its text."""


def conform_report(specification: Specification, found: ConformResult, dataset: Located) -> str:
    """The page. `dataset`: what was compared, to be read again. Cost: that of reading all records."""
    verdicts = [verdict for batch in found.outcome.verdicts for verdict in from_batch(batch)]
    order = {"deviates": 0, "unknown": 1, "conforms": 2}
    chosen = sorted(verdicts, key=lambda one: (order[one.kind], one.trace_id))[:TRACES_MAX]
    lines = lines_of(dataset, {one.trace_id for one in chosen}, Path(found.request.traces))
    shown, traces = [], []
    for verdict in chosen:
        run = shown_run(found, verdict)
        if run is not None and len(run.run.steps) <= STEPS_MAX:
            shown.append(run)
        traces.append(trace_data(specification, verdict, lines.get(verdict.trace_id, []), run))
    conform = {
        "check": found.compared.check,
        "counts": {kind: count for kind, count in found.outcome.counts.items() if count},
        "records": found.outcome.records,
        "skew_ms": found.request.skew_ms,
        "left_out": len(verdicts) - len(chosen),
        "traces": traces,
    }
    return html_page(frame(specification, __version__) | {"conform": conform}, views_of(specification, shown))


def shown_run(found: ConformResult, verdict: Verdict) -> ShownRun | None:
    """A shortest run of the model up to where the trace leaves it, where the verdict has one."""
    if not verdict.run:
        return None
    system = found.system_of(verdict)
    run: Run = run_from_json(system, json.loads(verdict.run))
    return ShownRun(found.compared.check, verdict.trace_id, system, run, None, urgent=True)


def trace_data(
    specification: Specification, verdict: Verdict, lines: Sequence[dict[str, Json]], run: ShownRun | None
) -> Json:
    """One trace."""
    too_long = run is not None and len(run.run.steps) > STEPS_MAX
    made: Json = msgspec.to_builtins(verdict)
    for name in ("run", "repair", "width"):
        del made[name]
    made |= {
        "lines": list(lines),
        "nodes": sorted({line["node"] for line in lines}),
        "deviation": deviation_of(verdict, lines),
        "file": PurePath(verdict.file).name,
        "states": None if run is None else model_state(run.system, run.run.states[-1]),
        "run_key": None if run is None or too_long else key_of(specification, run.check, run.name),
        "run_steps": 0 if run is None else len(run.run.steps),
    }
    return made


def deviation_of(verdict: Verdict, lines: Sequence[dict[str, Json]]) -> int:
    """The place of the line at which the trace left the model, or -1."""
    for place, line in enumerate(lines):
        if verdict.seq is not None and (line["seq"], line["node"]) == (verdict.seq, verdict.node):
            return place
    return -1


def model_state(system: System, state: State) -> Json:
    """The fields of every node that differ from their first values somewhere: names, and a row for each node."""
    names: dict[str, None] = {}
    rows: dict[str, dict[str, str]] = {show(kind, node): {} for kind in system.nodes for node in values(kind)}
    for variable, value in zip(system.variables, state, strict=True):
        kind = variable.type
        if variable.owner is None or variable.role not in ("field", "status") or not isinstance(kind, Map):
            continue
        if value == variable.initial and not variable.mode:
            continue
        name = variable.name.removeprefix(f"{variable.owner}.")
        names[name] = None
        for node, part in zip(values(kind.key), value, strict=True):
            rows[show(kind.key, node)][name] = show(kind.value, part)
    return {"head": list(names), "rows": [[node, *(row.get(name, "") for name in names)] for node, row in rows.items()]}


# ---- the lines of logs ----


def lines_of(dataset: Located, traces: set[str], place: Path) -> dict[str, list[dict[str, Json]]]:
    """The lines of some traces, by trace, in the order of their times and numbers."""
    found: dict[str, list[dict[str, Json]]] = {trace: [] for trace in traces}
    texts = LogTexts(place)
    total = 0
    for row in _records(dataset):
        if row["trace_id"] in found and total < LINES_MAX:
            total += 1
            found[row["trace_id"]].append(line_of(row, texts))
    for lines in found.values():
        timed = all(line["time"] is not None for line in lines)
        lines.sort(key=lambda line: (line["time"] if timed else 0, line["seq"], line["node"]))
    return found


def _records(dataset: Located) -> Iterator[dict[str, Json]]:
    """All records. What is wrong with them was found when they were compared."""
    for batch in dataset.located(Findings()):
        yield from batch.to_pylist()


def line_of(row: dict[str, Json], texts: LogTexts) -> dict[str, Json]:
    """A record as a line: its text where the log can be read, else its fields."""
    file, number = row.get("file") or "", row.get("line")
    fields = {name: value for name, value in (row.get("fields") or {}).items() if value is not None}
    said = texts.line(file, number) or "  ".join(f"{name}={value}" for name, value in fields.items())
    return {
        "seq": row["seq"],
        "time": row.get("time"),
        "node": row["node"],
        "event": row["event"],
        "text": said,
        "file": PurePath(file).name,
        "line": number,
    }


class LogTexts:
    """The lines of the files that records were made of, as far as they can be read."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._files: dict[str, list[str]] = {}

    def line(self, file: str, number: int | None) -> str:
        """A line of a file, counted from 1, or nothing."""
        if not file or not number:
            return ""
        if file not in self._files:
            self._files[file] = self._read(file)
        lines = self._files[file]
        return lines[number - 1].strip() if number <= len(lines) else ""

    def _read(self, file: str) -> list[str]:
        for path in (Path(file), self._place / file, self._place.parent / file):
            try:
                if path.is_file() and path.stat().st_size <= RAW_BYTES_MAX:
                    return path.read_text(encoding="utf-8", errors="replace").split("\n")
            except (OSError, ValueError):
                continue
        return []
