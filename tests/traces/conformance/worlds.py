"""Random systems whose steps write lines, logs of their random runs, and what can go wrong with these."""

from __future__ import annotations

import random
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.interpreter import instances
from hacheck.model.observing.line_writers import lines_of, logged
from hacheck.model.observing.record_layout import SET_MEMBERS_MAX
from hacheck.model.types import Enum, Identity, Map, Node, Option, Range, Set, Type, cardinality, is_scalar, values
from hacheck.model.typing import type_of
from tests.strategies.choosing import Chooser, chance, pick
from tests.traces.conformance.oracle import LogRecord, Oracle, Way, Writer, WrittenLine

# ---- systems ----


def with_lines(system: ir.System, chooser: Chooser) -> ir.System:
    """The system with lines anywhere in its bodies: in conditions and loops, several in a step, at other nodes."""
    names = _Names()
    actions = tuple(
        replace(
            action,
            body=_body(action.body, _Seen(system, chooser, names, tuple(ir.Local(*one) for one in action.parameters))),
        )
        for action in system.actions
    )
    made = replace(system, actions=actions, observations=())
    if chance(chooser, 30):
        made = logged(replace(made, observations=_observations(made, chooser, names)))
    return made


def canonical(system: ir.System, chooser: Chooser) -> ir.System:
    """The system with a line for each step, but for some events that are hidden."""
    made = logged(system, every_step=True)
    events = sorted({line.event for action in made.actions for line in lines_of(action)})
    hidden = [event for event in events if chance(chooser, 30)]
    return logged(system, every_step=True, hidden=hidden)


class _Names(Struct):
    """What each field of each event shows, so that lines agree."""

    kinds: dict[tuple[str, str], object] = field(default_factory=dict)


class _Seen(Struct, frozen=True):
    """What a line may show."""

    system: ir.System
    chooser: Chooser
    names: _Names
    locals: tuple[ir.Local, ...]

    def bind(self, local: ir.Local) -> _Seen:
        return replace(self, locals=(*self.locals, local))


def _body(body: Sequence[ir.Statement], seen: _Seen) -> tuple[ir.Statement, ...]:
    made: list[ir.Statement] = []
    for statement in body:
        if chance(seen.chooser, 35):
            made.append(_line(seen))
        match statement:
            case ir.If(condition, then, otherwise):
                statement = ir.If(condition, _body(then, seen), _body(otherwise, seen))
            case ir.ForEach(variable, domain, inner):
                inside = seen.bind(ir.Local(variable, domain.type))
                statement = ir.ForEach(variable, domain, _body(inner, inside))
            case ir.Let(name, kind, _):
                seen = seen.bind(ir.Local(name, kind))
            case ir.Choose(name, domain):
                seen = seen.bind(ir.Local(name, domain.type))
            case _:
                pass
        made.append(statement)
    if chance(seen.chooser, 30):
        made.append(_line(seen))
    return tuple(made)


def _line(seen: _Seen, node: ir.Expression | None = None, own: bool = False) -> ir.Log:
    chooser = seen.chooser
    event = f"event{chooser.integer(0, 3)}"
    if not own:
        nodes = [local for local in seen.locals if isinstance(local.type, Node)]
        if nodes and chance(chooser, 70):
            node = pick(chooser, nodes)
        elif chance(chooser, 50):
            kind = pick(chooser, seen.system.nodes)
            node = ir.Constant(chooser.integer(1, kind.size), kind)
    shown: dict[str, ir.Shown] = {}
    for _ in range(chooser.integer(0, 3)):
        one = _shown(seen, event)
        if one is not None:
            shown[one.name] = one
    return ir.Log(event, node, tuple(shown.values()), 0)


def _shown(seen: _Seen, event: str) -> ir.Shown | None:
    chooser = seen.chooser
    roots: list[ir.Expression] = [ir.Variable(one.name, one.type) for one in seen.system.variables]
    value = _part(seen, pick(chooser, [*roots, *seen.locals]))
    if value is None:
        return None
    kind = type_of(value)
    if isinstance(kind, Range) and chance(chooser, 25):
        value = ir.Binary("+", value, ir.Constant(1, Range(1, 1)))
        kind = type_of(value)
    inner = kind.element if isinstance(kind, Option | Set) else kind
    by_name = isinstance(inner, Identity) or (chance(chooser, 15) and not isinstance(kind, Set))
    if by_name and isinstance(kind, Set):
        return None
    shape: object = kind
    if isinstance(inner, Range):
        shape = type(kind)
    if by_name:
        shape = (inner, "name")
    # One of a few words whose meaning is the same in all lines of the event.
    for word in (f"field{chooser.integer(0, 2)}", *(f"field{number}" for number in range(12))):
        if seen.names.kinds.setdefault((event, word), shape) == shape:
            return ir.Shown(word, value, by_name)
    return None


