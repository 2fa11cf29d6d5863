"""What the page asks while it is explored: the steps of a state, and the value of an expression in states."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.checker.run_view.views import View
from hacheck.model.evaluation import EvaluationError
from hacheck.model.language.reader_expressions import ReaderExpressions, WrongExpression
from hacheck.model.render import show
from hacheck.model.types import Bool
from hacheck.model.typing import type_of

Json: TypeAlias = Any

EXPRESSION_CHARACTERS_MAX = 4_000
STATES_MAX = 10_000


class BadRequest(Exception):
    """A request that the page does not make: what is wrong with it."""


class ExploredRun(Struct, frozen=True):
    """A run on the page. `expressions`: makes what understands expressions over its states, when first needed."""

    view: View
    expressions: Callable[[], ReaderExpressions]


class ExploredViews:
    """Answers the page's questions, one at a time. States are numbered as the page numbers them."""

    def __init__(self, runs: Mapping[str, ExploredRun]) -> None:
        self._runs = runs
        self._lock = threading.Lock()

    def answer(self, what: str, content: Json) -> Json:
        """The answer to a question. Errors: `BadRequest`."""
        if not isinstance(content, dict) or not isinstance(content.get("run"), str):
            raise BadRequest("not a question about a run")
        run = self._runs.get(content["run"])
        if run is None:
            raise BadRequest(f"there is no run {content['run']}")
        with self._lock:
            if what == "successors":
                return self._successors(run.view, content)
            if what == "evaluate":
                return self._evaluate(run, content)
        raise BadRequest(f"there is nothing called {what}")

    def _successors(self, view: View, content: Json) -> Json:
        number, known = content.get("state"), content.get("strings")
        if not _is_state(view, number) or not isinstance(known, int) or not 0 <= known <= len(view.strings):
            raise BadRequest("there is no such state")
        edges = view.successors(number)
        return {"edges": edges, "from": known, "strings": view.strings[known:]}

    def _evaluate(self, run: ExploredRun, content: Json) -> Json:
        text, states = content.get("expression"), content.get("states")
        if not isinstance(text, str) or not isinstance(states, list) or len(states) > STATES_MAX:
            raise BadRequest("not an expression with states")
        if not all(_is_state(run.view, number) for number in states):
            raise BadRequest("there is no such state")
        if len(text) > EXPRESSION_CHARACTERS_MAX:
            return {"error": f"longer than {EXPRESSION_CHARACTERS_MAX:,} characters"}
        try:
            expression = run.expressions().read(text)
        except WrongExpression as wrong:
            return {"error": str(wrong)}
        kind = type_of(expression)
        values = [_value(run.view, expression, kind, number) for number in states]
        return {"type": "bool" if isinstance(kind, Bool) else "value", "values": values}


def _is_state(view: View, number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(view.states)


def _value(view: View, expression: Any, kind: Any, number: int) -> str:
    try:
        return show(kind, view.views.interpreter.value(expression, view.states[number]))
    except EvaluationError as error:
        return f"no value: {error.message}"


__all__: Sequence[str] = ("BadRequest", "ExploredRun", "ExploredViews")
