"""Which conditions keep a step from happening in a state.

The step is executed as if each of its conditions held, and those that do not are noted with the values that they read.
A step may have to take the other side of an `if` to write a line; then the condition of that `if` is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.counters.value_distances import unbounded
from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, domain_values, evaluate
from hacheck.model.execution import Going, Line, Stopped, execute
from hacheck.model.interpreter import Interpreter, Taken, instances
from hacheck.model.ir import (
    Binary,
    Choose,
    Constant,
    Domain,
    Expression,
    Extreme,
    ForEach,
    If,
    Index,
    Local,
    Log,
    Member,
    Quantified,
    Require,
    Statement,
    Stop,
    System,
    Unary,
    Variable,
)
from hacheck.model.render import show, show_expression
from hacheck.model.render_expression import as_written
from hacheck.model.rewrite import Tree, conjuncts, parts, rebuild, walk
from hacheck.model.runs import Run, State
from hacheck.model.types import Bool, Enum, Map, Type, Value
from hacheck.model.typing import type_of

ConditionKind: TypeAlias = Literal["guard", "handler", "message", "node", "condition", "choice", "bound"]

VALUES_MAX = 4
"""So many values that a condition reads are named."""

PATHS_MAX = 400
"""So many ways through a body are followed, those with the fewest failing conditions first."""

FAILING_MAX = 99
"""More conditions than these never fail together."""


class FailingCondition(Struct, frozen=True):
    """A condition that a step needs and that does not hold.

    - `kind`: of its guard; that a handler waits at a point (`handler`), a message is under way (`message`), a node is
      up (`node`); which side of an `if` is taken (`condition`); that there is something to choose; a bound.
    - `text`: the condition in the form of `show_expression`; `values`: what it reads, as `n.mode is normal`;
    - `words`: that it fails, as a part of a sentence.
    """

    kind: ConditionKind
    text: str
    values: tuple[str, ...]
    words: str


class Attempt(Struct, frozen=True):
    """A way through an action with the conditions that fail on it, and the lines that it would write. `error`: why it
    cannot be completed all the same, or nothing."""

    action: int
    arguments: tuple[Value, ...]
    failing: tuple[FailingCondition, ...]
    lines: tuple[Line, ...]
    error: str = ""


def failing_conditions(
    system: System, state: State, action: int, arguments: tuple[Value, ...]
) -> tuple[FailingCondition, ...]:
    """What keeps a step from happening: the fewest conditions that fail together; none where it is possible."""
    found = attempts(system, state, action, arguments)
    return min(found, key=lambda one: (bool(one.error), len(one.failing))).failing if found else ()


def why_impossible(system: System, run: Run) -> tuple[FailingCondition, ...]:
    """What keeps the first step of a run that is not possible from happening; nothing where each is possible, or leads
    elsewhere only. Cost: the outcomes of one action instance for each step."""
    interpreter = Interpreter(unbounded(system))
    state = run.initial
    for step in run.steps:
        if not 0 <= step.action < len(system.actions) or step.arguments not in instances(system.actions[step.action]):
            return ()
        outcomes = interpreter.outcomes_with(step.action, step.arguments, state)
        if not any(isinstance(one, Taken) for one in outcomes):
            return failing_conditions(interpreter.system, state, step.action, step.arguments)
        state = step.state
    return ()


def attempts(
    system: System,
    state: State,
    action: int,
    arguments: tuple[Value, ...],
    event: str | None = None,
    failing_max: int = FAILING_MAX,
) -> list[Attempt]:
    """The ways through an action on which at most so many conditions fail, as if these held. `event`: conditions of an
    `if` count as failing where the step would write this event on its other side only. Cost: that of the outcomes of
    the action, times the failing conditions."""
    taken = system.actions[action]
    scope = Scope(Interpreter(system).variables, state, state)
    for (name, kind), argument in zip(taken.parameters, arguments, strict=True):
        scope = scope.bind(name, kind, argument)
    words = _Words(system, taken.actor)
    paths = _Execution(words, event, failing_max).body((Require(taken.guard), *taken.body), [_Path(scope)])
    return [Attempt(action, arguments, path.failing, path.lines, path.error) for path in paths]


class _Path(Struct, frozen=True):
    scope: Scope
    failing: tuple[FailingCondition, ...] = ()
    lines: tuple[Line, ...] = ()
    error: str = ""


class _Execution(Struct, frozen=True):
    words: _Words
    event: str | None
    failing_max: int

    def body(self, statements: tuple[Statement, ...], paths: list[_Path]) -> list[_Path]:
        """The paths after a body."""
        for statement in statements:
            found = (after for path in paths for after in self.after(statement, path))
            paths = [path for path in found if len(path.failing) <= self.failing_max]
            if len(paths) > PATHS_MAX:
                paths = sorted(paths, key=lambda path: (bool(path.error), len(path.failing)))[:PATHS_MAX]
        return paths

    def after(self, statement: Statement, path: _Path) -> list[_Path]:
        """The paths after one statement."""
        if path.error:
            return [path]
        fresh = replace(path, scope=replace(path.scope, drawn=set()))
        try:
            return self.possible(statement, fresh)
        except EvaluationError as error:
            return [replace(path, error=error.message)]
        except BoundReached as reached:
            return [self.stopped(path, reached.bound)]

    def possible(self, statement: Statement, path: _Path) -> list[_Path]:
        """Errors: `EvaluationError`, `BoundReached`."""
        match statement:
            case Require(condition):
                return [self.required(condition, path)]
            case Choose(name, domain):
                return self.chosen(name, domain, path)
            case If(condition, then, otherwise):
                return self.branches(condition, then, otherwise, path)
            case ForEach(variable, domain, body):
                paths = [path]
                for value in domain_values(variable, domain, path.scope):
                    inside = [
                        one if one.error else replace(one, scope=one.scope.bind(variable, domain.type, value))
                        for one in paths
                    ]
                    paths = [_left(one, path.scope) for one in self.body(body, inside)]
                return paths
            case Stop(bound):
                return [self.stopped(path, bound)]
            case _:
                (end,) = execute((statement,), Going(path.scope, (), path.lines))
                if isinstance(end, Stopped):
                    return [self.stopped(path, end.bound) if end.bound else replace(path, error=end.message)]
                return [replace(path, scope=end.scope, lines=end.lines)]

    def required(self, condition: Expression, path: _Path) -> _Path:
        """The path on which each part of a condition that does not hold is noted. What has no value because an earlier
        part fails is not."""
        found: list[FailingCondition] = []
        for part in conjuncts(condition):
            try:
                if not evaluate(part, path.scope):
                    found.append(self.words.guard(part, path.scope))
            except EvaluationError as error:
                if not found and not path.failing:
                    return replace(path, error=error.message)
        return replace(path, failing=(*path.failing, *found))

    def branches(
        self, condition: Expression, then: tuple[Statement, ...], otherwise: tuple[Statement, ...], path: _Path
    ) -> list[_Path]:
        """The side of an `if` that is taken, and the other one where only that one writes the event."""
        holds = bool(evaluate(condition, path.scope))
        taken, other = (then, otherwise) if holds else (otherwise, then)
        paths = self.body(taken, [path])
        if self.event is not None and self.writes(other) and not self.writes(taken):
            failing = self.words.sides(condition, not holds, path.scope)
            paths += self.body(other, [replace(path, failing=(*path.failing, *failing))])
        return [_left(one, path.scope) for one in paths]

    def writes(self, body: tuple[Statement, ...]) -> bool:
        """Whether a body may write the event."""
        return any(isinstance(part, Log) and part.event == self.event for one in body for part in walk(one))

    def chosen(self, name: str, domain: Domain, path: _Path) -> list[_Path]:
        """A path for each value; where the filter leaves none, for each that it would leave out."""
        found = tuple(domain_values(name, domain, path.scope))
        failing: tuple[FailingCondition, ...] = ()
        if not found:
            found = tuple(domain_values(name, replace(domain, where=None), path.scope))
            failing = (self.words.choice(name, domain, path.scope),)
        if not found:
            return [replace(path, failing=(*path.failing, *failing), error="there is nothing to choose from")]
        after = replace(path, failing=(*path.failing, *failing))
        return [replace(after, scope=path.scope.bind(name, domain.type, value)) for value in found]

    def stopped(self, path: _Path, bound: str) -> _Path:
        """The path that ends at a bound."""
        meaning = dict(self.words.system.bounds).get(bound, bound)
        failing = FailingCondition("bound", bound, (), f"a bound would be passed: {meaning}")
        return replace(path, failing=(*path.failing, failing), error="a bound would be passed")


def _left(path: _Path, outer: Scope) -> _Path:
    """The path behind a block: the block's own locals are gone."""
    if path.error:
        return path
    kept = {name: path.scope.locals[name] for name in outer.locals}
    return replace(path, scope=replace(path.scope, locals=kept, types=outer.types))


