"""What users read: values, changes and guards in words."""

from __future__ import annotations

import pytest

from hacheck.model.ir import (
    Binary,
    Conditional,
    Constant,
    Domain,
    Expression,
    Extreme,
    Index,
    Local,
    MakeCollection,
    MapOf,
    Quantified,
    SetOf,
    Unary,
    Variable,
)
from hacheck.model.itf import run_to_itf, value_to_itf
from hacheck.model.render import changes, show, show_expression
from hacheck.model.run_json import run_from_json, run_to_json, state_from_json
from hacheck.model.runs import Run, StepError
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Node, Option, Range, Record, Sequence, Set, Type, Value
from hacheck.model.value_json import JsonError, value_to_json
from tests.models.quorum_election import quorum_election
from tests.models.small import system

REPLICA = Node("Replica", 3, ranked=True)
MODE = Enum("Mode", ("inactive", "election"))
STAMP = Record("Stamp", (("generation", Range(0, 3)), ("iteration", Range(0, 3))), ordered=True)
N = Local("n", REPLICA)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Bool(), True, "true"),
        (Range(-2, 3), -2, "-2"),
        (MODE, "election", "election"),
        (REPLICA, 3, "Replica 3"),
        (Identity("Group", 2), 1, "Group 1"),
        (Option(REPLICA), None, "none"),
        (Option(REPLICA), 2, "Replica 2"),
        (Set(REPLICA), frozenset({2, 1}), "{Replica 1, Replica 2}"),
        (Set(MODE), frozenset({"election", "inactive"}), "{inactive, election}"),
        (STAMP, (1, 0), "Stamp(generation: 1, iteration: 0)"),
        (
            Map(REPLICA, MODE),
            ("inactive", "election", "inactive"),
            "Replica 1: inactive, Replica 2: election, Replica 3: inactive",
        ),
        (
            Map(Bool(), Map(Bool(), Bool())),
            ((True, False), (True, True)),
            "false: (false: true, true: false), true: (false: true, true: true)",
        ),
        (Sequence(REPLICA, 3), (2, 1), "[Replica 2, Replica 1]"),
        (Bag(MODE, 3), ("inactive", "inactive"), "{inactive, inactive}"),
    ],
)
def test_value_in_words(kind: Type, value: Value, text: str) -> None:
    assert show(kind, value) == text


def test_changes_go_down_to_the_leaf_and_are_grouped_by_node() -> None:
    mode, stamp = Variable("Replica.mode", Map(REPLICA, MODE)), Variable("Replica.stamp", Map(REPLICA, STAMP))
    links = Variable("links", Map(REPLICA, Map(REPLICA, Option(STAMP))))
    shared = Variable("budget", Range(0, 3))
    nothing = (None,) * 3
    before = (3, ((None, (0, 0), None), nothing, nothing), ("inactive",) * 3, ((0, 0),) * 3)
    after = (
        2,
        ((None, (0, 1), (1, 1)), nothing, nothing),
        ("inactive", "inactive", "election"),
        ((0, 0), (1, 0), (0, 2)),
    )
    made = system({shared: 3, links: before[1], mode: before[2], stamp: before[3]}, nodes=(REPLICA,))
    assert [str(change) for change in changes(made, before, after)] == [
        "Replica 2.stamp.generation: 0 -> 1",
        "Replica 3.mode: inactive -> election",
        "Replica 3.stamp.iteration: 0 -> 2",
        "budget: 3 -> 2",
        "links[Replica 1][Replica 2].iteration: 0 -> 1",
        "links[Replica 1][Replica 3]: none -> Stamp(generation: 1, iteration: 1)",
    ]
    assert changes(made, before, before) == ()


FIELD = Index(Variable("Replica.mode", Map(REPLICA, MODE)), N)
UP = Index(Variable("Replica.up", Map(REPLICA, Bool())), N)
INACTIVE = Constant("inactive", MODE)
A, B, C = (Variable(name, Bool()) for name in "abc")
X = Variable("x", Range(0, 3))


