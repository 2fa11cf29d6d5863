"""Random systems."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from hacheck.model.ir import (
    TRUE,
    Action,
    ActionKind,
    Binary,
    Expression,
    Fairness,
    Local,
    Observation,
    Property,
    PropertyKind,
    Shown,
    Statement,
    StateVariable,
    System,
    Unary,
    Variable,
)
from hacheck.model.types import Enum, Map, Node, Type, cardinality
from hacheck.model.typing import type_of
from tests.strategies.choosing import Chooser, Drawn, Seeded, chance, pick, weighted
from tests.strategies.conditions import boolean, comparison
from tests.strategies.context import Context, Names
from tests.strategies.expressions import expression
from tests.strategies.kinds import (
    Vocabulary,
    random_initial,
    random_scalar,
    random_type,
    random_vocabulary,
)
from tests.strategies.statements import Body, block, driver

# The most states a model can have, reachable or not.
STATES_CONCEIVABLE = 20_000


def seeded_system(seed: int, risky: bool | None = None) -> System:
    """The random system of a seed. `risky`: whether it may contain errors of the spec."""
    return random_system(Seeded(seed), risky)


@st.composite
def systems(draw: Any, risky: bool | None = None) -> System:
    """Random systems. `risky` as for `seeded_system`."""
    return random_system(Drawn(draw), risky)


def random_system(chooser: Chooser, risky: bool | None = None) -> System:
    """A system of one to five variables and one to five actions, well-typed."""
    vocabulary = random_vocabulary(chooser)
    dares = chance(chooser, 30) if risky is None else risky
    declared = _variables(chooser, vocabulary)
    ghosts = tuple(Variable(variable.name, variable.type) for variable in declared if variable.ghost)
    plain = tuple(Variable(variable.name, variable.type) for variable in declared if not variable.ghost)
    names = Names()
    context = Context(chooser, vocabulary, plain, names, dares)
    body = Body(context, (*plain, *ghosts), ghosts)
    actions = tuple(
        _action(body, index) for index in range(weighted(chooser, [(3, 4), (3, 5), (2, 3), (1, 2), (1, 1)]))
    )
    asked = Context(chooser, vocabulary, (*plain, *ghosts), names, dares)
    handlers = tuple(action.handler for action in actions)
    return System(
        name="Random",
        description="made by chance",
        source="",
        settings=(("risky", "on" if dares else "off"),),
        nodes=vocabulary.nodes,
        variables=declared,
        initial=_initially(body) if chance(chooser, 35) else (),
        actions=actions,
        properties=tuple(_property(asked, index, handlers) for index in range(chooser.integer(1, 4))),
        observations=_observations(asked, actions) if chance(chooser, 30) else (),
        assumptions=(("quiet", 'no "news"'),) if chance(chooser, 20) else (),
        bounds=_bounds(vocabulary, declared),
        faults=("crash Replica up to 1",) if chance(chooser, 20) else (),
    )


def _variables(chooser: Chooser, vocabulary: Vocabulary) -> tuple[StateVariable, ...]:
    """One to five variables, a field of a node among them more often than not."""
    left = STATES_CONCEIVABLE
    declared: list[StateVariable] = []
    for index in range(weighted(chooser, [(2, 2), (3, 3), (3, 4), (2, 5), (1, 1)])):
        kind: Type
        if index < 2 and chance(chooser, 65 - 35 * index):
            kind = Map(vocabulary.nodes[0], random_scalar(chooser, vocabulary))
        else:
            kind = random_type(chooser, vocabulary, max(2, min(left, 200)))
        left //= cardinality(kind)
        declared.append(_variable(chooser, index, kind))
        if left < 2:
            break
    return tuple(declared)


def _variable(chooser: Chooser, index: int, kind: Type) -> StateVariable:
    owner = kind.key.name if isinstance(kind, Map) and isinstance(kind.key, Node) and chance(chooser, 80) else None
    mode = owner is not None and isinstance(kind, Map) and isinstance(kind.value, Enum)
    word = ("alpha", "beta", "gamma", "delta", "omega")[index]
    return StateVariable(
        f"{owner}.{word}" if owner else word,
        kind,
        random_initial(chooser, kind),
        owner,
        "field" if owner else "shared",
        durable=chance(chooser, 30),
        ghost=index > 1 and chance(chooser, 20),
        mode=mode,
    )


def _bounds(vocabulary: Vocabulary, declared: tuple[StateVariable, ...]) -> tuple[tuple[str, str], ...]:
    counters = [(counter.counter or "", f"up to {counter.high}") for counter in vocabulary.counters]
    pools = [(pool.name, f"{pool.size} at a time") for pool in vocabulary.identities]
    rooms = [(f"capacity of {variable.name}", "room") for variable in declared]
    return (*counters, *pools, *rooms, ("patience", "a step that is not taken"))


def _initially(body: Body) -> tuple[Statement, ...]:
    safe = Context(
        body.context.chooser, body.context.vocabulary, body.context.variables, body.context.names, risky=False
    )
    return block(Body(safe, body.written, body.ghosts), body.context.chooser.integer(1, 2), 1)


def _action(body: Body, index: int) -> Action:
    context = body.context
    chooser = context.chooser
    parameters: list[tuple[str, Type]] = []
    for _ in range(weighted(chooser, [(5, 1), (1, 0), (2, 2)])):
        scalar = random_scalar(chooser, context.vocabulary)
        kind = weighted(chooser, [(4, context.vocabulary.nodes[0]), (2, scalar)])
        parameters.append((context.names.fresh("n" if isinstance(kind, Node) else "p"), kind))
    for name, kind in parameters:
        context = context.bind(Local(name, kind))
    acting = [name for name, kind in parameters if isinstance(kind, Node)]
    length = weighted(chooser, [(5, 1), (4, 2), (2, 3)])
    kinds: tuple[ActionKind, ...] = get_args(ActionKind)
    writing = Body(context, body.written, body.ghosts)
    drives = (driver(writing, index),) if chance(chooser, 92) else ()
    driven = body.written[index % len(body.written)]
    others = tuple(variable for variable in body.written if variable != driven)
    if drives and others and chance(chooser, 75):
        writing = Body(context, others, body.ghosts)
    return Action(
        name=f"act{index}",
        parameters=tuple(parameters),
        guard=_guard(context),
        body=(*drives, *block(writing, length - len(drives), 2)),
        kind=weighted(chooser, [(4, kinds[0]), (1, pick(chooser, kinds))]),
        actor=acting[0] if acting else None,
        peer=acting[1] if len(acting) > 1 else None,
        handler=f"handler{chooser.integer(0, index)}",
        description="",
        source="",
        line=index,
    )


def _guard(context: Context) -> Expression:
    """Often true, often about what the model begins with, so that most actions can happen sometimes."""
    return weighted(
        context.chooser,
        [
            (9, lambda: TRUE),
            (4, lambda: comparison(context, 1)),
            (1, lambda: Unary("not", comparison(context, 1))),
            (2, lambda: Binary("or", comparison(context, 1), boolean(context, 2))),
            (1, lambda: boolean(context, 3)),
        ],
    )()


def _property(context: Context, index: int, handlers: tuple[str, ...]) -> Property:
    chooser = context.chooser
    kinds: tuple[PropertyKind, ...] = get_args(PropertyKind)
    kind = weighted(chooser, [(3, kinds[0]), (4, pick(chooser, kinds))])
    live = kind in ("eventually", "leads_to")
    if kind == "step":
        context = Context(chooser, context.vocabulary, context.variables, context.names, context.risky, old=True)
    goal = boolean(context, chooser.integer(1, 3))
    if chance(chooser, 60):  # so that some are decided neither at once nor never
        corner = _corner(context, chooser.integer(2, 3))
        goal = Unary("not", corner) if kind in ("invariant", "lemma", "step", "deadlock") else corner
    fairness = tuple(Fairness(handler, chance(chooser, 30)) for handler in handlers if live and chance(chooser, 50))
    return Property(
        name=f"property{index}",
        kind=kind,
        goal=goal,
        premise=boolean(context, 1) if kind == "leads_to" else None,
        fairness=tuple(dict.fromkeys(fairness)),
        description="",
        source="",
        line=0,
    )


def _corner(context: Context, size: int) -> Expression:
    """A state that only a few steps together lead to."""
    corner = comparison(context, 0, unequal=False)
    for _ in range(size - 1):
        corner = Binary("and", corner, comparison(context, 0, unequal=False))
    return corner


def _observations(context: Context, actions: tuple[Action, ...]) -> tuple[Observation, ...]:
    action = pick(context.chooser, actions)
    variable = pick(context.chooser, context.variables)
    shown = expression(context, type_of(variable), 1)
    return (Observation("event", (action.handler,), boolean(context, 1), (Shown("value", shown),), 1),)
