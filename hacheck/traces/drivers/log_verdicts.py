"""What is added to the verdicts on logs: what their data contradict, quiet traces, and nodes whose logs are missing,
or end long before the others'."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from hacheck.traces.adapters.log_extent import extent_of
from hacheck.traces.adapters.logs import LogDataset, LogFile
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.data.data_verdicts import with_data
from hacheck.traces.dataset import Located
from hacheck.traces.findings import Finding, Kind

APART_NS = 3_600_000_000_000
"""A log that ends so long before those of the other nodes may have lost its end."""

Settings = tuple[str, ...]


class LogVerdicts:
    """Completes the verdicts on the traces of logs; on other traces it adds nothing."""

    def __init__(self, dataset: Located, skew_ns: int) -> None:
        self._logs = dataset if isinstance(dataset, LogDataset) else None
        self._amended = with_data(dataset, skew_ns)
        self._settings: dict[str, Settings] = {}

    def amended(self, batch: Any) -> Any:
        """A batch of verdicts, with what the data of their traces contradict."""
        if self._logs is not None:
            settings = map(tuple, batch.column("settings").to_pylist())
            self._settings.update(zip(batch.column("trace_id").to_pylist(), settings, strict=True))
        return self._amended(batch)

    def quiet(self, damaged: Collection[str]) -> Any:
        """The verdicts on traces whose logs have no line of an event: they conform, if lines could be read at all."""
        logs = () if self._logs is None or not self._logs.in_order else self._logs.logs
        zone = None if self._logs is None else self._logs.zone
        silent = sorted({log.trace_id for log in logs} - self._settings.keys() - set(damaged))
        found = []
        for trace_id in silent:
            own = [log for log in logs if log.trace_id == trace_id]
            if any(extent_of(log, zone) is not None for log in own):
                found.append(Verdict(trace_id, "conforms", 0, 0))
                self._settings[trace_id] = ()
        return to_batch(found)

    def absences(self, nodes_under: Callable[[Settings], Collection[tuple[str, int]]]) -> list[Finding]:
        """Nodes without a log, and nodes whose logs end long before those of others, where no time line shows why.
        `nodes_under`: kind and number of the nodes that write lines, under the settings that a trace gives."""
        if self._logs is None:
            return []
        found: list[Finding] = []
        by_trace: dict[str, list[LogFile]] = {}
        for log in self._logs.logs:
            by_trace.setdefault(log.trace_id, []).append(log)
        nodes_under = cache(nodes_under)
        for trace_id, settings in sorted(self._settings.items()):
            every = by_trace.get(trace_id, [])
            logs = [log for log in every if log.adapter is self._logs.adapter]
            named = [log for log in logs if log.node is not None]
            if len(named) < len(logs) or not logs:
                continue  # lines name the nodes, and what no line names nobody can miss
            found += _without_log(trace_id, named, nodes_under(settings))
            known = {log.adapter.name for log in every}
            if len(known) == 1 or "operator" not in known:
                found += _ends_early(trace_id, named, self._logs.zone)
        return found


def _without_log(trace_id: str, logs: list[LogFile], nodes: Collection[tuple[str, int]]) -> list[Finding]:
    written = {_number(log.node) for log in logs}
    if None in written or len({kind for kind, _ in nodes}) != 1:
        return []
    missing = sorted(number for _, number in nodes if number not in written)
    (kind,) = {kind for kind, _ in nodes}
    return [
        Finding(Kind.NO_LOG, f"{kind} {number} has no log: it may have done anything", trace_id, None, trace_id)
        for number in missing
    ]


def _ends_early(trace_id: str, logs: list[LogFile], zone: str | None) -> list[Finding]:
    ends: dict[str, tuple[int, str]] = {}
    for log in logs:
        extent = extent_of(log, zone)
        if extent is not None and log.node is not None:
            ends[log.node] = max(ends.get(log.node, (0, "")), (extent.last, log.file.name))
    latest = max((last for last, _ in ends.values()), default=0)
    found = []
    for node, (last, name) in sorted(ends.items()):
        if latest - last >= APART_NS:
            hours, minutes = divmod((latest - last) // 60_000_000_000, 60)
            message = f"the log of node {node} ends {hours} h {minutes} min before the last one"
            found.append(Finding(Kind.LOG_ENDS, message, name, None, trace_id))
    return found


def _number(node: str | None) -> int | None:
    digits = "" if node is None else node[len(node.rstrip("0123456789")) :]
    return int(digits) if digits else None
