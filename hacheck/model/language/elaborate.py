"""From declarations to a system: everything declared, then every handler, fault and property made data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import (
    clocks,
    faults,
    interruption_points,
    locks,
    log_lines,
    messages,
    model_actions,
    operations,
    properties,
    settings,
)
from hacheck.model.language import declarations as d
from hacheck.model.language.constant_folding import fold_body
from hacheck.model.language.context import Bound, Context, Scope, distinct
from hacheck.model.language.diagnostics import Diagnostic, Span, SpecError, error
from hacheck.model.language.expressions import VALUES_MAX
from hacheck.model.language.expressions import elaborate as expression
from hacheck.model.language.fault_steps import Fault
from hacheck.model.language.fields import declare_field, declare_view, refreshes
from hacheck.model.language.final_pass import finished, name_bounds
from hacheck.model.language.identity_pools import places, uncounted
from hacheck.model.language.kept_locals import KeptLocal
from hacheck.model.language.known_handlers import KnownHandlers, ReadSettings, build_or_repeat
from hacheck.model.language.named_values import definitions, promises
from hacheck.model.language.resolve_types import number, resolve
from hacheck.model.language.rule_table import RULES
from hacheck.model.language.statements import body as statement_body
from hacheck.model.language.type_order import ordered

Kind = TypeVar("Kind")


def elaborate(
    file: d.File, declarations: tuple[d.Declaration, ...], given: settings.Given, at: Span,
    sizes: Iterable[tuple[str, int]] = (), logged: bool = False, folded: bool = True,
    known: KnownHandlers | None = None,
) -> tuple[ir.System | None, tuple[Diagnostic, ...], tuple[ir.Expression, ...], tuple[KeptLocal, ...]]:  # fmt: skip
    """The system under these settings, or everything that is wrong with it; what had to have a value; and what is
    claimed of locals that are kept between steps.

    `sizes`: those that pools of identities without a stated size are likely to need. `logged`: the system is to be
    compared with logs, so budgets of faults do not count. `folded`: what is known is folded. `known`: handlers under
    other settings. Cost: a second pass when pools need other sizes.
    """
    first = Elaboration(file, declarations, given, at, dict(sizes), logged, folded, known)
    made, last = fitted(first, first.run())
    context = last.context
    return made, tuple(context.diagnostics), tuple(context.evaluated), tuple(context.kept)


def fitted(last: Elaboration, made: ir.System | None) -> tuple[ir.System | None, Elaboration]:
    """What the last pass makes of the file once each pool has the size that the system needs, and that pass."""
    for _ in range(2):
        needed = {} if made is None else {name: max(1, size) for name, size in places(made, last.pools).items()}
        if made is None or needed == last.pools:
            break
        context = last.context
        last = Elaboration(
            last.file, last.declarations, last.given, last.at, needed, context.logged, context.folded, last.known
        )
        made = last.run()
    return made, last


class Described(Struct, frozen=True):
    """What has been made of a file's declarations beside what the context holds."""

    faults: tuple[str, ...]
    properties: tuple[ir.Property, ...]
    observations: tuple[ir.Observation, ...]
    initial: tuple[ir.Statement, ...]
    promises: tuple[ir.NamedValue, ...]
    definitions: tuple[ir.NamedValue, ...]


