"""A run in words, before any layout: for each step its node, its call, its description and what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.checker.step_effects import BACKGROUND, CUT, StepEffect, cut_words, step_effects
from hacheck.model.choices import Made, choices_made
from hacheck.model.ir import Action, ActionKind, Property, StateVariable, System, Variable
from hacheck.model.language.operations import DONE, OUTCOME, OUTCOME_HALTING
from hacheck.model.render import show, spoken
from hacheck.model.render_expression import as_written
from hacheck.model.run_json import acting_node, subject
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Map, Node, Record, Value
from hacheck.wording import plural


class StepView(Struct, frozen=True):
    """One step in words. `node` is empty for a step that happens on no node."""

    number: int
    kind: ActionKind
    node: str
    call: str
    description: str
    changes: tuple[StepEffect, ...]


def step_views(system: System, run: Run) -> list[StepView]:
    """The steps of a run, numbered from 1. An action is described where it happens first."""
    views = []
    said: set[str] = set()
    before = run.initial
    for number, step in enumerate(run.steps, start=1):
        action = system.actions[step.action]
        node = node_of(action, step.arguments)
        views.append(
            StepView(
                number,
                action.kind,
                node,
                call_of(system, before, step),
                "" if action.name in said else description_of(action),
                step_effects(system, before, step.state, node),
            )
        )
        before = step.state
        said.add(action.name)
    return views


def fault_count(system: System, run: Run) -> int:
    """How many faults a run has: steps that are one, and calls of which the request or the answer is lost."""
    states = (run.initial, *(step.state for step in run.steps))
    return sum(
        1 if system.actions[step.action].kind == "fault" else calls_lost(system, before, step.state)
        for before, step in zip(states, run.steps, strict=False)
    )


def calls_lost(system: System, before: State, after: State) -> int:
    """How many calls an injected fault takes away in a step of the protocol. A call that is one step fails within it,
    and the budget of its loss falls; a loss without a limit leaves no trace, and is not counted."""
    budgets = (
        int(str(was)) - int(str(now))
        for variable, was, now in zip(system.variables, before, after, strict=True)
        if variable.role == "budget" and was != now
    )
    return max(budgets, default=0)


def run_title(system: System, run: Run) -> str:
    """`7 steps, 2 faults`; of a lasso also how much of it repeats."""
    faults = fault_count(system, run)
    title = plural(len(run.steps), "step")
    if faults:
        title += f", {plural(faults, 'fault')}"
    if run.loop is not None:
        repeated = len(run.steps) - run.loop
        title += f", the last {repeated} for ever" if repeated else ", then nothing any more"
    return title


def description_of(action: Action) -> str:
    """What the spec says of the action: not of the further steps of a handler, nor of a crash, which says all."""
    if action.name != action.handler and action.kind == "protocol":
        return ""
    return "" if action.kind in ("fault", "repair") and action.actor is not None else action.description


def node_of(action: Action, arguments: tuple[Value, ...]) -> str:
    """The node a step happens on, or nothing."""
    return acting_node(action, arguments) or ""


def call_of(system: System, before: State, step: Step) -> str:
    """The action with its parameters, but for the node it happens on, and what was chosen in it, each with its name:
    `accept(from Replica 2, group: 1) chooses c: Broker 2`. A call that failed is named with its outcome."""
    return words_of(system, step, choices_made(system, before, step))


def words_of(system: System, step: Step, made: Sequence[Made]) -> str:
    """As `call_of`, of choices that are known."""
    action = system.actions[step.action]
    title = action.name
    parts = arguments_of(action, step)
    for (name, kind), value in zip(action.parameters, step.arguments, strict=True):
        if name == action.peer:
            parts.insert(0, f"from {show(kind, value)}")
        elif name == subject(action) and isinstance(kind, Node):
            title = title.removesuffix(f" {kind.name}").removesuffix(" of")
    whole = f"{title}({', '.join(parts)})" if parts else title
    if chosen := [chosen_words(one) for one in made if not is_outcome(one)]:
        whole += f" chooses {', '.join(chosen)}"
    failed = [f"{called(one)}: {one.value}" for one in made if is_outcome(one) and not is_answered(one)]
    return "; ".join((whole, *failed))


def arguments_of(action: Action, step: Step) -> list[str]:
    """The parameters with their values, but for the node it happens on and the sender of what it takes."""
    pairs = zip(action.parameters, step.arguments, strict=True)
    left = (action.peer, subject(action))
    return [f"{as_written(name)}: {show(kind, value)}" for (name, kind), value in pairs if name not in left]


def is_outcome(made: Made) -> bool:
    """Whether what was chosen is how a call came out."""
    return made.type in (OUTCOME, OUTCOME_HALTING)


def is_answered(made: Made) -> bool:
    """Whether the outcome of a call is the one that goes without saying."""
    return bool(made.value == OUTCOME.members[0])


def chosen_words(made: Made) -> str:
    """A choice with its name: `c: Broker 2`; of one in a loop also in which turn: `c: Broker 2 for s: Server 1`."""
    words = f"{as_written(made.name)}: {show(made.type, made.value)}"
    turns = [
        f"{as_written(name)}: {show(made.types[name], made.locals[name])}" for name in made.loops if name in made.types
    ]
    return f"{words} for {', '.join(turns)}" if turns else words


def called(made: Made) -> str:
    """The call whose outcome was chosen: `alive at Replica 2`."""
    call = call_made(made)
    return "call" if call is None else f"{call.operation} at {call.callee}"


class Call(Struct, frozen=True):
    """A call within one step, in words. `caller`: nothing where it is the node on which the step happens, else the node
    that serves another call. `arguments`: each with its name. `answer`: nothing where the caller got none,
    or one that says no more than that it was served."""

    operation: str
    caller: str
    callee: str
    arguments: tuple[tuple[str, str], ...]
    answer: str


def call_made(made: Made) -> Call | None:
    """The call whose outcome was chosen. Its request and its callee are the locals made last."""
    request: tuple[Record, Value] | None = None
    callee = ""
    for name, value in made.locals.items():
        kind = made.types[name]
        if name.startswith("request$") and isinstance(kind, Record):
            request = kind, value
        elif name.startswith("callee$"):
            callee = show(kind, value)
    if request is None or not callee:
        return None
    fields = tuple((name, show(kind, part)) for (name, kind), part in zip(request[0].fields, request[1], strict=True))
    answer = "" if made.given is None or made.given[0] == DONE else show(*made.given)
    outer = None if made.within is None else call_made(made.within)
    return Call(request[0].name, "" if outer is None else outer.callee, callee, fields, answer)


def initial_lines(system: System, run: Run) -> list[tuple[str, str]]:
    """What the run goes on to change, as it is at first: node or nothing, and the values in words.

    Nodes that begin in the same way share a line.
    """
    changed = {
        index
        for index, variable in enumerate(system.variables)
        if variable.role not in BACKGROUND and any(step.state[index] != run.initial[index] for step in run.steps)
    }
    return _lines(system, run.initial, changed)


def state_lines(system: System, state: State) -> list[tuple[str, str]]:
    """A state that no run led to: what differs from the first value of each variable, node or nothing, in words."""
    mentioned = {index for index, variable in enumerate(system.variables) if state[index] != variable.initial}
    return _lines(system, state, mentioned)


def _lines(system: System, state: State, mentioned: set[int]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    shared = []
    fields: dict[str, list[list[str]]] = {node.name: [[] for _ in range(node.size)] for node in system.nodes}
    for index, variable in enumerate(system.variables):
        if index not in mentioned:
            continue
        kind, value = variable.type, state[index]
        if isinstance(kind, Map) and isinstance(kind.key, Node) and variable.name == f"clock.{kind.key.name}":
            owner, name = kind.key.name, "clock"
        else:
            owner, name = variable.owner or "", spoken(variable.name).removeprefix(f"{variable.owner}.")
        if owner and isinstance(kind, Map):
            for place, item in enumerate(value):
                fields[owner][place].append(f"{name} = {show(kind.value, item)}")
        elif not variable.name.endswith(".believed"):
            shared.append(f"{spoken(variable.name)} = {_value_words(variable, value)}")
    for node in system.nodes:
        lines += _grouped(node, [", ".join(words) for words in fields[node.name]])
    if shared:
        lines.append(("", ", ".join(shared)))
    return [line for line in lines if line[1]]


def _grouped(node: Node, words: list[str]) -> list[tuple[str, str]]:
    """Lines for the nodes of one kind: one for all where all are the same."""
    if len(set(words)) == 1:
        return [(f"every {node.name}" if node.size > 1 else f"{node.name} 1", words[0])]
    return [(f"{node.name} {place}", text) for place, text in enumerate(words, start=1)]


def read_by(system: System, run: Run, about: Property) -> list[tuple[str, str]]:
    """The variables a property reads with their values in the last state of the run."""
    names = set(variables_in(about.goal))
    if about.premise is not None:
        names |= set(variables_in(about.premise))
    last = run.states[-1]
    return [
        (spoken(variable.name).removeprefix(f"{variable.owner}."), _value_words(variable, last[index]))
        for index, variable in enumerate(system.variables)
        if variable.name in names
    ]


def _value_words(variable: StateVariable, value: Value) -> str:
    return cut_words(variable, value) if variable.name.startswith(CUT) else show(variable.type, value)


def variables_in(part: object) -> Iterator[str]:
    """The names of the state variables an expression reads."""
    if isinstance(part, Variable):
        yield part.name
    elif isinstance(part, tuple):
        for item in part:
            yield from variables_in(item)
    elif isinstance(part, Struct):
        for name in part.__struct_fields__:
            yield from variables_in(getattr(part, name))
