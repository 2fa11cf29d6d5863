"""The interface of the direct interpreter: a system for one choice of settings, its states and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hacheck.model.direct.calls import CALLEE, CALLER, Calls
from hacheck.model.direct.expressions import NOTHING, Expressions
from hacheck.model.direct.faults import Faults
from hacheck.model.direct.handlers import Handlers, Move
from hacheck.model.direct.interfaces import Key, State, Step
from hacheck.model.direct.layout import Layout
from hacheck.model.direct.locks import Locks
from hacheck.model.direct.machine import Machine, outcomes
from hacheck.model.direct.messages import Messages
from hacheck.model.direct.nodes import Nodes
from hacheck.model.direct.observation import observe, restore
from hacheck.model.direct.order import Order
from hacheck.model.direct.program import run
from hacheck.model.direct.statements import Statements
from hacheck.model.direct.values import Value
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.declarations import Declaration
from hacheck.model.language.specification import Specification
from hacheck.model.language.syntax_tree import Expression


def load(
    specification: Specification, settings: Mapping[str, str] | None = None, check: str | None = None
) -> DirectSystem:
    """The system that a file means under its defaults, then the settings of a check, then further ones as text.

    Only what was parsed is used of the specification, so that it may have been read with `examined=False`.
    """
    chosen = next((one.written for one in specification.checks if one.name == check), None)
    given: dict[str, str | Expression] = {} if chosen is None else {name.text: value for name, value in chosen.settings}
    return DirectSystem(specification.declarations, {**given, **(settings or {})})


class DirectSystem:
    """A file under one choice of settings, as a set of initial states and a relation of steps.

    Errors: `UnsupportedError` for what the interpreter does not know; a file with mistakes has no meaning here.
    """

    def __init__(self, declarations: tuple[Declaration, ...], settings: Mapping[str, str | Expression]) -> None:
        self._layout = layout = Layout(declarations, settings)
        self._expressions = expressions = Expressions(layout)
        layout.settle(expressions)
        nodes = Nodes(layout, self._durable())
        timing = NOTHING.having_local("caller", CALLER).having_local("callee", CALLEE)
        times_out = {
            name: expressions.of(one.timeout_when, timing)
            for name, one in layout.operations.items()
            if one.timeout_when is not None
        }
        statements = Statements(
            expressions, nodes, Messages(layout), Locks(layout, nodes), Calls(layout, nodes, times_out)
        )
        order = Order(layout.place_of_word, lambda kind: layout.domains.named(kind).ordered)
        self._handlers = Handlers(layout, statements, order)
        self._faults = Faults(layout, expressions, self._handlers)
        self._begun = [statements.program(one.body, NOTHING) for one in declarations if isinstance(one, d.Initially)]
        self._order = order
        self._properties = {one.name.text: one for one in declarations if isinstance(one, d.PropertyDeclaration)}
        self._goals = {
            name: expressions.of(t.Word(False, one.span) if one.goal is None else one.goal)
            for name, one in self._properties.items()
            if not one.parameters  # of infinite runs, which are not looked at
        }

    def _durable(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (kind, field.name.text)
            for kind, declared in self._layout.kinds.items()
            for field in declared.fields
            if "durable" in field.flags and (field.durable_if is None or self._layout.number(field.durable_if))
        )

    def initial(self) -> Iterator[Step]:
        """The initial states, each as the outcome of a step called `initially`: its bounds and errors show, too.

        An equal state comes once.
        """
        first = State(tuple(self._layout.initial))
        yield from (Step("initially", {}, outcome) for outcome in outcomes(first, self._begin))

    def _begin(self, m: Machine) -> None:
        m.handler, m.before = "initially", None
        for program in self._begun:
            m.env.clear()
            run(m, program, 0, self._order)

    def successors(self, state: State) -> Iterator[Step]:
        """Every step that can be taken in a state, faults and repairs as well.

        Names are those of reports: `start`, `twice.in_between`, `crash Server`. Arguments are named by the parameters
        and, where the step goes on, by the locals of the head (`at`, `from`); those of faults are `n`, or `a` and `b`.
        Steps of equal name, arguments and outcome may come several times; those that change nothing are among them.
        Errors: `ForgottenRead` where a step reads a local that was restored as `FORGOTTEN`.
        """
        for move in self.moves(state):
            for outcome in outcomes(state, move.effect):
                yield Step(move.name, move.arguments, outcome, move.fault)

    def moves(self, state: State) -> Iterator[Move]:
        """The steps that may be possible, before anything is known of what they come to."""
        yield from self._handlers.moves(state.slots)
        yield from self._faults.moves(state.slots)

    def holds(self, property_name: str, state: State) -> bool:
        """Whether the condition of an invariant, a lemma or a `reachable` holds; of `deadlock_free`, what it excepts.

        Errors: `SpecificationFailure` where the condition has no value.
        """
        return bool(self._goals[property_name](Machine(list(state.slots))))

    def holds_of_step(self, property_name: str, before: State, after: State) -> bool:
        """Whether a `step_invariant` holds of the step between two states. Errors: as `holds`."""
        return bool(self._goals[property_name](Machine(list(after.slots), before.slots)))

    def properties(self) -> Mapping[str, str]:
        """The kind of each property by its name, in the order declared."""
        return {name: one.kind for name, one in self._properties.items()}

    def observe(self, state: State) -> Mapping[Key, Value]:
        """Everything that is so in a state, by keys. Nodes are `Node` values; `thread` is `main` where none is named.

        | key | value |
        |---|---|
        | `("field", node, field)` | of a node's field, ghosts too |
        | `("disk", node, field)` | what was last synced of a `synced` field |
        | `("view", node, view)` | a `Map` from the other kind's nodes to what was last seen |
        | `("shared", name)` | of a `shared` or `ghost` variable |
        | `("up", node)`, `("paused", node)` | bool |
        | `("down", a, b)` | whether the link from `a` to `b` is cut; one for each ordered pair that a fault may cut |
        | `("link", message, a, b)` | tuple of `Record`, what is under way in order; a `Bag` of them if unordered |
        | `("call", operation, caller, callee)` | a `layout.Call` |
        | `("holder", lock)` | the node that the service thinks holds it, or `None` |
        | `("late", lock)` | whether it is left over: `freed late`, and its holder ended or gave it back in vain |
        | `("believes", lock, node)` | whether the node believes that it holds it, apart from any clock |
        | `("expiry", lock)`, `("expiry", lock, node)` | of a lease: its end by true time, and by the clock |
        | `("time",)`, `("clock", node)` | ticks |
        | `("budget", fault)` | how often it may still happen, by its title (`crash Server`); `all together` |
        | `("at", node, thread)` | `None`, or `(handler, point)` of the handler under way |
        | `("local", node, handler, name)` | of each local that the handler has at its point; parameters are locals |

        A local of a procedure is called `procedure.name`. The second local of one name that is declared in a handler
        is `name#2`, the second point `name_2`. Of a `for` with points there is `rest of NAME`: a set, a sequence or a
        bag of the elements still to come; of a call, `callees of POINT`: the set of its callees.
        """
        return observe(self._layout, self._handlers, state)

    def restore(self, observed: Mapping[Key, Value]) -> State:
        """The state that is observed so; a local may be `FORGOTTEN`, or be missing, which is the same.

        Errors: `KeyError` for what else is missing.
        """
        return restore(self._layout, self._handlers, observed)
