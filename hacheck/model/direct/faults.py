"""What may go wrong, what heals it, and what else happens by itself: ticks, views, locks freed late."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from msgspec import Struct

from hacheck.model.direct.expressions import Expressions
from hacheck.model.direct.functions import holder_of
from hacheck.model.direct.handlers import Handlers, Move
from hacheck.model.direct.interfaces import BoundFailure
from hacheck.model.direct.layout import LINK_FAULTS, Call, Layout, title_of
from hacheck.model.direct.machine import Blocked, Closure, Effect, Machine
from hacheck.model.direct.values import Bag, Node, Value
from hacheck.model.language import declarations as d

CRASHES = ("crash", "wipe", "blackout")
SPLITS = ("isolate", "partition", "bridge")


class Fault(Struct, frozen=True):
    """A line of `faults`. `budgets`: the slots of its own budget and of that of all together."""

    declared: d.FaultDeclaration
    when: Closure | None
    budgets: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """The kinds of node or the message that it is about."""
        return [name.text for name in self.declared.names]

    def possible(self, m: Machine) -> bool:
        """Whether it may happen once more."""
        return all(m.memory[slot] > 0 for slot in self.budgets) and (self.when is None or bool(self.when(m)))

    def count(self, m: Machine) -> None:
        """It happens once more."""
        for slot in self.budgets:
            m.memory[slot] -= 1


class Faults:
    """The faults of a file under its settings, and all else that no handler does."""

    def __init__(self, layout: Layout, expressions: Expressions, handlers: Handlers) -> None:
        self.layout = layout
        self.nodes = handlers.nodes
        self.handlers = handlers
        totals = [layout.index[key] for key in layout.index if key == ("budget", "all together")]
        self.all = tuple(
            Fault(
                one,
                None if one.when is None else expressions.of(one.when),
                (*([layout.index["budget", title_of(one)]] if one.budget is not None else []), *totals),
            )
            for one in layout.faults
            if one.kind != "total"
        )
        for fault in self.all:
            if fault.declared.kind == "lose" and fault.names[0] in layout.operations:
                losses = handlers.calls.losses
                losses[fault.names[0]] = [*losses.get(fault.names[0], ()), fault]

    def moves(self, memory: tuple[Value, ...]) -> Iterator[Move]:
        """Every fault that may happen, every repair, and what time brings."""
        for fault in self.all:
            for move in self._of(fault, memory):
                yield move._replace(effect=_guarded(fault, move.effect), fault=True)
        yield from self._repairs()
        yield from self._heals()
        yield from self._ticks()
        yield from self._views()

    def _of(self, fault: Fault, memory: tuple[Value, ...]) -> Iterator[Move]:
        kind, names = fault.declared.kind, fault.names
        match kind:
            case "crash" | "wipe" | "pause":
                for node in self.layout.nodes(names[0]):
                    yield Move(f"{kind} {names[0]}", {"n": node}, self._on_node(kind, node))
            case "blackout":
                yield Move(f"blackout of {names[0]}", {}, self._blackout(names[0]))
            case "cut" | "cut one way":
                yield from self._cuts(fault)
            case "isolate" | "partition" | "bridge":
                yield from self._splits(fault)
            case "lose" if names[0] in self.layout.locks:
                yield Move(f"lose {names[0]}", {}, self._lose_lock(names[0]))
            case "lose" if names[0] in self.layout.operations:
                yield from self._lose_calls(names[0], memory)
            case "lose" | "duplicate":
                yield from self._messages(kind, names[0], memory)

    # ---- nodes ----

    def _on_node(self, kind: str, node: Node) -> Effect:
        index = self.layout.index

        def happens(m: Machine) -> None:
            if not m.memory[index["up", node]] or (kind == "pause" and m.memory[index["paused", node]]):
                raise Blocked
            if kind == "pause":
                m.memory[index["paused", node]] = True
            else:
                self.nodes.crash(m, node, wiped=kind == "wipe")

        return happens

    def _blackout(self, kind: str) -> Effect:
        def happens(m: Machine) -> None:
            there = [node for node in self.layout.nodes(kind) if m.memory[self.layout.index["up", node]]]
            if not there:
                raise Blocked
            for node in there:
                self.nodes.crash(m, node)

        return happens

    def _repairs(self) -> Iterator[Move]:
        for kind in self.layout.kinds:
            lasting = {one.declared.kind for one in self.all if one.declared.for_good and one.names == [kind]}
            for node in self.layout.nodes(kind):
                if not lasting & set(CRASHES):
                    yield self.handlers.restart(kind, node)
                if "pause" not in lasting:
                    slot = self.layout.index["paused", node]
                    yield Move(f"resume {kind}", {"n": node}, _changed(slot, True, False))
        for lock, declared in self.layout.locks.items():
            if declared.freed_late:
                yield Move(f"free {lock}", {}, self._free(lock))

    def _free(self, lock: str) -> Effect:
        def freed(m: Machine) -> None:
            if not self.handlers.locks.is_left_over(m, lock):
                raise Blocked
            self.handlers.locks.free(m, lock)

        return freed

    # ---- links ----

    def _pairs(self, a: str, b: str, both: bool) -> Iterator[tuple[Node, Node]]:
        """The links between two kinds; those that are cut both ways once each."""
        for one, other in itertools.product(self.layout.nodes(a), self.layout.nodes(b)):
            if one != other and not (both and a == b and one.id > other.id):
                yield one, other

    def _cuts(self, fault: Fault) -> Iterator[Move]:
        a, b = fault.names
        both = fault.declared.kind == "cut"
        for one, other in self._pairs(a, b, both):
            links = [(one, other), (other, one)] if both else [(one, other)]
            yield Move(fault.declared.title, {"a": one, "b": other}, self._set(links, True))

    def _set(self, links: list[tuple[Node, Node]], down: bool) -> Effect:
        """Cuts links, or heals them. Errors: `Blocked` where that changes nothing."""
        slots = [self.layout.index["down", a, b] for a, b in links]

        def happens(m: Machine) -> None:
            if all(m.memory[slot] == down for slot in slots):
                raise Blocked
            for slot in slots:
                m.memory[slot] = down

        return happens

    def _splits(self, fault: Fault) -> Iterator[Move]:
        kind, name = fault.declared.kind, fault.names[0]
        nodes = tuple(node for one in fault.names for node in self.layout.nodes(one))
        if kind == "isolate":
            for node in nodes:
                links = [key[1:] for key in self.layout.index if key[0] == "down" and node in key[1:]]
                yield Move(f"isolate {name}", {"n": node}, self._set([(a, b) for a, b in links], True))
        elif len(fault.names) > 1:
            for side in _sides(nodes):
                arguments: dict[str, Value] = {
                    f"side_{one}": frozenset(node for node in side if node.kind == one) for one in fault.names
                }
                yield Move(fault.declared.title, arguments, self._set(_between(side, nodes), True))
        elif kind == "partition":
            for side in _sides(nodes):
                yield Move(f"partition {name}", {"side": frozenset(side)}, self._set(_between(side, nodes), True))
        else:
            for over in nodes:
                others = tuple(node for node in nodes if node != over)
                for side in _sides(others):
                    chosen = {"over": over, "side": frozenset(side)}
                    yield Move(f"bridge {name}", chosen, self._set(_between(side, others), True))

    def _heals(self) -> Iterator[Move]:
        healing = [one for one in self.all if one.declared.kind in LINK_FAULTS and not one.declared.for_good]
        for title in dict.fromkeys(one.declared.title for one in healing if one.declared.kind not in SPLITS):
            fault = next(one for one in healing if one.declared.title == title)
            both = fault.declared.kind == "cut"
            one, other = fault.names
            for a, b in self._pairs(one, other, both):
                links = [(a, b), (b, a)] if both else [(a, b)]
                yield Move(f"heal {title.removeprefix('cut ')}", {"a": a, "b": b}, self._set(links, False))
        if any(one.declared.kind in SPLITS for one in healing):
            every = [(key[1], key[2]) for key in self.layout.index if key[0] == "down"]
            yield Move("heal all links", {}, self._set(every, False))

    # ---- locks, messages, calls ----

    def _lose_lock(self, lock: str) -> Effect:
        def happens(m: Machine) -> None:
            if holder_of(self.layout, m, lock) is None:
                raise Blocked
            self.handlers.locks.free(m, lock)

        return happens

    def _lose_calls(self, name: str, memory: tuple[Value, ...]) -> Iterator[Move]:
        for key, slot in self.layout.index.items():
            if key[:2] != ("call", name):
                continue
            call: Call = memory[slot]
            ends = {"from": key[2], "to": key[3]}
            if call.request is not None:
                yield Move(f"lose request of {name}", ends, _set_to(slot, call._replace(request=None)))
            if call.answer is not None:
                yield Move(f"lose answer of {name}", ends, _set_to(slot, call._replace(answer=None)))

    def _messages(self, kind: str, name: str, memory: tuple[Value, ...]) -> Iterator[Move]:
        for key, slot in self.layout.index.items():
            if key[:2] == ("link", name):
                for at in self.handlers.messages.places(memory[slot]):
                    effect = self._lost(slot, at) if kind == "lose" else self._duplicated(name, slot, at)
                    yield Move(f"{kind} {name}", {"from": key[2], "to": key[3]}, effect)

    def _lost(self, slot: int, at: int) -> Effect:
        def lost(m: Machine) -> None:
            m.memory[slot] = self.handlers.messages.without(m.memory[slot], at)

        return lost

    def _duplicated(self, name: str, slot: int, at: int) -> Effect:
        """A copy arrives anywhere behind the message: beside it, or as one that was sent once more."""

        def duplicated(m: Machine) -> None:
            link = m.memory[slot]
            if len(link) >= self.layout.capacity[name]:
                raise BoundFailure(f"capacity of message.{name}")
            if isinstance(link, Bag):
                m.memory[slot] = link.adding(link.items[at])
            else:
                place = m.pick(range(at + 1, len(link) + 1))
                m.memory[slot] = (*link[:place], link[at], *link[place:])

        return duplicated

    # ---- time and views ----

    def _ticks(self) -> Iterator[Move]:
        layout = self.layout
        if not layout.clocks:
            return
        time, limit = layout.index[("time",)], min(layout.number(one.limit) for one in layout.clocks.values())
        own = {key[1]: slot for key, slot in layout.index.items() if key[0] == "clock"}

        def tick(m: Machine) -> None:
            if any(m.memory[slot] < m.memory[time] + 1 - layout.skew[node.kind] for node, slot in own.items()):
                raise Blocked
            if m.memory[time] >= limit:
                raise BoundFailure("time")
            m.memory[time] += 1
            self.handlers.locks.run_out(m)

        yield Move("tick", {}, tick)
        for node, slot in own.items():

            def tick_of_node(m: Machine, slot: int = slot, skew: int = layout.skew[node.kind]) -> None:
                if m.memory[slot] + 1 > m.memory[time] + skew:
                    raise Blocked
                m.memory[slot] += 1

            yield Move(f"clock of {node.kind}", {"n": node}, tick_of_node)

    def _views(self) -> Iterator[Move]:
        for kind, declared in self.layout.kinds.items():
            for view in declared.views:
                for node, of in itertools.product(self.layout.nodes(kind), self.layout.nodes(view.kind.text)):
                    arguments = {"n": node, "of": of}
                    yield Move(f"refresh {view.name.text}", arguments, self._refreshed(view, node, of))

    def _refreshed(self, view: d.ViewDeclaration, node: Node, of: Node) -> Effect:
        slot = self.layout.index["view", node, view.name.text]
        source = self.layout.index["field", of, view.field.text]

        def refreshed(m: Machine) -> None:
            there = self.nodes.runs(m, node) and self.nodes.runs(m, of) and self.nodes.connected(m, of, node)
            if not there or m.memory[slot].get(of) == m.memory[source]:
                raise Blocked
            m.memory[slot] = m.memory[slot].having(of, m.memory[source])

        return refreshed


def _guarded(fault: Fault, effect: Effect) -> Effect:
    def happens(m: Machine) -> None:
        if not fault.possible(m):
            raise Blocked
        effect(m)
        fault.count(m)

    return happens


def _changed(slot: int, before: Value, after: Value) -> Effect:
    def happens(m: Machine) -> None:
        if m.memory[slot] != before:
            raise Blocked
        m.memory[slot] = after

    return happens


def _set_to(slot: int, value: Value) -> Effect:
    def happens(m: Machine) -> None:
        m.memory[slot] = value

    return happens


def _sides(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """One side of each way to split nodes in two: that of the first node."""
    first, *others = nodes or (None,)
    if first is None:
        return
    for size in range(len(others)):
        for more in itertools.combinations(others, size):
            yield (first, *more)


def _between(side: tuple[Node, ...], nodes: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    """The links between one side and the other nodes, both ways."""
    pairs = [(a, b) for a in side for b in nodes if b not in side]
    return [*pairs, *((b, a) for a, b in pairs)]