class Elaboration:
    """One pass over a file. `pools`: sizes of identity types that state none, filled with 1 where unknown."""

    def __init__(
        self, file: d.File, declarations: tuple[d.Declaration, ...], given: settings.Given, at: Span,
        pools: dict[str, int], logged: bool = False, folded: bool = True, known: KnownHandlers | None = None,
    ) -> None:  # fmt: skip
        self.file, self.declarations, self.given, self.at, self.pools = file, declarations, given, at, pools
        self.known = known
        self.context = Context(at.path, RULES, {} if known is None else ReadSettings(), logged=logged, folded=folded)

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        return (one for one in self.declarations if isinstance(one, kind))

    def each(self, kind: type[Kind], treat: Callable[[Kind], Any]) -> list[Any]:
        """Treat every declaration of a kind, collecting what is wrong with each."""
        made = []
        for one in self.of(kind):
            try:
                made.append(treat(one))
            except SpecError as failure:
                self.context.collect(failure)
        return made

    def attempt(self, treat: Callable[[], Any]) -> Any:
        try:
            return treat()
        except SpecError as failure:
            self.context.collect(failure)
            return None

    def run(self) -> ir.System | None:
        """The whole pass."""
        described = self.describe() if self.settle() else None
        return None if described is None else self.system(described)

    def settle(self) -> bool:
        """Give every setting its value; whether nothing is wrong with them."""
        context = self.context
        self.attempt(lambda: settings.declare(context, list(self.of(d.Setting)), self.given, self.at))
        return not context.diagnostics

    def describe(self) -> Described | None:
        """Treat every declaration, once the settings are known; `None` when something is wrong."""
        found = self.declare()
        return None if found is None else self.elaborate_rest(found)

    def declare(self) -> list[Fault] | None:
        """Treat what declares types and variables; the faults that there are, or `None` when something is wrong."""
        context = self.context
        self._types()
        found = self.attempt(lambda: faults.survey(context, list(self.of(d.FaultDeclaration)))) or []
        self._variables(found)
        return None if context.diagnostics else found

    def elaborate_rest(self, found: list[Fault]) -> Described | None:
        """Treat all the rest, once variables are known; `None` when something is wrong."""
        context = self.context
        lines = self._behaviour(found, True)
        self.each(d.Definition, self._sound)
        self.each(d.OperationDeclaration, self._is_served)
        found_properties = tuple(one for made in self.each(d.PropertyDeclaration, self._property) for one in made or ())
        every = list(self.of(d.FaultDeclaration))
        shown = tuple(self.each(d.ObserveDeclaration, lambda one: log_lines.observation(context, one, every)))
        initial = self.each(d.Initially, lambda one: statement_body(one.body, Scope(context, lines="none")))
        promised = self.attempt(lambda: promises(context, self.declarations))
        defined = () if context.diagnostics else self.attempt(lambda: definitions(context, self.declarations))
        if context.diagnostics:
            return None
        begun = tuple(step for body in initial for step in body)
        return Described(tuple(lines), found_properties, shown, begun, promised, defined)

    def elaborate_faults(self, found: list[Fault]) -> bool:
        """Treat that part of the rest which depends on what faults there are; whether nothing is wrong with it."""
        self._behaviour(found, False)
        self.each(d.PropertyDeclaration, lambda one: properties.fairness(self.context, one))
        return not self.context.diagnostics

    # ---- declaring ----

    def _types(self) -> None:
        context = self.context
        self.each(d.NodeDeclaration, self._node_kind)
        self.each(d.IdentityDeclaration, self._identity)
        kinds = d.TypeDeclaration | d.RecordDeclaration
        made, wrong = ordered([one for one in self.declarations if isinstance(one, kinds)])
        for failure in wrong:
            context.collect(failure)
        for one in made:
            try:
                if isinstance(one, d.TypeDeclaration):
                    context.declare(one.name.text, one.name.span)
                    context.types[one.name.text] = resolve(context, one.type, one.name.text)
                else:
                    self._record(one)
            except SpecError as failure:
                context.collect(failure)
        self.each(d.Definition, self._definition)
        self.each(d.Procedure, self._procedure)

    def _node_kind(self, written: d.NodeDeclaration) -> None:
        context = self.context
        context.declare(written.name.text, written.name.span)
        size = 1 if written.size is None else number(context, written.size, "the number of nodes")
        if not 1 <= size <= 64:
            raise error("HA111", f"there cannot be {size} {written.name.text}s; 1 to 64 are possible", written.span)
        kind = ty.Node(written.name.text, size, written.order == "ranked" or size == 1)
        context.nodes[kind.name] = kind
        context.types[kind.name] = kind

    def _identity(self, written: d.IdentityDeclaration) -> None:
        context = self.context
        context.declare(written.name.text, written.name.span)
        name = written.name.text
        if written.size is not None:
            size = number(context, written.size, "the size of a pool of identities")
            if size < 1:
                raise error("HA111", f"a pool of {size} identities is empty", written.span)
            if size > VALUES_MAX:
                message = f"a pool of {size:,} identities is too large; {VALUES_MAX:,} are possible"
                raise error("HA111", message, written.span, "as many as can be held at a time are enough")
        else:
            size = self.pools.setdefault(name, 1)
        context.types[name] = ty.Identity(name, size)
        context.bounds[name] = f"at most {size} different {name}s remembered at a time"

    def _record(self, written: d.RecordDeclaration) -> None:
        context, name = self.context, written.name.text
        context.declare(name, written.name.span)
        fields: list[tuple[str, ty.Type]] = []
        for field, kind in written.fields:
            if field.text in dict(fields):
                raise error("HA101", f"`{field.text}` is declared twice", field.span)
            fields.append((field.text, resolve(context, kind, f"{name}.{field.text}")))
        context.types[name] = ty.Record(name, tuple(fields), written.ordered)

    def _definition(self, written: d.Definition) -> None:
        self.context.declare(written.name.text, written.name.span)
        self.context.definitions[written.name.text] = written
        distinct(parameter.name for parameter in written.parameters)

    def _procedure(self, written: d.Procedure) -> None:
        self.context.declare(written.name.text, written.name.span)
        self.context.procedures[written.name.text] = written
        distinct(parameter.name for parameter in written.parameters)

    def _variables(self, found: list[Fault]) -> None:
        context = self.context
        for one in self._handlers():
            if interruption_points.halts(one):
                context.crashing |= self._owner_name(one) & set(context.nodes)
        declared = [node for node in self.of(d.NodeDeclaration) if node.name.text in context.nodes]
        for node in declared:
            for field in node.fields:
                self.attempt(partial(declare_field, context, field, node))
        self.each(d.FieldDeclaration, lambda field: declare_field(context, field, None))
        for node in declared:
            for view in node.views:
                self.attempt(partial(declare_view, context, view, node))
        self.attempt(lambda: faults.declare(context, found))
        self.each(d.MessageDeclaration, lambda one: messages.declare(context, one))
        self.each(d.OperationDeclaration, lambda one: operations.declare(context, one))
        self.each(d.ClockDeclaration, lambda one: clocks.declare(context, one))
        self.each(d.LockDeclaration, lambda one: locks.declare(context, one))
        self.each(d.IdentityDeclaration, self._countable)

    def _handlers(self) -> list[interruption_points.Behaviour]:
        kinds = d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration
        return [one for one in self.declarations if isinstance(one, kinds)]

    def _owner_name(self, written: interruption_points.Behaviour) -> set[str]:
        """The kind of node a handler runs on, by name: it is looked up before messages, operations and locks are
        declared."""
        if isinstance(written, d.ActionDeclaration):
            owner = interruption_points.owner_of(self.context, written)
            return set() if owner is None else {owner.name}
        if isinstance(written, d.LostDeclaration):
            return {one.holder.text for one in self.of(d.LockDeclaration) if one.name.text == written.lock.text}
        receivers = {one.name.text: one.receiver.text for one in self.of(d.MessageDeclaration)}
        callees = {one.name.text: one.callee.text for one in self.of(d.OperationDeclaration)}
        return {(callees if written.serves else receivers).get(written.name.text, "")}

    def _behaviour(self, found: list[Fault], handlers_too: bool) -> list[str]:
        context = self.context
        for serve in self.of(d.ReceiveDeclaration):
            if serve.serves:
                context.serves[serve.name.text] = serve
        handlers = self._handlers()
        for one in handlers:
            self.attempt(partial(interruption_points.declare_points, context, one))
        self.attempt(lambda: interruption_points.declare_threads(context))
        if context.diagnostics:
            return []
        known = None if self.known is None else self.known.among(context)
        for one in handlers if handlers_too else ():
            served = isinstance(one, d.ReceiveDeclaration) and one.serves
            if not (served and operations.is_atomic(context, interruption_points.name_of(one))):
                build = partial(model_actions.build, context, one)
                self.attempt(build if known is None else partial(build_or_repeat, context, known, one.span, build))
        if context.diagnostics:
            return []
        restarts: dict[str, d.RestartDeclaration] = {}
        self.each(d.RestartDeclaration, lambda one: self._restart(one, restarts))
        if context.diagnostics:
            return []
        lines = self.attempt(lambda: faults.build(context, found, restarts)) or []
        context.actions.extend(clocks.actions(context, locks.run_out(context)))
        context.actions.extend(refreshes(context))
        return list(lines)

    def _restart(self, written: d.RestartDeclaration, known: dict[str, d.RestartDeclaration]) -> None:
        kind = messages.kind_of(self.context, written.kind)
        if kind.name in known:
            first = (known[kind.name].kind.span, "first here")
            raise error("HA101", f"what a {kind.name} does on a restart is said twice", written.kind.span, None, first)
        if written.clauses.thread is not None:
            raise error("HA130", "a restart is one step and needs no thread", written.clauses.thread.span)
        known[kind.name] = written

    def _sound(self, written: d.Definition) -> None:
        """A definition means something by itself, whether it is used or not."""
        context = self.context
        scope = Scope(context, old=True, expanding=(written.name.text,))
        for parameter in written.parameters:
            kind = resolve(context, parameter.type, parameter.name.text)
            scope = scope.bind(parameter.name.text, Bound(context.fresh_local(parameter.name.text, kind)))
        returns = None if written.type is None else resolve(context, written.type, written.name.text)
        expression(written.value, scope, returns)

    def _is_served(self, written: d.OperationDeclaration) -> None:
        if written.name.text in self.context.operations:
            operations.served_by(self.context, operations.find(self.context, written.name))

    def _countable(self, written: d.IdentityDeclaration) -> None:
        """Errors: `HA116` a pool of unstated size whose identities are held in sets, which hold any number."""
        name = written.name.text
        for variable in self.context.variables.values():
            if written.size is None and uncounted(variable.type, name):
                message = f"{variable.name} can hold any number of {name}s, so their pool needs a size"
                hint = f"write `identity {name} up to N`"
                raise error("HA116", message, written.span, hint)

    def _property(self, written: d.PropertyDeclaration) -> tuple[ir.Property, ...]:
        self.context.declare(written.name.text, written.name.span)
        return properties.build(self.context, written)

    # ---- putting together ----

    def system(self, described: Described) -> ir.System:
        """Everything that has been treated, put together."""
        context = self.context
        finish = partial(finished, context)
        if self.known is not None:
            finish = partial(self.known.finished, finish=finish)
        made = tuple(finish(action) for action in context.actions)
        actions = tuple(action for action in made if action.guard != ir.FALSE)
        written = list(self.of(d.Setting))
        name_bounds(context, actions)
        values = {one.name.text: settings.show_setting(context.constants[one.name.text]) for one in written}
        assumed = tuple(
            (one.name.text, one.text)
            for one in written
            if one.kind == "assumption" and context.constants[one.name.text].value
        )
        return ir.System(
            name=self.file.name.text,
            description=self.file.text,
            source=self.file.source,
            settings=tuple(values.items()),
            nodes=tuple(context.nodes.values()),
            variables=tuple(context.variables.values()),
            initial=fold_body(described.initial) if context.folded else described.initial,
            actions=actions,
            properties=described.properties,
            observations=described.observations,
            assumptions=assumed,
            bounds=tuple(context.bounds.items()),
            faults=described.faults,
            endless=tuple(context.endless),
            promises=described.promises,
            definitions=described.definitions,
            events=tuple(sorted(context.events)) if context.logged else (),
            ruled_out=tuple(action.name for action in made if action.guard == ir.FALSE) if context.logged else (),
        )
