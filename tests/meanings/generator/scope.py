"""What a random spec has declared so far, and what an expression or statement of it can see."""

from __future__ import annotations

from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from tests.meanings.generator.kinds import BOOL, Kind, map_to
from tests.strategies.choosing import Chooser


class Field(Struct, frozen=True):
    """A field of a node, or a variable outside of all nodes. `flag`: durable, synced, ghost, shared, view or none."""

    name: str
    kind: Kind
    flag: str = ""


class Message(Struct, frozen=True):
    """A message; of an operation also what is answered. `atomic`: whether all its calls are one step."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    sender: str
    receiver: str
    several: bool = False
    """Whether a link holds several (so that one may come twice)."""
    returns: Kind | None = None
    atomic: bool = False


class Lock(Struct, frozen=True):
    """A lock and who may hold it."""

    name: str
    holder: str


class Named(Struct, frozen=True):
    """A definition, whose type is `kind`, or a procedure."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    kind: Kind | None = None
    sees_all: bool = False


class Spec(Struct):
    """A spec being written."""

    chooser: Chooser
    logged: bool = False
    """Whether each statement writes a line, so that it can be seen which were executed."""
    numbers: count[int] = field(default_factory=count)
    nodes: dict[str, Kind] = field(default_factory=dict)
    enums: list[Kind] = field(default_factory=list)
    records: list[Kind] = field(default_factory=list)
    identities: list[Kind] = field(default_factory=list)
    optional: list[Kind] = field(default_factory=list)
    """Optional types that have a name, so that sets may hold them."""
    pooled: set[str] = field(default_factory=set)
    """Identities with a pool of stated size, which sets may hold."""
    fields: dict[str, list[Field]] = field(default_factory=dict)
    variables: list[Field] = field(default_factory=list)
    settings: list[tuple[str, Kind]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    operations: list[Message] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    clocks: list[str] = field(default_factory=list)
    defines: list[Named] = field(default_factory=list)
    procedures: list[Named] = field(default_factory=list)
    points: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """For each handler of several steps its kind of node and the names of its steps."""
    shared_library: list[str] = field(default_factory=list)
    markers: count[int] = field(default_factory=count)

    def fresh(self, word: str) -> str:
        """A name that the spec does not have yet."""
        return f"{word}{next(self.numbers)}"

    def field_named(self, kind: str, name: str) -> Field:
        """A field of a kind of node."""
        return next(one for one in self.fields[kind] if one.name == name)


class Scope(Struct, frozen=True):
    """Where an expression or statement stands.

    `known`: locals in scope, as text, with their types; `changing`: those that may be assigned. `actor`: the node that
    acts. `sight`: `node`, `all`, `settings` or `nothing`. `draws`: whether identities may be drawn here. `waits`:
    whether a step may end here. `serving`: the operation being served.
    """

    spec: Spec
    known: tuple[tuple[str, Kind], ...] = ()
    changing: tuple[tuple[str, Kind], ...] = ()
    actor: str | None = None
    owner: str | None = None
    sight: str = "node"
    draws: bool = False
    old: bool = False
    waits: bool = False
    ends: bool = False
    """Whether `finish` and `halt` may stand here."""
    depth: int = 2
    handler: str = ""
    points: tuple[str, ...] = ()
    serving: Message | None = None
    line_at: str = ""
    """The node that lines must name, in a procedure; `-` where no line may be written."""
    once: bool = False
    """Whether `step`s here are passed at once, as in the service of an atomic call."""
    whole: bool = True
    """Whether fields and variables may be read."""

    def learn(self, name: str, kind: Kind, changes: bool = False) -> Scope:
        """The scope after a local of this name has been declared."""
        known = (*(one for one in self.known if one[0] != name), (name, kind))
        changing = tuple(one for one in self.changing if one[0] != name)
        return replace(self, known=known, changing=(*changing, (name, kind)) if changes else changing)

    def inner(self, **changes: object) -> Scope:
        """The scope one level deeper."""
        return replace(self, depth=self.depth - 1, **changes)  # type: ignore[arg-type]

    def seeing(self, sight: str) -> Scope:
        """The same place with another sight."""
        return replace(self, sight=sight)

    def condition(self) -> Scope:
        """The same place, where no identity may be drawn."""
        return replace(self, draws=False)

    def sources(self) -> list[tuple[str, Kind]]:
        """What can be read by name."""
        spec = self.spec
        found = [] if self.sight == "nothing" else [*spec.settings]
        if self.sight in ("settings", "nothing"):
            return found
        found = [*found, *self.known, *self.known, *self._globals()]
        for name, kind in self.known:
            if kind.form == "node" and (name == self.actor or self.sight == "all"):
                found += self._fields(name, kind)
        if self.sight == "all":
            for name, kind in spec.nodes.items():
                if kind.high == 1:
                    found += self._fields(name, kind)
                elif kind.ordered:
                    found += self._fields(f"{name}(1)", kind)
        return found

    def _globals(self) -> list[tuple[str, Kind]]:
        return [(one.name, one.kind) for one in self.spec.variables if one.flag != "ghost" or self.sight == "all"]

    def _fields(self, node: str, kind: Kind) -> list[tuple[str, Kind]]:
        if not self.whole:
            return []
        shown = [one for one in self.spec.fields.get(kind.text, ()) if one.flag != "ghost" or self.sight == "all"]
        return [(f"{node}.{one.name}", one.kind) for one in shown]

    def nodes(self, kind: str) -> list[str]:
        """Locals that are nodes of a kind."""
        return [name for name, held in self.known if held.form == "node" and held.text == kind]


def view_of(seen: Kind, shown: Kind) -> Kind:
    """The type of a view: what was seen of each node."""
    return map_to(seen, shown)


__all__ = ["BOOL", "Field", "Lock", "Message", "Named", "Scope", "Spec", "view_of"]
