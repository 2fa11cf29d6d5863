"""Warnings: what a file declares and never uses, and choices that its text does not decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hacheck.model.language import declarations as d
from hacheck.model.language import tree as t
from hacheck.model.language.diagnostics import Diagnostic

REMOVE = "use it, or remove it"
RECEIVE = "add `on MESSAGE(…) at n from m do …`, or remove it"


def unused(file: d.File, declarations: Iterable[d.Declaration]) -> Iterator[Diagnostic]:
    """The warnings of a file that is right otherwise. `declarations` are its own and those of its libraries, which
    may declare more than one file needs.
    """
    every = tuple(declarations)
    named = Counter(name.text for one in every for name in _names(one))
    sent = {one.message.text for one in _statements(every, t.Send)}
    called = {one.operation.text for one in _statements(every, t.Call)}
    received = {one.name.text for one in every if isinstance(one, d.ReceiveDeclaration)}
    for one in file.declarations:
        match one:
            case d.Setting(kind, name):
                if not named[name.text]:
                    yield _warning(
                        "HA201", f"nothing depends on the {kind} `{name.text}`", name, "use it, or remove it"
                    )
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


def _names(declaration: d.Declaration) -> Iterator[t.Name]:
    """The names a declaration uses: all in it but its own, and but the settings that a check chooses."""
    own = getattr(declaration, "name", None)
    chosen = {id(name) for name, _ in declaration.settings} if isinstance(declaration, d.CheckDeclaration) else set()
    for part in _parts(declaration):
        if isinstance(part, t.Name) and part is not own and id(part) not in chosen:
            yield part


def _statements(declarations: Iterable[d.Declaration], kind: type[Any]) -> Iterator[Any]:
    return (part for one in declarations for part in _parts(one) if isinstance(part, kind))


def _parts(root: object) -> Iterator[object]:
    """Everything in a tree."""
    stack = [root]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, tuple):
            stack.extend(part)
        elif is_dataclass(part):
            stack.extend(getattr(part, field.name) for field in fields(part))
