"""Whether a log is one that a system could have written, decided by trying everything: sets of states, in plain Python.

Written from `docs/language.md` (log lines) and `docs/traces.md` alone; it shares nothing with `hacheck.model.observing`
and the compiled code. Statements and expressions mean what the interpreter says.

- A step writes its lines one after another, each to the log of its writer. Steps without lines are not seen.
- What the log does not show agrees with everything.
- A name stands for one value from where it first appears, until that value is drawn afresh; at no time do two values
  have one name.
- A log may end in the middle of a step's lines, if the step writes at least one line that is there. Lines of nodes that
  log apart are missing at the end only if the step takes all that is left, or if all that is left is not older than the
  newest record by more than the skew.
- Records of different nodes may have been written in another order than their times say if these are no further apart
  than the skew. The time of a record is no less than that of those before it in its own log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, domain_values, evaluate
from hacheck.model.execution import Going, execute
from hacheck.model.interpreter import Interpreter, instances
from hacheck.model.rewrite import walk
from hacheck.model.runs import State
from hacheck.model.types import Node, Type, Value
from hacheck.model.typing import type_of
from tests.traces.conformance.records import (
    ANYBODY,
    LINES_MAX,
    Cut,
    Drawn,
    LogRecord,
    Logs,
    Names,
    Writer,
    WrittenLine,
    agreeing,
)


class Way(Struct, frozen=True):
    """A way through a body. `told`: what it wrote and drew, in order; `after`: `None` where it met a bound, or was an
    error of the spec."""

    told: tuple[WrittenLine | Drawn, ...]
    after: State | None


class Decided(Struct, frozen=True):
    """`explained`: some run writes the log; `furthest`: the most records that one writes; `stopped`: whether some run
    met a bound (or an error of the spec) on the way; `width`: the most states at once; `expected`: in order, the lines
    that could have come at `left`, the first record that is not even one of a step's first lines; apart, the first
    lines in each log of the steps that could have come at `furthest`; `whole`: apart, all lines of each of these steps;
    `perhaps`: whether a step met a bound that wrote nothing of what is there."""

    explained: bool
    furthest: int
    stopped: bool
    width: int
    expected: frozenset[WrittenLine]
    perhaps: bool = False
    left: int = 0
    whole: frozenset[tuple[WrittenLine, ...]] = frozenset()


class TooMany(Exception):
    """There is too much to try."""


class Oracle:
    """Decides about logs of one system."""

    def __init__(self, system: ir.System, width_max: int = 3_000) -> None:
        self.system, self.interpreter, self.width_max = system, Interpreter(system), width_max
        self.known: dict[State, tuple[Way, ...]] = {}

    # ---- steps ----

    def ways(self, state: State) -> tuple[Way, ...]:
        """Everything that a step can do in a state."""
        if state not in self.known:
            self.known[state] = tuple(dict.fromkeys(self._ways(state)))
        return self.known[state]

    def _ways(self, state: State) -> Iterator[Way]:
        for action in self.system.actions:
            for arguments in instances(action):
                yield from self.distinct_counts(action, arguments, state)

    def distinct_counts(self, action: ir.Action, arguments: tuple[Value, ...], state: State) -> Iterator[Way]:
        """Everything that an instance of an action can do in a state."""
        scope = Scope(self.interpreter.variables, state, state)
        for (name, kind), argument in zip(action.parameters, arguments, strict=True):
            scope = scope.bind(name, kind, argument)
        for told, end in _through((ir.Require(action.guard), *action.body), (), scope):
            yield Way(told, None if end is None else end.state)

    # ---- one log ----

    def in_order(self, records: Sequence[LogRecord]) -> Decided:
        """About a log in the order in which it was written."""
        reached: dict[int, dict[tuple[State, Names], None]] = {0: dict.fromkeys(self._starts())}
        width, stopped = 0, False
        hoped: dict[int, set[WrittenLine]] = {}
        for position in range(len(records)):
            here = list(reached.get(position, {}))
            held = dict.fromkeys(here)
            for state, names in here:
                for way in self.ways(state):
                    if way.after is not None:
                        for more, line in hopes(way.told, records[position:], names):
                            hoped.setdefault(position + more, set()).add(line)
                    taken, known = agreeing(way.told, records[position:], names)
                    if taken is None:
                        continue
                    if way.after is None or taken > LINES_MAX:
                        stopped = True
                    elif taken:
                        reached.setdefault(min(position + taken, len(records)), {})[way.after, known] = None
                    elif (way.after, known) not in held:
                        held[way.after, known] = None
                        here.append((way.after, known))
                        if len(here) > self.width_max:
                            raise TooMany
            width = max(width, len(here))
            if not any(place > position for place in reached):
                left = max((position, *hoped))
                return Decided(False, position, stopped, width, frozenset(hoped.get(left, ())), left=left)
        return Decided(True, len(records), stopped, width, frozenset())

    def _starts(self) -> Iterator[tuple[State, Names]]:
        for state in self.interpreter.initial_states():
            yield state, frozenset()

    # ---- logs apart ----

    def apart(self, records: Sequence[LogRecord], skew: int) -> Decided:
        """About nodes that logged apart. Records without times may come in any order."""
        logs = Logs.of(records, skew)
        reached: dict[Cut, dict[tuple[State, Names], None]] = {(0,) * len(logs.streams): dict.fromkeys(self._starts())}
        stopped, perhaps, furthest, width, last = False, False, 0, 0, 0
        allowed: dict[tuple[WrittenLine, ...], None] = {}
        while reached:
            cut = min(reached, key=sum)
            furthest = sum(cut)
            if cut == logs.end:
                return Decided(True, furthest, stopped, width, frozenset(), perhaps)
            here = list(reached.pop(cut))
            held = dict.fromkeys(here)
            expected: dict[tuple[WrittenLine, ...], None] = {}
            for state, names in here:
                for way in self.ways(state):
                    if way.after is not None:
                        expected[tuple(one for one in way.told if isinstance(one, WrittenLine))] = None
                    met = logs.agreeing(way.told, cut, names)
                    if met is None:
                        continue
                    after, known, most, missing = met
                    bounded = way.after is None or most > LINES_MAX
                    if missing and (after == cut or (after != logs.end and not logs.ends(cut))):
                        perhaps |= bounded
                    elif bounded or way.after is None:
                        stopped = True
                    elif after != cut:
                        if logs.may_follow(cut, after):
                            reached.setdefault(after, {})[way.after, known] = None
                    elif most == 0 and (way.after, known) not in held:
                        held[way.after, known] = None
                        here.append((way.after, known))
                        if len(here) > self.width_max:
                            raise TooMany
            width = max(width, len(here))
            allowed = {**(allowed if sum(cut) == last else {}), **expected}
            last = sum(cut)
        first = {next(line for line in way if line.node == one.node) for way in allowed for one in way}
        whole = frozenset(allowed)
        return Decided(False, furthest, stopped, width, frozenset(first), perhaps, furthest, whole)


def hopes(
    told: Sequence[WrittenLine | Drawn], records: Sequence[LogRecord], names: Names
) -> Iterator[tuple[int, WrittenLine]]:
    """The lines of a way that could come, the first ones being there: behind how many of them each comes."""
    for place, one in enumerate(told):
        if isinstance(one, WrittenLine):
            before = sum(isinstance(other, WrittenLine) for other in told[:place])
            if before > len(records) or before >= LINES_MAX:
                return
            taken, _ = agreeing(told[:place], records[:before], names)
            if taken is None:
                return
            yield before, one


def _through(
    body: Sequence[ir.Statement], told: tuple[WrittenLine | Drawn, ...], scope: Scope
) -> Iterator[tuple[tuple[WrittenLine | Drawn, ...], Scope | None]]:
    """Every way through a body, with what is written and drawn on it."""
    if not body:
        yield told, scope
        return
    statement, rest = body[0], body[1:]
    try:
        match statement:
            case ir.If(condition, then, otherwise):
                insides = [(told, scope, then if evaluate(condition, scope) else otherwise)]
            case ir.ForEach(variable, domain, inner):
                turns = [(variable, domain.type, value) for value in domain_values(variable, domain, scope)]
                yield from _turns(turns, inner, rest, told, scope)
                return
            case ir.Log():
                yield from _through(rest, (*told, _said(statement, scope)), scope)
                return
            case _:
                drawn = _drawn(statement, scope)
                for end in execute((statement,), Going(scope, ())):
                    if isinstance(end, Going):
                        yield from _through(rest, (*told, *drawn), end.scope)
                    else:
                        yield told, None
                return
    except (EvaluationError, BoundReached):
        yield told, None
        return
    for before, outer, block in insides:
        for after, inner_scope in _through(block, before, outer):
            if inner_scope is None:
                yield after, None
            else:
                yield from _through(rest, after, _left(inner_scope, outer))


def _turns(
    turns: Sequence[tuple[str, Type, Value]],
    inner: Sequence[ir.Statement],
    rest: Sequence[ir.Statement],
    told: tuple[WrittenLine | Drawn, ...],
    scope: Scope,
) -> Iterator[tuple[tuple[WrittenLine | Drawn, ...], Scope | None]]:
    if not turns:
        yield from _through(rest, told, scope)
        return
    for after, end in _through(inner, told, scope.bind(*turns[0])):
        if end is None:
            yield after, None
        else:
            yield from _turns(turns[1:], inner, rest, after, _left(end, scope))


def _left(inside: Scope, outer: Scope) -> Scope:
    return replace(inside, locals={name: inside.locals[name] for name in outer.locals}, types=outer.types)


def _said(line: ir.Log, scope: Scope) -> WrittenLine:
    node: Writer = None
    if line.node is not None:
        kind = type_of(line.node)
        assert isinstance(kind, Node)
        node = kind.name, evaluate(line.node, scope)
    fields = tuple((one.name, type_of(one.value), evaluate(one.value, scope), one.by_name) for one in line.fields)
    return WrittenLine(line.event, node, fields)


def _drawn(statement: ir.Statement, scope: Scope) -> tuple[Drawn, ...]:
    """The identities that a statement draws."""
    kinds = {part.type.name: part.type for part in walk(statement) if isinstance(part, ir.Fresh)}
    if not kinds or not isinstance(statement, ir.Assign | ir.Let):
        return ()
    found: set[tuple[str, int]] = set()
    try:
        evaluate(statement.value, replace(scope, drawn=found))
    except (EvaluationError, BoundReached):
        return ()
    return tuple(Drawn(kinds[name], value) for name, value in found)


__all__ = ["ANYBODY", "Decided", "Drawn", "LogRecord", "Oracle", "TooMany", "Way", "Writer", "WrittenLine"]
