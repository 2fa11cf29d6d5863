"""What each name in a spec means: an index of definitions and of the places where they are used.

Names are resolved as the elaboration does: locals first, then members of what stands before a dot, then declarations.
The kind of node that a local stands for is followed through parameters, binders and heads of handlers, which decides
which of two fields of one name is meant. What cannot be decided has no entry; nothing here is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Span

GLOBAL = ""


class Symbol(Struct, frozen=True):
    """Something that has a name. `kind`: `node`, `field`, `action`, `local`, …; `owner`: of a member the node, record,
    message or handler that it belongs to; `span`: its name where it is declared; `whole`: its declaration; `text`: what
    the spec says of it; `node`: of a local the kind of node that it stands for."""

    name: str
    kind: str
    span: Span
    whole: Span
    owner: str = GLOBAL
    text: str = ""
    node: str = ""


class Use(Struct, frozen=True):
    """A place where a name stands for a symbol; also where it is declared."""

    span: Span
    symbol: Symbol


Locals = dict[str, Symbol]


class Index(Struct):
    """The symbols of a file and of its libraries, and where they are used in the file."""

    symbols: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    _members: dict[str, list[Symbol]] = field(default_factory=dict)
    _routes: dict[str, tuple[str, str]] = field(default_factory=dict)
    _parameters: dict[str, tuple[d.Parameter, ...]] = field(default_factory=dict)

    def at(self, path: str, offset: int) -> Use | None:
        """The use at a place of a file."""
        inside = (one for one in self.uses if one.span.path == path and one.span.start <= offset <= one.span.end)
        return min(inside, key=lambda one: one.span.end - one.span.start, default=None)

    def uses_of(self, symbol: Symbol) -> list[Use]:
        """Every place where a symbol stands, its declaration first."""
        found = [one for one in self.uses if one.symbol == symbol]
        return sorted(found, key=lambda one: (one.span != symbol.span, one.span.path, one.span.start))

    def members(self, owner: str) -> list[Symbol]:
        """What belongs to a node, a record, a message or a handler."""
        return [one for (held, _), one in self.symbols.items() if held == owner]

    def declared(self) -> list[Symbol]:
        """What is declared outside of anything else."""
        return self.members(GLOBAL)

    # ---- making it ----

    def declare(self, symbol: Symbol) -> Symbol:
        """Adds a symbol, and the place of its name as a use; of two of one name the first counts."""
        known = self.symbols.setdefault((symbol.owner, symbol.name), symbol)
        self._members.setdefault(symbol.name, [])
        if symbol.owner and known is symbol:
            self._members[symbol.name].append(symbol)
        self.uses.append(Use(symbol.span, known))
        return known

    def use(self, name: t.Name, symbol: Symbol | None) -> None:
        """Notes that a name stands for a symbol."""
        if symbol is not None:
            self.uses.append(Use(name.span, symbol))

    def member(self, owner: str, name: str) -> Symbol | None:
        """A member by its owner; where the owner is not known, the only member of that name."""
        if owner:
            return self.symbols.get((owner, name))
        found = self._members.get(name, [])
        return found[0] if len(found) == 1 else None


def index_of(declarations: Iterable[d.Declaration]) -> Index:
    """The index of a spec's declarations, those of its libraries included."""
    index, held = Index(), list(declarations)
    for one in held:
        _declare(index, one)
    for one in held:
        _Resolver(index).declaration(one)
    return index