def _part(seen: _Seen, base: ir.Expression) -> ir.Expression | None:
    """Something in it that a line can show."""
    kind = type_of(base)
    chooser = seen.chooser
    match kind:
        case Map(key, _):
            local = [one for one in seen.locals if one.type == key]
            at: ir.Expression = pick(chooser, local) if local and chance(chooser, 70) else _constant(chooser, key)
            return _part(seen, ir.Index(base, at))
        case Set(element) if is_scalar(element) and cardinality(element) <= SET_MEMBERS_MAX:
            return base if chance(chooser, 70) else ir.Unary("size", base)
        case Option(element) if not is_scalar(element):
            return None
        case Option(Enum(_, members)) if "none" in members:
            return None  # `none` in a log is that there is no value
        case _ if is_scalar(kind):
            return base
        case _ if hasattr(kind, "fields"):
            return _part(seen, ir.Member(base, pick(chooser, kind.fields)[0]))
        case _:
            return ir.Unary("size", base)


def _constant(chooser: Chooser, kind: Type) -> ir.Constant:
    return ir.Constant(pick(chooser, tuple(values(kind))), kind)


def _observations(system: ir.System, chooser: Chooser, names: _Names) -> tuple[ir.Observation, ...]:
    made = []
    for handler in dict.fromkeys(action.handler for action in system.actions):
        kinds = {
            dict(action.parameters)[action.actor] if action.actor else None
            for action in system.actions
            if action.handler == handler
        }
        if len(kinds) > 1 or not chance(chooser, 50):
            continue
        (kind,) = kinds
        assert kind is None or isinstance(kind, Node)
        actor = () if kind is None else (ir.Local("n", kind),)
        line = _line(_Seen(system, chooser, names, actor), actor[0] if actor else None, own=True)
        made.append(ir.Observation(line.event, (handler,), ir.TRUE, line.fields, 0, kind))
    return tuple(made)


# ---- logs ----


class Walked(Struct, frozen=True):
    """The records of a random run, step by step."""

    steps: tuple[tuple[LogRecord, ...], ...]

    @property
    def records(self) -> tuple[LogRecord, ...]:
        """All of them."""
        return tuple(one for step in self.steps for one in step)


def walked(oracle: Oracle, chance_: random.Random, lines_max: int) -> Walked:
    """The log of a random run of about so many lines. Names are new for each identity that is drawn."""
    state = chance_.choice(oracle.interpreter.initial_states())
    names = _Naming()
    steps: list[tuple[LogRecord, ...]] = []
    count = 0
    for _ in range(lines_max * 6):
        ways = [way for way in oracle.ways(state) if way.after is not None]
        speaking = [way for way in ways if any(isinstance(one, WrittenLine) for one in way.told)]
        ways = speaking if speaking and chance_.random() < 0.6 else ways
        if not ways or count >= lines_max:
            break
        way = chance_.choice(ways)
        steps.append(names.told(way))
        count += len(steps[-1])
        assert way.after is not None
        state = way.after
    return Walked(tuple(steps))


def wandered(oracle: Oracle, chance_: random.Random, length: int) -> Walked:
    """The log of a random run of so many steps, of a system too large to list all that can happen."""
    state = chance_.choice(oracle.interpreter.initial_states())
    names = _Naming()
    steps: list[tuple[LogRecord, ...]] = []
    every = [(action, arguments) for action in oracle.system.actions for arguments in instances(action)]
    for _ in range(length):
        chance_.shuffle(every)
        tried = (way for action, arguments in every for way in oracle.distinct_counts(action, arguments, state))
        way = next((way for way in tried if way.after is not None and way.after != state), None)
        if way is None or way.after is None:
            break
        steps.append(names.told(way))
        state = way.after
    return Walked(tuple(steps))


class _Naming:
    """Names for values as they come; a new one for each identity that is drawn."""

    def __init__(self) -> None:
        self.names: dict[tuple[Type, object], str] = {}
        self.made = 0

    def told(self, way: Way) -> tuple[LogRecord, ...]:
        """The records of what a step wrote."""
        made = []
        for one in way.told:
            if not isinstance(one, WrittenLine):
                self.names.pop((one.kind, one.value), None)
                continue
            fields = {}
            for name, kind, value, by_name in one.fields:
                fields[name] = self.named(kind, value) if by_name and value is not None else value
            made.append(LogRecord(one.event, one.node, fields))
        return tuple(made)

    def named(self, kind: Type, value: object) -> str:
        """The name of a value."""
        own = kind.element if isinstance(kind, Option) else kind
        if (own, value) not in self.names:
            self.made += 1
            self.names[own, value] = f"name-{self.made:03d}"
        return self.names[own, value]


