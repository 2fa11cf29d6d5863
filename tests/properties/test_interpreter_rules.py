"""One test for each rule about what can go wrong in a step, and about what a step sees."""

from __future__ import annotations

import pytest

from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, StoppedAtBound, Taken
from hacheck.model.ir import (
    FALSE,
    TRUE,
    Assign,
    Binary,
    Choose,
    Constant,
    Domain,
    Expression,
    Extreme,
    ForEach,
    Fresh,
    If,
    Index,
    Let,
    Local,
    MakeCollection,
    MakeRecord,
    Old,
    Quantified,
    Require,
    Statement,
    Stop,
    Target,
    Unary,
    Variable,
)
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Node, Option, Range, Record, Sequence, Set, Type, Value
from tests.models.small import action, asked, system

REPLICA = Node("Replica", 3, ranked=True)
GROUP = Identity("Group", 2)
COUNTER = Range(0, 2, "generations")
STAMP = Record("Stamp", (("generation", COUNTER), ("iteration", Range(0, 3))), ordered=True)


def constant(value: int) -> Constant:
    return Constant(value, Range(value, value))


def one_step(variables: dict[Variable, Value], *body: Statement) -> list[Taken | StoppedAtBound | Failed]:
    """The outcomes of a body in the initial state."""
    interpreter = Interpreter(system(variables, action(*body)))
    (initial,) = interpreter.initial_states()
    return list(interpreter.outcomes(initial))


def after(variables: dict[Variable, Value], *body: Statement) -> tuple[Value, ...]:
    """The state after a body that can only be done in one way."""
    (outcome,) = one_step(variables, *body)
    assert isinstance(outcome, Taken)
    return outcome.step.state


def message(variables: dict[Variable, Value], *body: Statement) -> str:
    (outcome,) = one_step(variables, *body)
    assert isinstance(outcome, Failed)
    return outcome.error.message


def bound(variables: dict[Variable, Value], *body: Statement) -> str:
    (outcome,) = one_step(variables, *body)
    assert isinstance(outcome, StoppedAtBound)
    return outcome.bound


def variable(kind: Type, name: str = "x") -> Variable:
    return Variable(name, kind)


def store(target: Variable | Local, value: Expression, *path: Expression | str) -> Assign:
    return Assign(Target(target, path), value)


# ---- what may be stored ----


def test_number_outside_its_range_is_an_error_that_names_the_place() -> None:
    term = variable(Map(REPLICA, Range(0, 3)), "Replica.term")
    increment = store(term, Binary("+", Index(term, constant(2)), constant(1)), Constant(2, REPLICA))
    assert message({term: (0, 3, 0)}, increment) == "Replica 2.term would be 4, outside 0..3"


def test_passing_a_counter_is_a_cut_and_going_below_it_an_error() -> None:
    x = variable(COUNTER)
    assert bound({x: 2}, store(x, Binary("+", x, constant(1)))) == "generations"
    assert message({x: 0}, store(x, Binary("-", x, constant(1)))) == "x would be -1, outside 0..2"


def test_counter_inside_a_record_cuts_as_well() -> None:
    x = variable(STAMP)
    bigger = MakeRecord(STAMP, (constant(3), constant(0)))
    assert bound({x: (0, 0)}, store(x, bigger)) == "generations"
    wrong = MakeRecord(STAMP, (constant(1), constant(9)))
    assert message({x: (0, 0)}, store(x, wrong)) == "x.iteration would be 9, outside 0..3"


def test_first_part_that_does_not_fit_decides() -> None:
    x = variable(STAMP)
    both = MakeRecord(STAMP, (constant(3), constant(9)))
    assert bound({x: (0, 0)}, store(x, both)) == "generations"


def test_value_outside_its_range_may_be_compared_as_long_as_it_is_not_stored() -> None:
    x, y = variable(Range(0, 2)), variable(Bool(), "y")
    assert after({x: 2, y: False}, store(y, Binary("<", constant(2), Binary("+", x, constant(1))))) == (2, True)


