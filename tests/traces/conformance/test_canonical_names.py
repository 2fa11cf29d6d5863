"""Names in logs: one for one value, forgotten when an identity is drawn afresh; identities, options, and others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hacheck.model import ir
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.model.observing.record_conditions import observed
from hacheck.model.observing.record_layout import ObservingError
from hacheck.model.types import Node, Range
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.records import Order
from tests.traces.conformance.arrow_records import table, verdicts
from tests.traces.conformance.oracle import LogRecord, Oracle

GROUPS = """
system Groups "Servers found groups, join them and leave them."
identity Group
node Server[2] symmetric { group: Group? = none }
action found(s: Server) when s.group == none do
  s.group := fresh(Group)
  log founded(group: s.group)
environment action join(s: Server) when s.group == none do
  choose t: Server where t.group != none
  s.group := t.group
  log joined(group: s.group, to: t as name) at s
action leave(s: Server) when s.group != none do
  log left(group: s.group)
  s.group := none
action look(s: Server) do log looked(group: s.group, me: s as name)
"""

ONE, TWO = ("Server", 1), ("Server", 2)


@pytest.fixture(scope="module")
def groups() -> ir.System:
    loaded = load(GROUPS, "groups.ha")
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}, None, logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system)


def founded(node: tuple[str, int], group: str) -> LogRecord:
    return LogRecord("founded", node, {"group": group})


def joined(node: tuple[str, int], group: str, **more: str) -> LogRecord:
    return LogRecord("joined", node, {"group": group, **more})


def left(node: tuple[str, int], group: str) -> LogRecord:
    return LogRecord("left", node, {"group": group})


def looked(node: tuple[str, int], group: str | None, **more: str) -> LogRecord:
    return LogRecord("looked", node, {"group": group, **more})


CASES: dict[str, tuple[Sequence[LogRecord], bool]] = {
    "one group, joined": ([founded(ONE, "a"), joined(TWO, "a"), looked(ONE, "a"), looked(TWO, "a")], True),
    "two names for one identity": ([founded(ONE, "a"), joined(TWO, "b")], False),
    "two names for one identity, later": ([founded(ONE, "a"), looked(ONE, "a"), looked(ONE, "b")], False),
    "one name for two identities": ([founded(ONE, "a"), founded(TWO, "a")], False),
    "two groups": ([founded(ONE, "a"), founded(TWO, "b"), looked(ONE, "a"), looked(TWO, "b")], True),
    "two groups, mixed up": ([founded(ONE, "a"), founded(TWO, "b"), looked(ONE, "b")], False),
    "a new group after the old one": ([founded(ONE, "a"), left(ONE, "a"), founded(ONE, "b"), looked(ONE, "b")], True),
    "the old name for the new group": ([founded(ONE, "a"), left(ONE, "a"), founded(ONE, "b"), looked(ONE, "a")], False),
    "many groups, more than there are at a time": (
        [one for number in range(40) for one in (founded(ONE, f"g{number}"), left(ONE, f"g{number}"))],
        True,
    ),
    "the other one keeps its name": (
        [founded(ONE, "a"), joined(TWO, "a"), left(ONE, "a"), founded(ONE, "b"), looked(TWO, "a"), looked(ONE, "b")],
        True,
    ),
    "a name that the other one still has": (
        [founded(ONE, "a"), joined(TWO, "a"), left(ONE, "a"), founded(ONE, "a")],
        False,
    ),
    "nothing where there is a group": ([founded(ONE, "a"), looked(ONE, None)], False),
    "nothing where there is nothing": ([founded(ONE, "a"), looked(TWO, None)], True),
    "a group where there is nothing": ([founded(ONE, "a"), looked(TWO, "a")], False),
    "a founder without a name": ([founded(ONE, "a"), LogRecord("looked", ONE, {}), looked(ONE, "a")], True),
    "founded without a name": ([LogRecord("founded", ONE, {}), looked(ONE, "x"), joined(TWO, "x")], True),
    "founded without a name, then two": ([LogRecord("founded", ONE, {}), looked(ONE, "x"), looked(ONE, "y")], False),
    "servers by names of their own": ([looked(ONE, None, me="x"), looked(TWO, None, me="y")], True),
    "one server by two names": ([looked(ONE, None, me="x"), looked(ONE, None, me="y")], False),
    "two servers by one name": ([looked(ONE, None, me="x"), looked(TWO, None, me="x")], False),
    "a server named by another": (
        [founded(ONE, "a"), looked(ONE, "a", me="x"), joined(TWO, "a", to="x"), looked(TWO, "a", me="y")],
        True,
    ),
    "a server named wrongly by another": (
        [looked(ONE, None, me="x"), looked(TWO, None, me="y"), founded(ONE, "a"), joined(TWO, "a", to="y")],
        False,
    ),
    "a server and a group of one name": ([founded(ONE, "a"), looked(ONE, "a", me="a")], True),
}


def test_names_in_order(groups: ir.System) -> None:
    oracle = Oracle(groups)
    found = verdicts(
        TraceChecker(groups, Order.TOTAL, explained_max=0),
        [table(groups, {name: records}) for name, (records, _) in CASES.items()],
    )
    for name, (records, conforms) in CASES.items():
        assert oracle.in_order(records).explained == conforms, name
        assert found[name].kind == ("conforms" if conforms else "deviates"), name


def test_names_of_nodes_that_logged_apart(groups: ir.System) -> None:
    oracle = Oracle(groups)
    timed = {
        name: [LogRecord(one.event, one.node, one.fields, time) for time, one in enumerate(records)]
        for name, (records, _) in CASES.items()
    }
    for skew in (0, 3):
        checker = TraceChecker(groups, Order.PER_NODE, skew, explained_max=0)
        found = verdicts(checker, [table(groups, {name: records}) for name, records in timed.items()])
        for name, records in timed.items():
            explained = oracle.apart(records, skew).explained
            assert found[name].kind == ("conforms" if explained else "deviates"), (name, skew)
            assert explained or not CASES[name][1], name


def test_names_of_one_trace_mean_nothing_in_the_next(groups: ir.System) -> None:
    traces = {
        f"trace-{number}": [founded(ONE if number % 2 else TWO, "a"), left(ONE if number % 2 else TWO, "a")]
        for number in range(6)
    }
    for size in (1, 2, 3, 12):
        batch = table(groups, traces)
        pieces = [batch.slice(start, size) for start in range(0, batch.num_rows, size)]
        found = verdicts(TraceChecker(groups, Order.TOTAL, explained_max=0), pieces)
        assert {verdict.kind for verdict in found.values()} == {"conforms"}


def test_one_field_may_not_be_a_name_here_and_a_value_there() -> None:
    server = Node("Server", 2, False)
    value = ir.Local("n", server)
    lines = tuple(ir.Log("told", value, (ir.Shown("who", value, named),), 0) for named in (True, False))
    action = ir.Action("act", (("n", server),), ir.TRUE, lines, "protocol", "n", None, "act", "", "", 0)
    system = ir.System("Small", "", "", (), (server,), (), (), (action,), (), (), (), (), ())
    with pytest.raises(ObservingError, match="a name in some places only"):
        observed(system)


@pytest.mark.parametrize(("most", "possible"), [(1_023, True), (1_024, False)])
def test_values_with_names_are_not_too_many(most: int, possible: bool) -> None:
    number = Range(0, most)
    line = ir.Log("told", None, (ir.Shown("which", ir.Variable("which", number), True),), 0)
    state = ir.StateVariable("which", number, 0, None, "shared")
    action = ir.Action("act", (), ir.TRUE, (line,), "environment", None, None, "act", "", "", 0)
    system = ir.System("Small", "", "", (), (), (state,), (), (action,), (), (), (), (), ())
    if possible:
        assert observed(system).pools == (number,)
    else:
        with pytest.raises(ObservingError, match="has 1,025 values"):
            observed(system)
