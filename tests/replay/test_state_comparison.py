"""A product's state is compared as far as it shows it, and names up to renaming."""

from __future__ import annotations

from hacheck.replay.state_comparison import differences

NAMES = frozenset({"Replica.group"})
STATE = {
    "Replica.mode": {"1": "normal", "2": "inactive"},
    "Replica.group": {"1": 1, "2": 2, "3": 1},
    "acknowledged": [1, 2],
    "coordinator": None,
}


def test_parts_that_are_not_shown_are_not_compared() -> None:
    assert differences(STATE, {}, NAMES) == ()
    assert (
        differences(STATE, {"Replica.mode": {"1": "normal"}, "acknowledged": {2, 1}, "coordinator": None}, NAMES) == ()
    )


def test_difference_names_the_place_and_both_values() -> None:
    found = differences(STATE, {"Replica.mode": {"2": "normal"}, "acknowledged": [1], "coordinator": 3}, NAMES)
    assert found == (
        "Replica 2.mode is normal, in the model inactive",
        "acknowledged is {1}, in the model {1, 2}",
        "coordinator is 3, in the model none",
    )


def test_names_are_compared_up_to_renaming() -> None:
    assert differences(STATE, {"Replica.group": {"1": "a", "2": "b", "3": "a"}}, NAMES) == ()
    (split,) = differences(STATE, {"Replica.group": {"1": "a", "3": "b"}}, NAMES)
    assert split.startswith("Replica 3.group is b")
    (merged,) = differences(STATE, {"Replica.group": {"1": "a", "2": "a"}}, NAMES)
    assert merged == "the product has one name where the model has several"


def test_name_where_the_model_has_none_is_a_difference() -> None:
    state = {"Replica.group": {"1": None}}
    assert differences(state, {"Replica.group": {"1": "a"}}, NAMES) == ("Replica 1.group is a, in the model none",)


def test_variable_that_the_model_does_not_have_is_a_difference() -> None:
    assert differences(STATE, {"Replica.age": {"1": 3}}, NAMES) == ("the model has no variable Replica.age",)
