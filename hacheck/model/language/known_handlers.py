"""Handlers that were elaborated under other settings, and become the same under these.

What a handler becomes depends on its text, on everything that is declared before the first handler is elaborated, and
on the settings that elaborating it reads. Where these are as they were, what it added to the context is added again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Context, Halt
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.log_lines import without_logs
from hacheck.model.rewrite import statements

Surroundings: TypeAlias = tuple[object, ...]
"""All that is declared when the first handler is elaborated, but settings."""

MADE_BY_HANDLERS = (
    "actions", "kept", "evaluated", "shown", "declared", "diagnostics", "decisive", "bounds", "endless",
)  # fmt: skip
"""What handlers add to and do not read, besides numbers."""

NUMBERS = ("unique", "expansions", "counted")

SAME = object()


class ReadSettings(dict[str, ir.Constant]):
    """The settings, and which of them have been read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> ir.Constant:
        self.read.add(name)
        return super().__getitem__(name)


class KnownHandler(Struct, frozen=True):
    """What a handler added to the context, under settings that it read and words that earlier handlers gave a meaning
    (`types`, `members`). `unique`: the last number of its locals."""

    settings: dict[str, ir.Constant]
    words: tuple[object, object]
    added: dict[str, Any]
    unique: int
    expansions: int
    counted: bool


class KnownHandlers:
    """The handlers of one file under the settings so far."""

    def __init__(self, declarations: tuple[d.Declaration, ...]) -> None:
        self.silent = without_logs(declarations)
        """The declarations without logs, the same objects each time."""
        self._finished: dict[int, tuple[ir.Action, ir.Action]] = {}
        self._known: list[tuple[Surroundings, dict[Span, list[KnownHandler]]]] = []

    def among(self, context: Context) -> dict[Span, list[KnownHandler]]:
        """What is known under such surroundings, to be added to."""
        here = _surroundings(context)
        for surroundings, known in self._known:
            if surroundings == here:
                return known
        self._known.append((here, {}))
        return self._known[-1][1]

    def finished(self, action: ir.Action, finish: Callable[[ir.Action], ir.Action]) -> ir.Action:
        """What the last pass makes of an action, made once of one that stops no node: what that does depends on all
        variables."""
        known = self._finished.get(id(action))
        if known is None:
            known = action, finish(action)
            if not any(isinstance(one, Halt) for one in statements(action.body)):
                self._finished[id(action)] = known
        return known[1]


def build_or_repeat(
    context: Context, known: dict[Span, list[KnownHandler]], span: Span, build: Callable[[], None]
) -> None:
    """Elaborates a handler, or adds what it became under settings that do not differ for it. Errors: those of
    `build`; what is wrong is not kept."""
    settings = context.constants
    assert isinstance(settings, ReadSettings), "settings say which of them are read"
    before = {name: _copied(getattr(context, name)) for name in context.__struct_fields__}
    words = before["types"], before["members"]
    for one in known.setdefault(span, []):
        same = all(dict.__getitem__(settings, name) == value for name, value in one.settings.items())
        if same and one.words == words:
            _repeat(context, one)
            return
    settings.read = set()
    build()
    if context.diagnostics:
        return
    added = {name: _difference(before[name], getattr(context, name)) for name in before if name not in NUMBERS}
    known[span].append(
        KnownHandler(
            {name: dict.__getitem__(settings, name) for name in settings.read},
            words,
            {name: one for name, one in added.items() if one},
            context.unique,
            context.expansions - before["expansions"],
            context.counted,
        )
    )


def _repeat(context: Context, one: KnownHandler) -> None:
    for name, added in one.added.items():
        whole = getattr(context, name)
        if isinstance(whole, list):
            whole.extend(added)
        elif isinstance(whole, set):
            whole.update(added)
        else:
            for key, value in added.items():
                if isinstance(value, list):
                    whole.setdefault(key, []).extend(value)
                else:
                    whole[key] = value
    context.unique = max(context.unique, one.unique)  # so that no later local has the name of one of these
    context.expansions += one.expansions
    context.counted = context.counted or one.counted


def _surroundings(context: Context) -> Surroundings:
    left_out = (*MADE_BY_HANDLERS, *NUMBERS, "constants", "rules")
    return tuple(_copied(getattr(context, name)) for name in context.__struct_fields__ if name not in left_out)


def _copied(value: Any) -> Any:
    """A value that does not change when the context does."""
    if isinstance(value, dict):
        return {name: tuple(one) if isinstance(one, list) else _copied(one) for name, one in value.items()}
    if isinstance(value, set):
        return frozenset(value)
    return list(value) if isinstance(value, list) else value


def _difference(before: Any, after: Any) -> Any:
    """What was added to a value, or to the lists that it holds; nothing else happens while a handler is elaborated."""
    if isinstance(after, list):
        assert before == after[: len(before)], "handlers only add"
        return after[len(before) :]
    if isinstance(after, set):
        return after - before
    if isinstance(after, dict):
        found = {name: _added(before[name], one) if name in before else one for name, one in after.items()}
        return {name: list(one) if isinstance(one, list) else one for name, one in found.items() if one is not SAME}
    assert before == after, "handlers add to collections only"
    return None


def _added(before: Any, after: Any) -> Any:
    """What was added to an entry of a dictionary, `SAME` where nothing was."""
    if isinstance(after, list):
        assert before == tuple(after[: len(before)]), "handlers only add"
        return after[len(before) :] or SAME
    assert before == _copied(after), "handlers change nothing that was declared"
    return SAME