@pytest.mark.parametrize("kind", [Sequence(Range(0, 3), 1), Bag(Range(0, 3), 1)])
def test_growing_past_the_capacity_is_a_cut_named_after_the_variable(kind: Sequence | Bag) -> None:
    queue = variable(Map(REPLICA, kind), "Replica.queue")
    more = Binary("append" if isinstance(kind, Sequence) else "with", Index(queue, constant(1)), constant(7))
    assert bound({queue: ((1,), (), ())}, store(queue, more, Constant(1, REPLICA))) == "capacity of Replica.queue"


def test_set_element_outside_its_type_is_an_error_when_stored() -> None:
    x = variable(Set(Range(0, 2)))
    assert message({x: frozenset()}, store(x, Binary("with", x, constant(5)))) == "x would be 5, outside 0..2"


def test_let_is_checked_against_its_declared_type() -> None:
    x = variable(Range(0, 2))
    assert message({x: 0}, Let("l", Range(0, 1), constant(5))) == "l would be 5, outside 0..1"
    assert after({x: 0}, Let("l", Range(5, 5), constant(5)), store(x, constant(1))) == (1,)


# ---- what has no value ----

EMPTY = MakeCollection(Sequence(Range(0, 3), 2), ())


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (Unary("value", Constant(None, Option(Range(0, 3)))), "none is none where a value is needed"),
        (Unary("first", EMPTY), "first([]): the sequence is empty"),
        (Unary("last", EMPTY), "last([]): the sequence is empty"),
        (Index(EMPTY, constant(1)), "[][1]: there is no element 1, the sequence has 0 elements"),
        (
            Index(MakeCollection(Sequence(Range(0, 3), 2), (constant(1),)), constant(0)),
            "[1][0]: there is no element 0, the sequence has 1 element",
        ),
        (
            Index(Constant((0, 0), Map(Range(1, 2), Range(0, 3))), constant(3)),
            "(1: 0, 2: 0) has no element for 3",
        ),
        (
            Extreme("max", "v", Domain(Range(0, 3), EMPTY, None), Local("v", Range(0, 3))),
            "max v in [] by v: there is nothing to choose from",
        ),
    ],
)
def test_missing_value_is_an_error_that_shows_the_expression(expression: Expression, said: str) -> None:
    x = variable(Range(0, 3))
    assert message({x: 0}, store(x, expression)) == said


def test_rest_of_an_empty_sequence_is_an_error() -> None:
    x = variable(Sequence(Range(0, 3), 2))
    assert message({x: ()}, store(x, Unary("rest", x))) == "rest(x): the sequence is empty"


def test_guard_without_a_value_is_an_error_of_the_action() -> None:
    x = variable(Option(Bool()))
    interpreter = Interpreter(system({x: None}, action(guard=Unary("value", x))))
    (outcome,) = interpreter.outcomes((None,))
    assert isinstance(outcome, Failed)
    assert outcome.error.message == "x is none where a value is needed"


def test_writing_to_a_place_that_is_not_there_is_an_error() -> None:
    x = variable(Sequence(Range(0, 3), 2))
    assert message({x: (1,)}, store(x, constant(2), constant(2))).startswith("x has no element 2")
    assert after({x: (1,)}, store(x, constant(2), constant(1))) == ((2,),)


def test_property_without_a_value_raises() -> None:
    x = variable(Option(Bool()))
    interpreter = Interpreter(system({x: None}))
    with pytest.raises(EvaluationError, match="x is none"):
        interpreter.holds(asked("invariant", Unary("value", x)), (None,))


def test_error_in_the_initial_statements_raises() -> None:
    x = variable(Range(0, 1))
    wrong = system({x: 0}, initial=(store(x, constant(4)),))
    with pytest.raises(EvaluationError, match="at the start: x would be 4"):
        Interpreter(wrong).initial_states()


@pytest.mark.parametrize(
    ("operator", "left", "result"), [("and", FALSE, False), ("or", TRUE, True), ("implies", FALSE, True)]
)
def test_right_side_that_cannot_matter_is_not_evaluated(operator: str, left: Expression, result: bool) -> None:
    x = variable(Option(Bool()))
    expression = Binary(operator, left, Unary("value", x))  # type: ignore[arg-type]
    assert Interpreter(system({x: None})).value(expression, (None,)) is result


