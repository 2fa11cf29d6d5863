"""Warnings: what a file declares and never uses, and choices that its text does not decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Diagnostic
from hacheck.model.language.tree_walk import parts

REMOVE = "use it, or remove it"


def unused(file: d.File, declarations: Iterable[d.Declaration]) -> Iterator[Diagnostic]:
    """The warnings of a file that is right otherwise. `declarations` are its own and those of its libraries, which
    may declare more than one file needs.
    """
    named: Counter[str] = Counter()
    sent: set[str] = set()
    called: set[str] = set()
    received: set[str] = set()
    for one in declarations:
        passed_over = _not_used(one)
        for part in parts(one):
            match part:
                case t.Name(text) if id(part) not in passed_over:
                    named[text] += 1
                case t.Shown(name=name) | t.Log(event=name) | d.ObserveDeclaration(event=name):
                    named[name.text] -= 1  # it is the log's own name, met as one of its parts
                case t.Send(message=name):
                    sent.add(name.text)
                case t.Call(operation=name):
                    called.add(name.text)
                case d.ReceiveDeclaration(name=name):
                    received.add(name.text)
                case _:
                    continue
    for one in file.declarations:
        match one:
            case d.Setting(kind, name):
                if not named[name.text]:
                    yield _warning(
                        "HA201", f"nothing depends on the {kind} `{name.text}`", name, "use it, or remove it"
                    )
            case d.Definition(promised=True):
                continue
            case d.Definition(name) | d.Procedure(name) | d.TypeDeclaration(name) | d.RecordDeclaration(name):
                if not named[name.text]:
                    yield _warning("HA202", f"`{name.text}` is never used", name, REMOVE)
            case d.MessageDeclaration(name) if name.text not in sent:
                yield _warning(
                    "HA203", f"`{name.text}` is never sent", name, f"`send {name.text}(…) to …`, or remove it"
                )
            case d.MessageDeclaration(name) if name.text not in received:
                yield _warning(
                    "HA203", f"nobody receives `{name.text}`", name, f"add `on {name.text}(…) at n from m do …`"
                )
            case d.OperationDeclaration(name) if name.text not in called:
                yield _warning(
                    "HA203", f"`{name.text}` is never called", name, f"`call {name.text}(…) at …`, or remove it"
                )
            case _:
                continue


def _warning(code: str, message: str, name: t.Name, hint: str) -> Diagnostic:
    return Diagnostic(code, message, name.span, hint=hint, severity="warning")


def _not_used(declaration: d.Declaration) -> set[int]:
    """The names in a declaration that are no use of what they name, by identity: its own, and the settings that a
    check or a `trace` chooses."""
    own = getattr(declaration, "name", None)
    chosen: list[t.Name] = []
    if isinstance(declaration, d.CheckDeclaration | d.TraceDeclaration):
        chosen = [name for name, _ in declaration.settings]
    if isinstance(declaration, d.TraceDeclaration):
        chosen += [name for one in declaration.derived for name, _ in one.settings]
    return {id(name) for name in (own, *chosen)}
