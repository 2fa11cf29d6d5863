"""A state of the elaborated system as the direct interpreter observes it: by what users can speak of.

What the elaboration keeps in other words is translated here, and nothing is decided: what it claims that no later step
reads of a handler's locals is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.direct import Bag, Key, Node, Value, from_plain
from hacheck.model.direct.layout import Call
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.interruption_points import name_of
from hacheck.model.language.kept_locals import KeptLocal
from hacheck.model.language.threads import IDLE
from hacheck.model.language.tree_walk import parts
from hacheck.model.runs import State

Items = tuple[tuple[Key, Value], ...]
Part = Callable[..., Items]
"""What the value of one variable, or the values of some, say in a state."""
LOCAL = "local"


class _Kept(Struct, frozen=True):
    """A kept local: where it is in a state, of what type, and what it is called at a node."""

    place: int
    kind: ty.Type
    claim: KeptLocal
    name: str


class Observer:
    """States of one system as observations. It keeps what it has translated, so it is for one system only."""

    def __init__(
        self, system: ir.System, kept: Iterable[KeptLocal], declarations: Iterable[d.Declaration],
        defaults: Mapping[Key, Value],
    ) -> None:  # fmt: skip
        """`defaults`: what is so at the start. Of a key that stands for no variable it is so always."""
        self.places = {variable.name: place for place, variable in enumerate(system.variables)}
        self.types = {variable.name: variable.type for variable in system.variables}
        self.sizes = {kind.name: kind.size for kind in system.nodes}
        self.locks = {one.name.text: one for one in declarations if isinstance(one, d.LockDeclaration)}
        self.unordered = {
            one.name.text for one in declarations if isinstance(one, d.MessageDeclaration) and one.order == "unordered"
        }
        self.words = _Words(declarations, set(self.sizes))
        self.defaults = {key: value for key, value in defaults.items() if key[0] != LOCAL}
        self.parts = list(self._parts(system))
        self.known: list[dict[Any, Items]] = [{} for _ in self.parts]
        self.threads = [
            (place, variable.owner, variable.name.partition(".")[2])
            for place, variable in enumerate(system.variables)
            if variable.role == "frame" and isinstance(variable.type, ty.Map) and _is_thread(variable)
        ]
        self.kept = self._kept_by_point(kept)

    def observe(self, state: State) -> dict[Key, Value]:
        """Everything that is so, but for locals that are claimed not to be read any more."""
        found = dict(self.defaults)
        for (places, part), known in zip(self.parts, self.known, strict=True):
            value = tuple(state[place] for place in places)
            items = known.get(value)
            if items is None:
                items = known[value] = part(*value)
            found.update(items)
        for place, kind, thread in self.threads:
            assert kind is not None
            for number, at in enumerate(state[place], start=1):
                self._frame(found, state, Node(kind, number), thread, at)
        return found

    def _frame(self, found: dict[Key, Value], state: State, node: Node, thread: str, at: str) -> None:
        """Where a thread of a node stands, and what its handler remembers there."""
        if at == IDLE:
            found["at", node, thread] = None
            return
        handler, _, point = at.partition(".")
        found["at", node, thread] = handler, point
        found[LOCAL, node, handler, self.words.actors[handler]] = node
        for local in self.kept.get((node.kind, at), ()):
            found[LOCAL, node, handler, local.name or f"callees of {point}"] = _remembered_value(
                local, state[local.place][node.id - 1]
            )

    def remembered(self, observed: Mapping[Key, Value]) -> frozenset[Key]:
        """The locals that a later step may read, as is claimed, where the threads of a state stand."""
        found: set[Key] = set()
        for key, value in observed.items():
            if key[0] == "at" and value is not None:
                node = key[1]
                handler, point = value
                for local in self.kept.get((node.kind, f"{handler}.{point}"), ()):
                    found.add((LOCAL, node, handler, local.name or f"callees of {point}"))
        return frozenset(found)

    def _kept_by_point(self, kept: Iterable[KeptLocal]) -> Mapping[tuple[str, str], list[_Kept]]:
        found: dict[tuple[str, str], list[_Kept]] = defaultdict(list)
        for claim in kept:
            kind = self.types[claim.variable]
            assert isinstance(kind, ty.Map)
            local = _Kept(self.places[claim.variable], kind.value, claim, self.words.local(claim))
            for point in claim.read_after:
                if point != IDLE:
                    found[claim.kind, point].append(local)
        return found

    # ---- variables ----

    def _parts(self, system: ir.System) -> Iterator[tuple[tuple[int, ...], Part]]:
        operations: set[str] = set()
        locks: set[str] = set()
        for place, variable in enumerate(system.variables):
            name = variable.name
            match variable.role:
                case "field" | "view" | "status" if variable.owner is not None:
                    yield (place,), _of_nodes(variable)
                case "status":
                    yield (place,), _cut(variable)
                case "shared":
                    yield (place,), _single(variable.type, ("shared", name))
                case "channel" if name.startswith("message."):
                    yield (place,), _links(variable, name.removeprefix("message.") in self.unordered)
                case "channel":
                    operations.add(name.split(".")[1])
                case "lock":
                    locks.add(name.split(".")[1])
                case "clock":
                    yield (place,), _clock(variable)
                case "budget":
                    title = "all together" if name == "faults left" else name.removeprefix("budget.")
                    yield (place,), _single(variable.type, ("budget", title))
                case _:
                    continue
        for name in sorted(operations):
            yield self._calls(name)
        for name in sorted(locks):
            yield self._lock(name)

    def _calls(self, name: str) -> tuple[tuple[int, ...], Part]:
        """The calls of an operation: request, whether it is served, answer, whether the caller waits."""
        variables = [f"operation.{name}.{part}" for part in ("request", "serving", "answer", "waiting")]
        kinds = [self.types[one] for one in variables]
        caller, callee = _ends(kinds[0])
        inner = [_innermost(kind) for kind in kinds]

        def part(*values: Value) -> Items:
            found = []
            for a in range(caller.size):
                for b in range(callee.size):
                    slots = [from_plain(kind, one[a][b]) for kind, one in zip(inner, values, strict=True)]
                    if slots[2] == "done" and isinstance(inner[2], ty.Option) and _says_done(inner[2].element):
                        slots[2] = True
                    key = ("call", name, Node(caller.name, a + 1), Node(callee.name, b + 1))
                    found.append((key, Call(*slots)))
            return tuple(found)

        return tuple(self.places[one] for one in variables), part

    def _lock(self, name: str) -> tuple[tuple[int, ...], Part]:
        """A lock: who holds it and who believes to; of a lease, until when."""
        parts = [one for one in ("holder", "believed", "until", "mine") if f"lock.{name}.{one}" in self.places]
        declared = self.locks[name]
        kind = declared.holder.text

        def part(holder: Value, believed: Value, until: Value = None, mine: Value = None) -> Items:
            held = None if holder is None else Node(kind, holder)
            found: list[tuple[Key, Value]] = [(("holder", name), held)]
            if declared.freed_late:
                found.append((("late", name), held is not None and not believed[held.id - 1]))
            if until is not None:
                found.append((("expiry", name), until))
            for number, believes in enumerate(believed, start=1):
                found.append((("believes", name, Node(kind, number)), believes))
                if mine is not None:
                    found.append((("expiry", name, Node(kind, number)), mine[number - 1]))
            return tuple(found)

        return tuple(self.places[f"lock.{name}.{one}"] for one in parts), part


# ---- the variables of one kind ----


def _is_thread(variable: ir.StateVariable) -> bool:
    kind = variable.type
    return isinstance(kind, ty.Map) and isinstance(kind.value, ty.Enum) and kind.value.name == variable.name


def _of_nodes(variable: ir.StateVariable) -> Part:
    """A field, a view, or whether a node is up or paused."""
    owner, kind = variable.owner, variable.type
    assert owner is not None
    assert isinstance(kind, ty.Map)
    word = variable.name.partition(".")[2]
    head: str = variable.role
    if variable.role == "status":
        return _each(kind, lambda node: (word, node))
    if word.endswith(" on disk"):
        head, word = "disk", word.removesuffix(" on disk")
    return _each(kind, lambda node: (head, node, word))


def _each(kind: ty.Map, key: Callable[[Node], Key]) -> Part:
    assert isinstance(kind.key, ty.Node)
    name, value = kind.key.name, kind.value
    return lambda whole: tuple((key(Node(name, i)), from_plain(value, one)) for i, one in enumerate(whole, start=1))


def _single(kind: ty.Type, key: Key) -> Part:
    return lambda value: ((key, from_plain(kind, value)),)


def _cut(variable: ir.StateVariable) -> Part:
    """Which links between two kinds of node are down; no node has a link to itself."""
    first, second = _ends(variable.type)

    def part(whole: Value) -> Items:
        return tuple(
            (("down", Node(first.name, a), Node(second.name, b)), down)
            for a, row in enumerate(whole, start=1)
            for b, down in enumerate(row, start=1)
            if (first.name, a) != (second.name, b)
        )

    return part


def _links(variable: ir.StateVariable, unordered: bool) -> Part:
    """What is under way of a message, in order or as a bag."""
    name = variable.name.removeprefix("message.")
    sender, receiver = _ends(variable.type)
    slot = _innermost(variable.type)

    def part(whole: Value) -> Items:
        found = []
        for a, row in enumerate(whole, start=1):
            for b, held in enumerate(row, start=1):
                value = from_plain(slot, held)
                if isinstance(slot, ty.Option):
                    value = () if value is None else (value,)
                    value = Bag(value) if unordered else value
                found.append((("link", name, Node(sender.name, a), Node(receiver.name, b)), value))
        return tuple(found)

    return part


def _clock(variable: ir.StateVariable) -> Part:
    if isinstance(variable.type, ty.Map):
        return _each(variable.type, lambda node: ("clock", node))
    return _single(variable.type, ("time",))


def _ends(kind: ty.Type) -> tuple[ty.Node, ty.Node]:
    assert isinstance(kind, ty.Map)
    assert isinstance(kind.key, ty.Node)
    assert isinstance(kind.value, ty.Map)
    assert isinstance(kind.value.key, ty.Node)
    return kind.key, kind.value.key


def _innermost(kind: ty.Type) -> ty.Type:
    assert isinstance(kind, ty.Map)
    assert isinstance(kind.value, ty.Map)
    return kind.value.value


def _says_done(kind: ty.Type) -> bool:
    return isinstance(kind, ty.Enum) and kind.members == ("done",)


def _remembered_value(local: _Kept, value: Any) -> Value:
    """A local's value; of a call, the set of its callees."""
    kind = local.kind
    if local.name:
        return from_plain(kind, value)
    return from_plain(kind, value) if isinstance(kind, ty.Set) else frozenset([from_plain(kind, value)])