def damaged(records: Sequence[LogRecord], chance_: random.Random, system: ir.System) -> tuple[LogRecord, ...]:
    """The records after up to three things that go wrong with logs, or none."""
    made = list(records)
    for _ in range(chance_.choice((0, 0, 1, 1, 1, 2, 3))):
        if not made:
            break
        place = chance_.randrange(len(made))
        other = chance_.randrange(len(made))
        one = made[place]
        match chance_.randrange(8):
            case 0:
                del made[place]
            case 1:
                made[place], made[other] = made[other], made[place]
            case 2:
                made.insert(other, one)
            case 3:
                del made[place:]
            case 4 if one.fields:
                name = chance_.choice(sorted(one.fields))
                made[place] = replace(one, fields={**one.fields, name: _other(one, name, chance_, made, system)})
            case 5 if one.fields:
                name = chance_.choice(sorted(one.fields))
                made[place] = replace(one, fields={key: held for key, held in one.fields.items() if key != name})
            case 6:
                made[place] = replace(one, node=chance_.choice(writers(system)))
            case _:
                made[place] = _renamed(one, chance_.choice(made).event, system)
    return tuple(made)


def _renamed(one: LogRecord, event: str, system: ir.System) -> LogRecord:
    """The record with another event, which shows what that could show."""
    shown = shown_types(system)
    fields = {}
    for name, value in one.fields.items():
        before, after = shown.get((one.event, name)), shown.get((event, name))
        if before is not None and after is not None and after[1] == before[1] and set(after[0]) == set(before[0]):
            fields[name] = value
    return replace(one, event=event, fields=fields)


def writers(system: ir.System) -> list[Writer]:
    """Everybody who may write a line."""
    return [None, *((kind.name, number) for kind in system.nodes for number in range(1, kind.size + 1))]


def shown_types(system: ir.System) -> dict[tuple[str, str], tuple[tuple[Type, ...], bool]]:
    """What each field of each event shows: the types that it has in lines, and whether by name."""
    found: dict[tuple[str, str], tuple[tuple[Type, ...], bool]] = {}
    for action in system.actions:
        for line in lines_of(action):
            for one in line.fields:
                before = found.get((line.event, one.name), ((), False))[0]
                found[line.event, one.name] = (*before, type_of(one.value)), one.by_name
    return found


def _other(one: LogRecord, name: str, chance_: random.Random, all_: Sequence[LogRecord], system: ir.System) -> object:
    kinds, by_name = shown_types(system).get((one.event, name), ((), False))
    if not kinds:
        return one.fields[name]
    kind = chance_.choice(kinds)
    if by_name:
        used = [value for told in all_ for value in told.fields.values() if isinstance(value, str) and "name-" in value]
        return chance_.choice([*used, "name-999", *([None] if isinstance(kind, Option) else [])])
    return chance_.choice(tuple(values(kind)))


def changed(records: Sequence[LogRecord], how: str, chance_: random.Random, system: ir.System) -> tuple[LogRecord, ...]:
    """The records with one wrong value, one lost, or two swapped that follow one another."""
    made = list(records)
    showing = [place for place, one in enumerate(made) if one.fields]
    if how == "value" and showing:
        place = chance_.choice(showing)
        name = chance_.choice(sorted(made[place].fields))
        other = _other(made[place], name, chance_, made, system)
        made[place] = replace(made[place], fields={**made[place].fields, name: other})
    elif how == "swapped" and len(made) > 1:
        place = chance_.randrange(len(made) - 1)
        made[place], made[place + 1] = made[place + 1], made[place]
    elif made:
        del made[chance_.randrange(len(made))]
    return tuple(made)


def connected(steps: Sequence[Sequence[LogRecord]], chance_: random.Random) -> tuple[tuple[LogRecord, ...], ...]:
    """The records with messages: some are sent by one node and received by another later, or within the same step."""
    made = [list(step) for step in steps]
    places = [(step, line) for step, told in enumerate(made) for line in range(len(told))]
    for number in range(chance_.randint(1, 3)):
        if len(places) < 2:
            break
        sender, receiver = sorted(chance_.sample(places, 2))
        (a, b), (c, d) = sender, receiver
        if made[a][b].message is None:
            made[a][b] = replace(made[a][b], message=f"message-{number}")
        made[c][d] = replace(made[c][d], causes=(*made[c][d].causes, made[a][b].message or ""))
    return tuple(tuple(step) for step in made)


def timed(steps: Sequence[Sequence[LogRecord]], chance_: random.Random, skew: int) -> tuple[LogRecord, ...]:
    """The records with times as the nodes' clocks had them, in the order of these. Each clock is off by up to half the
    skew, and so are the lines of a step."""
    writers_ = dict.fromkeys(one.node for step in steps for one in step)
    ahead = {writer: chance_.randint(0, skew // 2) for writer in writers_}
    now = 1_000
    made = []
    last: dict[Writer, int] = {}
    for step in steps:
        now += chance_.choice((0, 1, 1, skew, 3 * skew + 1))
        for one in step:
            time = max(now + ahead[one.node] + chance_.randint(0, max(0, skew - skew // 2)), last.get(one.node, 0))
            last[one.node] = time
            made.append(replace(one, time=time))
    return tuple(sorted(made, key=lambda one: one.time or 0))


__all__ = [
    "Walked",
    "canonical",
    "changed",
    "connected",
    "damaged",
    "shown_types",
    "timed",
    "walked",
    "wandered",
    "with_lines",
    "writers",
]