def test_some_stops_at_the_first_value_that_decides_and_count_does_not() -> None:
    x = variable(Sequence(Option(Bool()), 2))
    items = Domain(Option(Bool()), x, None)
    body = Unary("value", Local("v", Option(Bool())))
    interpreter = Interpreter(system({x: (True, None)}))
    assert interpreter.value(Quantified("some", "v", items, body), ((True, None),)) is True
    with pytest.raises(EvaluationError):
        interpreter.value(Quantified("count", "v", items, body), ((True, None),))


# ---- what is not possible, and what is cut ----


def test_require_and_an_empty_choice_leave_no_outcome() -> None:
    x = variable(Range(0, 3))
    assert one_step({x: 0}, Require(FALSE)) == []
    assert one_step({x: 0}, Choose("c", Domain(Range(0, 3), None, FALSE))) == []


def test_cut_is_counted_under_its_name_with_the_choices_before_it() -> None:
    x = variable(Range(0, 3))
    outcomes = one_step({x: 0}, Choose("c", Domain(Bool(), None, None)), Stop("patience"))
    assert outcomes == [StoppedAtBound(0, (), (False,), "patience"), StoppedAtBound(0, (), (True,), "patience")]


def test_only_the_choice_that_goes_wrong_fails() -> None:
    x = variable(Range(0, 1))
    choice = Local("c", Range(0, 2))
    outcomes = one_step({x: 0}, Choose("c", Domain(Range(0, 2), None, None)), store(x, choice))
    assert [type(outcome) for outcome in outcomes] == [Taken, Taken, Failed]


def test_initial_states_are_distinct_and_in_the_order_of_choices() -> None:
    x = variable(Range(0, 3))
    choice = Local("c", Range(-1, 1))
    square = Binary("*", choice, choice)
    made = system({x: 0}, initial=(Choose("c", Domain(Range(-1, 1), None, None)), store(x, square)))
    assert Interpreter(made).initial_states() == ((1,), (0,))


def test_state_is_deadlocked_when_only_faults_are_possible_and_a_cut_is_no_deadlock() -> None:
    x = variable(COUNTER)
    count = action(store(x, Binary("+", x, constant(1))))
    never = action(guard=FALSE)
    assert not Interpreter(system({x: 2}, count)).deadlocked((2,))
    assert Interpreter(system({x: 2}, never)).deadlocked((2,))


# ---- fresh identities ----


def test_fresh_is_the_least_identity_that_nothing_holds() -> None:
    x, y = variable(GROUP), variable(Option(GROUP), "y")
    assert after({x: 1, y: None}, store(y, Unary("some", Fresh(GROUP)))) == (1, 2)
    assert after({x: 2, y: None}, store(x, Fresh(GROUP))) == (1, None)


def test_no_identity_left_is_a_cut_named_after_the_pool() -> None:
    x, y = variable(GROUP), variable(Option(GROUP), "y")
    assert bound({x: 1, y: 2}, store(x, Fresh(GROUP))) == "Group"


def test_identity_dropped_earlier_in_the_step_is_free_again() -> None:
    x, y = variable(GROUP), variable(Option(GROUP), "y")
    forget = store(y, Constant(None, Option(GROUP)))
    assert after({x: 1, y: 2}, forget, store(x, Fresh(GROUP))) == (2, None)


def test_identity_held_by_a_local_only_is_not_drawn_again() -> None:
    x = variable(GROUP)
    draw, again = Let("g", GROUP, Fresh(GROUP)), Let("h", GROUP, Fresh(GROUP))
    assert bound({x: 1}, draw, again) == "Group"
    pool = Identity("Group", 3)
    assert after(
        {variable(pool): 1},
        Let("g", pool, Fresh(pool)),
        Let("h", pool, Fresh(pool)),
        store(variable(pool), Local("h", pool)),
    ) == (3,)


def test_identities_inside_collections_are_held_and_keys_are_not() -> None:
    x, y = variable(Sequence(Option(GROUP), 1)), variable(Map(GROUP, Bool()), "y")
    new = store(x, MakeCollection(x.type, (Unary("some", Fresh(GROUP)),)))
    assert after({x: (1,), y: (True, True)}, new) == ((2,), (True, True))


# ---- what a body sees ----