# ---- words ----


class _Words(Struct, frozen=True):
    """Says that conditions fail. `actor`: the parameter that is the node of the step, which needs no name."""

    system: System
    actor: str | None

    @property
    def roles(self) -> Mapping[str, str]:
        return {variable.name: variable.role for variable in self.system.variables}

    def guard(self, part: Expression, scope: Scope) -> FailingCondition:
        """A part of a guard that does not hold."""
        roles = self.roles
        match part:
            case Binary("==", Index(Variable(name, Map(_, Enum())) as thread, node), Constant(str(point))) if (
                roles[name] == "frame"
            ):
                return self._handler(thread, node, point, scope)
            case Binary("!=", Index(Index(Variable(name), sender), receiver), Constant()) if roles[name] == "channel":
                message = name.removeprefix("message.")
                ends = self._node(sender, scope), self._node(receiver, scope)
                words = f"no `{message}` is under way from {ends[0]} to {ends[1]}"
                return FailingCondition("message", f"a `{message}` is under way", (), words)
            case Index(Variable(name), node) if roles[name] == "status" and name.endswith(".up"):
                return FailingCondition("node", show_expression(part), (), f"{self._node(node, scope)} is down")
            case Unary("not", Index(Variable(name), node)) if roles[name] == "status":
                state = "up" if name.endswith(".up") else "paused"
                return FailingCondition("node", show_expression(part), (), f"{self._node(node, scope)} is {state}")
            case _:
                return self.plain("guard", part, scope)

    def _handler(self, thread: Variable, node: Expression, point: str, scope: Scope) -> FailingCondition:
        at = str(evaluate(Index(thread, node), scope))
        name = thread.name.rpartition(".")[2]
        if point == "idle":
            what = f"thread `{name}` is free" if name != "main" else "no other handler is under way"
            busy = f"its thread `{name}` is busy" if name != "main" else "another handler is under way"
            return FailingCondition("handler", what, (f"it is at {at}",), f"{busy}, at `{at}`")
        handler, _, step = point.rpartition(".")
        where = "it is not under way"
        if at != "idle":
            other, _, reached = at.rpartition(".")
            where = f"it is at `{reached}`" if other == handler else f"`{at}` is under way"
        text = f"`{handler}` is at `{step}`"
        return FailingCondition("handler", text, (where,), f"`{handler}` is not at `{step}`: {where}")

    def _node(self, node: Expression, scope: Scope) -> str:
        return show(type_of(node), evaluate(node, scope))

    def plain(self, kind: ConditionKind, part: Expression, scope: Scope) -> FailingCondition:
        """A condition that does not hold, with what it reads."""
        text, values = self._said(part, scope)
        words = f"`{text}` is false" + (f" ({', '.join(values)})" if values else "")
        return FailingCondition(kind, show_expression(part), values, words)

    def _said(self, part: Expression, scope: Scope) -> tuple[str, tuple[str, ...]]:
        """A condition as a spec would have it, and what it reads."""
        part = _concrete(part, scope)
        text = _as_spec(show_expression(self._written(part)))
        return text, self.values(part, scope, text)

    def sides(self, condition: Expression, wanted: bool, scope: Scope) -> tuple[FailingCondition, ...]:
        """What fails where an `if` does not take a side."""
        needed = condition if wanted else _negated(condition)
        found = []
        for part in conjuncts(needed):
            try:
                if not evaluate(part, scope):
                    found.append(self.plain("condition", part, scope))
            except EvaluationError:
                break
        return tuple(found) or (self.plain("condition", needed, scope),)

    def choice(self, name: str, domain: Domain, scope: Scope) -> FailingCondition:
        """That a filter leaves nothing to choose."""
        chosen = as_written(name)
        if domain.where is None:
            return FailingCondition("choice", f"there is a `{chosen}`", (), f"there is no `{chosen}` to choose")
        some = Quantified("some", name, replace(domain, where=None), domain.where)
        text, values = self._said(some, scope)
        said = f" ({', '.join(values)})" if values else ""
        return FailingCondition("choice", text, values, f"there is no `{chosen}` to choose: `{text}` is false{said}")

    def values(self, condition: Expression, scope: Scope, text: str) -> tuple[str, ...]:
        """What a condition reads, in words: `n.mode is normal`."""
        found: dict[str, None] = {}
        for leaf in _leaves(condition, frozenset()):
            if isinstance(leaf, Local) and leaf.name == self.actor:
                continue
            if isinstance(type_of(leaf), Map):
                continue
            name = _as_spec(show_expression(self._written(leaf)))
            try:
                value = show(type_of(leaf), evaluate(leaf, scope))
            except (EvaluationError, KeyError):
                continue
            if name not in (text, value) and f"not {name}" != text:
                found[f"{name} is {value}"] = None
        for part in conjuncts(condition):
            found.update(dict.fromkeys(self._exceptions(part, scope)))
        return tuple(found)[:VALUES_MAX]

    def _exceptions(self, part: Expression, scope: Scope) -> Iterator[str]:
        """The members that an `every` or a `no` is false for."""
        match part:
            case Quantified("every" | "none" as how, variable, domain, body):
                for value in domain_values(variable, domain, scope):
                    inside = scope.bind(variable, domain.type, value)
                    if bool(evaluate(body, inside)) == (how == "none"):
                        yield f"not so for {as_written(variable)} = {show(domain.type, value)}"
            case _:
                return

    def _written(self, part: Expression) -> Expression:
        """The expression with the locals that a handler keeps between steps called as the spec calls them."""
        roles = self.roles

        def change(inside: Tree) -> Tree:
            match inside:
                case Unary("not", Index(Index(Variable(name), one), other)) if name.startswith("cut."):
                    return self._word("connected", Bool(), one, other)
                case Index(Index(Variable(name), one), other) if name.startswith("cut."):
                    return Unary("not", self._word("connected", Bool(), one, other))
                case Index(Index(Variable(name, Map(_, Map(_, kind))), one), other) if name.startswith("message."):
                    return self._word("under_way", kind, Local(name.removeprefix("message."), Bool()), one, other)
                case Index(Variable(name, Map(_, kind)), _) if roles[name] == "frame" and not isinstance(kind, Enum):
                    return Local(_plain_name(name), kind)
                case Variable(name, kind) if roles.get(name) == "frame" and not isinstance(kind, Map):
                    return Local(_plain_name(name), kind)
                case _:
                    made: Tree = rebuild(inside, change)
                    return made

        return change(part)  # type: ignore[return-value]  # an expression stays one

    def _word(self, function: str, kind: Type, *arguments: Expression) -> Local:
        """A function of the language and its arguments, as `show_expression` is to have them."""
        inside = ", ".join(show_expression(self._written(one)) for one in arguments)
        return Local(f"{function}({inside})", kind)


