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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hacheck.model import ir
from hacheck.model.evaluation import BoundReached, EvaluationFault, Scope, domain_values, evaluate
from hacheck.model.execution import Going, execute
from hacheck.model.rewrite import walk
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter, instances
from hacheck.model.types import Node, Option, Type, Value
from hacheck.model.typing import type_of

Writer: TypeAlias = tuple[str, int] | None
Names: TypeAlias = frozenset[tuple[Type, Value, str]]
Cut: TypeAlias = tuple[int, ...]

ANYBODY = ("anybody", 0)
"""Who wrote a record that does not say who wrote it."""

LINES_MAX = 8
"""A step that writes more lines to one log meets a bound."""


@dataclass(frozen=True)
class Told:
    """A record. `fields`: values of the model, names as text; what is not there is not shown."""

    event: str
    node: Writer
    fields: Mapping[str, Value] = field(default_factory=dict)
    time: int | None = None
    message: str | None = None
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """A line that a step writes: for each field its type, its value, and whether it is shown by name."""

    event: str
    node: Writer
    fields: tuple[tuple[str, Type, Value, bool], ...]


@dataclass(frozen=True)
class Drawn:
    """An identity is drawn afresh."""

    kind: Type
    value: Value


@dataclass(frozen=True)
class Way:
    """A way through a body. `told`: what it wrote and drew, in order; `after`: `None` where it met a bound, or was an
    error of the spec."""

    told: tuple[Said | Drawn, ...]
    after: State | None


@dataclass(frozen=True)
class Decided:
    """`explained`: some run writes the log; `furthest`: the most records that one writes; `stopped`: whether some run
    met a bound (or an error of the spec) on the way; `width`: the most states at once; `expected`: the first lines that
    could have come at `furthest`; `perhaps`: whether a step met a bound that wrote nothing of what is there."""

    explained: bool
    furthest: int
    stopped: bool
    width: int
    expected: frozenset[Said]
    perhaps: bool = False


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
                yield from self.ways_of(action, arguments, state)

    def ways_of(self, action: ir.Action, arguments: tuple[Value, ...], state: State) -> Iterator[Way]:
        """Everything that an instance of an action can do in a state."""
        scope = Scope(self.interpreter.variables, state, state)
        for (name, kind), argument in zip(action.parameters, arguments, strict=True):
            scope = scope.bind(name, kind, argument)
        for told, end in _through((ir.Require(action.guard), *action.body), (), scope):
            yield Way(told, None if end is None else end.state)

    # ---- one log ----

    def in_order(self, records: Sequence[Told]) -> Decided:
        """About a log in the order in which it was written."""
        reached: dict[int, dict[tuple[State, Names], None]] = {0: dict.fromkeys(self._starts())}
        width, stopped = 0, False
        for position in range(len(records)):
            here = list(reached.get(position, {}))
            held = dict.fromkeys(here)
            expected: dict[Said, None] = {}
            for state, names in here:
                for way in self.ways(state):
                    first = next((one for one in way.told if isinstance(one, Said)), None)
                    if first is not None and way.after is not None:
                        expected[first] = None
                    taken, known = _agreeing(way.told, records[position:], names)
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
                return Decided(False, position, stopped, width, frozenset(expected))
        return Decided(True, len(records), stopped, width, frozenset())

    def _starts(self) -> Iterator[tuple[State, Names]]:
        for state in self.interpreter.initial_states():
            yield state, frozenset()

    # ---- logs apart ----

    def apart(self, records: Sequence[Told], skew: int) -> Decided:
        """About nodes that logged apart. Records without times may come in any order."""
        logs = Logs.of(records, skew)
        reached: dict[Cut, dict[tuple[State, Names], None]] = {(0,) * len(logs.streams): dict.fromkeys(self._starts())}
        stopped, perhaps, furthest, width, last = False, False, 0, 0, 0
        allowed: dict[Said, None] = {}
        while reached:
            cut = min(reached, key=sum)
            furthest = sum(cut)
            if cut == logs.end:
                return Decided(True, furthest, stopped, width, frozenset(), perhaps)
            here = list(reached.pop(cut))
            held = dict.fromkeys(here)
            expected: dict[Said, None] = {}
            for state, names in here:
                for way in self.ways(state):
                    first = next((one for one in way.told if isinstance(one, Said)), None)
                    if first is not None and way.after is not None:
                        expected[first] = None
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
        return Decided(False, furthest, stopped, width, frozenset(allowed), perhaps)


def _through(
    body: Sequence[ir.Statement], told: tuple[Said | Drawn, ...], scope: Scope
) -> Iterator[tuple[tuple[Said | Drawn, ...], Scope | None]]:
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
    except (EvaluationFault, BoundReached):
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
    told: tuple[Said | Drawn, ...],
    scope: Scope,
) -> Iterator[tuple[tuple[Said | Drawn, ...], Scope | None]]:
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


def _said(line: ir.Log, scope: Scope) -> Said:
    node: Writer = None
    if line.node is not None:
        kind = type_of(line.node)
        assert isinstance(kind, Node)
        node = kind.name, evaluate(line.node, scope)
    fields = tuple((one.name, type_of(one.value), evaluate(one.value, scope), one.by_name) for one in line.fields)
    return Said(line.event, node, fields)


