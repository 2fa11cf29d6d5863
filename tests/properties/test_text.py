"""The text form of systems is read back as it was written, and bad text is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hacheck.model.ir import TRUE, Action, Binary, Expression, System, Unary, Variable
from hacheck.model.system_text import TextError, parse_system, print_system
from hacheck.model.types import Bool
from tests.models.quorum_election import quorum_election
from tests.models.small import action, system
from tests.nightly import first_of
from tests.strategies import seeded_system, systems

ELECTION = print_system(quorum_election(2, 1, 1))


@settings(max_examples=60)
@given(systems())
def test_system_is_read_back_equal(made: System) -> None:
    text = print_system(made)
    assert parse_system(text) == made
    assert print_system(parse_system(text)) == text


@pytest.mark.parametrize("seed", first_of(range(150), 30))
def test_seeded_system_is_read_back_equal(seed: int) -> None:
    made = seeded_system(seed)
    text = print_system(made)
    assert parse_system(text) == made
    # equality alone would take true for 1
    assert print_system(parse_system(text)) == text


def test_text_is_readable() -> None:
    lines = ELECTION.splitlines()
    assert lines[0] == '(define Replica (Node "Replica" 2 true))'
    assert '      kind="protocol"' in lines
    assert "(Assign (Target $Replica.voted [i:Replica]) (some i:Replica))" in ELECTION


@pytest.mark.parametrize("name", ["and", "Set", "true", "two words", "", "a:b", 'quo"te', "T", "\n"])
def test_any_name_is_read_back(name: str) -> None:
    odd = Variable(name, Bool())
    made = system({odd: True}, action(name=name, guard=odd))
    assert parse_system(print_system(made)) == made


def test_deep_expression_is_read_back() -> None:
    deep: Expression = TRUE
    for _ in range(200):
        deep = Binary("and", Unary("not", deep), TRUE)
    text = print_system(system({}, action(guard=deep)))
    # compared as text: the equality of dataclasses is more deeply recursive than reading and writing them
    assert print_system(parse_system(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1, column 1: the text ends without a system"),
        ("(System", "line 1, column 1: ( is not closed"),
        ("\n  )", "line 2, column 3: ) closes nothing"),
        ("(System]", "line 1, column 8: ] closes nothing"),
        ("(Frobnicate 1)", "line 1, column 2: there is no type Frobnicate"),
        ("(1 2)", "line 1, column 1: a form begins with the name of a class or an operator"),
        ("(Range 0 1 none 4)", "line 1, column 17: Range has only 3 fields"),
        ("(Range low=0 low=1)", "line 1, column 14: low= is not expected here"),
        ('(Range "a" 1)', "line 1, column 8: no value for low of Range"),
        ("(Range 0)", "line 1, column 1: Range lacks high"),
        ("(Constant $x Bool)", "line 1, column 11: there is no variable x"),
        ("(define A (not B))", "line 1, column 16: there is no type B"),
        ("(define A 7)", "line 1, column 1: a definition is (define name type)"),
        ("[(define A Bool)]", "line 1, column 2: a definition stands only at the top"),
        ("(Constant 99999999999999999999999 Bool)", "line 1, column 11: a number of more than 20 digits"),
        ("£", "line 1, column 1: unexpected '£'"),
        ("<=", "line 1, column 1: <= may only stand first in a form"),
    ],
)
def test_bad_text_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_system(text)
    assert str(caught.value) == said


@settings(max_examples=300)
@given(
    st.integers(0, len(ELECTION) - 1), st.integers(0, 40), st.sampled_from(["", "(", ")", "[", '"', "{", "none", " 7 "])
)
def test_damaged_text_is_refused_or_still_a_system(place: int, length: int, put: str) -> None:
    damaged = ELECTION[:place] + put + ELECTION[place + length :]
    found = _outcome(damaged)
    assert isinstance(found, System) or 1 <= found.line <= damaged.count("\n") + 1


@given(st.text(max_size=200))
def test_any_text_is_refused_without_a_crash(text: str) -> None:
    with pytest.raises(TextError):
        parse_system(text)


@pytest.mark.parametrize("bracket", ["(", "[", "{", "(not ", "(Set "])
def test_deep_nesting_is_refused_without_a_crash(bracket: str) -> None:
    with pytest.raises(TextError):
        parse_system(bracket * 20_000)
    closing = {"(": ")", "[": "]", "{": "}"}[bracket[0]]
    with pytest.raises(TextError):
        parse_system(bracket * 5_000 + closing * 5_000)


def test_action_without_a_field_says_which() -> None:
    assert "Action lacks line" in _error(ELECTION.replace("line=0)", ")", 1))
    assert Action.__name__ in ELECTION


def _outcome(text: str) -> System | TextError:
    try:
        return parse_system(text)
    except TextError as error:
        return error


def _error(text: str) -> str:
    with pytest.raises(TextError) as caught:
        parse_system(text)
    return str(caught.value)