def _declare(index: Index, one: d.Declaration) -> None:
    """The symbols that a declaration makes."""
    match one:
        case d.Setting():
            index.declare(Symbol(one.name.text, one.kind, one.name.span, one.span, text=one.text))
        case d.TypeDeclaration():
            index.declare(Symbol(one.name.text, "type", one.name.span, one.span))
        case d.RecordDeclaration():
            index.declare(Symbol(one.name.text, "record", one.name.span, one.span))
            for name, _ in one.fields:
                index.declare(Symbol(name.text, "part", name.span, one.span, one.name.text))
        case d.IdentityDeclaration():
            index.declare(Symbol(one.name.text, "identity", one.name.span, one.span))
        case d.FieldDeclaration():
            kind = "ghost" if "ghost" in one.flags else "shared"
            index.declare(Symbol(one.name.text, kind, one.name.span, one.span, node=_node_type(one.type)))
        case d.NodeDeclaration():
            index.declare(Symbol(one.name.text, "node", one.name.span, one.span, text=one.text, node=one.name.text))
            for held in one.fields:
                node = _node_type(held.type)
                index.declare(Symbol(held.name.text, "field", held.name.span, held.span, one.name.text, node=node))
            for view in one.views:
                index.declare(Symbol(view.name.text, "view", view.name.span, view.span, one.name.text))
        case d.MessageDeclaration() | d.OperationDeclaration():
            kind = "message" if isinstance(one, d.MessageDeclaration) else "operation"
            index.declare(Symbol(one.name.text, kind, one.name.span, one.span, text=one.text))
            ends = (one.sender, one.receiver) if isinstance(one, d.MessageDeclaration) else (one.caller, one.callee)
            index._routes[one.name.text] = (ends[0].text, ends[1].text)
            index._parameters[one.name.text] = one.parameters
            for parameter in one.parameters:
                index.declare(Symbol(parameter.name.text, "part", parameter.name.span, one.span, one.name.text))
        case d.LockDeclaration():
            index.declare(Symbol(one.name.text, "lock", one.name.span, one.span, text=one.text))
        case d.Definition() | d.Procedure():
            kind = "definition" if isinstance(one, d.Definition) else "procedure"
            index.declare(Symbol(one.name.text, kind, one.name.span, one.span))
        case d.ActionDeclaration():
            index.declare(Symbol(one.name.text, "action", one.name.span, one.span, text=one.clauses.text))
            _declare_steps(index, one.name.text, one.body)
        case d.ReceiveDeclaration():
            _declare_steps(index, one.name.text, one.body)
        case d.PropertyDeclaration():
            index.declare(Symbol(one.name.text, one.kind, one.name.span, one.span, text=one.text))
        case d.CheckDeclaration():
            index.declare(Symbol(one.name.text, "check", one.name.span, one.span, "check", one.text))
        case _:
            pass
    for name in _words(one):
        if (GLOBAL, name.text) not in index.symbols:
            index.declare(Symbol(name.text, "word", name.span, one.span))


def _declare_steps(index: Index, handler: str, body: t.Body) -> None:
    for one in _walk(body):
        if isinstance(one, t.StepPoint):
            index.declare(Symbol(one.name.text, "step", one.name.span, one.span, handler))


def _words(one: Any) -> Iterator[t.Name]:
    """The words of the enumerations that are written in a declaration."""
    for part in _walk(one):
        if isinstance(part, t.TypeTree) and part.kind == "enum":
            yield from part.names


def _walk(one: Any) -> Iterator[Any]:
    """A tree and all of its parts, in the order of the text."""
    yield one
    parts = one if isinstance(one, tuple) else _parts(one)
    for part in parts:
        yield from _walk(part)


def _parts(one: Any) -> Iterator[Any]:
    if isinstance(one, Struct) and not isinstance(one, Span):
        for name in one.__struct_fields__:
            value = getattr(one, name)
            if isinstance(value, tuple | Struct) and not isinstance(value, Span):
                yield value


def _node_type(kind: t.TypeTree | None) -> str:
    """The kind of node that a type may name."""
    while kind is not None and kind.kind in ("option", "set", "sequence", "bag") and kind.parts:
        kind = kind.parts[0]
    return kind.names[0].text if kind is not None and kind.kind == "name" and kind.names else ""


