"""From a system to the lemmas that its proof by induction lacks: facts, reachable states, the search, and words."""

from __future__ import annotations

from msgspec.structs import replace

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.fact_table import Table, fact_name
from hacheck.checker.symbolic.lemma_candidates import ClaimPrinter
from hacheck.checker.symbolic.lemma_facts import facts
from hacheck.checker.symbolic.lemma_search import Finder
from hacheck.checker.symbolic.prepared_encoding import prepare
from hacheck.checker.symbolic.reachable_states import reached
from hacheck.model.ir import Property, System

FINDING_SECONDS_MAX = 60.0
"""So long is looked for lemmas."""


def lemmas(
    system: System, names: tuple[str, ...], limits: Limits, report: Report, watch: Stopwatch
) -> tuple[tuple[Property, ...], tuple[str | None, ...]]:
    """Lemmas with which all these properties may be inductive, and each as text of a spec if it can be said there; none
    where none were found. Errors: `Cancelled`, `Refused`, `EvaluationError` as `prepare`."""
    own = tuple(one for one in system.properties if one.name in names)
    known = facts(system)
    properties = tuple(
        Property(fact_name(number), "reachable", fact.condition, None, (), "", "", 0)
        for number, fact in enumerate(known)
    )
    with watch.phase("exploring for lemmas"):
        states = reached(system, limits, report, watch)
    if states is None:
        return (), ()
    prepared = prepare(replace(system, properties=(*own, *properties)), (), limits, report, watch)
    if prepared is None:
        return (), ()
    table = Table(prepared, states.columns, states.count, len(known))
    finder = Finder(prepared, table, ClaimPrinter(system, known), tuple(one.name for one in own if one.kind != "step"))
    with watch.phase("finding lemmas"):
        chosen = finder.find(tuple(one.name for one in own))
    taken = {one.name for one in system.properties}
    free = (name for name in (f"found_{number}" for number in range(1, 10_000)) if name not in taken)
    rendered = [(name, *finder.printer.condition(claim)) for name, claim in zip(free, chosen, strict=False)]
    made = tuple(Property(name, "lemma", goal, None, (), "found", "", 0) for name, goal, _ in rendered)
    return made, tuple(None if text is None else f"lemma {name}: {text}" for name, _, text in rendered)
