"""Random declarations: settings, types, nodes with their fields, messages, operations, locks, clocks, definitions."""

from __future__ import annotations

from msgspec.structs import replace

from tests.meanings.generator import expressions, statements
from tests.meanings.generator.kinds import (
    BOOL,
    Kind,
    bag_of,
    counter,
    map_to,
    names_identity,
    number,
    option,
    sequence_of,
    set_of,
)
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Field, Lock, Message, Named, Scope, Spec, view_of
from tests.strategies.choosing import chance, pick, weighted


def settings_scope(spec: Spec) -> Scope:
    """What is known before the exploration."""
    return Scope(spec, sight="settings", depth=1)


def describe(spec: Spec) -> str:
    """A text now and then."""
    return ' "some words"' if chance(spec.chooser, 9) else ""


# ---- settings and types ----


def settings(spec: Spec) -> list[str]:
    """Params, switches, assumptions."""
    chooser, lines = spec.chooser, []
    if chance(chooser, 30):
        name = spec.fresh("n")
        within = pick(chooser, [" in 0..3", ""])
        lines.append(f"param {name} = {chooser.integer(1, 2)}{within}{describe(spec)}")
        spec.settings.append((name, number(0, 2)))
    if chance(chooser, 15):
        name, words = spec.fresh("n"), (spec.fresh("w"), spec.fresh("w"))
        lines.append(f"param {name} = {pick(chooser, words)} in {{ {words[0]}, {words[1]} }}{describe(spec)}")
        spec.settings.append((name, Kind("enum", "", words=words)))
    for word in ("switch", "assumption"):
        if chance(chooser, 25):
            name = spec.fresh("n")
            lines.append(f"{word} {name} = {pick(chooser, ['on', 'off'])}{describe(spec)}")
            spec.settings.append((name, BOOL))
    return lines


def types(spec: Spec) -> list[str]:
    """Enums and records."""
    chooser, lines = spec.chooser, []
    if chance(chooser, 40):
        words = tuple(spec.fresh("w") for _ in range(chooser.integer(2, 3)))
        kind = Kind("enum", spec.fresh("Word"), words=words)
        spec.enums.append(kind)
        lines.append(f"type {kind.text} = {{ {', '.join(words)} }}{describe(spec)}")
    if chance(chooser, 12):
        maybe = replace(option(number(0, 1)), text=spec.fresh("Maybe"))
        spec.optional.append(maybe)
        lines.append(f"type {maybe.text} = 0..1?{describe(spec)}")
    if spec.identities and chance(chooser, 30):
        lines.append(f"type {spec.fresh('Name')} = {spec.identities[0].text}?")
    if chance(chooser, 25):
        lines.append(record(spec, [number(0, 1), BOOL, number(0, 2), *spec.enums], chance(chooser, 50)))
    return lines


def record(spec: Spec, kinds: list[Kind], ordered: bool) -> str:
    """A record of two parts; what is ordered has parts that are."""
    chooser, name = spec.chooser, spec.fresh("Pair")
    fields = tuple((spec.fresh("f"), pick(chooser, kinds)) for _ in range(2))
    if not ordered and chance(chooser, 30):
        fields = (
            fields[0],
            (spec.fresh("f"), pick(chooser, [option(number(0, 1)), set_of(BOOL), option(spec_node(spec))])),
        )
    spec.records.append(Kind("record", name, fields=fields, ordered=ordered))
    inside = ", ".join(f"{word}: {kind.text}" for word, kind in fields)
    return f"{'ordered ' if ordered else ''}record {name}{describe(spec)} {{ {inside} }}"


def spec_node(spec: Spec) -> Kind:
    """A kind of node."""
    return pick(spec.chooser, list(spec.nodes.values()))


def identities(spec: Spec) -> list[str]:
    """Identities, of a pool as large as needed or of a stated size."""
    chooser = spec.chooser
    if not chance(chooser, 25):
        return []
    name = spec.fresh("Id")
    spec.identities.append(Kind("identity", name))
    if chance(chooser, 50):
        spec.pooled.add(name)
        return [f"identity {name} up to {chooser.integer(1, 3)}{describe(spec)}"]
    return [f"identity {name}{describe(spec)}"]


# ---- nodes ----


