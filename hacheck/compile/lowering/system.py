"""Lowering a whole system: every action instance, and the conditions that properties ask."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from msgspec import Struct

from hacheck.compile.lowering.blocks import Block, Branch, Instance, Lowered
from hacheck.compile.lowering.constant_propagation import propagate_constants
from hacheck.compile.lowering.control_path import End, Path, push
from hacheck.compile.lowering.dead_actions import impossible
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.expressions import truth
from hacheck.compile.lowering.layout import lay_out
from hacheck.compile.lowering.scope import Context, Scope
from hacheck.compile.lowering.statements import finished, run
from hacheck.compile.lowering.symbolic_values import constant
from hacheck.model.ir import Action, Expression, Require, Statement, System
from hacheck.model.rewrite import conjuncts
from hacheck.model.runs import State
from hacheck.model.types import Value, cardinality, values
from hacheck.supervise.recursion_limit import room_for_nesting

# How many copies of action ends a whole system may be lowered to, and one instance.
_COPIES_MAX = 6_000
_COPIES_OF_ONE_MAX = 4


class Condition(Struct, frozen=True):
    """A condition over states (or over steps: then it reads slots before and after). Where `error` holds, evaluating
    it is an error of the spec and `value` says nothing."""

    value: Node
    error: Node


def lower(system: System, initial: Sequence[State], copies_max: int = _COPIES_OF_ONE_MAX) -> Lowered:
    """The lowered form of a system with its initial states. `copies_max`: into how many copies the end of one
    instance may be split for speed, fewer where there are many instances. Cost: proportional to the number of
    instances and to the size of what each unrolls to."""
    layout, graph = lay_out(system), Graph()
    places = {variable.name: place for variable, place in zip(system.variables, layout.places, strict=True)}
    context = Context(graph, layout, places, itertools.count())
    never = impossible(system, initial)
    actions = [(index, action) for index, action in enumerate(system.actions) if index not in never]
    count = sum(_instance_count(action) for _, action in actions)
    budget = max(1, min(copies_max, _COPIES_MAX // max(count, 1)))
    instances = (
        _instance(context, action, index, arguments, budget)
        for index, action in actions
        for arguments in itertools.product(*(tuple(values(kind)) for _, kind in action.parameters))
    )
    with room_for_nesting():
        possible = tuple(instance for instance in instances if instance is not None)
        return propagate_constants(Lowered(system, layout, graph, possible), initial)


def _instance_count(action: Action) -> int:
    total = 1
    for _, kind in action.parameters:
        total *= cardinality(kind)
    return total


def _instance(
    context: Context, action: Action, index: int, arguments: tuple[Value, ...], budget: int
) -> Instance | None:
    graph = context.graph
    bound = {
        name: (kind, constant(graph, kind, value))
        for (name, kind), value in zip(action.parameters, arguments, strict=True)
    }
    needed = tuple(Require(part) for part in conjuncts(action.guard))
    body: tuple[Statement, ...] = (*needed, *action.body)
    end = End(lambda path: finished(context, path))
    block = run(context, Path(locals=bound, budget=budget), push((*body, end), None))
    guard: list[Node] = []
    while len(block) == 1 and isinstance(block[0], Branch):
        only = block[0]
        if only.then and only.otherwise:
            break
        condition, block = (only.condition, only.then) if only.then else (graph.not_(only.condition), only.otherwise)
        guard.extend(condition.operands if condition.operator == "and" else (condition,))
    return Instance(index, arguments, tuple(dict.fromkeys(guard)), block) if block else None


def lower_condition(lowered: Lowered, expression: Expression, on_steps: bool = False) -> Condition:
    """A property's condition. `on_steps`: it is about steps; `Old` reads the state before."""
    graph, layout = lowered.graph, lowered.layout
    places = {variable.name: place for variable, place in zip(lowered.system.variables, layout.places, strict=True)}
    context = Context(graph, layout, places, itertools.count())
    scope = Scope(graph, context, context.after if on_steps else context.slot, {}, {})
    value = truth(expression, scope)
    return Condition(value, graph.any_of(check.condition for check in scope.checks))


def block_size(block: Block) -> int:
    """The number of statements of a block, those of its branches included."""
    waiting, size = [block], 0
    while waiting:
        statements = waiting.pop()
        size += len(statements)
        for statement in statements:
            if isinstance(statement, Branch):
                waiting += (statement.then, statement.otherwise)
    return size
