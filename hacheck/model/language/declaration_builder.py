"""From the parser's tree to declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.parse_tree import Token, Tree
from hacheck.model.language.syntax_tree import Expression, Name
from hacheck.model.language.tree_builder import Builder


def build_file(root: Tree, path: str) -> d.File:
    """The declarations of a parsed file, in the order written."""
    builder = _Declarations(path)
    header, *items = cast(list[Tree], root.children)
    _, name, text, *sources = header.children
    uses: list[tuple[str, Span]] = []
    declarations: list[d.Declaration] = []
    for item in items:
        if item.data == "use":
            token = cast(Token, item.children[0])
            uses.append((unquote(token), builder.span(token)))
        else:
            declarations.extend(builder.declaration(item))
    return d.File(
        builder.name(name),
        header.children[0].text == "library",
        unquote(text),
        " ".join(unquote(source.children[0]) for source in sources),
        tuple(uses),
        tuple(declarations),
    )


def unquote(token: Any) -> str:
    """The text between the quotes, or nothing."""
    return "" if token is None else str(token.text)[1:-1]


class _Declarations(Builder):
    def declaration(self, node: Tree) -> Iterable[d.Declaration]:
        made = getattr(self, f"_top_{node.data}")(node.children, self.span(node))
        return made if isinstance(made, tuple) else (made,)

    # ---- settings, types, state ----

    def _top_parameter(self, parts: list[Any], span: Span) -> d.Declaration:
        name, default, kind, text = parts
        written = None if kind is None else self.type(kind)
        return d.Setting("param", self.name(name), self.expression(default), written, unquote(text), span)

    def _top_switch(self, parts: list[Any], span: Span, kind: Any = "switch") -> d.Declaration:
        name, default, text = parts
        return d.Setting(kind, self.name(name), self.expression(default), None, unquote(text), span)

    def _top_assumption(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._top_switch(parts, span, "assumption")

    def _top_type_declaration(self, parts: list[Any], span: Span) -> d.Declaration:
        return d.TypeDeclaration(self.name(parts[0]), self.type(parts[1]), span)

    def _top_record(self, parts: list[Any], span: Span) -> d.Declaration:
        ordered = isinstance(parts[0], Token) and parts[0].kind == "ORDERED"
        name, _, *fields = parts[1:] if ordered else parts
        members = tuple((self.name(field.children[0]), self.type(field.children[1])) for field in fields)
        return d.RecordDeclaration(self.name(name), ordered, members, span)

    def _top_identity(self, parts: list[Any], span: Span) -> d.Declaration:
        return d.IdentityDeclaration(self.name(parts[0]), self.optional(parts[1]), span)

    def _top_node(self, parts: list[Any], span: Span) -> d.Declaration:
        name, size, order, text, *items = parts
        fields = tuple(self._field(item.children, self.span(item)) for item in items if item.data == "node_field")
        views = tuple(self._view(item.children, self.span(item)) for item in items if item.data == "view")
        ordering = cast(Any, None if order is None else order.text)
        return d.NodeDeclaration(self.name(name), self.optional(size), ordering, unquote(text), fields, views, span)

    def _view(self, parts: list[Any], span: Span) -> d.ViewDeclaration:
        return d.ViewDeclaration(self.name(parts[0]), self.name(parts[1]), self.name(parts[2]), span)

    def _field(self, parts: list[Any], span: Span) -> d.FieldDeclaration:
        *flags, name, kind, initial, promised, _ = parts
        words = cast(Any, frozenset(flag.children[0].text for flag in flags))
        conditions = [flag.children[1] for flag in flags if len(flag.children) > 1 and flag.children[1] is not None]
        condition = self.expression(conditions[0]) if conditions else None
        written = (self.type(kind), self.optional(initial), condition)
        return d.FieldDeclaration(self.name(name), words, *written, promised is not None, span)

    def _top_variable(self, parts: list[Any], span: Span) -> d.Declaration:
        flag, name, kind, initial, promised, _ = parts
        words = cast(Any, frozenset({flag.text}))
        written = (self.type(kind), self.optional(initial), None)
        return d.FieldDeclaration(self.name(name), words, *written, promised is not None, span)

    def _top_initially(self, parts: list[Any], span: Span) -> d.Declaration:
        return d.Initially(self.body(parts[0]), span)

    # ---- messages, operations, locks, clocks ----

    def parameters(self, node: Any) -> tuple[d.Parameter, ...]:
        if node is None:
            return ()
        return tuple(d.Parameter(self.name(one.children[0]), self.type(one.children[1])) for one in node.children)

    def _head(self, parts: list[Any], rule: str) -> list[Any]:
        """The children with a placeholder where an optional list is missing after the name."""
        present = isinstance(parts[1], Tree) and parts[1].data == rule
        return parts if present else [parts[0], None, *parts[1:]]

    def _top_message(self, parts: list[Any], span: Span) -> d.Declaration:
        name, parameters, sender, receiver, *options, text = self._head(parts, "parameters")
        words = {option.children[0].text for option in options if option.data == "channel"}
        capacity = next((self.expression(one.children[0]) for one in options if one.data == "capacity"), None)
        order = cast(Any, next((word for word in ("fifo", "latest") if word in words), "unordered"))
        return d.MessageDeclaration(
            self.name(name),
            self.parameters(parameters),
            self.name(sender),
            self.name(receiver),
            order,
            "queued" in words,
            capacity,
            unquote(text),
            span,
        )

    def _top_operation(self, parts: list[Any], span: Span) -> d.Declaration:
        name, parameters, caller, callee, returns, *options, text = self._head(parts, "parameters")
        conditions = {option.data: self.expression(option.children[0]) for option in options}
        return d.OperationDeclaration(
            self.name(name),
            self.parameters(parameters),
            self.name(caller),
            self.name(callee),
            None if returns is None else self.type(returns),
            conditions.get("atomic_when"),
            conditions.get("timeout_when"),
            unquote(text),
            span,
        )

    def _top_lock(self, parts: list[Any], span: Span) -> d.Declaration:
        name, host, holder, *options, text = parts
        lease = next((self.expression(one.children[0]) for one in options if one.data == "lease"), None)
        late = any(option.data == "freed_late" for option in options)
        place = None if host is None else self.name(host)
        return d.LockDeclaration(self.name(name), place, self.name(holder), late, lease, unquote(text), span)

    def _top_clock(self, parts: list[Any], span: Span) -> d.Declaration:
        return d.ClockDeclaration(self.name(parts[0]), self.expression(parts[1]), self.optional(parts[2]), span)

    # ---- behaviour ----

    def _top_define(self, parts: list[Any], span: Span) -> d.Declaration:
        if len(parts) == 5:  # empty parentheses leave nothing behind, none at all leave a placeholder
            parts = [parts[0], None, *parts[1:]]
        name, parameters, kind, value, promised, _ = parts
        written = (None if kind is None else self.type(kind), self.expression(value))
        return d.Definition(self.name(name), self.parameters(parameters), *written, promised is not None, span)

    def _top_procedure(self, parts: list[Any], span: Span) -> d.Declaration:
        name, parameters, _, body = self._head(parts, "parameters")
        return d.Procedure(self.name(name), self.parameters(parameters), self.body(body), span)

    def clauses(self, node: Tree) -> d.Clauses:
        text, *items = node.children
        when = tuple(self.expression(item.children[0]) for item in items if item.data == "clause_when")
        timing = tuple(self.expression(item.children[0]) for item in items if item.data == "clause_only_after")
        thread = next((self.name(item.children[0]) for item in items if item.data == "clause_thread"), None)
        return d.Clauses(unquote(text), citations(items), when, timing, thread)

    def _top_action(self, parts: list[Any], span: Span) -> d.Declaration:
        environment = isinstance(parts[0], Token) and parts[0].kind == "ENVIRONMENT"
        name, parameters, clauses, body = self._head(parts[1:] if environment else parts, "parameters")
        made = (self.name(name), environment, self.parameters(parameters), self.clauses(clauses))
        return d.ActionDeclaration(*made, self.body(body), span)

    def _top_receive(self, parts: list[Any], span: Span, serves: bool = False) -> d.Declaration:
        name, names, at, sender, clauses, body = self._head(parts, "names")
        bound = () if names is None else tuple(self.name(word) for word in names.children)
        return d.ReceiveDeclaration(
            self.name(name),
            serves,
            bound,
            self.name(at),
            self.name(sender),
            self.clauses(clauses),
            self.body(body),
            span,
        )

    def _top_serve(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._top_receive(parts, span, serves=True)

    def _top_lost(self, parts: list[Any], span: Span) -> d.Declaration:
        lock, at, clauses, body = parts
        return d.LostDeclaration(self.name(lock), self.name(at), self.clauses(clauses), self.body(body), span)

    def _top_restarted(self, parts: list[Any], span: Span) -> d.Declaration:
        at, kind, clauses, body = parts
        return d.RestartDeclaration(self.name(at), self.name(kind), self.clauses(clauses), self.body(body), span)

    def _top_faults(self, parts: list[Any], span: Span) -> tuple[d.Declaration, ...]:
        return tuple(self._fault(part) for part in parts)

    def _fault(self, node: Tree) -> d.Declaration:
        *names, budget = node.children
        limit, good, when = budget.children
        kind = cast(Any, node.data.removeprefix("fault_").replace("_", " "))
        words = tuple(self.name(name) for name in names)
        return d.FaultDeclaration(
            kind, words, self.optional(limit), good is not None, self.optional(when), self.span(node)
        )

    # ---- properties ----

    def _property(self, kind: Any, parts: list[Any], span: Span, sides: int) -> d.Declaration:
        name, text, *rest = parts
        return self._build_property(kind, (name, None, text), rest, span, sides)

    def _build_property(
        self, kind: Any, head: tuple[Any, Any, Any], rest: list[Any], span: Span, sides: int
    ) -> d.Declaration:
        name, parameters, text = head
        cited = [part for part in rest if isinstance(part, Tree) and part.data in ("clause_source", "clause_note")]
        fair = [part for part in rest if isinstance(part, Tree) and part.data in ("fair", "fair_all")]
        written = [part for part in rest if part not in cited and part not in fair]
        goals = [self.optional(part) for part in written]
        premise = goals[0] if sides == 2 else None
        return d.PropertyDeclaration(
            kind, self.name(name), unquote(text), citations(cited), premise, goals[-1], self._fairness(fair), span,
            self.parameters(parameters),
        )  # fmt: skip

    def _fairness(self, nodes: list[Any]) -> tuple[d.Fair, ...]:
        return tuple(self._fair(node) for node in nodes)

    def _fair(self, node: Tree) -> d.Fair:
        first = node.children[0]
        strong = isinstance(first, Token) and first.kind == "STRONGLY"
        rest = node.children[1:] if strong else node.children
        if node.data == "fair":
            handlers = [cast(Tree, one).children for one in rest]
            arguments = tuple(self._words(names) for _, names in handlers)
            return d.Fair(tuple(self.name(name) for name, _ in handlers), strong, arguments=arguments)
        words = self._words(rest[-1])
        return d.Fair(words, strong, True, None if rest[0] is None else self.name(rest[0]))

    def _words(self, names: Any) -> tuple[Any, ...]:
        return () if names is None else tuple(self.name(word) for word in cast(Tree, names).children)

    def _top_invariant(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._property("invariant", parts, span, 1)

    def _top_lemma(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._property("lemma", parts, span, 1)

    def _top_step_invariant(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._property("step_invariant", parts, span, 1)

    def _top_reachable(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._property("reachable", parts, span, 1)

    def _top_eventually(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._build_property("eventually", (parts[0], parts[1], parts[2]), parts[3:], span, 1)

    def _top_leads_to(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._build_property("leads_to", (parts[0], parts[1], parts[2]), parts[3:], span, 2)

    def _top_deadlock_free(self, parts: list[Any], span: Span) -> d.Declaration:
        return self._property("deadlock_free", parts, span, 1)

    def _top_observe(self, parts: list[Any], span: Span) -> d.Declaration:
        event, *rest = parts
        observed = [one for one in rest if isinstance(one, Tree) and one.data == "observed"]
        nobody, when, *shown = rest[len(observed) :]
        handlers = tuple(self._observed(one.children) for one in observed)
        shows = tuple(self.shown(one) for one in shown if one is not None)
        return d.ObserveDeclaration(self.name(event), handlers, nobody is not None, self.optional(when), shows, span)

    def _observed(self, parts: list[Any]) -> d.Observed:
        handler, kind = parts
        return d.Observed(self.name(handler), None if kind is None else self.name(kind))

    def _top_trace(self, parts: list[Any], span: Span) -> d.Declaration:
        text, chosen, *derived = parts
        given = tuple(self._from_log(cast(Tree, one)) for one in derived)
        return d.TraceDeclaration(unquote(text), self._assigned(chosen), given, span)

    def _from_log(self, clause: Tree) -> d.FromLog:
        """What records of an event say of settings."""
        event, *rest = clause.children
        fields: tuple[Name, ...] = ()
        if rest and (rest[0] is None or cast(Tree, rest[0]).data == "names"):
            names, *rest = rest
            fields = () if names is None else tuple(self.name(cast(Token, one)) for one in cast(Tree, names).children)
        pairs = (cast(Tree, one).children for one in rest)
        chosen = tuple((self.name(cast(Token, name)), self.expression(value)) for name, value in pairs)
        return d.FromLog(self.name(cast(Token, event)), fields, chosen, self.span(clause))

    def _assigned(self, clause: Tree) -> tuple[tuple[Name, Expression], ...]:
        """The settings that a `with` chooses."""
        pairs = (cast(Tree, one).children for one in clause.children)
        return tuple((self.name(cast(Token, name)), self.expression(value)) for name, value in pairs)

    def _top_check(self, parts: list[Any], span: Span) -> d.Declaration:
        name, text, *clauses = parts
        settings: list[tuple[Name, Expression]] = []
        only: list[Name] = []
        violated: list[Name] = []
        restored: list[d.Restored] = []
        for clause in clauses:
            if clause.data == "with_settings":
                settings += self._assigned(clause)
            elif clause.data == "only":
                only += [self.name(word) for word in clause.children[0].children]
            elif clause.data == "expect_violated":
                violated += [self.name(word) for word in clause.children[0].children]
            elif clause.data == "restores":
                restored += [self._restored(cast(Tree, one)) for one in clause.children]
        by_request = any(clause.data == "by_request" for clause in clauses)
        return d.CheckDeclaration(
            self.name(name),
            unquote(text),
            by_request,
            tuple(settings),
            tuple(only),
            tuple(violated),
            tuple(restored),
            span,
        )

    def _restored(self, clause: Tree) -> d.Restored:
        """`NAME within 10 s`."""
        name, number, unit = (cast(Token, one) for one in clause.children)
        return d.Restored(self.name(name), int(number.text.replace("_", "")), self.name(unit))


def citations(nodes: Iterable[Any]) -> str:
    """The `source` and `note` texts of a declaration in one line."""
    texts = []
    for node in nodes:
        if node.data == "clause_source":
            texts.append(unquote(node.children[0]))
        elif node.data == "clause_note":
            texts.append(f"Choice: {unquote(node.children[0])}")
    return "; ".join(texts)
