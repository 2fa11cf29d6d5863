"""What speaks against a proof by induction: states that nothing shown forbids, and a step from them that breaks it.

Such states need not be reachable; where an explicit search of some seconds decides whether they are, the answer says
so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Report
from hacheck.checker.symbolic.prepared_encoding import Prepared
from hacheck.checker.symbolic.z3_library import Model
from hacheck.compile.lowering.layout import Group, Layout, Place, slots_of, unpack
from hacheck.model.expressions import TRUE, Binary, Constant, Expression, Index, Variable
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import Property
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Map, values

STATES_MAX = 300_000
SECONDS_MAX = 20.0


class Cti(Struct, frozen=True):
    """A counterexample to induction. `run`: its states and steps, which are the interpreter's; its first state is no
    initial one. `reachable`: whether that state is reachable, `None` where nobody knows."""

    run: Run
    reachable: bool | None = None

    @property
    def words(self) -> str:
        """What is known of it, as a phrase."""
        if self.reachable is None:
            return "whether the state before is reachable is not known"
        return "the state before is reachable" if self.reachable else "the state before is not reachable"


def cti_in(prepared: Prepared, model: Model, length: int, last: int) -> Cti:
    """The states and steps of a model, of which the last one has the outcome `last`. What the encoding left out,
    because nothing depends on it, is as it is in the first value of its type."""
    interpreter, subject = Interpreter(prepared.system), prepared.subject
    state = first = unpack(prepared.encoding.lowered.layout, prepared.unrolling.packed(model, 0))
    steps: list[Step] = []
    unrolling = prepared.unrolling
    for place in range(length):
        is_last = place == length - 1
        instance = unrolling.instance_of(last) if is_last else unrolling.taken(model, place)
        wanted = unrolling.packed_after(model, place, last) if is_last else unrolling.packed(model, place + 1)
        action, arguments = subject.instances[instance]
        step = next(
            (
                outcome.step
                for outcome in interpreter.outcomes_with(action, arguments, state)
                if isinstance(outcome, Taken) and subject.reduce(outcome.step.state) == wanted
            ),
            None,
        )
        assert step is not None, f"{prepared.system.name}: no step of the interpreter from {state} is the one found"
        steps.append(step)
        state = step.state
    return Cti(Run(first, tuple(steps)))


def with_reachability(prepared: Prepared, ctis: Mapping[str, Cti], limits: Limits, report: Report) -> dict[str, Cti]:
    """The counterexamples with whether their first states are reachable, as far as an explicit search decides soon."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    starts = {name: _is(prepared, cti.run.initial) for name, cti in ctis.items()}
    properties = tuple(
        Property(f"gap {name}", "reachable", goal, None, (), "", "", 0) for name, (goal, _) in starts.items()
    )
    system = replace(prepared.system, properties=properties)
    within = replace(
        limits,
        states_max=min(STATES_MAX, limits.states_max or STATES_MAX),
        wall_seconds_max=SECONDS_MAX,
        depth_max=None,
    )
    answer = NativeEngine(threads=1, stop_early=True).check(system, (), within, report)
    verdicts = {found.name.removeprefix("gap "): found.verdict for found in answer.properties}
    if answer.error is not None:
        return dict(ctis)
    known = {name: _known(verdicts[name], starts[name][1]) for name in ctis}
    return {name: replace(cti, reachable=known[name]) for name, cti in ctis.items()}


def _known(verdict: str, is_whole: bool) -> bool | None:
    """Whether a state is reachable, from the verdict on the states that are like it. `is_whole`: the state is given
    as a whole. A step beyond a bound is no step here either."""
    if verdict == "holds" and is_whole:
        return True
    return False if verdict == "violated" else None


def _is(prepared: Prepared, state: State) -> tuple[Expression, bool]:
    """That a state is this one in all that the encoding kept, and whether that could be said of all of it."""
    layout, whole = prepared.encoding.lowered.layout, True
    goal: Expression = TRUE
    for variable, place, value in zip(prepared.system.variables, layout.places, state, strict=True):
        read = Variable(variable.name, variable.type)
        if _is_kept(layout, place):
            goal = Binary("and", goal, Binary("==", read, Constant(value, variable.type)))
        elif isinstance(variable.type, Map) and isinstance(place, Group):
            for key, item, part in zip(values(variable.type.key), place.items, value, strict=True):
                if _is_kept(layout, item):
                    entry = Index(read, Constant(key, variable.type.key))
                    goal = Binary("and", goal, Binary("==", entry, Constant(part, variable.type.value)))
                else:
                    whole = whole and not any(_kept_slots(layout, item))
        else:
            whole = whole and not any(_kept_slots(layout, place))
    return goal, whole


def _is_kept(layout: Layout, place: Place) -> bool:
    """Whether every slot of a place is in the encoding."""
    return all(layout.slots[slot].fixed is None for slot in slots_of(place))


def _kept_slots(layout: Layout, place: Place) -> Iterator[int]:
    return (slot + 1 for slot in slots_of(place) if layout.slots[slot].fixed is None)