def _concrete(part: Expression, scope: Scope) -> Expression:
    """The expression in which what a `max` or a `min` comes to stands for it, where that depends on the state only."""

    def change(inside: Tree, bound: frozenset[str]) -> Tree:
        if isinstance(inside, Extreme):
            reads = {one.name for one in walk(inside) if isinstance(one, Local)}
            if reads & bound:
                return inside
            try:
                return Constant(evaluate(inside, scope), inside.domain.type)
            except EvaluationError:
                return inside
        names = bound | _bound_by(inside)
        made: Tree = rebuild(inside, lambda deeper: change(deeper, names))
        return made

    return change(part, frozenset())  # type: ignore[return-value]  # an expression stays one


def _as_spec(text: str) -> str:
    """Text in which a node has no brackets before its field."""
    return re.sub(r"\(([^\W\d]\w* [0-9]+)\)\.", r"\1.", text)


def _plain_name(variable: str) -> str:
    """The name of a local that a variable keeps: `name` of `Replica.merge_continue.name_2`."""
    return re.sub(r"_[0-9]+$", "", variable.rpartition(".")[2].removesuffix(" to come"))


def _negated(condition: Expression) -> Expression:
    """The condition that holds where this one does not; its parts are as small as can be."""
    match condition:
        case Unary("not", operand):
            return operand
        case Binary("or", left, right):
            return Binary("and", _negated(left), _negated(right))
        case Binary("implies", left, right):
            return Binary("and", left, _negated(right))
        case _:
            return Unary("not", condition)


def _leaves(expression: Tree, bound: frozenset[str]) -> Iterator[Expression]:
    """The largest parts of an expression that name one place of the state, outermost first; not those that depend on
    what the expression binds itself."""
    match expression:
        case Index(_, key) | Member(Index(_, key), _) if _is_place(expression, bound):
            yield expression
            if isinstance(key, Local):
                yield key
        case Variable() | Local() | Member() if _is_place(expression, bound):
            yield expression
        case _:
            for part in parts(expression):
                yield from _leaves(part, bound | _bound_by(expression))


def _bound_by(expression: Tree) -> frozenset[str]:
    name = getattr(expression, "variable", None)
    return frozenset({name} if isinstance(name, str) else ())


def _is_place(expression: Tree, bound: frozenset[str]) -> bool:
    match expression:
        case Variable():
            return True
        case Local(name):
            return name not in bound
        case Index(base, key):
            return _is_place(base, bound) and (isinstance(key, Constant) or _is_place(key, bound))
        case Member(base):
            return _is_place(base, bound)
        case _:
            return False