class _Resolver:
    """Resolves the names of one declaration."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.whole = Span("", 0, 0)

    def declaration(self, one: d.Declaration) -> None:
        """Notes every name in a declaration."""
        self.whole = getattr(one, "span", self.whole)
        local: Locals = {}
        match one:
            case d.ActionDeclaration() | d.Procedure() | d.Definition():
                self._parameters(one.parameters, local)
            case d.ReceiveDeclaration():
                self._receive(one, local)
            case d.LostDeclaration():
                self._global(one.lock)
                self._local(one.at, local, "")
            case d.RestartDeclaration():
                self._global(one.kind)
                self._local(one.at, local, one.kind.text)
            case d.MessageDeclaration() | d.OperationDeclaration() | d.LockDeclaration() | d.ClockDeclaration():
                self._names(one, skip=one.name if not isinstance(one, d.ClockDeclaration) else None)
                return
            case d.CheckDeclaration():
                self._check(one)
                return
            case d.FaultDeclaration():
                for name in one.names:
                    self._global(name)
            case d.PropertyDeclaration():
                self._parameters(one.parameters, local)
                for fair in one.fairness:
                    for name in (*fair.names, *([fair.kind] if fair.kind else [])):
                        self._global(name)
            case d.ObserveDeclaration():
                for observed in one.handlers:
                    for name in (observed.handler, *([observed.kind] if observed.kind else [])):
                        self._global(name)
                local["n"] = Symbol("n", "local", one.event.span, one.span)
            case d.TraceDeclaration():
                for name, value in (*one.settings, *(pair for log in one.derived for pair in log.settings)):
                    self._global(name)
                    self._visit(value, {})
                return
            case _:
                pass
        self._rest(one, local)

    def _parameters(self, parameters: tuple[d.Parameter, ...], local: Locals) -> None:
        for parameter in parameters:
            self._visit(parameter.type, {})
            self._local(parameter.name, local, _node_type(parameter.type), "parameter")

    def _receive(self, one: d.ReceiveDeclaration, local: Locals) -> None:
        self._global(one.name)
        sender, receiver = self.index._routes.get(one.name.text, ("", ""))
        declared = self.index._parameters.get(one.name.text, ())
        for place, name in enumerate(one.parameters):
            kind = _node_type(declared[place].type) if place < len(declared) else ""
            self._local(name, local, kind, "parameter")
        self._local(one.at, local, receiver)
        self._local(one.sender, local, sender)

    def _check(self, one: d.CheckDeclaration) -> None:
        for name, value in one.settings:
            self._global(name)
            self._visit(value, {})
        for name in (*one.only, *one.expect_violated, *(restored.name for restored in one.restored)):
            self._global(name)

    def _rest(self, one: Any, local: Locals) -> None:
        """The expressions and statements of a declaration, but its own names and parameters."""
        for name in one.__struct_fields__:
            if name in ("name", "parameters", "at", "sender", "lock", "names", "fairness", "handlers", "event"):
                continue
            if name == "kind" and not isinstance(getattr(one, name), t.TypeTree):
                continue
            self._visit(getattr(one, name), local)

    def _names(self, one: Any, skip: t.Name | None) -> None:
        for part in _walk(one):
            if isinstance(part, t.Name) and part is not skip:
                self._global(part, quiet=True)

    def _local(self, name: t.Name, local: Locals, node: str, kind: str = "local") -> None:
        symbol = Symbol(name.text, kind, name.span, self.whole, owner=f"local {name.span.start}", node=node)
        self.index.uses.append(Use(name.span, symbol))
        local[name.text] = symbol

    def _global(self, name: t.Name, quiet: bool = False) -> Symbol | None:
        found = self.index.symbols.get((GLOBAL, name.text))
        if found is not None and found.span != name.span:
            self.index.use(name, found)
        return found

    # ---- expressions and statements ----

    def _visit(self, one: Any, local: Locals) -> None:
        """Notes the names in a part of a tree. Bodies are visited in order: what they bind holds from there on."""
        match one:
            case tuple():
                inner = dict(local) if any(isinstance(part, (t.Let, t.Choose, t.Call)) for part in one) else local
                for part in one:
                    self._visit(part, inner)
            case t.Name():
                self._name(one, local)
            case t.Attribute():
                self._attribute(one, local)
            case t.Apply():
                self._global(one.name)
                self._arguments(one.name.text, one.arguments, local)
            case t.Quantifier():
                self._bound(one.binders, (one.where, one.body), local)
            case t.Best():
                self._bound((one.binder,), (one.where, one.by), local)
            case t.Image():
                self._bound((one.binder,), (one.where, one.item), local)
            case t.Named():
                self._visit(one.value, local)
                inner = dict(local)
                self._local(one.name, inner, "")
                self._visit(one.body, inner)
            case t.For():
                self._bound((one.binder,), (one.where, one.body), local)
            case t.Each():
                self._visit(one.key, local)
                inner = dict(local)
                self._local(one.name, inner, _node_type(one.key))
                self._visit(one.item, inner)
            case t.TypeTree():
                self._type(one, local)
            case t.Place():
                self._place(one, local)
            case _:
                self._statement(one, local)

    def _statement(self, one: Any, local: Locals) -> None:
        match one:
            case t.Let():
                self._visit(one.type, local)
                self._visit(one.value, local)
                self._local(one.name, local, _node_type(one.type) or self._node_of(one.value, local))
            case t.Choose():
                self._bound((one.binder,), (one.where,), local, stays=True)
            case t.Call():
                self._global(one.operation)
                self._arguments(one.operation.text, one.arguments, local)
                self._visit(one.at, local)
                if one.result is not None:
                    self._local(one.result, local, "")
            case t.Send():
                self._global(one.message)
                self._arguments(one.message.text, one.arguments, local)
                self._visit(one.to, local)
            case t.Perform():
                self._global(one.procedure)
                self._arguments(one.procedure.text, one.arguments, local)
            case t.Acquire() | t.Release():
                self._global(one.lock)
                if isinstance(one, t.Acquire):
                    self._visit(one.then, dict(local))
                    self._visit(one.otherwise, dict(local))
            case t.StepPoint():
                self._visit(one.when, local)
            case t.Log():
                for shown in one.fields:
                    self._visit(shown.value, local)
                self._visit(one.at, local)
            case t.Shown():
                self._visit(one.value, local)
            case _:
                for part in _parts(one):
                    self._visit(part, local)

    def _name(self, name: t.Name, local: Locals) -> None:
        found = local.get(name.text) or self.index.symbols.get((GLOBAL, name.text))
        if found is not None and found.span != name.span:
            self.index.use(name, found)

    def _attribute(self, one: t.Attribute, local: Locals) -> None:
        self._visit(one.base, local)
        owner = self._node_of(one.base, local)
        if isinstance(one.base, t.Name) and one.base.text not in local:
            handler = self.index.symbols.get((one.base.text, one.field.text))
            if handler is not None and handler.kind == "step":
                self.index.use(one.field, handler)
                return
        self.index.use(one.field, self.index.member(owner, one.field.text) or self.index.member("", one.field.text))

    def _place(self, one: t.Place, local: Locals) -> None:
        self._name(one.root, local)
        owner = self._node_of(one.root, local)
        for part, is_key in zip(one.path, one.keys, strict=True):
            if is_key or not isinstance(part, t.Name):
                self._visit(part, local)
                continue
            found = self.index.member(owner, part.text) or self.index.member("", part.text)
            self.index.use(part, found)
            owner = "" if found is None else found.node

    def _arguments(self, owner: str, arguments: tuple[t.Argument, ...], local: Locals) -> None:
        for argument in arguments:
            if argument.label is not None:
                self.index.use(argument.label, self.index.symbols.get((owner, argument.label.text)))
            self._visit(argument.value, local)

    def _bound(
        self, binders: tuple[t.Binder, ...], inside: tuple[Any, ...], local: Locals, *, stays: bool = False
    ) -> None:
        inner = local if stays else dict(local)
        for binder in binders:
            self._visit(binder.type, inner)
            self._visit(binder.within, inner)
            node = _node_type(binder.type) or self._node_of(binder.within, inner)
            self._local(binder.name, inner, node)
        for part in inside:
            self._visit(part, inner)

    def _type(self, one: t.TypeTree, local: Locals) -> None:
        if one.kind == "name":
            for name in one.names:
                self._global(name)
        self._visit(one.parts, local)
        self._visit(one.limits, local)

    def _node_of(self, one: Any, local: Locals) -> str:
        """The kind of node that an expression stands for, where that can be seen."""
        match one:
            case t.Name():
                found = local.get(one.text) or self.index.symbols.get((GLOBAL, one.text))
                return "" if found is None else found.node
            case t.Apply() if one.name.text in ("others", "other", "all", "value") and one.arguments:
                return self._node_of(one.arguments[0].value, local)
            case t.Apply():
                found = self.index.symbols.get((GLOBAL, one.name.text))
                return "" if found is None or found.kind != "node" else found.name
            case t.Attribute():
                member = self.index.member(self._node_of(one.base, local), one.field.text)
                return "" if member is None else member.node
            case t.Subscript():
                return self._node_of(one.base, local)
            case t.Best():
                return _node_type(one.binder.type) or self._node_of(one.binder.within, local)
            case _:
                return ""


def words_of(index: Index) -> Mapping[str, Symbol]:
    """What may be written anywhere, by name: declarations and the words of enumerations."""
    return {one.name: one for one in index.declared()}
