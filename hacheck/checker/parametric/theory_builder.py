"""From a system that stands for many to its theory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import NUMBER, Signature, Unsupported, World
from hacheck.checker.parametric.expression_encoding import Scope, truth
from hacheck.checker.parametric.first_order_logic import BOOL, TRUE, Apply, Symbol, Term, apply, whatever
from hacheck.checker.parametric.given_values import constant, facts, unknown
from hacheck.checker.parametric.size_independence import Uniform
from hacheck.checker.parametric.statement_encoding import StatementEncoder
from hacheck.checker.parametric.step_cases import cases, undivided
from hacheck.checker.parametric.theory import START, Claim, Theory, Transition, Update, after
from hacheck.checker.parametric.value_encoding import SymbolicValue, from_leaves, read_leaf
from hacheck.checker.parametric.value_leaves import leaves
from hacheck.model import ir
from hacheck.model.types import Range, Type


class _Builder:
    def __init__(self, made: Uniform, place_of: Callable[[ir.Action | ir.Property], str]) -> None:
        self.system = made.system
        self.uniform = made
        self.place_of = place_of
        self.signature = Signature(frozenset(kind for kind, _ in made.kinds))
        self.problems: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.left_out = frozenset(one.name for one in self.system.variables if one.role == "budget")
        self.types = {one.name: one.type for one in self.system.variables if one.name not in self.left_out}
        self.symbols: dict[str, tuple[Symbol, ...]] = {}
        self.settings = {name: (Range(0, 0), self._setting(name)) for name, _ in (*made.varied, *made.kinds)}

    def _setting(self, name: str) -> Term:
        self.signature.sort(Range(0, 0))
        return apply(self.signature.declare(Symbol(f"setting {name}", (), NUMBER)))

    # ---- the state ----

    def declare_state(self) -> None:
        """The symbols of every variable; what cannot be encoded is a problem, and is left out."""
        world = World(self.signature, "state")
        for name, kind in list(self.types.items()):
            try:
                self.symbols[name] = tuple(
                    Symbol(name + one.suffix, one.arguments, one.sort) for one in leaves(world, kind)
                )
            except Unsupported as reason:
                self.problems[f"{name} is {reason}"] = None
                del self.types[name]

    def state(self, world: World, names: Callable[[str], str] = lambda name: name) -> dict[str, SymbolicValue]:
        """Every variable as what its symbols say."""
        return {
            name: from_leaves(
                world,
                kind,
                lambda leaf, keys, name=name: Apply(names(name + leaf.suffix), keys, leaf.sort),  # type: ignore[misc]
            )
            for name, kind in self.types.items()
        }

    def typing(self) -> tuple[Term, ...]:
        """What the types of variables say of every state."""
        world = World(self.signature, "typing")
        encoding = self.state(world)
        found = (fact for name, kind in self.types.items() for fact in facts(world, kind, encoding[name]))
        return tuple(fact for fact in found if fact != TRUE)

    # ---- steps ----

    def transitions(self, number: int, action: ir.Action) -> Iterator[Transition]:
        """An action as a transition for each of its cases."""
        world = World(self.signature, action.name)
        state = self.state(world)
        locals_: dict[str, tuple[Type, SymbolicValue]] = dict(self.settings)
        parameters = []
        for name, kind in action.parameters:
            before = set(world.fresh)
            locals_[name] = kind, unknown(world, kind, name)
            made = tuple(symbol for one, symbol in world.fresh.items() if one not in before)
            parameters.append((name, kind, made))
        where = self.place_of(action) or self.system.name
        body = (ir.Require(action.guard), *action.body)
        encoding = self._encoded(world, state, locals_, body, f"{action.name} ({where})")
        yield from cases(replace(encoding, action=number, parameters=tuple(parameters)), world)

    def start(self) -> Transition:
        """The start as a transition from nowhere."""
        world = World(self.signature, START)
        state: dict[str, SymbolicValue] = {}
        for variable in self.system.variables:
            if variable.name not in self.types:
                continue
            try:
                state[variable.name] = constant(world, variable.type, variable.initial)
            except Unsupported as reason:
                world.note(f"{variable.name} begins as anything: {reason}")
                state[variable.name] = unknown(world, variable.type, variable.name)
        encoding = self._encoded(world, state, dict(self.settings), self.system.initial, "the start", first=True)
        return undivided(encoding, world)

    def _encoded(
        self,
        world: World,
        state: dict[str, SymbolicValue],
        locals_: dict[str, tuple[Type, SymbolicValue]],
        body: tuple[ir.Statement, ...],
        where: str,
        *,
        first: bool = False,
    ) -> Transition:
        def refuse(reason: str) -> None:
            if not any(reason.startswith(f"{name}, ") for name in self._unencoded()):
                self.problems[f"{where}: {reason}"] = None

        scope = Scope(world, state, state, self.types, locals_, self.left_out)
        encoder = StatementEncoder(scope, self.left_out | self._unencoded(), refuse)
        encoder.body(body)
        updates: list[Update] = []
        for name, kind in self.types.items():
            if first or encoder.scope.state[name] is not state[name]:
                updates += self._updates(world, name, kind, encoder.scope.state[name])
        for note in world.notes:
            self.notes[f"{where}: {note}"] = None
        return Transition(
            world.title,
            None,
            tuple(world.fresh.values()),
            tuple(world.defined),
            tuple(one for one in world.assumed if one != TRUE),
            tuple(updates),
            (),
        )

    def _unencoded(self) -> frozenset[str]:
        return frozenset(one.name for one in self.system.variables) - frozenset(self.types) - self.left_out

    def _updates(self, world: World, name: str, kind: Type, value: SymbolicValue) -> Iterator[Update]:
        for leaf, symbol in zip(leaves(world, kind), self.symbols[name], strict=True):
            formals = tuple(world.variable(sort, "at") for sort in leaf.arguments)
            with world.within(formals):
                encoding = read_leaf(world, kind, value, leaf, formals)
            unsaid = leaf.sort != BOOL and encoding == whatever(leaf.sort)
            if encoding != apply(symbol, formals) and not unsaid:
                yield Update(symbol, formals, encoding)

    # ---- claims ----

    def claim(self, prop: ir.Property) -> Claim | None:
        """A property of states or steps as a formula; nothing where it cannot be encoded, which is a problem."""
        world = World(self.signature, prop.name)
        of_steps = prop.kind == "step"
        before = self.state(world)
        now = self.state(world, after) if of_steps else before
        scope = Scope(world, now, before, self.types, dict(self.settings), self.left_out)
        where = self.place_of(prop) or self.system.name
        try:
            formula = truth(prop.goal, scope)
        except Unsupported as reason:
            self.problems[f"{prop.name} ({where}): {reason}"] = None
            return None
        for note in world.notes:
            self.notes[f"{prop.name} ({where}): {note}"] = None
        return Claim(prop.name, prop, tuple(world.fresh.values()), tuple(world.defined), formula, of_steps)


def theory_of(
    made: Uniform, properties: tuple[ir.Property, ...], place_of: Callable[[ir.Action | ir.Property], str]
) -> Theory:
    """The theory of a model, with its claims. Errors: `Unsupported`, with every reason, one a line."""
    builder = _Builder(made, place_of)
    builder.declare_state()
    start = builder.start()
    transitions = tuple(
        one for number, action in enumerate(made.system.actions) for one in builder.transitions(number, action)
    )
    claims = tuple(found for found in map(builder.claim, properties) if found is not None)
    typing = builder.typing()
    if builder.problems:
        raise Unsupported("\n".join(builder.problems))
    state = tuple(symbol for symbols in builder.symbols.values() for symbol in symbols)
    if any(sort == NUMBER for symbol in state for sort in (*symbol.arguments, symbol.sort)):
        builder.signature.sort(Range(0, 0))
    axioms = tuple(builder.signature.axioms())
    return Theory(
        name=made.system.name,
        system=made.system,
        sorts=tuple(builder.signature.sorts.values()),
        rigid=tuple(builder.signature.rigid.values()),
        state=state,
        axioms=axioms,
        typing=typing,
        start=start,
        transitions=transitions,
        claims=claims,
        covers=_covers(made),
        notes=tuple(builder.notes),
        open_kinds=builder.signature.open_kinds,
        varied=tuple(name for name, _ in made.varied),
    )


def _covers(made: Uniform) -> tuple[str, ...]:
    kinds = [f"every number of {kind}s" + (f" from {least}" if least > 1 else "") for kind, least in made.kinds]
    sized = {name for name, _ in (*made.varied, *made.kinds)}
    budgets = {one.name for one in made.system.variables if one.role == "budget"}
    settings = [
        f"every value of {name}" + (f" from {least}" if least > 1 else "")
        for name, least in made.varied
        if name not in made.sizes
    ]
    found = [*kinds, *settings]
    if budgets:
        found.append("any number of faults of each kind")
    fixed = [
        f"{one.name}s: {one.size}" for one in made.system.nodes if one.name not in dict(made.kinds) and one.size > 1
    ]
    kept = [f"{name} = {value}" for name, value in made.kept if name not in sized]
    return (*found, *fixed, *kept)
