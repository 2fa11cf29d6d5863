"""Laws of types and their values: counting, order, membership, and the ways to write them."""

from __future__ import annotations

import json

from hypothesis import given

from hacheck.model.itf import value_to_itf
from hacheck.model.render import show
from hacheck.model.types import (
    Type,
    Value,
    cardinality,
    default,
    member,
    ordinal,
    sort_key,
    values,
)
from hacheck.model.typing import join
from hacheck.model.value_json import plain_from_json, plain_to_json, value_from_json, value_to_json
from tests.properties.itf_reader import value_from_itf
from tests.strategies import typed_values, types


@given(types())
def test_values_are_as_many_as_the_type_says_and_all_different(kind: Type) -> None:
    listed = list(values(kind))
    assert len(listed) == cardinality(kind) == len(set(listed))
    assert all(member(kind, value) for value in listed)


@given(types())
def test_ordinal_is_the_place_among_the_values(kind: Type) -> None:
    assert [ordinal(kind, value) for value in values(kind)] == list(range(cardinality(kind)))


@given(types())
def test_sort_key_orders_as_ordinal_does(kind: Type) -> None:
    listed = list(values(kind))
    assert sorted(set(listed), key=lambda value: sort_key(kind, value)) == listed


@given(types())
def test_default_is_the_first_value(kind: Type) -> None:
    assert default(kind) == next(values(kind))


@given(types())
def test_joining_a_type_with_itself_gives_it_back(kind: Type) -> None:
    assert join(kind, kind) == kind


@given(types(largest=200))
def test_shown_values_can_be_told_apart(kind: Type) -> None:
    shown = {show(kind, value) for value in values(kind)}
    # nothing and a member called "none" read the same, as they do in a spec
    assert len(shown) == cardinality(kind) or any("none" in text for text in shown)


@given(typed_values())
def test_value_survives_json(typed: tuple[Type, Value]) -> None:
    kind, value = typed
    assert value_from_json(kind, json.loads(json.dumps(value_to_json(kind, value)))) == value
    assert plain_from_json(json.loads(json.dumps(plain_to_json(value)))) == value


@given(typed_values())
def test_value_survives_itf(typed: tuple[Type, Value]) -> None:
    kind, value = typed
    assert value_from_itf(kind, json.loads(json.dumps(value_to_itf(kind, value)))) == value
