"""Time-outs with their real values in a spec that has time: whether they are safe, and how far from the edge."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct

from hacheck import shipped
from hacheck.api.engines import engine_named
from hacheck.api.errors import InputError
from hacheck.api.specification import Spec, load
from hacheck.audit.configuration import AllNodes, Configuration, SettingValue
from hacheck.audit.expressions import evaluate, names_in
from hacheck.audit.modelling import settings_behind
from hacheck.audit.reader import TimingRule
from hacheck.checker.engine import Limits
from hacheck.checker.timing.constant_grid import GridRequest, Map, explore
from hacheck.checker.timing.inequalities import region
from hacheck.checker.timing.time_constants import Constant, NotVaried, constant, interval_of
from hacheck.checker.verify import default_check, questions_of


class Timed(Struct, frozen=True):
    """What is known of time-outs. `tick`: its seconds; `now`: each setting of the spec in ticks; `safe`: whether they
    are, `None` where that is not decided, or the spec does not reach so far; `region`: inequalities of the safe
    combinations; `room`: the interval of each varied setting in which it may be changed alone, in ticks; `values`: the
    product's settings; `notes`: what does not fit."""

    rule: TimingRule
    tick: float
    now: dict[str, int]
    safe: bool | None
    region: tuple[str, ...]
    room: dict[str, tuple[int, int]]
    values: tuple[SettingValue, ...]
    notes: tuple[str, ...] = ()
    points: int = 0


def timed(
    configuration: Configuration, rule: TimingRule, limits: Limits, proceeding: Callable[[], bool]
) -> Timed | None:
    """Explores the time-outs of a configuration; `None` where its files have none of them. Errors: `InputError` for a
    reader whose rule does not fit its spec."""
    place = shipped.example(rule.spec)
    spec = load(str(place) if place.is_file() else rule.spec)
    tick = evaluate(rule.tick, AllNodes(configuration))
    if not isinstance(tick, int | float) or tick <= 0:
        return None
    now, notes = _ticks(configuration, spec, rule, tick)
    names = tuple(sorted({name for text in rule.set.values() for name in names_in(text)}))
    settings = {name: str(value) for name, value in now.items()}
    specification = spec.specification
    check = default_check(specification)
    (question,) = (one for one in questions_of(specification) if one.name == check)
    try:
        constants = tuple(_constant(spec, name, ends, settings) for name, ends in rule.vary.items())
    except NotVaried as problem:
        raise InputError(f"{configuration.reader.path}: timing: {problem.reason}", problem.hint) from None
    grid = GridRequest(specification, question, (rule.property,), settings, constants)
    maps, _ = explore(grid, engine_named("native", None), limits, lambda done: proceeding())
    found = maps[rule.property]
    here = tuple(one.now for one in constants)
    return Timed(
        rule,
        tick,
        now,
        None if notes else True if here in found.safe else False if here in found.violations else None,
        _region(found, constants),
        {one.name: room for place, one in enumerate(constants) if (room := found.room(constants, place)) is not None},
        tuple(settings_behind(configuration, names)),
        tuple(notes),
        len(found.safe) + len(found.violations),
    )


def _constant(spec: Spec, name: str, ends: tuple[int, int], settings: dict[str, str]) -> Constant:
    """A setting to be varied; what it is now is within its interval."""
    default = next((one.default for one in spec.settings if one.name == name), "0")
    value = int(settings.get(name, default))
    return constant(spec.specification, name, (min(ends[0], value), max(ends[1], value)), settings)


def _ticks(configuration: Configuration, spec: Spec, rule: TimingRule, tick: float) -> tuple[dict[str, int], list[str]]:
    now, notes = {}, []
    for name, text in rule.set.items():
        value = evaluate(text, AllNodes(configuration))
        if value is None:
            continue
        interval = interval_of(spec.specification, name)
        if interval is None or isinstance(value, str):
            raise InputError(f"{configuration.reader.path}: timing: {spec.name} has no number `{name}`")
        exact = round(value / tick, 6)
        ticks = math.ceil(exact) if name in rule.up else math.floor(exact)
        now[name] = max(interval[0], min(interval[1], ticks))
        if now[name] != ticks:
            notes.append(
                f"{name} is {ticks} ticks, and explored as {now[name]}: the spec has no more than {interval[1]}"
            )
    return now, notes


def _region(found: Map, constants: tuple[Constant, ...]) -> tuple[str, ...]:
    """The inequalities of the safe points; none where Z3 is not installed, or the region has another form."""
    try:
        inequalities = region(sorted(found.safe), sorted(found.violations), 3.0)
    except Exception as error:
        from hacheck.checker.engine import Refused

        if isinstance(error, Refused):
            return ()
        raise
    return tuple(one.text([one.name for one in constants]) for one in inequalities or ())
