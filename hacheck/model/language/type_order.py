"""The order in which types are made: each after those that it is made of, wherever they stand in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import SpecError, error


def names_in(written: t.TypeTree) -> Iterator[str]:
    """The types that a type is made of, by name."""
    if written.kind == "name":
        yield written.names[0].text
    for part in written.parts:
        yield from names_in(part)


def ordered(
    declared: Sequence[d.TypeDeclaration | d.RecordDeclaration],
) -> tuple[list[d.TypeDeclaration | d.RecordDeclaration], list[SpecError]]:
    """The declarations, those before others that these are made of; else in the order of the file. And an error,
    `HA109`, for each that is made of itself, which is left out."""
    by_name = {one.name.text: one for one in declared}
    made: list[d.TypeDeclaration | d.RecordDeclaration] = []
    wrong: list[SpecError] = []
    done: set[int] = set()
    failed: set[int] = set()

    def visit(one: d.TypeDeclaration | d.RecordDeclaration, path: tuple[str, ...]) -> bool:
        """Whether it, and all that it is made of, can be made."""
        name = one.name.text
        if name in path:
            around = " -> ".join((*path[path.index(name) :], name))
            wrong.append(error("HA109", f"`{name}` is made of itself ({around})", one.name.span))
            return False
        if id(one) in done | failed:
            return id(one) in done
        parts = [one.type] if isinstance(one, d.TypeDeclaration) else [kind for _, kind in one.fields]
        needed = [by_name[part] for kind in parts for part in names_in(kind) if part in by_name]
        fine = True
        for other in needed:
            fine = visit(other, (*path, name)) and fine
        (done if fine else failed).add(id(one))
        if fine:
            made.append(one)
        return fine

    for one in declared:
        visit(one, ())
    return made, wrong
