"""Records say what the steps wrote: the truth beside them is a run that writes just these lines."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hacheck.model.observing.line_writers import has_lines
from hacheck.traces.records import FieldType, Order
from hacheck.traces.simulation.plan import Plan, shape_of
from hacheck.traces.simulation.random_walk import PortableWalker
from hacheck.traces.simulation.trace_maker import Maker
from tests.traces.simulation.reference import can_go_on, is_run
from tests.traces.simulation.specs import ENDING, EVERYTHING, PLAIN, system_of


def rows_of(table: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table by trace."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(row["trace_id"], []).append(row)
    return found


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("text", [EVERYTHING, PLAIN, ENDING], ids=["everything", "plain", "ending"])
def test_the_truth_is_a_run_that_writes_these_lines(text: str, portable: bool) -> None:
    plan = Plan(system_of(text), "t", traces=6, steps=25, seed=3)
    maker = Maker(plan)
    if portable:
        shape = maker.shape.lines
        maker.walker = PortableWalker(plan.system if shape is None else shape.system, shape, plan.seed, plan.steps)
        maker = _with_tables_of(maker, plan)
    made = maker.make(0, 6)
    steps, records = rows_of(made.steps), rows_of(made.records)
    assert len(steps) == 6
    for trace, taken in steps.items():
        assert is_run(plan.system, taken, records.get(trace, []))
        assert len(taken) == plan.steps or not can_go_on(plan.system, taken)
    ended = sum(len(taken) < plan.steps for taken in steps.values())
    assert made.ended == ended


def _with_tables_of(maker: Maker, plan: Plan) -> Maker:
    """What depends on the numbers of instances, made for another walker."""
    from hacheck.model.interpreter import call
    from hacheck.traces.simulation.walk_lines import table_of

    maker.calls = [call(plan.system, action, arguments) for action, arguments in maker.walker.instances]
    maker.table = table_of(plan.system, maker.walker.instances) if maker.table is not None else None
    return maker


def test_a_wrong_line_is_not_written_by_the_run() -> None:
    """The judge of the test above can say no."""
    plan = Plan(system_of(EVERYTHING), "t", traces=3, steps=25, seed=3)
    made = Maker(plan).make(0, 3)
    steps, records = rows_of(made.steps), rows_of(made.records)
    for trace, taken in steps.items():
        wrong = [dict(record) for record in records[trace]]
        wrong[5]["node"] = "Server-9"
        assert not is_run(plan.system, taken, wrong)
        named = next(number for number, one in enumerate(wrong) if (one["fields"] or {}).get("group") is not None)
        other = [dict(record) for record in records[trace]]
        other[named]["event"] = "nothing"
        assert not is_run(plan.system, taken, other)


def test_records_have_the_columns_and_the_numbers_of_the_schema() -> None:
    plan = Plan(system_of(EVERYTHING), "t", traces=5, steps=40, seed=1)
    maker = Maker(plan)
    made = maker.make(0, 5)
    for records in rows_of(made.records).values():
        assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
        times = [record["time"] for record in records]
        assert times == sorted(set(times))
    assert made.records["trace_id"].to_pylist() == sorted(made.records["trace_id"].to_pylist())
    schema = maker.shape.schema(False)
    assert schema.order is Order.TOTAL
    assert dict(schema.fields)["n"] is FieldType.INT


def test_values_are_written_as_documented() -> None:
    """The table of `docs/traces.md`, section Values."""
    system = system_of(
        """
        system Values "One of each."
        identity Group
        node Server[2] ranked { done: bool = false  g: Group? = none }
        action show(s: Server) when not s.done do
          let g = fresh(Group)
          s.done := true
          s.g := g
          let few = {3, 1}
          let yes = { true }
          let word: { red, green }? = red
          log shown(truth: s.done, number: 2, word: green, node: s, one: g, other: s.g,
                    maybe: word, numbers: few, truths: yes, nodes: all(Server), named: s as name)
        action again(s: Server) when s.done do log again(number: s, one: s.g, other: 1, numbers: all(Server))
        invariant fine: every s: Server satisfies s.done or s.g == none
        """
    )
    records = Maker(Plan(system, "t", traces=1, steps=8, seed=0)).make(0, 1).records.to_pylist()
    first = next(record for record in records if record["event"] == "shown")
    fields = first["fields"]
    assert fields["truth"] is True
    assert fields["number"] == "2", "a number here and a node elsewhere: a word in both"
    assert fields["word"] == "green"
    assert fields["node"] == first["node"]
    assert len(fields["one"]) == 36
    assert fields["one"].count("-") == 4
    assert fields["other"] == fields["one"], "one identity has one name"
    assert fields["maybe"] == "red"
    assert fields["numbers"] == ["1", "3"], "a set of numbers here, of nodes elsewhere"
    assert fields["truths"] == ["true"]
    assert fields["nodes"] == ["Server-1", "Server-2"]
    assert len(fields["named"]) == 36
    assert fields["named"] != fields["one"]
    again = [record for record in records if record["event"] == "again"]
    assert {record["fields"]["number"] for record in again} <= {"Server-1", "Server-2"}
    assert all(record["fields"]["truth"] is None for record in again)
    mine = [record for record in again if record["node"] == first["node"]]
    assert all(record["fields"]["one"] == fields["one"] for record in mine)


def test_an_option_of_a_number_is_a_list() -> None:
    made = Maker(Plan(system_of(EVERYTHING), "t", traces=10, steps=60, seed=5)).make(0, 10)
    last = [row["fields"]["last"] for row in made.records.to_pylist() if row["event"] == "left"]
    assert [] in last
    assert any(len(value) == 1 for value in last)
    assert made.records.schema.field("fields").type.field("last").type == pa.list_(pa.int64())


def test_an_identity_drawn_again_has_a_new_name() -> None:
    made = Maker(Plan(system_of(EVERYTHING), "t", traces=4, steps=200, seed=4)).make(0, 4)
    for records in rows_of(made.records).values():
        drawn = [record["fields"]["group"] for record in records if record["event"] == "founded"]
        assert len(drawn) > 4, "the pool is smaller than that"
        assert len(set(drawn)) == len(drawn)


def test_what_is_hidden_is_not_there() -> None:
    system = system_of(EVERYTHING)
    plan = Plan(system, "t", 5, 40, 1, hidden=("round", "asked"), hidden_fields=("term", "joined.to"))
    shape = shape_of(plan)
    assert "term" not in shape.forms
    assert "turns" not in shape.forms
    whole = Maker(Plan(system, "t", 5, 40, 1)).make(0, 5)
    part = Maker(plan).make(0, 5)
    left = [row for row in whole.records.to_pylist() if row["event"] not in ("round", "asked")]
    assert [(row["trace_id"], row["time"], row["node"], row["event"]) for row in left] == [
        (row["trace_id"], row["time"], row["node"], row["event"]) for row in part.records.to_pylist()
    ]
    assert any(row["event"] == "joined" for row in left)
    for record in part.records.to_pylist():
        assert record["event"] not in ("round", "asked")
        if record["event"] == "joined":
            assert record["fields"].get("to") is None, "no line is left that shows one"
            assert record["fields"]["best"] is not None
    assert part.steps.equals(whole.steps), "the truth stays"
    for records in rows_of(part.records).values():
        assert [record["seq"] for record in records] == list(range(1, len(records) + 1))


def test_a_spec_without_lines_has_one_for_each_step() -> None:
    plan = Plan(system_of(PLAIN), "t", 3, 30, 1)
    assert has_lines(plan.system)
    maker = Maker(plan)
    assert maker.shape.lines is None, "nothing but the step decides what a line says"
    made = maker.make(0, 3)
    assert made.records.num_rows == made.steps.num_rows == 90
