"""What a file keeps under its settings: the slots of a state, their types and first values, and what is looked up by
name."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from hacheck.model.direct.domains import Domain, Domains, begun, first_of
from hacheck.model.direct.interfaces import Key, UnsupportedError
from hacheck.model.direct.machine import Machine
from hacheck.model.direct.values import Bag, Map, Node, Value
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t

if TYPE_CHECKING:
    from hacheck.model.direct.expressions import Expressions

THREADED = (d.ActionDeclaration, d.ReceiveDeclaration, d.LostDeclaration)
LINK_FAULTS = ("cut", "cut one way", "isolate", "partition", "bridge")


class Call(NamedTuple):
    """A call of one caller to one callee. `waiting`: the caller is; without it what is there is an orphan. What waits
    with neither request, service nor answer can only fail."""

    request: Value = None
    serving: bool = False
    answer: Value = None
    waiting: bool = False


IDLE = Call()


class Unsettled(Exception):
    """The expression depends on the state."""


class NoState:
    """Stands for a state while settings are looked at."""

    def __getitem__(self, slot: Any) -> Value:
        raise Unsettled


class Layout:
    """One file under one choice of settings.

    `index`: the slot of each key, see `DirectSystem.observe`; `domain`, `first`: by slot, the type of what users write
    and the value that a crash brings back. `fields`: the slots of fields and views, by name and node.
    """

    def __init__(self, declarations: tuple[d.Declaration, ...], given: Mapping[str, str | t.Expression]) -> None:
        self.declarations = declarations
        self.words = Words(declarations)
        self.definitions = {one.name.text: one for one in declarations if isinstance(one, d.Definition)}
        self.procedures = {one.name.text: one for one in declarations if isinstance(one, d.Procedure)}
        self.messages = {one.name.text: one for one in declarations if isinstance(one, d.MessageDeclaration)}
        self.operations = {one.name.text: one for one in declarations if isinstance(one, d.OperationDeclaration)}
        self.locks = {one.name.text: one for one in declarations if isinstance(one, d.LockDeclaration)}
        self.clocks = {one.kind.text: one for one in declarations if isinstance(one, d.ClockDeclaration)}
        self.kinds = {one.name.text: one for one in declarations if isinstance(one, d.NodeDeclaration)}
        self.settings: dict[str, Value] = {}
        self._given = given
        self.index: dict[Key, int] = {}
        self.domain: dict[int, Domain] = {}
        self.first: dict[int, Value] = {}
        self.initial: list[Value] = []
        self.fields: dict[str, dict[Node, int]] = {}
        self.sizes: dict[str, int] = {}
        self.threads: tuple[str, ...] = ()
        self.faults: tuple[d.FaultDeclaration, ...] = ()

    def place_of_word(self, word: str) -> int:
        """A place of a word, which compares with those of the other words of its type. Errors: `UnsupportedError`."""
        if word in self.words.unclear:
            raise UnsupportedError(f"the order of `{word}` depends on the type that is meant")
        return self.words[word]

    def nodes(self, kind: str) -> tuple[Node, ...]:
        """All nodes of a kind."""
        return tuple(Node(kind, number) for number in range(1, self.sizes[kind] + 1))

    def everybody(self) -> Iterator[Node]:
        """All nodes."""
        for kind in self.kinds:
            yield from self.nodes(kind)

    # ---- made with the help of expressions ----

    def settle(self, expressions: Expressions) -> None:
        """Gives settings, sizes and slots their values."""
        self._settle_settings(expressions)

        def number(written: t.Expression) -> Value:
            return expressions.of(written)(Machine(NoState()))

        self.number: Callable[[t.Expression], Value] = number
        self.domains = Domains(self.declarations, number)
        self.sizes = {name: self.domains.named(name).high or 0 for name in self.kinds}
        self.capacity = {one: 1 if m.capacity is None else number(m.capacity) for one, m in self.messages.items()}
        self.lease = {one: None if lock.lease is None else number(lock.lease) for one, lock in self.locks.items()}
        self.skew = {kind: 0 if one.skew is None else number(one.skew) for kind, one in self.clocks.items()}
        clauses = [one.clauses for one in self.declarations if isinstance(one, THREADED)]
        self.threads = tuple(sorted({"main", *(one.thread.text for one in clauses if one.thread is not None)}))
        self._declare_variables(number)
        self._declare_nodes()
        self._declare_links()
        self._declare_locks_and_clocks()
        self.faults = tuple(self._possible_faults(expressions))
        for fault in self.faults:
            if fault.budget is not None:
                self.add(("budget", title_of(fault)), number(fault.budget))

    def from_settings(self, expressions: Expressions, written: t.Expression) -> Value:
        """The value of an expression that depends on settings only; otherwise `Unsettled`."""
        return expressions.of(written)(Machine(NoState()))

    def _settle_settings(self, expressions: Expressions) -> None:
        declared = {one.name.text: one for one in self.declarations if isinstance(one, d.Setting)}
        unknown = set(self._given) - set(declared)
        if unknown:
            raise UnsupportedError(f"there is no setting {sorted(unknown)}")
        waiting = dict(declared)
        while waiting:
            for name in list(waiting):
                written = self._given.get(name, waiting[name].default)
                if isinstance(written, str):
                    self.settings[name] = value_of_text(written)
                elif not (names_in(written) & set(waiting)):
                    self.settings[name] = expressions.of(written)(Machine(NoState()))
                else:
                    continue
                del waiting[name]
                break
            else:
                raise UnsupportedError(f"settings that depend on each other: {sorted(waiting)}")

    def _possible_faults(self, expressions: Expressions) -> Iterator[d.FaultDeclaration]:
        """Those that the settings do not exclude, by their condition or by a budget of none."""
        for one in self.declarations:
            if isinstance(one, d.FaultDeclaration):
                if one.kind != "total" and one.budget is not None and self.number(one.budget) == 0:
                    continue
                if one.when is None or not self._excluded(expressions, one.when):
                    yield one

    def _excluded(self, expressions: Expressions, when: t.Expression) -> bool:
        """Whether a condition, or one that it joins by `and`, is false by the settings alone."""
        if isinstance(when, t.Infix) and when.operator == "and":
            return self._excluded(expressions, when.left) or self._excluded(expressions, when.right)
        try:
            return not self.from_settings(expressions, when)
        except Unsettled:
            return False

    # ---- slots ----

    def add(self, key: Key, value: Value, domain: Domain | None = None) -> int:
        """A further slot, and what it begins with."""
        slot = self.index[key] = len(self.initial)
        self.initial.append(value)
        self.first[slot] = value
        if domain is not None:
            self.domain[slot] = domain
        return slot

    def _declare_variables(self, number: Callable[[t.Expression], Value]) -> None:
        for one in self.declarations:
            if isinstance(one, d.FieldDeclaration):
                self.add(("shared", one.name.text), *self._first(one, number, one.name.text))

    def _first(
        self, one: d.FieldDeclaration, number: Callable[[t.Expression], Value], where: str
    ) -> tuple[Value, Domain]:
        domain = self.domains.of(one.type)
        return first_of(domain) if one.initial is None else begun(domain, number(one.initial), where), domain

    def _declare_nodes(self) -> None:
        for kind, declared in self.kinds.items():
            for node in self.nodes(kind):
                self.add(("up", node), True)
                self.add(("paused", node), False)
                for field in declared.fields:
                    first, domain = self._first(field, self.number, f"{kind}.{field.name.text}")
                    self._slot(field.name.text)[node] = self.add(("field", node, field.name.text), first, domain)
                    if "synced" in field.flags:
                        self.add(("disk", node, field.name.text), first, domain)
                for thread in self.threads:
                    self.add(("frame", node, thread), None)
        for kind, declared in self.kinds.items():
            for node in self.nodes(kind):
                for view in declared.views:
                    of = self.nodes(view.kind.text)
                    parts = tuple(self.initial[self.fields[view.field.text][one]] for one in of)
                    self._slot(view.name.text)[node] = self.add(("view", node, view.name.text), Map(of, parts))

    def _slot(self, field: str) -> dict[Node, int]:
        return self.fields.setdefault(field, {})

    def _declare_links(self) -> None:
        faults = [one for one in self.declarations if isinstance(one, d.FaultDeclaration)]
        for a, b in itertools.product(self.everybody(), repeat=2):
            if a != b and any(_cuts(fault, a.kind, b.kind) for fault in faults):
                self.add(("down", a, b), False)
        for name, message in self.messages.items():
            empty = Bag() if message.order == "unordered" else ()
            for a in self.nodes(message.sender.text):
                for b in self.nodes(message.receiver.text):
                    self.add(("link", name, a, b), empty)
        for name, operation in self.operations.items():
            for a in self.nodes(operation.caller.text):
                for b in self.nodes(operation.callee.text):
                    self.add(("call", name, a, b), IDLE)

    def _declare_locks_and_clocks(self) -> None:
        if self.clocks:
            self.add(("time",), 0)
        for kind, skew in self.skew.items():
            if skew:
                for node in self.nodes(kind):
                    self.add(("clock", node), 0)
        for name, lock in self.locks.items():
            self.add(("holder", name), None)
            if self.lease[name] is not None:
                self.add(("expiry", name), 0)
            for node in self.nodes(lock.holder.text):
                self.add(("believes", name, node), False)
                if self.lease[name] is not None:
                    self.add(("expiry", name, node), 0)


def title_of(fault: d.FaultDeclaration) -> str:
    """What a fault is called."""
    return "all together" if fault.kind == "total" else fault.title


def _cuts(fault: d.FaultDeclaration, a: str, b: str) -> bool:
    """Whether a fault may cut a link from a node of one kind to one of another."""
    names = [name.text for name in fault.names]
    match fault.kind:
        case "cut":
            return names in ([a, b], [b, a])
        case "cut one way":
            return names == [a, b]
        case "isolate":
            return names[0] in (a, b)
        case "partition" | "bridge":
            return a in names and b in names
        case _:
            return False


def value_of_text(text: str) -> Value:
    """A setting that is given as text."""
    known = {"on": True, "off": False, "true": True, "false": False, "none": None}
    if text in known:
        return known[text]
    digits = text.replace("_", "").replace(" ", "")
    return int(digits) if digits.removeprefix("-").isdecimal() else text


def trees_in(tree: Any) -> Iterator[Any]:
    """A part of a parsed file, and all parts of it."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        yield part
        form: Any = type(part)
        inside = part if isinstance(part, tuple | list) else [getattr(part, name) for name in _branches(form)]
        waiting.extend(reversed(inside))


@cache
def _branches(form: Any) -> tuple[str, ...]:
    """The fields of a kind of tree; none where it is no tree, and no places in the text."""
    return tuple(name for name in form.__struct_fields__ if name != "span") if issubclass(form, Struct) else ()


def names_in(tree: Any) -> set[str]:
    """All names that stand in it."""
    return {part.text for part in trees_in(tree) if isinstance(part, t.Name)}


class Words(dict[str, int]):
    """The words of all types, each with a place that is in no type before that of a word before it. `unclear`: words
    that several types have in different orders."""

    def __init__(self, declarations: Iterable[d.Declaration]) -> None:
        super().__init__()
        self.unclear: set[str] = set()
        parts = trees_in(tuple(declarations))
        types = [part.names for part in parts if isinstance(part, t.TypeTree) and part.kind == "enum"]
        before: dict[str, set[str]] = {}
        for names in types:
            for place, name in enumerate(names):
                before.setdefault(name.text, set()).update(one.text for one in names[:place])
        while before:
            free = [name for name, others in before.items() if not others & set(before)]
            if not free:
                self.unclear = set(before)
                free = list(before)
            for word in free:
                self[word] = len(self)
                del before[word]
