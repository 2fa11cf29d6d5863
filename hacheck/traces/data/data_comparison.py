"""Reads the records of all traces once more, those on data alone, and returns what they contradict."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hacheck.traces.adapters.data_rules import ClientCalls, DataRules
from hacheck.traces.conformance.verdicts import Place
from hacheck.traces.data.contradictions import Contradiction
from hacheck.traces.data.trace_databases import TraceDatabases
from hacheck.traces.dataset import Located
from hacheck.traces.findings import Findings
from hacheck.traces.records import EVENT, FIELDS, FILE, LINE, NODE, SEQ, TIME, TRACE_ID

_PLACE = (TRACE_ID, NODE, SEQ, TIME, EVENT, FILE, LINE)
_CALL_FIELDS = ("operation", "name", "asked", "called", "outcome", "names")


def compared_data(
    dataset: Located, rules: DataRules, skew_ns: int, findings: Findings
) -> dict[str, list[Contradiction]]:
    """What contradicts what, by trace. `findings`: takes what is wrong with records.

    Cost: one more reading of the records, in memory that grows with the changes of one trace.
    """
    wanted = pa.array(sorted(rules.events), pa.string())
    found: dict[str, list[Contradiction]] = {}
    of, following = "", TraceDatabases(rules, skew_ns)

    def close() -> None:
        contradictions = following.contradictions()
        if contradictions:
            found[of] = contradictions

    for batch in dataset.located(findings):
        kept = batch.filter(pc.is_in(batch.column(EVENT).cast(pa.string()), value_set=wanted))
        for row in _rows(kept, rules):
            if row[TRACE_ID] != of:
                close()
                of, following = row[TRACE_ID], TraceDatabases(rules, skew_ns)
            place = Place(row[SEQ], row[NODE], row[EVENT], row[TIME], row[FILE] or "", row[LINE])
            following.record(place, row[FIELDS])
    close()
    return found


def _rows(batch: Any, rules: DataRules) -> list[dict[str, Any]]:
    """The records as objects, with the fields that are meant."""
    shown = (rules.load, rules.take, rules.add, rules.remove, rules.lead, rules.join, rules.fetch, rules.end)
    names = {place.field for place in shown if place is not None}
    names |= set() if rules.leave is None else {rules.leave[1]}
    names |= set(_CALL_FIELDS) if isinstance(rules.calls, ClientCalls) else set()
    fields = batch.column(FIELDS)
    present = [name for name in sorted(names) if fields.type.get_field_index(name) >= 0]
    parts = pa.StructArray.from_arrays([pc.struct_field(fields, name) for name in present], names=present)
    columns = [batch.column(name) for name in _PLACE]
    return list(pa.table([*columns, parts], names=[*_PLACE, FIELDS]).to_pylist())
