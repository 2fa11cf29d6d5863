"""Statements of the model, encoded in first-order logic: what a body does to a state, as a state of terms.

A branch is encoded twice and merged. A loop is encoded for one turn with any value, where the turns do not see each
other; what a loop writes whose turns do is left open. A step that passes a bound, or is an error, is not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import Unsupported, World
from hacheck.checker.parametric.expression_encoding import Scope, encode, in_domain, truth
from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    FALSE,
    Term,
    choice,
    conjunction,
    disjunction,
    equality,
    negation,
    symbols_of,
)
from hacheck.checker.parametric.given_values import chosen_in_turn, constant, unknown
from hacheck.checker.parametric.value_encoding import (
    SymbolicValue,
    either,
    from_leaves,
    read_leaf,
    some,
    term,
    updated,
)
from hacheck.checker.parametric.value_leaves import Leaf, single
from hacheck.model import ir
from hacheck.model.rewrite import statements as all_statements
from hacheck.model.symmetry_loops import aliases, turns_commute
from hacheck.model.types import Bool, Enum, Map, Node, Range, Set, Type, is_scalar, values
from hacheck.model.typing import type_of

TURNS_MAX = 16
"""A loop over numbers is encoded turn by turn, if there are no more."""


class _Loop(Struct, frozen=True):
    """A loop that is encoded for one turn with any value: the scope before it, and its place in the body."""

    statement: ir.ForEach
    before: Scope
    place: tuple[int, ...]


class StatementEncoder(Struct):
    """A body being encoded. `left_out`: variables that are not encoded, writes to which have no effect; `refuse`: what
    is done about something that cannot be encoded. `turn`: the values of the loops around, each encoded for one turn,
    outermost first. `place`: of the statement being encoded, as numbers of statements and of branches."""

    scope: Scope
    left_out: frozenset[str]
    refuse: Callable[[str], None]
    turn: tuple[Term, ...] = ()
    place: tuple[int, ...] = ()

    @property
    def world(self) -> World:
        return self.scope.world

    def body(self, statements: tuple[ir.Statement, ...]) -> None:
        """Encodes statements one after the other."""
        around = self.place
        for number, one in enumerate(statements):
            self.place = (*around, number)
            try:
                self._statement(one)
            except Unsupported as reason:
                self.refuse(str(reason))
                self._leave_open(one)
        self.place = around

    def _leave_open(self, statement: ir.Statement) -> None:
        """Any value for a local that could not be encoded, so that the statements after it are still looked at."""
        match statement:
            case ir.Let(name, kind, _) | ir.Choose(name, ir.Domain(kind, _, _)):
                with suppress(Unsupported):  # what reads it will say so
                    self.scope = self.scope.bind(name, kind, unknown(self.world, kind, name))
            case _:
                pass

    def _statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Assign():
                self._assign(statement)
            case ir.Let(name, kind, value):
                self.scope = self.scope.bind(name, kind, encode(value, self.scope))
            case ir.Choose(name, domain):
                if self.turn:
                    chosen = chosen_in_turn(self.world, domain.type, name, self.place, self.turn)
                else:
                    chosen = unknown(self.world, domain.type, name)
                self.world.assume(in_domain(name, domain, self.scope, chosen))
                self.scope = self.scope.bind(name, domain.type, chosen)
            case ir.If():
                self._branch(statement)
            case ir.ForEach():
                self._loop(statement)
            case ir.Require(condition):
                self.world.assume(truth(condition, self.scope))
            case ir.Stop():
                self.world.assume(FALSE)
            case ir.Log():
                pass
            case _:
                assert_never(statement)

    def _assign(self, statement: ir.Assign) -> None:
        root = statement.target.root
        if root.name in self.left_out:
            return
        value = encode(statement.value, self.scope)
        path = tuple(part if isinstance(part, str) else encode(part, self.scope) for part in statement.target.path)
        new = updated(self.world, root.type, encode(root, self.scope), path, value)
        self._store(root, new)

    def _store(self, root: ir.Variable | ir.Local, new: SymbolicValue) -> None:
        if isinstance(root, ir.Variable):
            self.scope = replace(self.scope, state={**self.scope.state, root.name: new})
        else:
            self.scope = self.scope.bind(root.name, root.type, new)

    def _branch(self, statement: ir.If) -> None:
        condition, before = self.world.branch(truth(statement.condition, self.scope)), self.scope
        ends: list[Scope] = []
        around = self.place
        for decided, block in ((condition, statement.then), (negation(condition), statement.otherwise)):
            self.scope, self.place = before, (*around, len(ends))
            if decided != FALSE:
                with self.world.where(decided):
                    self.body(block)
            ends.append(self.scope)
        self.place = around
        then, otherwise = ends
        if FALSE in (condition, negation(condition)):
            kept = otherwise if condition == FALSE else then
            self.scope = replace(before, state=kept.state, locals={n: kept.locals[n] for n in before.locals})
            return
        state = {
            name: either(self.world, kind, condition, then.state[name], otherwise.state[name])
            for name, kind in before.types.items()
            if name in before.state
        }
        merged = {
            name: (kind, either(self.world, kind, condition, then.locals[name][1], otherwise.locals[name][1]))
            for name, (kind, _) in before.locals.items()
        }
        self.scope = replace(before, state=state, locals=merged)

    # ---- loops ----

    def _loop(self, statement: ir.ForEach) -> None:
        kind = statement.domain.type
        within = statement.domain.within
        if within is not None and not isinstance(type_of(within), Set):
            raise Unsupported("a loop over a bag or a sequence")
        members = self._members(kind)
        if members is not None:
            begun = self.scope  # the domain is taken before the first turn
            turns = [(one, in_domain(statement.variable, statement.domain, begun, one)) for one in members]
            around = self.place
            for number, (one, inside) in enumerate(turns):
                self.place = (*around, number)
                self._turn_if(inside, statement, one)
            self.place = around
            return
        problem = turns_commute(statement.variable, statement.body, frozenset())
        written = list(
            dict.fromkeys(one.target.root for one in all_statements(statement.body) if isinstance(one, ir.Assign))
        )
        own = _own_locals(statement.body)
        roots = [one for one in written if one.name not in self.left_out and one.name not in own]
        loop = _Loop(statement, self.scope, self.place)
        if problem is None:
            self._requirements(loop)
        for root in roots:
            old = encode(root, loop.before)
            if problem is not None:
                self.world.note(f"what a loop over {statement.variable} writes to {root.name} is left open: {problem}")
                self._store(root, unknown(self.world, root.type, root.name))
            else:
                self._store(root, self._after_loop(loop, root, old))

    def _members(self, kind: Type) -> list[SymbolicValue] | None:
        """The values of a type where there is a known number of them: the loop is encoded turn by turn."""
        if isinstance(kind, Bool | Enum) or (isinstance(kind, Node) and kind.name not in self.open_kinds):
            return [constant(self.world, kind, one) for one in values(kind)]
        if isinstance(kind, Range):
            if kind.high - kind.low >= TURNS_MAX:
                raise Unsupported("a loop over numbers up to a setting of any value, or over many")
            return [constant(self.world, kind, one) for one in values(kind)]
        return None

    @property
    def open_kinds(self) -> frozenset[str]:
        return self.world.signature.open_kinds

    def _turn_if(self, inside: Term, statement: ir.ForEach, one: SymbolicValue) -> None:
        before = self.scope
        turn = ir.If(ir.Local("turn of " + statement.variable, Bool()), statement.body, ())
        self.scope = before.bind(turn.condition.name, Bool(), inside).bind(  # type: ignore[union-attr]
            statement.variable, statement.domain.type, one
        )
        self._branch(turn)
        self.scope = replace(self.scope, locals={name: self.scope.locals[name] for name in before.locals})

    def _turn(self, loop: _Loop, item: SymbolicValue) -> tuple[Term, Scope]:
        """Whether there is a turn for a value, and what is so after it alone."""
        statement, before = loop.statement, loop.before
        inside = in_domain(statement.variable, statement.domain, before, item)
        scope = before.bind(statement.variable, statement.domain.type, item)
        turn = StatementEncoder(scope, self.left_out, self.refuse, self.turn, loop.place)
        if is_scalar(statement.domain.type):
            turn.turn = (*self.turn, term(item))
        self.world.loops += 1
        with self.world.where(inside):
            turn.body(statement.body)
        self.world.loops -= 1
        return inside, turn.scope

    def _turn_again(self, loop: _Loop, item: SymbolicValue) -> tuple[Term, Scope]:
        """A turn, without what it needs to be possible, which was said of every turn: but for what is said of symbols
        that this turn alone has."""
        world = self.world
        said, known = len(world.assumed), set(world.fresh)
        found = self._turn(loop, item)
        own = world.fresh.keys() - known
        world.assumed[said:] = [one for one in world.assumed[said:] if symbols_of(one) & own]
        return found

    def _requirements(self, loop: _Loop) -> None:
        """What each turn needs to be possible; it is the same before the loop, as no turn sees what another does."""
        statement = loop.statement
        if not any(isinstance(one, ir.Require | ir.Stop | ir.Choose) for one in all_statements(statement.body)):
            return
        variable = self.world.variable(self.world.signature.sort(statement.domain.type), statement.variable)
        with self.world.within((variable,)):
            self._turn(loop, variable)

    def _after_loop(self, loop: _Loop, root: ir.Variable | ir.Local, old: SymbolicValue) -> SymbolicValue:
        statement = loop.statement
        place = _own_key(statement, root)
        if place is not None:
            position = _argument(self.world, root.type, place)
            if position is not None:
                return self._each_its_own(loop, root, old, position)
        pattern = _pattern(statement, root)
        same: SymbolicValue | None = None

        def after(leaf: Leaf, keys: tuple[Term, ...]) -> Term:
            was = read_leaf(self.world, root.type, old, leaf, keys)

            def turn(item: SymbolicValue, build: Callable[[Term, Term], Term]) -> Term:
                inside, end = self._turn_again(loop, item)
                return build(inside, read_leaf(self.world, root.type, _value(end, root), leaf, keys))

            kind = statement.domain.type
            if leaf.sort == BOOL and pattern == "grows":
                return disjunction(was, some(self.world, kind, lambda item: turn(item, lambda a, b: conjunction(a, b))))
            if leaf.sort == BOOL and pattern == "shrinks":
                kept = some(self.world, kind, lambda item: turn(item, lambda a, b: conjunction(a, negation(b))))
                return conjunction(was, negation(kept))
            if same is not None:
                new = read_leaf(self.world, root.type, same, leaf, keys)
                changed = some(
                    self.world,
                    kind,
                    lambda item: turn(item, lambda a, b: conjunction(a, negation(equality(b, was)))),
                )
                return choice(changed, new, was)
            raise Unsupported(f"a loop that adds up in {root.name}")

        try:
            same = self._constant(root, statement, pattern) if isinstance(pattern, ir.Constant) else None
            return from_leaves(self.world, root.type, after)
        except Unsupported as reason:
            self.world.note(f"what a loop writes to {root.name} is left open: {reason}")
            return unknown(self.world, root.type, root.name)

    def _constant(self, root: ir.Variable | ir.Local, statement: ir.ForEach, value: ir.Constant) -> SymbolicValue:
        """The constant that a turn writes which changes anything. Errors: `Unsupported` where it writes a part."""
        depth = len(
            next(
                one.target.path
                for one in all_statements(statement.body)
                if isinstance(one, ir.Assign) and one.target.root == root
            )
        )
        if depth:
            raise Unsupported("one constant at several keys")
        return encode(value, self.scope)

    def _each_its_own(
        self, loop: _Loop, root: ir.Variable | ir.Local, old: SymbolicValue, position: int
    ) -> SymbolicValue:
        def after(leaf: Leaf, keys: tuple[Term, ...]) -> Term:
            inside, end = self._turn_again(loop, keys[position])
            was = read_leaf(self.world, root.type, old, leaf, keys)
            return choice(inside, read_leaf(self.world, root.type, _value(end, root), leaf, keys), was)

        return from_leaves(self.world, root.type, after)


def _value(scope: Scope, root: ir.Variable | ir.Local) -> SymbolicValue:
    return scope.state[root.name] if isinstance(root, ir.Variable) else scope.locals[root.name][1]


def _own_locals(body: tuple[ir.Statement, ...]) -> set[str]:
    found = set()
    for one in all_statements(body):
        match one:
            case ir.Let(name, _, _) | ir.Choose(name, _) | ir.ForEach(name, _, _):
                found.add(name)
            case _:
                pass
    return found


def _own_key(statement: ir.ForEach, root: ir.Variable | ir.Local) -> int | None:
    """The place in a target's path at which every write in the body has the loop's variable, if there is one."""
    paths = [
        one.target.path
        for one in all_statements(statement.body)
        if isinstance(one, ir.Assign) and one.target.root == root
    ]
    same = aliases(statement.variable, statement.body)
    for place in range(min(len(path) for path in paths)):
        keys = [path[place] for path in paths]
        if all(isinstance(key, ir.Local) and key.name in same for key in keys):
            return place
    return None


def _argument(world: World, kind: Type, place: int) -> int | None:
    """Which argument of the leaves a place in a path is; nothing where a kind with one member stands there."""
    count = 0
    for _ in range(place):
        if not isinstance(kind, Map):
            return None
        count += single(world, kind.key) is None
        kind = kind.value
    if not isinstance(kind, Map) or single(world, kind.key) is not None:
        return None
    return count


def _pattern(statement: ir.ForEach, root: ir.Variable | ir.Local) -> str | ir.Constant:
    """How the turns of a loop that gather in one place do it."""
    for one in all_statements(statement.body):
        if isinstance(one, ir.Assign) and one.target.root == root:
            match one.value:
                case ir.Binary("union" | "with" | "or", _, _):
                    return "grows"
                case ir.Binary("minus" | "without" | "intersect" | "and", _, _):
                    return "shrinks"
                case ir.Constant():
                    return one.value
                case _:
                    pass
    return ""