def same(left: Expression, right: Expression) -> Expression:
    return Binary("==", left, right)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Binary("and", same(FIELD, INACTIVE), UP), "n.mode == inactive and up(n)"),
        (Unary("not", Binary("or", A, B)), "not (a or b)"),
        (Binary("or", Binary("and", A, B), C), "a and b or c"),
        (Binary("and", A, Binary("or", B, C)), "a and (b or c)"),
        (Binary("implies", A, Binary("implies", B, C)), "a implies b implies c"),
        (Binary("implies", Binary("implies", A, B), C), "(a implies b) implies c"),
        (Binary("-", X, Binary("-", X, X)), "x - (x - x)"),
        (Binary("*", Binary("+", X, X), X), "(x + x) * x"),
        (same(Unary("negate", X), X), "-x == x"),
        (Unary("some", X), "x"),
        (Unary("value", X), "value(x)"),
        (Conditional(A, X, X), "if a then x else x"),
        (Binary("+", Conditional(A, X, X), X), "(if a then x else x) + x"),
        (
            Quantified("at_most_one", "n", Domain(REPLICA, None, UP), same(FIELD, INACTIVE)),
            "at most one n: Replica where up(n) and n.mode == inactive",
        ),
        (Quantified("every", "n", Domain(REPLICA, None, UP), A), "every n: Replica where up(n) satisfies a"),
        (
            Binary("and", A, Quantified("none", "n", Domain(REPLICA, None, None), UP)),
            "a and (no n: Replica where up(n))",
        ),
        (MapOf("n", REPLICA, INACTIVE, MODE), "each n: Replica -> inactive"),
        (MakeCollection(Set(REPLICA), (N,)), "{n}"),
        (
            SetOf("m$1", Domain(REPLICA, None, Binary("!=", Local("m$1", REPLICA), N)), Local("m$1", REPLICA), REPLICA),
            "others(n)",
        ),
        (
            SetOf("m$1", Domain(REPLICA, None, Binary("!=", N, N)), Local("m$1", REPLICA), REPLICA),
            "{m for m: Replica where n != n}",
        ),
        (
            Extreme(
                "min", "m$1", Domain(REPLICA, None, Binary("!=", Local("m$1", REPLICA), N)), Constant(0, Range(0, 0))
            ),
            "other(n)",
        ),
    ],
)
def test_expression_in_the_style_of_the_language(expression: Expression, text: str) -> None:
    assert show_expression(expression) == text


# ---- JSON ----


def test_map_is_an_object_unless_two_keys_read_the_same() -> None:
    assert value_to_json(Map(REPLICA, Bool()), (True, False, True)) == {"1": True, "2": False, "3": True}
    odd = Map(Option(Enum("Odd", ("none",))), Bool())
    assert value_to_json(odd, (True, False)) == [[None, True], ["none", False]]


def test_itf_writes_sets_maps_and_numbers_as_apalache_does() -> None:
    """**Source**: Apalache, ADR-015 "Informal Trace Format in JSON"."""
    assert value_to_itf(Set(Range(0, 3)), frozenset({2})) == {"#set": [{"#bigint": "2"}]}
    assert value_to_itf(Map(MODE, Bool()), (True, False)) == {"#map": [["inactive", True], ["election", False]]}
    assert value_to_itf(STAMP, (1, 2)) == {"generation": {"#bigint": "1"}, "iteration": {"#bigint": "2"}}


def test_itf_trace_has_its_variables_states_and_loop() -> None:
    made = quorum_election(2, 1, 0)
    state = tuple(variable.initial for variable in made.variables)
    trace = run_to_itf(made, Run(state, (), loop=0))
    assert trace["vars"] == [variable.name for variable in made.variables]
    assert trace["loop"] == 0
    assert set(trace["states"][0]) == {"#meta", *trace["vars"]}
    assert "loop" not in run_to_itf(made, Run(state, ()))


def test_fault_survives_json() -> None:
    made = quorum_election(2, 1, 0)
    state = tuple(variable.initial for variable in made.variables)
    run = Run(state, (), error=StepError(0, (2,), (frozenset({1}), (1, "a"), None), "wrong"))
    assert run_from_json(made, run_to_json(made, run)) == run


@pytest.mark.parametrize(
    ("json", "said"),
    [
        ([], "run: expected an object"),
        ({"steps": []}, "run: initial is missing"),
        ({"initial": {}, "steps": [], "more": 1}, "run: more is not expected here"),
        ({"initial": {}, "steps": []}, "run.initial: Replica.up is missing"),
    ],
)
def test_json_that_is_no_run_is_refused_with_its_place(json: object, said: str) -> None:
    with pytest.raises(JsonError) as caught:
        run_from_json(quorum_election(2, 1, 0), json)
    assert str(caught.value).startswith(said)


def test_json_value_outside_its_type_is_refused_with_its_place() -> None:
    made = quorum_election(2, 1, 0)
    json = run_to_json(made, Run(tuple(variable.initial for variable in made.variables), ()))["initial"]
    json["Replica.term"]["2"] = 5
    with pytest.raises(JsonError, match=r"state.Replica.term.2: 5 is outside its type"):
        state_from_json(made, json)
