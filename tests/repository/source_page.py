"""Writes `docs/sources.md`, the table of all documents: `python -m tests.repository.source_page`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.repository.source_tables import ROOT, Document, Section, Statement, documents

PAGE = ROOT / "docs" / "sources.md"

HEAD = """\
# What the documents say, and what carries it

The shipped protocols were modelled after five documents. Here is every statement in them about what happens and what
can be set, in our own words and in the order of the document, and what carries it: rules, properties and checks of a
spec, code of the reference implementation, and tests of either.

This page is made from the tables in [sources/statements/](sources/statements) by
`python -m tests.repository.source_page`; `tests/repository/test_sources.py` holds the tables to specs, tests and code.
"""

KEY = """\
- **Carried**: a spec says it or asks it, and a test shows what happens, in the code or by the rules of the spec. That
  does not mean that it holds: some of what the documents promise is found false, and the page of the protocol in
  [protocols/](protocols) says by which run.
- **Not behaviour**: nothing that a server or a client does, with the reason.
- ⚙ is a statement about what can be set.
- `icestorm: check` is a name in `spec/icestorm.ha`, or in a library it uses. Names of code are those in
  `hacheck/impl/protocols/`.
"""

CODE = "hacheck/impl/protocols/"


def page(given: list[Document]) -> str:
    """The whole page."""
    lines = [HEAD, "## In numbers", "", *in_numbers(given), "", KEY.rstrip()]
    for document in given:
        lines += ["", f"## {document.title}", "", f"{document.about[0].upper()}{document.about[1:]}."]
        for section in document.sections:
            lines += ["", f"### {document.prefix}: {section.title}", "", *of_section(document, section)]
    return "\n".join(lines) + "\n"


def in_numbers(given: list[Document]) -> Iterator[str]:
    """How much of each document is carried, as a table."""
    yield "| document | ids | statements | carried | of these with a test | with code as well | not behaviour |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for document in given:
        yield row(document.title, f"`{document.prefix}`", *map(str, counted(document.statements)))
    everything = [one for document in given for one in document.statements]
    yield row("**all**", "", *(f"**{number}**" for number in counted(everything)))


def counted(given: Iterable[Statement]) -> tuple[int, int, int, int, int]:
    """Statements; how many are carried, shown by a test, by a test and by named code, and not behaviour."""
    statements = list(given)
    tested = [one for one in statements if "tests" in one.carried_by]
    told = sum("code" in one.carried_by for one in tested)
    aside = sum(bool(one.not_behaviour) for one in statements)
    return len(statements), len(statements) - aside, len(tested), told, aside


def of_section(document: Document, section: Section) -> Iterator[str]:
    """The statements of a section as a table, or why there is none."""
    if section.without:
        yield f"No statement: {section.without}."
        return
    yield "| | statement | carried by |"
    yield "|---|---|---|"
    for one in document.of(section):
        setting = " ⚙" if one.kind == "configuration" else ""
        yield row(one.id, f"{one.words}{setting}", "<br>".join(carriers(one)))


def carriers(one: Statement) -> Iterator[str]:
    """What carries a statement, or why nothing needs to."""
    if one.not_behaviour:
        yield f"not behaviour: {one.not_behaviour}"
    for kind, claims in one.carried_by.items():
        yield f"{kind}: {', '.join(told(claims))}"


def told(claims: tuple[str, ...]) -> Iterator[str]:
    """Claims in words. A name of a spec is said once for those that follow each other; paths are cut short."""
    before = ""
    for claim in claims:
        spec, _, name = claim.partition(": ")
        if name and spec == before:
            yield f"`{name}`"
        else:
            yield f"`{claim.removeprefix(CODE).removeprefix('tests/')}`"
        before = spec if name else ""


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(documents()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
