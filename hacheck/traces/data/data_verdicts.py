"""Verdicts with what is wrong with the data of their traces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from hacheck.traces.adapters.data_rules import DataRules
from hacheck.traces.conformance.verdicts import Broken, Verdict, from_batch, to_batch
from hacheck.traces.data.contradictions import LINES, Contradiction
from hacheck.traces.data.data_comparison import compared_data
from hacheck.traces.dataset import Located
from hacheck.traces.findings import Findings


def data_rules_of(dataset: Located) -> DataRules | None:
    """What the adapter of logs says of data; `None` where it says nothing, and for traces without one."""
    adapter = getattr(dataset, "adapter", None)
    return None if adapter is None else adapter.data


def with_data(dataset: Located, skew_ns: int) -> Callable[[Any], Any]:
    """What puts into batches of verdicts what their traces' data contradict. Reads the records on data beforehand."""
    rules = data_rules_of(dataset)
    if rules is None:
        return lambda batch: batch
    findings = Findings()
    found = compared_data(dataset, rules, skew_ns, findings)
    damaged = frozenset(findings.damaged)
    return lambda batch: amended(batch, found, damaged)


def amended(batch: Any, found: Mapping[str, list[Contradiction]], damaged: Collection[str]) -> Any:
    """The batch, with what is wrong. In a damaged trace a line may be missing, and so it is possible, not certain."""
    among = pc.is_in(batch.column("trace_id"), value_set=pa.array(list(found), pa.string()))
    if not found or not pc.any(among).as_py():
        return batch
    return to_batch([_amended(one, found.get(one.trace_id, []), one.trace_id in damaged) for one in from_batch(batch)])


def _amended(verdict: Verdict, found: list[Contradiction], damaged: bool) -> Verdict:
    """No replica writes lines that contradict what they make of its own database: such a trace deviates. The others
    are violations of what users rely on, which some protocols allow."""
    if not found:
        return verdict
    first: dict[str, Contradiction] = {}
    for one in sorted(found, key=lambda one: not one.sure):
        first.setdefault(one.name, one)
    new = [_stretch(one, one.sure and not damaged) for one in found]
    broken = sorted((*verdict.broken, *new), key=lambda one: one.start.seq)
    sure = {one.name for one in found if one.sure and not damaged}
    violated = tuple(f"{name}@{one.start.seq}" for name, one in first.items() if name in sure)
    perhaps = tuple(f"{name}@{one.start.seq}" for name, one in first.items() if name not in sure)
    verdict = replace(
        verdict,
        broken=tuple(broken),
        violated=(*verdict.violated, *violated),
        perhaps=(*verdict.perhaps, *perhaps),
    )
    lines = first.get(LINES)
    if lines is None or damaged or verdict.kind != "conforms":
        return verdict
    place = lines.start
    where = {"seq": place.seq, "node": place.node, "event": place.event, "file": place.file, "line": place.line}
    return replace(verdict, kind="deviates", reason=lines.text, **where)


def _stretch(one: Contradiction, sure: bool) -> Broken:
    return Broken(
        invariant=one.name,
        sure=sure,
        nanoseconds=None,
        start=one.start,
        end=one.start,
        is_open=False,
        nodes=(one.node,),
        since=(one.since,),
        detail=one.text,
    )
