"""Every check of a shipped spec finds exactly what is pinned of it, at its shortest length.

What is pinned, which check is which known defect, and how each is explored: `tests/mutants/tables/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from hacheck import shipped
from tests.mutants.pinning import (
    assert_expected,
    assert_finds,
    assert_finds_among_fewer_states,
    differences,
    never_violated,
    unrequested,
)
from tests.mutants.table import Found, Table
from tests.mutants.tables import (
    artemis_client,
    artemis_colocated,
    artemis_lock_manager,
    artemis_replication,
    artemis_scale_down,
    artemis_shared_store,
    fiorano_replicated,
    fiorano_shared,
    icestorm,
    icestorm_clients,
    icestorm_topics,
    qpid_configuration,
    qpid_ha,
    qpid_standalone,
    qpid_tx,
)
from tests.nightly import nightly

TABLES = (
    artemis_client.TABLE,
    artemis_colocated.TABLE,
    artemis_lock_manager.TABLE,
    artemis_replication.TABLE,
    artemis_scale_down.TABLE,
    artemis_shared_store.TABLE,
    fiorano_replicated.TABLE,
    fiorano_shared.TABLE,
    icestorm.TABLE,
    icestorm_clients.TABLE,
    icestorm_topics.TABLE,
    qpid_configuration.TABLE,
    qpid_ha.TABLE,
    qpid_standalone.TABLE,
    qpid_tx.TABLE,
)

for_every_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.spec)


Chosen = Callable[[Table], Iterable[str]]


def for_every_check(chosen: Chosen, everyday: Chosen | None = None) -> pytest.MarkDecorator:
    """A test for each check that is chosen of each table. `everyday`: those that do not wait for the night."""
    cases = [
        pytest.param(
            table,
            name,
            id=f"{table.spec}-{name}",
            marks=() if everyday is None or name in everyday(table) else (nightly,),
        )
        for table in TABLES
        for name in chosen(table)
    ]
    return pytest.mark.parametrize(("table", "name"), cases)


@for_every_check(lambda table: table.in_full, everyday=lambda table: table.everyday)
def test_check_finds_exactly_what_is_pinned(table: Table, name: str) -> None:
    assert_finds(table, name)


@for_every_check(
    lambda table: table.with_reductions, everyday=lambda table: ["default"] if table.spec.startswith("fiorano") else []
)
def test_check_finds_the_same_among_fewer_states(table: Table, name: str) -> None:
    assert_finds_among_fewer_states(table, name)


@for_every_check(lambda table: table.pinned)
def test_spec_expects_what_is_pinned(table: Table, name: str) -> None:
    assert_expected(table, name)
    assert table.pinned[name].unreached <= set(table.unreached)


@for_every_table
def test_every_check_that_needs_no_request_is_pinned(table: Table) -> None:
    assert unrequested(table.spec) == list(table.pinned)


@for_every_table
def test_every_property_is_violated_by_some_check(table: Table) -> None:
    assert never_violated(table) == set()


@for_every_table
def test_table_says_of_each_property_of_a_check_one_thing(table: Table) -> None:
    twice = {name for name, found in table.pinned.items() if len(found.named) != len(set(found.named))}
    assert twice == set()


@for_every_table
def test_table_names_its_own_checks_and_no_idle_exception(table: Table) -> None:
    assert set(table.only_reduced) <= set(table.pinned)
    assert set(table.once_more or ()) <= set(table.in_full)
    assert set(table.unreached) == {name for found in table.pinned.values() for name in found.unreached}


def test_every_shipped_spec_has_a_table() -> None:
    assert [table.spec for table in TABLES] == list(shipped.names())


def test_missing_and_extra_violations_are_told() -> None:
    pinned = Found((1, 1, 1), violated={"a": 3, "b": None}, holds="c").told
    assert differences(pinned, {"a": "holds", "b": "violated", "c": "violated in 7 steps"}) == [
        "a: pinned as violated in 3 steps, found holds",
        "c: pinned as holds, found violated in 7 steps",
    ]