def _drawn(statement: ir.Statement, scope: Scope) -> tuple[Drawn, ...]:
    """The identities that a statement draws."""
    kinds = {part.type.name: part.type for part in walk(statement) if isinstance(part, ir.Fresh)}
    if not kinds or not isinstance(statement, ir.Assign | ir.Let):
        return ()
    found: set[tuple[str, int]] = set()
    try:
        evaluate(statement.value, replace(scope, drawn=found))
    except (EvaluationFault, BoundReached):
        return ()
    return tuple(Drawn(kinds[name], value) for name, value in found)


# ---- lines and records ----


def _agreeing(
    told: Sequence[Said | Drawn], records: Sequence[Told], names: Names
) -> tuple[int, Names] | tuple[None, Names]:
    """How many lines a way writes, if they are these records; behind the last one nothing is known."""
    taken = 0
    for one in told:
        if isinstance(one, Drawn):
            names = forgotten(names, one)
            continue
        if taken == LINES_MAX:
            return taken + 1, names
        if taken < len(records):
            known = agreed(one, records[taken], names)
            if known is None:
                return None, names
            names = known
        taken += 1
    return taken, names


def forgotten(names: Names, drawn: Drawn) -> Names:
    """Without the name that an identity had before it was drawn again."""
    return frozenset(one for one in names if one[:2] != (drawn.kind, drawn.value))


def agreed(line: Said, record: Told, names: Names) -> Names | None:
    """The names known after a line that is this record; `None` where it is not."""
    if line.event != record.event or record.node not in (line.node, ANYBODY):
        return None
    for name, kind, value, by_name in line.fields:
        if name not in record.fields:
            continue
        said = record.fields[name]
        if not by_name or value is None or said is None:
            if value != said or type(value) is not type(said):
                return None
            continue
        own = kind.element if isinstance(kind, Option) else kind
        others = {(one, called) for of, one, called in names if of == own and (one == value or called == said)}
        if others - {(value, said)}:
            return None
        names |= {(own, value, said)}
    return names


@dataclass(frozen=True)
class Logs:
    """The records of nodes that logged apart. `times` are such that no log goes back; `None` where some are missing."""

    writers: tuple[Writer, ...]
    streams: tuple[tuple[Told, ...], ...]
    times: tuple[tuple[int, ...], ...] | None
    skew: int

    @staticmethod
    def of(records: Sequence[Told], skew: int) -> Logs:
        writers = tuple(dict.fromkeys(one.node for one in records))
        streams = tuple(tuple(one for one in records if one.node == writer) for writer in writers)
        times = None
        if all(one.time is not None for one in records):
            times = tuple(
                tuple(max(one.time or 0 for one in stream[: at + 1]) for at in range(len(stream))) for stream in streams
            )
        return Logs(writers, streams, times, skew)

    @property
    def end(self) -> Cut:
        """The cut that takes everything."""
        return tuple(len(stream) for stream in self.streams)

    def agreeing(self, told: Sequence[Said | Drawn], cut: Cut, names: Names) -> tuple[Cut, Names, int, int] | None:
        """Where a way leads to, if its lines are the records that come next; the most lines of one log, and how many
        lines are behind the end of one."""
        at = list(cut)
        extra = dict.fromkeys(self.writers, 0)
        missing = 0
        for one in told:
            if isinstance(one, Drawn):
                names = forgotten(names, one)
                continue
            place = self.writers.index(one.node) if one.node in self.writers else None
            extra[one.node] = extra.get(one.node, 0) + 1
            if extra[one.node] > LINES_MAX:
                break
            if place is None or at[place] == len(self.streams[place]):
                missing += 1
                continue
            known = agreed(one, self.streams[place][at[place]], names)
            if known is None:
                return None
            names = known
            at[place] += 1
        return tuple(at), names, max(extra.values(), default=0), missing

    def ends(self, cut: Cut) -> bool:
        """Whether all that is left is as young as the newest record, or is one record of each node."""
        if self.times is None:
            return all(end - at <= 1 for end, at in zip(self.end, cut, strict=True))
        newest = max(times[-1] for times in self.times if times)
        left = [time for times, at in zip(self.times, cut, strict=True) for time in times[at:]]
        return all(time >= newest - self.skew for time in left)

    def may_follow(self, cut: Cut, after: Cut) -> bool:
        """Whether a step may take these records, as far as times and messages say."""
        pairs = tuple(zip(cut, after, strict=True))
        step = [(stream, at) for stream, (low, high) in enumerate(pairs) for at in range(low, high)]
        rest = [(stream, at) for stream, high in enumerate(after) for at in range(high, self.end[stream])]
        done = {(stream, at) for stream, high in enumerate(after) for at in range(high)}
        if self.times is not None:
            # Nothing is taken while something is left that was written long before.
            for stream, at in step:
                for other, late in rest:
                    if self.times[other][late] < self.times[stream][at] - self.skew:
                        return False
        return all(self.sent(cause, stream, done) for stream, at in step for cause in self.streams[stream][at].causes)

    def sent(self, cause: str, receiver: int, done: set[tuple[int, int]]) -> bool:
        """Whether a message was sent by one of these records, by the same node, by several nodes, or by none at all."""
        logs = enumerate(self.streams)
        senders = {(stream, at) for stream, log in logs for at, one in enumerate(log) if one.message == cause}
        if len({stream for stream, _ in senders}) > 1:
            return True
        return not senders or bool(senders & done) or any(stream == receiver for stream, _ in senders)