def choose_nodes(spec: Spec) -> list[tuple[str, str]]:
    """Which kinds of node there are, and the heads of their declarations."""
    chooser = spec.chooser
    size = weighted(chooser, [(2, 1), (8, 2), (2, 3)])
    order = pick(chooser, ["symmetric", "ranked", ""]) if size > 1 else pick(chooser, ["", "ranked"])
    names = ["S"] + (["C"] if chance(chooser, 40) else [])
    heads = []
    for name in names:
        many = size if name == "S" else weighted(chooser, [(4, 1), (1, 2)])
        how = order if name == "S" else ("symmetric" if many > 1 else "")
        ordered = how == "ranked"
        spec.nodes[name] = Kind("node", name, high=many, ordered=ordered)
        spec.fields[name] = []
        shown = f"[{many}]" if many > 1 or chance(chooser, 20) else ""
        heads.append((name, f"node {name}{shown}{' ' + how if how else ''}{describe(spec)}"))
    return heads


def calculated(spec: Spec) -> Kind:
    """A range whose limits are calculated."""
    known = [name for name, kind in spec.settings if kind.form == "number"]
    texts = ["0..1 + 1", "-1..2", "0..2 * 1", "-1..(3 - 1)"] + [f"0..2 + {name} - {name}" for name in known]
    text = pick(spec.chooser, texts)
    return replace(number(-1 if text.startswith("-") else 0, 2), text=text)


def field_kind(spec: Spec) -> Kind:
    """The type of a field: plain ones more often than large ones."""
    chooser = spec.chooser
    node = spec_node(spec)
    plain: list[tuple[int, Kind]] = [
        (5, number(0, 2)),
        (1, calculated(spec)),
        (4, BOOL),
        (4, option(node)),
        (3, option(number(0, 1))),
        (3, set_of(node)),
        (2, counter(chooser.integer(1, 2))),
        (2, map_to(node, BOOL)),
        (2, map_to(BOOL, number(0, 1))),
        (1, map_to(number(0, 2), BOOL)),
        (2, sequence_of(number(0, 1), 2)),
        (1, sequence_of(node, 2)),
        (2, bag_of(number(0, 1), 2)),
        (1, bag_of(node, 2)),
        (1, set_of(number(0, 2))),
        (1, Kind("enum", "", words=(spec.fresh("w"), spec.fresh("w")))),
    ]
    plain += [(4, one) for one in spec.enums] + [(4, one) for one in spec.records]
    plain += [(2, set_of(one)) for one in spec.optional]
    plain += [(1, map_to(one, number(0, 1))) for one in spec.enums] + [(1, option(one)) for one in spec.enums]
    for one in spec.identities:
        plain += [(6, option(one)), (1, sequence_of(one, 2)), (1, map_to(BOOL, option(one)))]
        plain += [(2, set_of(one)), (1, bag_of(one, 2))] if one.text in spec.pooled else []
    return weighted(chooser, plain)


def initial(spec: Spec, kind: Kind) -> str:
    """A first value, if the field states one."""
    if kind.form in ("node", "identity") or chance(spec.chooser, 30):
        return ""
    scope = replace(settings_scope(spec), sight="nothing")
    if not expressions.available(scope, kind):
        return ""
    if kind.form == "map":
        return (
            f" = {expressions.value(scope.inner(), kind.element)}" if expressions.available(scope, kind.element) else ""
        )
    if kind.form in ("set", "bag", "sequence", "record"):
        return f" = {expressions.value(scope, kind)}" if chance(spec.chooser, 50) else ""
    return f" = {expressions.value(scope.inner(), kind)}" if kind.form != "number" else f" = {kind.low}"


def fields(spec: Spec, node: str, count: int) -> list[str]:
    """The fields of a kind of node."""
    chooser = spec.chooser
    lines = ["left: 0..1 = 1"]
    for _ in range(count):
        kind, name = field_kind(spec), spec.fresh("f")
        flag = weighted(chooser, [(6, ""), (2, "durable"), (1, "synced"), (1, "ghost"), (1, "durable if")])
        word = f"{flag} " if flag else ""
        if flag == "durable if":
            word = f"durable (if {predicate(settings_scope(spec))}) "
        elif not flag and kind.form == "enum" and not any("state " in line for line in lines) and chance(chooser, 60):
            word = pick(chooser, ["state ", "state durable ", "durable state "])
        shown = kind.text or f"{{ {', '.join(kind.words)} }}"
        lines.append(f"{word}{name}: {shown}{initial(spec, kind)}{promise(name)}{describe(spec)}")
        spec.fields[node].append(Field(name, kind, flag.partition(" ")[0]))
    return lines


