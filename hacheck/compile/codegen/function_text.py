"""The text of a function while it is written: basic blocks, the ways between them, and what is known on each.

Code has one form only: every value is named once (SSA). What differs between the ways that lead to a block (the number
of successors so far, temporaries, merges) is written down as a phi, and only where its value is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from hacheck.compile.codegen.if_conversion import Line, last_sides

COUNT: Final = "k"
"""The key under which a way carries how many successors were written so far."""

Key: TypeAlias = "str | int | tuple[int, int]"
"""`COUNT`, the number of a temporary, or a word: of what (a merge's number), and which."""

Carried: TypeAlias = "Mapping[Key, Item]"
Item: TypeAlias = "str | Phi | Choice"
"""What a key stands for."""


class Join(Struct, eq=False):
    """A basic block to come, with the ways that lead there: each the label it starts from and what it carries.

    `lanes`: blocks just before it, which ways that have the same to do there share; each with what writes it.
    """

    label: str
    edges: list[tuple[str, Carried]] = field(default_factory=list)
    phis: list[str] = field(default_factory=list)
    lanes: dict[object, tuple[Join, Callable[[], None]]] = field(default_factory=dict)

    @property
    def is_reached(self) -> bool:
        """Whether some way leads here."""
        return bool(self.edges or self.lanes)


class Fork(Struct, eq=False):
    """Where ways go on by a temporary's content: to one block if it is 1, to another if it is 0."""

    temp: int
    then: Join
    otherwise: Join


class Phi(Struct, eq=False):
    """What a key stands for behind a join; an instruction only if it is used."""

    join: Join
    key: Key
    kind: str
    name: str = ""


class Choice(Struct, eq=False):
    """What a key stands for behind two sides that are both run; an instruction only if it is used."""

    condition: str
    sides: tuple[Item | None, Item | None]
    kind: str
    place: list[str]
    name: str = ""


class Code(Struct):
    """A function's body up to the place where one writes. `kinds`: the LLVM type of each temporary."""

    kinds: Mapping[int, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    label: str = "entry"
    carried: Carried = field(default_factory=dict)
    known: dict[object, str] = field(default_factory=dict)
    prefix: str = "v"
    _learned: list[object] = field(default_factory=list)
    _single_entry: set[str] = field(default_factory=set)  # blocks that only one other leads to
    _branching: dict[tuple[str, str], str] = field(default_factory=dict)  # by where it leads, which block branches
    _names: int = 0

    # ---- names and instructions ----

    def name(self) -> str:
        """A new name."""
        self._names += 1
        return f"%{self.prefix}{self._names}"

    def put(self, instruction: str) -> str:
        """Writes an instruction with a value; its name."""
        self._names += 1
        name = f"%{self.prefix}{self._names}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Writes an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def at(self, address: str, index: int | str) -> str:
        """The address of a word, counted from another."""
        return address if index == 0 else self.put(f"getelementptr i64, ptr {address}, i64 {index}")

    # ---- what is known here ----

    def learn(self, key: object, name: str) -> str:
        """Remembers a value for as long as the present scope lasts."""
        self.known[key] = name
        self._learned.append(key)
        return name

    def scope(self) -> int:
        """Begins a scope; what is learned from now on is for `forget`."""
        return len(self._learned)

    def forget(self, scope: int) -> None:
        """Ends a scope."""
        while len(self._learned) > scope:
            del self.known[self._learned.pop()]

    def read(self, key: Key) -> str:
        """What a key stands for here. What no path to here has set is never used, only passed on."""
        return self._text(self.carried.get(key))

    def carry(self, key: Key, name: str) -> None:
        """Sets what a key stands for from here on."""
        self.carried = {**self.carried, key: name}

    def drop(self, keys: Iterable[Key]) -> None:
        """No way carries these from here on."""
        left = dict(self.carried)
        for key in keys:
            del left[key]
        self.carried = left

    def _text(self, item: Item | None) -> str:
        if item is None:
            return "poison"
        if isinstance(item, str):
            return item
        if not item.name and isinstance(item, Choice):
            item.name = self.name()
            then, otherwise = (f"{item.kind} {self._text(side)}" for side in item.sides)
            item.place.append(f"  {item.name} = select i1 {item.condition}, {then}, {otherwise}")
        elif not item.name:
            assert isinstance(item, Phi), "a choice was used before"
            item.name = self.name()
            incoming = ", ".join(
                f"[ {self._text(carried.get(item.key))}, %{label} ]" for label, carried in item.join.edges
            )
            item.join.phis.append(f"  {item.name} = phi {item.kind} {incoming}")
        return item.name

    # ---- basic blocks ----

    def join(self) -> Join:
        """A basic block to come."""
        self._names += 1
        return Join(f"{self.prefix}b{self._names}")

    def go(self, target: Join | Fork) -> None:
        """Ends the block: it goes on there."""
        if isinstance(target, Fork):
            merged_fork = self._merged_fork(target)
            if merged_fork is None:
                self.choose(self.read(target.temp), target.then, target.otherwise)
                return
            target = merged_fork
        target.edges.append((self.label, self.carried))
        self.do(f"br label %{target.label}")

    def choose(self, condition: str, then: Join | Fork, otherwise: Join | Fork) -> None:
        """Ends the block: it goes on in one of two."""
        if condition in ("true", "false"):
            self.go(then if condition == "true" else otherwise)
            return
        later: list[tuple[Join, Fork]] = []
        labels = []
        for target in (then, otherwise):
            merged_fork = target if isinstance(target, Join) else self._merged_fork(target)
            if merged_fork is None:
                assert isinstance(target, Fork), "only a fork may be open"
                merged_fork = self.join()
                later.append((merged_fork, target))
            merged_fork.edges.append((self.label, self.carried))
            labels.append(merged_fork.label)
        self.do(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        self._branching[labels[0], labels[1]] = self.label
        for join, fork in later:
            self.start(join)
            self.go(fork)

    def _merged_fork(self, fork: Fork) -> Join | None:
        content = self.carried.get(fork.temp)
        if content in ("true", "false"):
            return fork.then if content == "true" else fork.otherwise
        return None

    def take(self, lane: object, write: Callable[[], None], end: Join | Fork) -> None:
        """Ends the block: it goes on at the end after what a lane does, `write` being what writes that."""
        merged_fork = end if isinstance(end, Join) else self._merged_fork(end)
        if merged_fork is None:
            write()
            self.go(end)
            return
        if lane not in merged_fork.lanes:
            merged_fork.lanes[lane] = self.join(), write
        self.go(merged_fork.lanes[lane][0])

    def start(self, join: Join) -> None:
        """Begins a basic block that some way leads to, once all that lead there are written."""
        for lane, write in join.lanes.values():
            self._begin(lane)
            scope = self.scope()
            write()
            self.forget(scope)
            self.go(join)
        self._begin(join)

    def _begin(self, join: Join) -> None:
        edges = join.edges
        while len(edges) > 1 and self._folded(join):
            pass
        if len(edges) == 1 and self.lines[-1] == f"  br label %{join.label}":
            self.lines.pop()
            self.label, self.carried = edges[0]
            return
        if len(edges) == 1:
            self._single_entry.add(join.label)
        self.lines += [f"{join.label}:", join.phis]
        self.label = join.label
        self.carried = self._merged([carried for _, carried in edges], lambda key, kind, _: Phi(join, key, kind))

    def _merged(self, incoming: Sequence[Carried], merge: Callable[[Key, str, Sequence[Item | None]], Item]) -> Carried:
        """What is carried where ways meet. `merge`: what a key stands for, of a kind, that ways carry differently."""
        first = incoming[0]
        if all(carried is first for carried in incoming):
            return first
        merged: dict[Key, Item] = {}
        for key in {key: None for carried in incoming for key in carried}:
            items = [carried.get(key) for carried in incoming]
            if items[0] is not None and all(item == items[0] for item in items):
                merged[key] = items[0]
            else:
                merged[key] = merge(key, self.kinds[key] if isinstance(key, int) else "i64", items)
        return merged

    def _folded(self, join: Join) -> bool:
        """Whether the code ends with the sides of a short branch that lead here, which are now run one after the other
        where the branch was; what is carried is chosen from both."""
        sides = last_sides(self.lines, join.label, self._single_entry)
        if sides is None:
            return False
        head = self._branching[sides.labels]
        incoming = dict(join.edges)
        then, otherwise = (incoming[head if label == join.label else label] for label in sides.labels)
        place: list[str] = []

        def chosen(_: Key, kind: str, items: Sequence[Item | None]) -> Choice:
            return Choice(sides.condition, (items[0], items[1]), kind, place)

        carried = self._merged((then, otherwise), chosen)
        self.lines[sides.start : sides.end] = [*sides.lines, place, f"  br label %{join.label}"]
        join.edges[:] = [edge for edge in join.edges if edge[0] not in (*sides.labels, head)] + [(head, carried)]
        return True

    def body(self) -> str:
        """What was written."""
        flat: list[str] = []
        for line in self.lines:
            if isinstance(line, str):
                flat.append(line)
            else:
                flat += line
        return "\n".join(flat)

    def text(self, head: str) -> str:
        """The function with this head."""
        return f"{head}\nentry:\n{self.body()}\n}}"
