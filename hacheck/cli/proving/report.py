"""What `hacheck prove` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hacheck.checker.parametric.cti_states import Counterexample
from hacheck.checker.parametric.proof import Proof
from hacheck.checker.parametric.small_violations import Violation
from hacheck.checker.parametric.theory import Theory
from hacheck.cli.checking.run_rendering import full_run, indented
from hacheck.cli.console import seconds, symbols, visible
from hacheck.model.runs import Run, Step
from hacheck.wording import plural


def outside(reasons: str) -> RenderableType:
    """Why a spec cannot be expressed in first-order logic: every reason on a line of its own."""
    lines = [Text("not in the fragment that can be proved for every number of nodes:", "bad")]
    lines += [Text(f"  {visible(one)}") for one in reasons.splitlines()]
    lines.append(
        Text(
            "`hacheck explain proofs` describes the fragment; `hacheck verify` decides every spec within bounds.",
            "quiet",
        )
    )
    return Text("\n").join(lines)


def scope(theory: Theory) -> RenderableType:
    """For which sizes, and what was left open."""
    grid = Table.grid(padding=(0, 2))
    grid.add_row("  covers", visible("\n".join(theory.covers)))
    if theory.notes:
        grid.add_row("  left open", visible("\n".join(theory.notes)))
    return grid


def verdicts(console: Console, proof: Proof) -> RenderableType:
    """A line for each property, and how many obligations each took."""
    marks = symbols(console)
    shown = Counter(one.obligation.claim.name for one in proof.outcomes)
    spent = Counter[str]()
    for one in proof.outcomes:
        spent[one.obligation.claim.name] += round(one.seconds * 1000)
    grid = Table.grid(padding=(0, 2))
    for prop, verdict in proof.verdicts:
        mark, style = {
            "proved": (marks.holds, "good"),
            "violated": (marks.violated, "bad"),
            "not inductive": (marks.unknown, "doubt"),
            "open": (marks.unknown, "doubt"),
        }[verdict]
        much = f"{plural(shown[prop.name], 'obligation')}, {seconds(spent[prop.name] / 1000)}"
        grid.add_row(
            Text(f"  {mark}", style),
            Text(visible(prop.name), "name"),
            Text(verdict, style),
            prop.kind,
            much if verdict == "proved" else "" if verdict == "violated" else _failing(proof, prop.name),
        )
    for claim, text in zip(proof.found, proof.texts, strict=True):
        words = visible(text) if text is not None else f"{visible(claim.words)} (not text of a spec)"
        grid.add_row(Text(f"  {marks.holds}", "good"), Text(claim.name, "quiet"), "proved", "found", words)
    return grid


def _failing(proof: Proof, name: str) -> str:
    """Which of its obligations were not shown."""
    titles = [one.obligation.title for one in proof.failed if one.obligation.claim.name == name]
    if not titles:
        return "not tried"
    return f"not proved: {visible(titles[0])}" + (f", and {len(titles) - 1} more" if len(titles) > 1 else "")


def violation(console: Console, proof: Proof, found: Violation) -> Iterator[RenderableType]:
    """A run of a small size that violates a property."""
    sizes = {node.name: node.size for node in found.system.nodes}
    nodes = ", ".join(f"{sizes[kind]} {kind}s" for kind, _ in proof.made.kinds if kind in sizes)
    with_ = f" with {nodes}" if nodes else ""
    yield Text.assemble((f"{visible(found.property.name)}: violated", "bad"), with_)
    yield indented(full_run(console, found.system, found.run, found.property), 2)


def example(console: Console, proof: Proof, name: str, found: Counterexample) -> Iterator[RenderableType]:
    """A counterexample to induction, as a state and a step."""
    nodes = ", ".join(f"{found.size} {kind}s" for kind, _ in proof.made.kinds)
    yield Text.assemble((f"counterexample to induction of {visible(name)}", "doubt"), f" with {nodes}")
    yield indented(Text(f"the state before is {found.reachable}: {_MEANINGS[found.reachable]}"), 2)
    system = found.system
    if found.after is None or found.arguments is None:
        yield Text(
            f"  {visible(system.actions[found.action].name)} breaks it only by what was left open: no model step does"
        )
        run = Run(found.before, (), None, None)
    else:
        run = Run(found.before, (Step(found.action, found.arguments, (), found.after),), None, None)
    yield indented(full_run(console, system, run, None, "the state before"))


_MEANINGS = {
    "reachable": "a run leads to it, so the property or another assumed claim is violated",
    "not reachable": "no run leads to it: a lemma that excludes it is missing",
    "not known": "the time did not suffice to find out whether a run leads to it",
}


def unfinished(why: str, spent: float) -> Text:
    """The last line of what is not proved. `why`: it had to stop, if it had; `spent`: seconds."""
    stopped = f" ({why})" if why else ""
    return Text(f"not proved{stopped}, which does not mean violated; {seconds(spent)}", "doubt")


def summary(proof: Proof, spent: float) -> RenderableType:
    """The last lines: proved or not, of what size the proof is, and whether it had to come to an end. `spent`: seconds
    since the command began."""
    count = plural(len(proof.outcomes), "obligation")
    violated = [one.name for one, verdict in proof.verdicts if verdict == "violated"]
    if violated:
        text = Text(f"violated: {visible(', '.join(violated))}; {seconds(spent)}", "bad")
    elif proof.proved:
        text = Text(f"proved: {count} shown, {seconds(spent)}", "good")
    else:
        text = unfinished(proof.stopped, spent)
    if proof.found:
        count = "1 claim was" if len(proof.found) == 1 else f"{len(proof.found)} claims were"
        unsaid = sum(one is None for one in proof.texts)
        what = "written into the spec as lemmas, they need not be found again"
        if unsaid:
            what = f"the language cannot express {unsaid} of them; the others can be written into the spec as lemmas"
        text.append(f"\n{count} found besides the spec's: {what}", "quiet")
    if proof.circle:
        text.append(
            f"\nsorts depend on each other in a cycle, {' -> '.join(proof.circle)}: the solver might not have "
            "terminated" + ("; it did, and the proof is valid" if proof.proved else ""),
            "quiet",
        )
    return text


def kept(folder: Path, count: int) -> RenderableType:
    """Where the certificate is, and how to check it."""
    return Text(f"certificate: {count} files in {visible(str(folder))}; for f in *.smt2; do z3 $f; done", "quiet")
