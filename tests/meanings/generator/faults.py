"""Random faults, and what is asked of a random spec."""

from __future__ import annotations

from msgspec.structs import replace

from tests.meanings.generator.expressions import value
from tests.meanings.generator.kinds import number as number_kind
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Scope, Spec
from tests.strategies.choosing import chance, pick, weighted

NODES = ("crash", "wipe", "blackout", "pause")
WIDE = ("isolate", "partition", "bridge")


def faults(spec: Spec) -> list[str]:
    """A `faults` block; each fault on a line of its own."""
    chooser = spec.chooser
    written: dict[str, str] = {}
    final = {kind: chance(chooser, 25) for kind in spec.nodes}
    links_final = chance(chooser, 25)
    for _ in range(weighted(chooser, [(5, 0), (6, 1), (3, 2), (1, 3)])):
        title, for_good = _fault(spec, final, links_final)
        if title and title not in written:
            written[title] = title + _budget(spec, for_good)
    if written and chance(chooser, 12):
        written["total"] = f"all together up to {chooser.integer(1, 2)}"
    if not written:
        return []
    joint = pick(chooser, ["", ",", ";"])
    return ["faults {", *(f"  {line}{joint}" for line in written.values()), "}"]


def _fault(spec: Spec, final: dict[str, bool], links_final: bool) -> tuple[str, bool]:
    chooser = spec.chooser
    kinds = list(spec.nodes)
    kind = pick(chooser, kinds)
    many = [name for name, held in spec.nodes.items() if held.high > 1]
    ways: list[tuple[int, str]] = [(4, "crash"), (1, "wipe"), (1, "blackout"), (3, "pause"), (2, "cut"), (1, "isolate")]
    ways += [(1, "partition"), (1, "bridge")] if many else []
    known = [one.name for one in (*spec.messages, *spec.operations)] + [one.name for one in spec.locks]
    several = [one.name for one in spec.messages if one.several]
    ways += [(5, "lose")] if known else []
    ways += [(4, "lose lock")] if spec.locks else []
    ways += [(5, "duplicate")] if several else []
    match weighted(chooser, ways):
        case "crash" | "wipe" | "blackout" as word:
            return f"{word} {kind}", final[kind]
        case "pause":
            return f"pause {kind}", chance(chooser, 15)
        case "cut":
            other = pick(chooser, [*many, *kinds]) if kind in many else pick(chooser, kinds)
            return f"cut {kind} {pick(chooser, ['-', '->'])} {other}", links_final
        case "isolate":
            return f"isolate {kind}", links_final
        case "lose":
            return f"lose {pick(chooser, known)}", False
        case "lose lock":
            return f"lose {spec.locks[0].name}", False
        case "duplicate":
            return f"duplicate {pick(chooser, several)}", False
        case "partition" if len(kinds) > 1 and chance(chooser, 50):
            return f"partition {' and '.join(kinds)}", links_final
        case word:
            return f"{word} {pick(chooser, many)}", links_final


def _budget(spec: Spec, for_good: bool) -> str:
    chooser = spec.chooser
    limit = f" up to {chooser.integer(1, 2)}" if chance(chooser, 85) else ""
    when = ""
    if chance(chooser, 35):
        when = f" when {predicate(Scope(spec, (), sight='all', depth=1))}"
    return f"{limit}{' for good' if for_good else ''}{when}"


def properties(spec: Spec) -> list[str]:
    """What is asked: of states, of steps, of the end."""
    chooser, lines = spec.chooser, []
    for number in range(chooser.integer(2, 4)):
        word = weighted(
            chooser, [(4, "invariant"), (1, "lemma"), (2, "step_invariant"), (4, "reachable"), (1, "deadlock_free")]
        )
        kind = spec.nodes["S"]
        words = (' "some words"' if chance(chooser, 5) else "") + (' source "a book"' if chance(chooser, 8) else "")
        words += ' note "a choice"' if chance(chooser, 8) else ""
        if word == "deadlock_free":
            end = f" except {predicate(Scope(spec, (), sight='all'))}" if chance(chooser, 60) else ""
            lines.append(f"{word} q_{number}{words}{end}")
            continue
        scope = Scope(spec, (("x", kind),), sight="all")
        text = predicate(scope)
        if word == "step_invariant":
            text = f"old({text}) implies {predicate(replace(scope, old=True))}"
        binder = weighted(chooser, [(2, "every x: S satisfies"), (3, "some x: S where"), (1, "no x: S where")])
        named = ""
        if chance(chooser, 15):
            low = number_kind(0, 2)
            named = f"let k_{number} = {value(Scope(spec, (), sight='all', depth=1), low)}; "
            text = f"({text}) or k_{number} > {chooser.integer(0, 2)}"
        lines.append(f"{word} q_{number}{words}: {named}{binder} {text}")
    return lines
