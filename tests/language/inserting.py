"""A `log` put before every statement of a text, which shows all locals that are known there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.parse import parse

HANDLERS = d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration | d.RestartDeclaration


@dataclass
class Inserting:
    """Where to insert what. `at` is what follows each line, in procedures."""

    text: str
    at: str = ""
    numbers: count[int] = field(default_factory=count)
    found: list[tuple[int, str]] = field(default_factory=list)

    def body(self, body: t.Body, known: tuple[str, ...]) -> None:
        """Before each statement of a block that has room for more than one."""
        for one in body:
            shown = ", ".join(f"{name}_: {name} == {name}" for name in dict.fromkeys(known))
            self.found.append((one.span.start, f"log line_{next(self.numbers)}({shown}){self.at} "))
            for inner, more in blocks(one):
                if inner and self.text[: inner[0].span.start].rstrip().endswith("{"):
                    self.body(inner, (*known, *more))
            match one:
                case t.Let(name=name) | t.Choose(t.Binder(name=name)) | t.Call(result=t.Name() as name):
                    known = (*known, name.text)
                case _:
                    pass


def blocks(written: t.Statement) -> Iterator[tuple[t.Body, tuple[str, ...]]]:
    """The blocks inside a statement, with the locals that it declares in them."""
    match written:
        case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
            yield then, ()
            yield otherwise, ()
        case t.For(t.Binder(name=name), _, inner):
            yield inner, (name.text,)
        case t.While(_, inner):
            yield inner, ()
        case _:
            return


def with_logs(text: str) -> tuple[str, int]:
    """The text with its lines where they were, and the number of lines of logs put into it. Places of statements that
    stand alone after a `then`, an `else` or a `do` of a loop have no room for another one, and are left out."""
    file, wrong = parse(text, "x.ha")
    assert file is not None
    assert wrong == ()
    kinds = {one.name.text for one in file.declarations if isinstance(one, d.NodeDeclaration)}
    found: list[tuple[int, str]] = []
    numbers: count[int] = count()
    for one in file.declarations:
        if isinstance(one, HANDLERS):
            known = [name.text for name in one.parameters] if isinstance(one, d.ReceiveDeclaration) else []
            known = [each.name.text for each in one.parameters] if isinstance(one, d.ActionDeclaration) else known
            inserting = Inserting(text, "", numbers, found)
            inserting.body(one.body, tuple(known))
        elif isinstance(one, d.Procedure):
            nodes = [each.name.text for each in one.parameters if kinds & {word.text for word in each.type.names}]
            if nodes:
                inserting = Inserting(text, f" at {nodes[0]}", numbers, found)
                inserting.body(one.body, tuple(each.name.text for each in one.parameters))
    made = text
    for place, line in sorted(found, reverse=True):
        made = made[:place] + line + made[place:]
    return made, len(found)
