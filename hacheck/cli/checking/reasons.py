"""Runs `hacheck why`: for each invariant what its proof rests on, and what it does without."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.checker.described_run import run_title
from hacheck.checker.engine import Limits, Progress, Refused
from hacheck.checker.symbolic.k_induction import InductionEngine
from hacheck.checker.symbolic.unsat_cores import Reasons, reasons
from hacheck.checker.symbolic.weakened_system import Part
from hacheck.checker.verify import default_check
from hacheck.cli.checking import report
from hacheck.cli.console import error_console, output_console, symbols
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.options import all_known
from hacheck.cli.progress import progress_display
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.model.ir import System
from hacheck.model.language import Parameter, Specification
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption

INDENT = (0, 0, 0, 2)
LOOK_SECONDS = 10.0
"""How long a property that is not proved is explored for a violation."""
SPARE_MAX = 20
"""Of more conditions that a proof does without there is the number."""


class Request(Struct, frozen=True):
    """What the user wants of `why`. `others`: whether other settings are tried."""

    spec: str
    check: str | None
    properties: tuple[str, ...]
    settings: Mapping[str, str]
    others: bool
    limits: Limits
    no_color: bool = False


def why_spec(request: Request) -> ExitCode:
    """Shows what the proof of each invariant rests on. Errors: `BadInput`."""
    specification = load_specification(request.spec, no_color=request.no_color)
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    provable = [prop.name for prop in system.properties if prop.kind in ("invariant", "lemma")]
    all_known("invariant", request.properties, provable)
    names = request.properties or tuple(prop.name for prop in system.properties if prop.kind == "invariant")
    if not names:
        raise BadInput(f"{request.spec} has no invariant")
    console = output_console(no_color=request.no_color)
    console.print(report.title(specification))
    complete, shown, violated = True, False, False
    with Interruption().watching() as interruption:
        for name in names:
            found = _found(request, system, name, interruption)
            if found.failed is not None and (run := _violation(request, system, name, interruption)) is not None:
                _show_violated(console, request, specification, system, name, run)
                violated = True
                continue
            show(console, request, specification, system, found)
            shown = shown or found.failed is None
            complete = complete and found.failed is None
            if request.others and found.failed is None:
                _show_others(console, request, specification, found, interruption)
            if interruption.requested:
                return ExitCode.UNDECIDED
    if shown:
        console.print()
        console.print(Padding(Text(LEGEND, style="quiet"), INDENT))
    if violated:
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.AS_EXPECTED if complete else ExitCode.UNDECIDED


def _violation(request: Request, system: System, name: str, interruption: Interruption) -> Run | None:
    """A run that violates a property for which there is no proof, if a short exploration finds one."""
    seconds = request.limits.wall_seconds_max
    limits = Limits(
        wall_seconds_max=LOOK_SECONDS if seconds is None else min(seconds, LOOK_SECONDS),
        memory_bytes_max=request.limits.memory_bytes_max,
    )
    with progress_display(error_console(no_color=request.no_color), f"exploring for {name}", quiet=False) as display:

        def report(progress: Progress) -> bool:
            display.update(progress)
            return not interruption.requested

        try:
            answer = engine_for(Exploring()).check(system, (name,), limits, report)
        except Refused:
            return None
    found = next(one for one in answer.properties if one.name == name)
    return found.run if found.verdict == "violated" else None


def _show_violated(
    console: Console, request: Request, specification: Specification, system: System, name: str, run: Run
) -> None:
    length = run_title(system, run)
    line = Text.assemble(
        (f"{symbols(console).violated} ", "bad"), (name, "name"), ("  violated", "bad"), f"  in {length}"
    )
    console.print()
    console.print(Padding(line, INDENT))
    console.print(Padding(Text("Nothing to prove. To see the counterexample:", style="quiet"), (0, 0, 0, 4)))
    command = shlex.join([*_verifying(request, specification, name), "--runs"])
    console.print(f"      {command}", markup=False, highlight=False, soft_wrap=True)


def _found(request: Request, system: System, name: str, interruption: Interruption) -> Reasons:
    with progress_display(error_console(no_color=request.no_color), f"why {name}", quiet=False) as display:

        def report(progress: Progress) -> bool:
            display.update(progress)
            return not interruption.requested

        try:
            return reasons(system, name, request.limits, report)
        except Refused as refused:
            raise BadInput(str(refused)) from None


def show(console: Console, request: Request, specification: Specification, system: System, found: Reasons) -> None:
    """What the proof of one invariant rests on, and what it does without."""
    marks = symbols(console)
    prop = next(item for item in system.properties if item.name == found.name)
    console.print()
    if found.failed is not None:
        line = Text.assemble((f"{marks.unknown} ", "warn"), (found.name, "name"), f"  no proof: {found.failed}")
        console.print(Padding(line, INDENT))
        console.print(Padding(Text(NO_PROOF, style="quiet"), (0, 0, 0, 4)))
        command = looking_for_lemmas(request, specification, found.name)
        console.print(f"      {command}", markup=False, highlight=False, soft_wrap=True)
        return
    how = "" if found.steps == 1 else f" ({found.steps}-inductive)"
    line = Text.assemble((f"{marks.holds} ", "ok"), (found.name, "name"), f"  holds at every depth{how}")
    console.print(Padding(line, INDENT))
    if prop.description:
        console.print(Padding(Text(prop.description, style="quiet"), (0, 0, 0, 4)))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column()
    for head, words in rows(specification, system, found):
        table.add_row(head, words)
    console.print(Padding(table, (0, 0, 0, 4)))


NO_PROOF = (
    "That does not mean violated. Only the lemmas of the spec were used. To look for more lemmas, and for a "
    "counterexample to induction:"
)

LEGEND = (
    "because: the lemmas that the proof uses; it needs: the conditions of the spec without which the proof fails; it "
    "does without: the conditions that the proof does not need. Types are taken to hold without them. Conditions on "
    "messages and handlers under way, and those of `choose`, are never removed"
)
"""What the words at the left of a proof mean."""


def looking_for_lemmas(request: Request, specification: Specification, name: str) -> str:
    """The command that looks for the lemmas that a proof lacks."""
    return shlex.join([*_verifying(request, specification, name), "--engine", "induction"])


def _verifying(request: Request, specification: Specification, name: str) -> list[str]:
    check = request.check or default_check(specification)
    settings = [word for setting, value in request.settings.items() for word in ("--set", f"{setting}={value}")]
    return ["hacheck", "verify", request.spec, "--check", check, "--property", name, *settings]


def rows(specification: Specification, system: System, found: Reasons) -> Iterator[tuple[str, Text]]:
    """Each thing the proof rests on, and then, action by action, what it does without."""
    meanings = {prop.name: prop.description for prop in system.properties}
    for index, lemma in enumerate(found.lemmas):
        yield "because" if index == 0 else "", Text.assemble((lemma, "name"), f"  {meanings[lemma]}")
    for index, part in enumerate(found.needed):
        yield (
            "it needs" if index == 0 else "",
            Text.assemble(words_of(part), (f"  {place(specification, part)}", "quiet")),
        )
    if not found.needed:
        yield "it needs", Text("none of the conditions that were examined")
    if found.unexamined:
        yield "not examined", Text(f"conditions in loops, and of actions with many: {', '.join(found.unexamined)}")
    if len(found.spare) > SPARE_MAX:
        names = dict.fromkeys(part.action for part in found.spare)
        yield "it does without", Text(f"the {len(found.spare)} other conditions, of {', '.join(names)}")
        return
    for index, (action, parts) in enumerate(groupby(found.spare, key=lambda part: part.action)):
        said = "; ".join(part.words for part in parts)
        yield "it does without" if index == 0 else "", Text.assemble((action, "action"), f"  {said}")


def words_of(part: Part) -> str:
    """A condition with what it is."""
    kind = {"guard": "only when", "condition": "whether", "limit": "the limit of"}[part.kind]
    return f"{part.action}: {kind} {part.words}"


def place(specification: Specification, part: Part) -> str:
    """Where its action stands."""
    return f"{specification.path}:{part.line}" if part.line else ""


def _show_others(
    console: Console, request: Request, specification: Specification, found: Reasons, interruption: Interruption
) -> None:
    """Under which other settings, one changed at a time, a proof with the same k goes through."""
    kept: list[str] = []
    lost: list[str] = []
    for parameter in specification.parameters:
        for value in neighbours(parameter, request.settings.get(parameter.name)):
            made = specification.instantiate({**request.settings, parameter.name: value}, request.check)
            if made.system is None or interruption.requested:
                continue
            engine = InductionEngine(found.steps, reachability=False)
            answer = engine.check(made.system, (found.name,), request.limits, lambda _: not interruption.requested)
            shown = answer.properties[0].verdict == "holds"
            (kept if shown else lost).append(f"{parameter.name} = {value}")
    for head, listed in (("proved also with", kept), ("not proved with", lost)):
        if listed:
            console.print(Padding(Text.assemble((f"{head}  ", "quiet"), ", ".join(listed)), (0, 0, 0, 4)))


def neighbours(parameter: Parameter, chosen: str | None) -> tuple[str, ...]:
    """The values next to that of a setting."""
    value = chosen or parameter.default
    if value in ("on", "off"):
        return ("off" if value == "on" else "on",)
    return (str(int(value) - 1), str(int(value) + 1)) if value.lstrip("-").isdigit() else ()