def promise(name: str) -> str:
    """The mark of what clients have been promised, at names of even numbers."""
    digits = "".join(char for char in name if char.isdigit())
    return " acknowledged to clients" if digits and int(digits) % 2 == 0 else ""


def views(spec: Spec, node: str) -> list[str]:
    """What a node last saw of others."""
    found = [(kind, one) for kind, held in spec.fields.items() for one in held if one.flag not in ("ghost", "view")]
    found = [
        one for one in found if not names_identity(one[1].kind) and one[1].kind.form in ("bool", "number", "option")
    ]
    if not found or not chance(spec.chooser, 12):
        return []
    kind, shown = pick(spec.chooser, found)
    name = spec.fresh("seen")
    spec.fields[node].append(Field(name, view_of(spec.nodes[kind], shown.kind), "view"))
    return [f"view {name} of {kind}.{shown.name}{describe(spec)}"]


def nodes(spec: Spec, heads: list[tuple[str, str]]) -> list[str]:
    """Kinds of node with what they keep."""
    inside = {
        name: fields(spec, name, spec.chooser.integer(2, 4) if name == "S" else spec.chooser.integer(1, 2))
        for name, _ in heads
    }
    for name in spec.nodes:
        inside[name] += views(spec, name)
    return [line for name, head in heads for line in (f"{head} {{", *(f"  {one}" for one in inside[name]), "}")]


def variables(spec: Spec) -> list[str]:
    """What is outside all nodes."""
    lines = []
    for word in ("shared", "ghost"):
        if chance(spec.chooser, 35):
            kind, name = field_kind(spec), "log" if word == "shared" and chance(spec.chooser, 8) else spec.fresh(word)
            shown = kind.text or f"{{ {', '.join(kind.words)} }}"
            lines.append(f"{word} {name}: {shown}{initial(spec, kind)}{promise(name)}{describe(spec)}")
            spec.variables.append(Field(name, kind, word))
    return lines


# ---- messages, operations, locks, clocks ----


def payload(spec: Spec) -> tuple[tuple[str, Kind], ...]:
    """What a message or request carries."""
    chooser = spec.chooser
    kinds = [number(0, 1), number(0, 1), BOOL, option(spec_node(spec)), spec_node(spec), *spec.enums, *spec.records]
    kinds += [*spec.identities, set_of(spec_node(spec)), sequence_of(number(0, 1), 2), map_to(BOOL, BOOL)]
    return tuple(
        (spec.fresh("a"), pick(chooser, kinds)) for _ in range(weighted(chooser, [(4, 0), (10, 1), (2, 2), (1, 3)]))
    )


def head(name: str, parameters: tuple[tuple[str, Kind], ...]) -> str:
    """`name(a: T, …)`."""
    return f"{name}({', '.join(f'{word}: {kind.text}' for word, kind in parameters)})"


def messages(spec: Spec) -> list[str]:
    """Messages of every kind of channel."""
    chooser, lines = spec.chooser, []
    for _ in range(weighted(chooser, [(5, 0), (4, 1), (1, 2)])):
        name, ends = spec.fresh("m"), [pick(chooser, list(spec.nodes)) for _ in range(2)]
        channel = pick(
            chooser, ["", "unordered", "fifo", "latest", "fifo up to 2", "unordered up to 2", "up to 2", "fifo up to 3"]
        )
        queued = " queued" if chance(chooser, 35) else ""
        parameters = payload(spec)
        spec.messages.append(Message(name, parameters, ends[0], ends[1], "up to" in channel))
        words = f" {channel}" if channel else ""
        lines.append(f"message {head(name, parameters)} from {ends[0]} to {ends[1]}{words}{queued}{describe(spec)}")
    return lines


