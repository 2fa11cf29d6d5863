"""Records of the oracle as Arrow batches, and what checkers say of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hacheck.model import ir
from hacheck.model.types import Bool, Identity, Node, Option, Range, Set, Type, Value
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.records import ARROW_TYPES, STANDARD, FieldType, Order
from tests.traces.conformance.oracle import LogRecord, Writer
from tests.traces.conformance.worlds import shown_types


def node_word(node: Writer) -> str:
    """A node as the column has it."""
    return "-" if node is None else f"{node[0]}-{node[1]}"


def word(kind: Type, value: Value) -> str:
    """A value as a word."""
    match kind:
        case Option(element):
            return "none" if value is None else word(element, value)
        case Bool():
            return "true" if value else "false"
        case Node(name, _) | Identity(name, _):
            return f"{name}-{value}"
        case _:
            return str(value)


def field_type(kind: Type, by_name: bool) -> FieldType:
    """The type of a field that shows nothing else, as `docs/traces.md` has it."""
    match kind:
        case _ if by_name:
            return FieldType.STRING
        case Bool():
            return FieldType.BOOL
        case Range():
            return FieldType.INT
        case Option(Range()) | Set(Range()):
            return FieldType.INTS
        case Set():
            return FieldType.STRINGS
        case _:
            return FieldType.STRING


def as_field(kind: Type, by_name: bool, value: Value, form: FieldType) -> Any:
    """A value in a field of some type."""
    if by_name:
        text = "none" if value is None else str(value)
        return [text] if form is FieldType.STRINGS else text
    match form:
        case FieldType.BOOL | FieldType.INT:
            return value
        case FieldType.INTS:
            if isinstance(kind, Set):
                return sorted(value)
            return [] if value is None else [value]
        case FieldType.STRINGS:
            items = list(value) if isinstance(kind, Set) else [value]
            element = kind.element if isinstance(kind, Set) else kind
            return sorted(word(element, item) for item in items)
        case _:
            return word(kind, value)


def forms_of(system: ir.System) -> dict[str, FieldType]:
    """The types of all fields: a field that shows different things is of words."""
    found: dict[str, FieldType] = {}
    for (_, name), (kinds, by_name) in shown_types(system).items():
        for kind in kinds:
            own = field_type(kind, by_name)
            before = found.setdefault(name, own)
            if before is not own:
                sets = FieldType.STRINGS in (before, own) or isinstance(kind, Set)
                found[name] = FieldType.STRINGS if sets else FieldType.STRING
    for (_, name), (kinds, _) in shown_types(system).items():
        if found[name] is FieldType.STRING and any(isinstance(kind, Set) for kind in kinds):
            found[name] = FieldType.STRINGS
    return found


def table(system: ir.System, traces: Mapping[str, Sequence[LogRecord]]) -> Any:
    """Traces one after another as a batch."""
    forms = forms_of(system)
    shown = shown_types(system)
    rows: list[dict[str, Any]] = []
    for trace_id, records in traces.items():
        for number, one in enumerate(records, start=1):
            fields = {}
            for name, value in one.fields.items():
                kinds, by_name = shown.get((one.event, name), ((), False))
                if kinds:
                    fields[name] = as_field(kinds[0], by_name, value, forms[name])
            rows.append(
                {
                    "trace_id": trace_id,
                    "node": node_word(one.node),
                    "seq": number,
                    "time": one.time,
                    "event": one.event,
                    "fields": fields,
                    "message": one.message,
                    "causes": list(one.causes) or None,
                }
            )
    return pa.RecordBatch.from_pylist(rows, schema_of(forms))


def schema_of(forms: Mapping[str, FieldType]) -> Any:
    """The columns of records with these fields."""
    columns = [pa.field(name, kind) for name, kind in STANDARD]
    if forms:
        struct = pa.struct([pa.field(name, ARROW_TYPES[form]) for name, form in forms.items()])
        columns.insert(5, pa.field("fields", struct))
    return pa.schema(columns)


def cut_up(batch: Any, size: int) -> list[Any]:
    """The batch in pieces of so many records."""
    return [batch.slice(start, size) for start in range(0, batch.num_rows, size)]


def verdicts(checker: TraceChecker, batches: Iterable[Any]) -> dict[str, Verdict]:
    """What is said of each trace. A trace is judged once."""
    found: dict[str, Verdict] = {}
    for batch in checker.check(batches):
        for verdict in from_batch(batch):
            assert verdict.trace_id not in found, f"two verdicts on {verdict.trace_id}"
            found[verdict.trace_id] = verdict
    return found


def judged(
    system: ir.System, traces: Mapping[str, Sequence[LogRecord]], order: Order, **more: Any
) -> dict[str, Verdict]:
    """The verdicts on whole traces, each as a batch of its own."""
    batches = [table(system, {name: records}) for name, records in traces.items() if records]
    return verdicts(TraceChecker(system, order, **more), batches)


def some(items: Sequence[Any], chance: random.Random, most: int) -> list[Any]:
    """Some of the items, in their order."""
    chosen = set(chance.sample(range(len(items)), min(most, len(items))))
    return [item for place, item in enumerate(items) if place in chosen]


__all__ = ["as_field", "cut_up", "judged", "node_word", "some", "table", "verdicts", "word"]
