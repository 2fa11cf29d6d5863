"""Every statement of the documents has its place in `docs/sources/statements/`, and what is said to carry it is there.

The documents themselves are not part of the repository: which sections they have is part of the tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository import source_page
from tests.repository.source_claims import is_there, runs_always
from tests.repository.source_tables import Document, documents, paths, read

TITLES = {
    "HAF": "High Availability and Failover",
    "HAI": "Highly Available IceStorm",
    "HAM": "High Availability Module",
    "HLM": "HA Locking Mechanism",
    "ISC": "IceStorm Concepts",
}

EXAMPLE = """
prefix = "X"
document = "Example"
about = "an example"

[[section]]
title = "A"

[[statement]]
id = "X-1.1"
section = "A"
words = "It is so."
kind = "behaviour"
"""


@pytest.fixture(scope="module")
def tables() -> list[Document]:
    return documents()


def of_document(path: Path) -> Document:
    return read(path.read_text(encoding="utf-8"))


def test_five_documents_are_read(tables: list[Document]) -> None:
    assert {document.prefix: document.title for document in tables} == TITLES


each_document = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)


@each_document
def test_what_is_said_to_carry_a_statement_is_there(path: Path) -> None:
    wrong = [
        f"{one.id}, {kind}: {claim}"
        for one in of_document(path).statements
        for kind, claim in one.claims
        if not is_there(kind, claim)
    ]
    assert wrong == []


@each_document
def test_nothing_is_said_to_carry_a_statement_twice(path: Path) -> None:
    assert [one.id for one in of_document(path).statements if len(set(one.claims)) != len(one.claims)] == []


@each_document
def test_statements_are_numbered_in_the_order_of_their_sections(path: Path) -> None:
    document = of_document(path)
    titles = [section.title for section in document.sections]
    assert len(set(titles)) == len(titles)
    expected = [
        f"{document.prefix}-{place}.{number}"
        for place, section in enumerate(document.sections, 1)
        for number in range(1, len(document.of(section)) + 1)
    ]
    assert [one.id for one in document.statements] == expected


@each_document
def test_every_section_has_statements_or_a_reason_why_not(path: Path) -> None:
    document = of_document(path)
    assert [section.title for section in document.sections if bool(section.without) == bool(document.of(section))] == []


@each_document
def test_every_statement_is_carried_by_a_spec_or_no_behaviour(path: Path) -> None:
    for one in of_document(path).statements:
        assert one.words.endswith(".")
        assert one.kind in ("behaviour", "configuration")
        if one.not_behaviour:
            assert not one.claims, one.id
        else:
            assert one.is_in_a_spec, f"{one.id} is in no spec"


@each_document
def test_every_statement_that_is_carried_is_shown_by_a_test(path: Path) -> None:
    assert untested(of_document(path)) == []


def untested(document: Document) -> list[str]:
    """The statements that neither a test of every run shows nor a reason excuses."""
    return [
        one.id
        for one in document.statements
        if not one.not_behaviour and not any(runs_always(claim) for claim in one.carried_by.get("tests", ()))
    ]


@pytest.mark.parametrize(
    ("more", "missing"),
    [
        ("", True),
        ('[statement.carried_by]\nrules = ["icestorm: merge"]\nsettings = ["icestorm: replicas"]\n', True),
        ('[statement.carried_by]\ncode = ["hacheck/impl/protocols/icestorm/election.py"]\ntests = []\n', True),
        ('[statement.carried_by]\ntests = ["tests/repository/test_sources.py::test_that_is_not_there"]\n', True),
        ('[statement.carried_by]\ntests = ["tests/repository/test_sources.py::test_five_documents_are_read"]\n', False),
        ('not_behaviour = "advice"\n', False),
    ],
)
def test_statement_without_a_test_is_found(more: str, missing: bool) -> None:
    assert untested(read(EXAMPLE + more)) == (["X-1.1"] if missing else [])


@pytest.mark.parametrize(
    ("claim", "always"),
    [
        ("tests/runtime/test_locks.py::test_lock_has_one_holder_who_lets_go_by_word_or_by_ending", True),
        ("tests/runtime/test_locks.py::test_lock_file_that_is_not_writable_is_refused", False),
        (
            "tests/simulation/test_artemis_clients.py::test_applications_that_depart_from_the_recipe_lose_something",
            False,
        ),
        ("tests/impl/icestorm/test_service.py::test_publisher_hears_nothing_of_what_subscribers_answer", True),
    ],
)
def test_a_test_that_not_every_run_takes_is_told_apart(claim: str, always: bool) -> None:
    assert is_there("tests", claim)
    assert runs_always(claim) is always


def test_no_two_statements_say_the_same(tables: list[Document]) -> None:
    for document in tables:
        said = [(one.section, one.words) for one in document.statements]
        assert len(set(said)) == len(said)


def test_page_is_what_the_tables_say(tables: list[Document]) -> None:
    now = source_page.PAGE.read_text(encoding="utf-8")
    assert now == source_page.page(tables), "make it again: python -m tests.repository.source_page"


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("rules", "icestorm: merge_continue"),
        ("rules", "icestorm: crash Replica"),
        ("rules", "icestorm: recover"),
        ("data", "icestorm: Replica.max"),
        ("properties", "icestorm: served"),
        ("checks", "icestorm: no_majority"),
        ("settings", "fiorano_shared: lock_losses"),
        ("settings", "hacheck/impl/protocols/icestorm/options.py::Options.transient"),
        ("tests", "tests/repository/test_sources.py::test_a_claim_that_names_something_is_found"),
        ("code", "hacheck/impl/protocols/icestorm/election.py"),
        ("code", "hacheck/impl/protocols/icestorm/election.py::Election.check"),
    ],
)
def test_a_claim_that_names_something_is_found(kind: str, claim: str) -> None:
    assert is_there(kind, claim)


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("rules", "icestorm: no_such_rule"),
        ("rules", "icestorm: served"),
        ("rules", "no_such_spec: merge_continue"),
        ("rules", "merge_continue"),
        ("data", "icestorm: Replica.no_such_field"),
        ("properties", "icestorm: merge_continue"),
        ("checks", "icestorm: served"),
        ("settings", "icestorm: served"),
        ("settings", "hacheck/impl/protocols/icestorm/options.py::Options.no_such_setting"),
        ("settings", "hacheck/impl/protocols/icestorm/election.py::Election"),
        ("tests", "tests/repository/test_sources.py::test_that_is_not_there"),
        ("tests", "tests/repository/test_sources.py"),
        ("tests", "tests/repository/no_such_file.py::test_x"),
        ("code", "hacheck/impl/protocols/icestorm/election.py::Election.no_such_method"),
        ("code", "hacheck/checker/verify.py"),
    ],
)
def test_a_claim_that_names_nothing_of_its_kind_is_found(kind: str, claim: str) -> None:
    assert not is_there(kind, claim)


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        (EXAMPLE.replace("about", "what"), "the table lacks about"),
        (EXAMPLE + 'later = "topics"\n', "X-1.1 has later"),
        (EXAMPLE + "[statement.carried_by]\nrule = []\n", "X-1.1 has rule"),
        (EXAMPLE.replace('kind = "behaviour"', ""), "X-1.1 lacks kind"),
        (EXAMPLE.replace("title", "titel"), "None lacks title"),
    ],
)
def test_a_table_with_keys_that_mean_nothing_is_refused(table: str, wrong: str) -> None:
    assert read(EXAMPLE).statements[0].id == "X-1.1"
    with pytest.raises(ValueError, match=wrong):
        read(table)