def operations(spec: Spec) -> list[str]:
    """Operations, whose calls take steps or one."""
    chooser, lines = spec.chooser, []
    for _ in range(weighted(chooser, [(11, 0), (8, 1), (1, 2)])):
        name, ends = spec.fresh("o"), [pick(chooser, list(spec.nodes)) for _ in range(2)]
        parameters = payload(spec)
        returns = pick(
            chooser, [None, number(0, 2), BOOL, *spec.enums, *spec.records, spec_node(spec), *spec.identities]
        )
        atomic = chance(chooser, 40)
        options = [f"atomic when {'true' if atomic else 'false'}"] if atomic or chance(chooser, 15) else []
        inner = Scope(spec, (("caller", spec.nodes[ends[0]]), ("callee", spec.nodes[ends[1]])), sight="all", depth=0)
        if chance(chooser, 30):
            options.append(f"timeout when {pick(chooser, ['true', predicate(inner)])}")
        spec.operations.append(Message(name, parameters, ends[0], ends[1], False, returns, atomic))
        given = f" returns {returns.text}" if returns is not None else ""
        words = "".join(f" {one}" for one in options)
        lines.append(f"operation {head(name, parameters)} from {ends[0]} to {ends[1]}{given}{words}{describe(spec)}")
    return lines


def locks_and_clocks(spec: Spec) -> list[str]:
    """Locks, leases and what these run on."""
    chooser, lines = spec.chooser, []
    holder = pick(chooser, list(spec.nodes))
    if chance(chooser, 20):
        skew = f" skew {chooser.integer(0, 1)}" if chance(chooser, 50) else ""
        lines.append(f"clock {holder} up to {chooser.integer(1, 3)}{skew}{describe(spec)}")
        spec.clocks.append(holder)
    if chance(chooser, 35):
        name = spec.fresh("L")
        hosts = [kind.text for kind in spec.nodes.values() if kind.high == 1]
        host = f" on {pick(chooser, hosts)}" if hosts and chance(chooser, 60) else ""
        lease = f" lease {chooser.integer(1, 2)} ticks" if spec.clocks and chance(chooser, 60) else ""
        how = lease + pick(chooser, ["", "", " freed late"]) if lease else pick(chooser, ["", " freed late"])
        lines.append(f"lock {name}{host} held by {holder}{how}{describe(spec)}")
        spec.locks.append(Lock(name, holder))
    return lines


# ---- definitions and procedures ----


def defines(spec: Spec) -> list[str]:
    """Named expressions, some of which only properties can use."""
    chooser, lines = spec.chooser, []
    for _ in range(weighted(chooser, [(6, 0), (3, 1), (1, 2)])):
        kind = pick(chooser, [BOOL, BOOL, number(0, 2), set_of(spec_node(spec)), *spec.enums, *spec.records])
        parameters = tuple(
            (spec.fresh("a"), pick(chooser, [spec_node(spec), number(0, 2), BOOL]))
            for _ in range(chooser.integer(0, 2))
        )
        sees_all = chance(chooser, 30)
        scope = Scope(spec, parameters, sight="all" if sees_all else "node", depth=2)
        if not sees_all and parameters and chance(chooser, 50):
            owner = next((one for one in parameters if one[1].form == "node"), None)
            scope = replace(scope, actor=owner[0], owner=owner[1].text, whole=False) if owner else scope
        name = spec.fresh("d")
        shown = f"({', '.join(f'{word}: {part.text}' for word, part in parameters)})" if parameters else ""
        typed = f": {kind.text}" if chance(chooser, 40) or kind.form != "bool" else ""
        promised = "" if parameters else " acknowledged to clients"
        lines.append(f"define {name}{shown}{typed} = {expressions.value(scope, kind)}{promised}{describe(spec)}")
        spec.defines.append(Named(name, parameters, kind, sees_all))
    return lines


def procedures(spec: Spec) -> list[str]:
    """Named statements, about the node that is their first argument or about none."""
    chooser, lines = spec.chooser, []
    for _ in range(weighted(chooser, [(7, 0), (3, 1)])):
        node = pick(chooser, list(spec.nodes.values()))
        more = tuple(
            (spec.fresh("a"), pick(chooser, [number(0, 1), BOOL, node, *spec.enums]))
            for _ in range(chooser.integer(0, 2))
        )
        name, first = spec.fresh("t"), spec.fresh("s")
        parameters = ((first, node), *more)
        scope = Scope(spec, parameters, draws=True, depth=1, sight="node", line_at=first, whole=False)
        made, _ = statements.body(scope, chooser.integer(1, 2))
        lines += [f"procedure {head(name, parameters)}{describe(spec)} do", *(f"  {line}" for line in made)]
        spec.procedures.append(Named(name, parameters))
    return lines