def test_statement_sees_what_the_one_before_wrote_and_old_what_was() -> None:
    x, y = variable(Range(0, 9)), variable(Range(0, 9), "y")
    twice = (store(x, Binary("+", x, constant(1))), store(y, x))
    assert after({x: 1, y: 0}, *twice) == (2, 2)
    interpreter = Interpreter(system({x: 1, y: 0}))
    grown = asked("step", Binary("<", Old(x), x))
    assert interpreter.holds_step(grown, (1, 0), (2, 0))
    assert not interpreter.holds_step(grown, (2, 0), (2, 0))


def test_let_outlives_the_block_that_changes_it() -> None:
    x = variable(Range(0, 9))
    total = Local("total", Range(0, 9))
    turn = Local("turn", Range(0, 3))
    add = Assign(Target(total), Binary("+", total, turn))
    loop = ForEach("turn", Domain(Range(0, 3), None, None), (If(TRUE, (add,), ()),))
    assert after({x: 0}, Let("total", Range(0, 9), constant(0)), loop, store(x, total)) == (6,)


def test_loop_ranges_over_what_was_there_before_its_first_turn() -> None:
    x = variable(Set(Range(0, 3)))
    turn = Local("turn", Range(0, 3))
    grow = store(x, Binary("with", x, Binary("+", turn, constant(1))))
    assert after({x: frozenset({0})}, ForEach("turn", Domain(Range(0, 3), x, None), (grow,))) == (frozenset({0, 1}),)


def test_choices_in_a_loop_multiply_in_order() -> None:
    x = variable(Sequence(Bool(), 2))
    choice = Local("c", Bool())
    body = (Choose("c", Domain(Bool(), None, None)), store(x, Binary("append", x, choice)))
    outcomes = one_step({x: ()}, ForEach("turn", Domain(Range(1, 2), None, None), body))
    states = [outcome.step.state[0] for outcome in outcomes if isinstance(outcome, Taken)]
    assert states == [(False, False), (False, True), (True, False), (True, True)]


# ---- operators ----


def test_order_is_of_ranks_of_members_and_field_by_field() -> None:
    mode = Enum("Mode", ("zebra", "ant"))
    interpreter = Interpreter(system({}))
    less = [
        (Constant("zebra", mode), Constant("ant", mode)),
        (Constant(1, REPLICA), Constant(2, REPLICA)),
        (Constant((1, 3), STAMP), Constant((2, 0), STAMP)),
        (Constant((1, 0), STAMP), Constant((1, 1), STAMP)),
    ]
    for left, right in less:
        assert interpreter.value(Binary("<", left, right), ()) is True
        assert interpreter.value(Binary("<", right, left), ()) is False
        assert interpreter.value(Binary("<=", left, left), ()) is True


def test_majority_is_of_all_nodes_of_the_kind() -> None:
    interpreter = Interpreter(system({}))
    node = Local("n", REPLICA)
    two = MakeCollection(Set(REPLICA), (Constant(1, REPLICA), Constant(3, REPLICA)))
    one = MakeCollection(Set(REPLICA), (Constant(1, REPLICA),))
    assert interpreter.value(Unary("majority", two), ()) is True
    assert interpreter.value(Unary("majority", one), ()) is False
    within = Domain(REPLICA, one, Binary("==", node, node))
    assert interpreter.value(Quantified("majority", "n", within, TRUE), ()) is False


def test_bag_keeps_one_order_and_loses_one_occurrence() -> None:
    interpreter = Interpreter(system({}))
    bag = MakeCollection(Bag(Range(0, 3), 3), (constant(2), constant(0), constant(2)))
    assert interpreter.value(bag, ()) == (0, 2, 2)
    assert interpreter.value(Binary("with", bag, constant(1)), ()) == (0, 1, 2, 2)
    assert interpreter.value(Binary("without", bag, constant(2)), ()) == (0, 2)
    assert interpreter.value(Binary("without", bag, constant(3)), ()) == (0, 2, 2)


def test_extreme_takes_the_first_among_equals() -> None:
    interpreter = Interpreter(system({}))
    everyone = Domain(REPLICA, None, None)
    for kind in ("max", "min"):
        assert interpreter.value(Extreme(kind, "n", everyone, constant(0)), ()) == 1  # type: ignore[arg-type]


def test_deep_expression_has_a_value() -> None:
    deep: Expression = TRUE
    for _ in range(200):
        deep = Unary("not", Binary("and", deep, TRUE))
    assert Interpreter(system({})).value(deep, ()) is True
