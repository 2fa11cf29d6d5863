"""Values of records mean what `docs/traces.md` says, however they are written; what means nothing is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hacheck.model import ir
from hacheck.model.observing.record_conditions import observed
from hacheck.model.types import Bool, Enum, Identity, Node, Option, Range, Set, Type, Value, default, values
from hacheck.traces.conformance.record_encoding import Encoded, Encoder
from hacheck.traces.conformance.trace_compiler import compiled
from hacheck.traces.conformance.trace_program import Bits, Compiled

SERVER = Node("Server", 3, True)
CLIENT = Node("Client", 2, False)
MODE = Enum("Mode", ("idle", "busy"))
GROUP = Identity("Group", 4)
NOTHING = "(not shown)"
WRONG, BOUND = "(wrong)", "(bound)"
LARGE = 10**12


def system(
    shown: Sequence[tuple[str, Sequence[tuple[str, Type, bool]]]], nodes: tuple[Node, ...] = (SERVER,)
) -> ir.System:
    """A system with lines of these events, each with fields of these types, by name or not."""
    variables = {f"{number}{name}": kind for number, (_, fields) in enumerate(shown) for name, kind, _ in fields}
    actions = []
    for number, (event, fields) in enumerate(shown):
        told = tuple(ir.Shown(name, ir.Variable(f"{number}{name}", kind), named) for name, kind, named in fields)
        body = (ir.Log(event, ir.Local("n", nodes[0]), told, 0),)
        actions.append(
            ir.Action(f"act{number}", (("n", nodes[0]),), ir.TRUE, body, "protocol", "n", None, "h", "", "", 0)
        )
    states = tuple(ir.StateVariable(name, kind, default(kind), None, "shared") for name, kind in variables.items())
    return ir.System("Small", "", "", (), nodes, states, (), tuple(actions), (), (), (), (), ())


def small(kind: Type, named: bool = False) -> Compiled:
    """What reads logs of a system with one field."""
    return compiled(observed(system([("event", [("field", kind, named)])])))


def batch(fields: Any, events: Sequence[str] | None = None, nodes: Sequence[str] | None = None) -> Any:
    """Records with these values of a field."""
    count = len(fields)
    columns = {
        "trace_id": pa.array(["t"] * count),
        "node": pa.array(nodes or ["Server-1"] * count),
        "seq": pa.array(range(1, count + 1)),
        "event": pa.array(events or ["event"] * count),
        "fields": pa.StructArray.from_arrays([fields], names=["field"]),
    }
    return pa.RecordBatch.from_pydict(columns)


def number(words: Any, place: Bits | None) -> int:
    assert place is not None
    return int(words[place.word]) >> place.shift & (1 << place.width) - 1


def told(made: Compiled, kind: Type, encoded: Encoded, row: int) -> Any:
    """The value that a record shows, read from its words."""
    unmatchable = encoded.unmatchables.get(row)
    if unmatchable is not None:
        assert number(encoded.words[row], made.record.event) == 0, "no line is like it"
        return BOUND if unmatchable.why == "bound" else WRONG
    given, content = made.record.given[0], made.record.content[0]
    found = number(encoded.words[row], content)
    if isinstance(kind, Set) or (isinstance(kind, Option) and not isinstance(kind.element, Range)):
        if not number(encoded.words[row], given):
            return NOTHING
        members = frozenset(item for place, item in enumerate(values(kind.element)) if found >> place & 1)
        return members if isinstance(kind, Set) else next(iter(members), None)
    if found == 0:
        return NOTHING
    if isinstance(kind, Option):
        return None if found == 1 else kind.element.low + found - 2
    return kind.low + found - 1 if isinstance(kind, Range) else list(values(kind))[found - 1]


STRINGS = pa.list_(pa.string())
INTS = pa.list_(pa.int64())
SHOWN: list[tuple[Type, Any, list[Value]]] = [
    (Bool(), pa.array([True, False, None]), [True, False, NOTHING]),
    (Bool(), pa.array(["true", "false", "True", "yes", "1"]), [True, False, True, WRONG, WRONG]),
    (Bool(), pa.array([1, 0]), [WRONG, WRONG]),
    (Bool(), pa.array([["true"], [], ["true", "false"], None], STRINGS), [True, WRONG, WRONG, NOTHING]),
    (Range(-2, 3), pa.array([-2, 3, 4, -3, None]), [-2, 3, BOUND, BOUND, NOTHING]),
    (Range(-2, 3), pa.array([-2, 3, 4], pa.int8()), [-2, 3, BOUND]),
    (Range(-2, 3), pa.array(["-2", "3", "99", "", "x"]), [-2, 3, BOUND, WRONG, WRONG]),
    (Range(0, 20), pa.array(["1_0", " 1", "1.0", "٣", "0x1"]), [WRONG] * 5),
    (Range(0, 20), pa.array([2.0, 2.5, float("nan"), float("inf"), 99.0]), [2, WRONG, WRONG, WRONG, BOUND]),
    (Range(0, 20), pa.array([True, False]), [WRONG, WRONG]),
    (Range(0, 20), pa.array([[3], [3, 4], []], INTS), [3, WRONG, WRONG]),
    (Range(0, 20), pa.array([["3"], ["30"]], STRINGS), [3, BOUND]),
    (Range(5, LARGE), pa.array([5, LARGE, LARGE + 1, -(2**63), 2**63 - 1]), [5, LARGE, BOUND, BOUND, BOUND]),
    (MODE, pa.array(["idle", "busy", "Idle", "none", ""]), ["idle", "busy", WRONG, WRONG, WRONG]),
    (MODE, pa.array(["busy", None], pa.large_string()), ["busy", NOTHING]),
    (MODE, pa.array(["busy", None, "idle"]).dictionary_encode(), ["busy", NOTHING, "idle"]),
    (MODE, pa.array([["busy"], []], STRINGS), ["busy", WRONG]),
    (MODE, pa.array([1, 0]), [WRONG, WRONG]),
    (SERVER, pa.array(["Server-2", "server_2", "2", "Server-4", "Server-0", "Server"]), [2, 2, 2, BOUND, BOUND, WRONG]),
    (SERVER, pa.array([2, 4]), [2, BOUND]),
    (SERVER, pa.array([["Server-2"]], STRINGS), [2]),
    (Option(Range(0, 3)), pa.array([[], [0], [3], [4], [0, 1], None], INTS), [None, 0, 3, BOUND, WRONG, NOTHING]),
    (Option(Range(0, 3)), pa.array([0, 3, -1]), [0, 3, BOUND]),
    (Option(Range(0, 3)), pa.array(["none", "3", "-1", "nothing"]), [None, 3, BOUND, WRONG]),
    (Option(Range(0, 3)), pa.array([["none"], ["0"], []], STRINGS), [None, 0, None]),
    (Option(Range(0, LARGE)), pa.array([[], [LARGE]], INTS), [None, LARGE]),
    (Option(MODE), pa.array(["none", "busy", "other", None]), [None, "busy", WRONG, NOTHING]),
    (Option(MODE), pa.array([["none"], ["busy"], []], STRINGS), [None, "busy", None]),
    (Option(SERVER), pa.array(["none", "Server-3", "Server-5"]), [None, 3, BOUND]),
    (Option(Bool()), pa.array(["none", "true", "false"]), [None, True, False]),
    (Option(Bool()), pa.array([True, False, None]), [True, False, NOTHING]),
    (Set(Range(0, 4)), pa.array([[], [4, 0], [0, 0], [5], None], INTS), [set(), {0, 4}, {0}, BOUND, NOTHING]),
    (Set(Range(0, 4)), pa.array([2, 7]), [{2}, BOUND]),
    (Set(Range(0, 4)), pa.array([["4", "1"], ["x"]], STRINGS), [{1, 4}, WRONG]),
    (Set(Range(0, 61)), pa.array([[61, 0], list(range(62))], INTS), [{0, 61}, set(range(62))]),
    (Set(SERVER), pa.array([["Server-3", "1"], [], ["Server-9"]], STRINGS), [{1, 3}, set(), BOUND]),
    (Set(MODE), pa.array([["busy", "idle"], ["other"]], STRINGS), [{"idle", "busy"}, WRONG]),
    (Set(Option(MODE)), pa.array([["none", "idle"], ["none"], []], STRINGS), [{None, "idle"}, {None}, set()]),
    (Set(Bool()), pa.array([["true"], ["true", "false"]], STRINGS), [{True}, {True, False}]),
]


@pytest.mark.parametrize(("kind", "fields", "wanted"), SHOWN)
def test_value_is_read_however_it_is_written(kind: Type, fields: Any, wanted: list[Value]) -> None:
    made = small(kind)
    encoded = Encoder(made).encode(batch(fields))
    found = [told(made, kind, encoded, row) for row in range(len(fields))]
    assert found == [frozenset(one) if isinstance(one, set) else one for one in wanted]


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (pa.array(["a", "none", None, "b", "a"]), [2, 1, 0, 3, 2]),
        (pa.array(["a", None, "b", "a"]).dictionary_encode(), [2, 0, 3, 2]),
        (pa.array(["a", "b", "a"], pa.large_string()), [2, 3, 2]),
        (pa.array([17, 4, 17]), [2, 3, 2]),
        (pa.array([["a"], ["none"], None, ["a"]], STRINGS), [2, 1, 0, 2]),
        (pa.array([["a"], ["b", "c"], []], STRINGS), [2, WRONG, WRONG]),
    ],
)
@pytest.mark.parametrize("kind", [GROUP, Option(GROUP), Range(0, 3), Option(SERVER)])
def test_names_are_numbered_by_their_texts(kind: Type, fields: Any, wanted: list[Any]) -> None:
    made = small(kind, named=True)
    encoded = Encoder(made).encode(batch(fields))
    content = made.record.content[0]
    found = [
        WRONG if row in encoded.unmatchables else number(encoded.words[row], content) for row in range(len(fields))
    ]
    assert found == wanted


def test_names_keep_their_numbers_from_batch_to_batch() -> None:
    encoder = Encoder(small(GROUP, named=True))
    content = encoder.compiled.record.content[0]
    first = encoder.encode(batch(pa.array(["b", "a"])))
    second = encoder.encode(batch(pa.array(["c", "a", "b"])))
    assert [number(words, content) for words in first.words] == [2, 3]
    assert [number(words, content) for words in second.words] == [4, 3, 2]


ONE_KIND = {
    "Server-1": 0,
    "server 2": 1,
    "Server_03": 2,
    "2": 1,
    "host.example-3": 2,
    "-": 3,
    "Server-4": -1,
    "Server-0": -1,
    "Server": -1,
    "": -1,
    "Server-²": -1,
}
TWO_KINDS = {"Server-1": 0, "client2": 4, "CLIENT#1": 3, "2": -1, "host-2": -1, "Client-3": -1, "-": 5}


@pytest.mark.parametrize(("nodes", "wanted"), [((SERVER,), ONE_KIND), ((SERVER, CLIENT), TWO_KINDS)])
def test_node_is_known_by_its_number_and_by_its_kind_where_there_are_several(
    nodes: tuple[Node, ...], wanted: dict[str, int]
) -> None:
    made = compiled(observed(system([("event", [("field", Bool(), False)])], nodes)))
    encoded = Encoder(made).encode(batch(pa.array([True] * len(wanted)), nodes=list(wanted)))
    assert dict(zip(wanted, encoded.writers.tolist(), strict=True)) == wanted
    unknown = [row for row, place in enumerate(wanted.values()) if place < 0]
    assert sorted(encoded.unmatchables) == unknown
    assert {encoded.unmatchables[row].why for row in unknown} == {"node"}


def test_records_of_other_events_are_passed_over() -> None:
    made = small(Range(0, 3))
    encoded = Encoder(made).encode(batch(pa.array([1, 99, 2]), events=["event", "other", "event"]))
    assert encoded.rows.tolist() == [0, 2]
    assert [told(made, Range(0, 3), encoded, row) for row in (0, 1)] == [1, 2]


def test_batch_without_fields_shows_nothing() -> None:
    made = small(Range(0, 3))
    whole = batch(pa.array([1, 2]))
    without = whole.drop_columns(["fields"])
    assert [told(made, Range(0, 3), Encoder(made).encode(without), row) for row in (0, 1)] == [NOTHING, NOTHING]
    rows = [{**row, "fields": None} for row in whole.to_pylist()]
    nulls = pa.RecordBatch.from_pylist(rows, whole.schema)
    assert [told(made, Range(0, 3), Encoder(made).encode(nulls), row) for row in (0, 1)] == [NOTHING, NOTHING]


def test_field_of_a_record_whose_fields_are_null_is_not_shown() -> None:
    made = small(Range(0, 3))
    whole = batch(pa.array([1, 2]))
    hidden = pa.StructArray.from_arrays([pa.array([1, 2])], names=["field"], mask=pa.array([True, False]))
    changed = whole.set_column(whole.schema.get_field_index("fields"), "fields", hidden)
    encoded = Encoder(made).encode(changed)
    assert [told(made, Range(0, 3), encoded, row) for row in (0, 1)] == [NOTHING, 2]


def test_empty_batch_has_no_records() -> None:
    made = small(Range(0, 3))
    encoded = Encoder(made).encode(batch(pa.array([], pa.int64())))
    assert len(encoded.rows) == len(encoded.words) == 0
    assert not encoded.unmatchables


def test_columns_of_words_may_be_dictionaries_or_large() -> None:
    made = small(MODE)
    whole = batch(pa.array(["busy", "idle"]))
    for change in (lambda column: column.dictionary_encode(), lambda column: column.cast(pa.large_string())):
        changed = whole
        for name in ("node", "event"):
            changed = changed.set_column(changed.schema.get_field_index(name), name, change(whole.column(name)))
        encoded = Encoder(made).encode(changed)
        assert encoded.writers.tolist() == [0, 0]
        assert [told(made, MODE, encoded, row) for row in (0, 1)] == ["busy", "idle"]


def test_fields_of_several_events_are_read_each_by_its_type() -> None:
    shown = [("one", [("x", Range(0, 9), False)]), ("two", [("x", MODE, False)]), ("three", [("x", Set(MODE), False)])]
    made = compiled(observed(system(shown)))
    fields = pa.StructArray.from_arrays([pa.array([["7"], ["busy"], ["idle", "busy"], ["busy"]], STRINGS)], names=["x"])
    whole = batch(pa.array([1, 2, 3, 4]), events=["one", "two", "three", "one"])
    encoded = Encoder(made).encode(whole.set_column(4, "fields", fields))
    columns = {event.name: event.fields[0].column for event in made.shape.events}
    contents = [
        number(encoded.words[row], made.record.content[columns[event]])
        for row, event in enumerate(("one", "two", "three"))
    ]
    assert contents == [8, 2, 3]
    assert list(encoded.unmatchables) == [3]
    assert encoded.unmatchables[3].why == "value"
    assert np.asarray(encoded.words).dtype == np.uint64