# ---- names ----


class _Words:
    """Names of points and locals, as the two interpreters write them."""

    def __init__(self, declarations: Iterable[d.Declaration], kinds: set[str]) -> None:
        self.actors: dict[str, str] = {}
        self.starts: dict[str, dict[str, list[int]]] = {}
        self.loops: dict[str, dict[int, int]] = {}
        for one in declarations:
            if isinstance(one, d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration):
                handler = name_of(one)
                self.starts[handler] = _declared(one.body)
                loops = (part for part in parts(one.body) if isinstance(part, t.For))
                self.loops[handler] = {part.span.start: part.binder.name.span.start for part in loops}
                self.actors[handler] = _actor(one, kinds)

    def local(self, claim: KeptLocal) -> str:
        """The local's name; the second of one name in a handler is `name#2`. Callees have none of their own."""
        if claim.word.endswith(" callees"):
            return ""
        word, start, form = claim.word, claim.start, "{}"
        if word.endswith(" to come"):
            word, start, form = word.removesuffix(" to come"), self.loops[claim.handler][start], "rest of {}"
        starts = self.starts[claim.handler].get(word, [])
        number = starts.index(start) + 1 if start in starts else 1
        return form.format(word if number == 1 else f"{word}#{number}")


def _actor(written: d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration, kinds: set[str]) -> str:
    """What a handler calls the node on which it runs."""
    if not isinstance(written, d.ActionDeclaration):
        return written.at.text
    named = ((one.name.text, one.type) for one in written.parameters)
    return next((name for name, kind in named if kind.kind == "name" and kind.names[0].text in kinds), "")


def _declared(body: t.Body) -> dict[str, list[int]]:
    """For each name of a local, where it is declared, in the order of the text."""
    found: dict[str, list[int]] = defaultdict(list)
    for part in parts(body):
        match part:
            case t.Let(name=name) | t.Choose(binder=t.Binder(name=name)) | t.For(binder=t.Binder(name=name)):
                found[name.text].append(name.span.start)
            case t.Call(result=t.Name() as name):
                found[name.text].append(name.span.start)
            case _:
                continue
    return {word: sorted(starts) for word, starts in found.items()}
