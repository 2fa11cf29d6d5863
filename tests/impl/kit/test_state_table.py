"""Tables of states: what they refuse, how they are drawn, and that each of the protocols' tables is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.state_machines import TABLES, page

DOOR = StateTable(
    "A door",
    "carpentry",
    "open",
    {
        ("open", "pushed"): "shut",
        ("shut", "pulled"): "open",
        ("shut", "locked: twice"): "locked",
        ("locked", "unlocked"): "shut",
        ("locked", "burnt"): "gone",
        ("shut", "burnt"): "gone",
        ("open", "burnt"): "gone",
        ("ajar", "burnt"): "gone",
        ("open", "blown"): "ajar",
        ("ajar", "pushed"): "shut",
    },
    {("open", "pushed"): "D1"},
)


def test_table_says_what_leads_where() -> None:
    assert DOOR.next("open", "pushed") == "shut"
    assert not DOOR.has("open", "pulled")
    assert DOOR.leads("shut", "open")
    assert not DOOR.leads("locked", "open")
    assert DOOR.causes("shut") == ("pulled", "locked: twice", "burnt")
    assert set(DOOR.states) == {"open", "shut", "locked", "gone", "ajar"}
    assert DOOR.states[0] == "open"
    assert DOOR.final == ("gone",)


def test_transition_that_is_not_in_the_table_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="A door: in locked, pushed leads nowhere"):
        DOOR.next("locked", "pushed")


def test_diagram_names_states_causes_and_rules_once() -> None:
    lines = DOOR.mermaid().splitlines()
    shut = DOOR.states.index("shut")
    assert f"    s0 --> s{shut} : D1 - pushed" in lines
    assert f'    state "shut" as s{shut}' in lines
    assert not [line for line in lines if "burnt" in line]
    assert DOOR.in_common() == ("From every state to *gone*: burnt.",)


@pytest.mark.parametrize(
    "table", [table for tables in TABLES.values() for table in tables], ids=lambda table: table.title
)
def test_every_state_of_a_protocol_can_be_reached(table: StateTable[Any, Any]) -> None:
    mentioned = {state for of, _, following in table for state in (of, following)}
    assert set(table.states) == mentioned


@pytest.mark.parametrize(
    ("title", "final"),
    [
        ("A broker over a shared store", ["STOPPED"]),
        ("A broker with replication", ["STOPPED"]),
        ("A broker with replication and a lock manager", ["STOPPED"]),
        ("A server with a copy of the database", []),
        ("A server that shares the database", []),
        ("A replica", []),
    ],
)
def test_servers_leave_every_state_but_the_last(title: str, final: list[str]) -> None:
    (table,) = (table for tables in TABLES.values() for table in tables if table.title == title)
    assert [state.name for state in table.final] == final


def test_page_of_diagrams_is_drawn_from_the_tables_as_they_are() -> None:
    """Otherwise: `python -m hacheck.impl.state_machines > docs/state-machines.md`."""
    assert Path("docs/state-machines.md").read_text(encoding="utf-8") == page()
