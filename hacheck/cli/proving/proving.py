"""Runs `hacheck prove`: examines what was given, proves, shows what came out, and keeps it where asked."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from hacheck.api.prove_document import outside_document, proof_document, unfinished_document
from hacheck.checker.parametric import certificate
from hacheck.checker.parametric.cti_states import Counterexample, counterexample, reached
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.lemma_search import search
from hacheck.checker.parametric.proof import SAFETY, Proof, Wanted, prepared, prove_given, with_violated, without
from hacheck.checker.parametric.size_independence import Uniform, at_size
from hacheck.checker.parametric.small_violations import Violation, violations
from hacheck.checker.parametric.solver_queries import Asking
from hacheck.checker.parametric.theory import Theory
from hacheck.checker.verify import default_check
from hacheck.cli import json_output
from hacheck.cli.console import error_console, output_console
from hacheck.cli.engines import z3_is_there
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.heading import heading
from hacheck.cli.options import all_known
from hacheck.cli.progress_line import ProgressLine
from hacheck.cli.proving import report
from hacheck.cli.proving.proof_supervision import ProofSupervisor
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.model.data import dataclass, field, replace
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores

EXPLORING_SECONDS = 8.0
"""So long small sizes are explored for what could not be proved."""
REACHED_SECONDS = 10.0
"""So long a run to the first state of a counterexample is looked for."""
LATE_SECONDS = 2.0
"""So long in all where the time is out."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked of `prove`. `given_only`: look for no claims that the spec does not have; `memory_max`: stop
    at so many bytes."""

    spec: str
    check: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    given_only: bool = False
    seconds_max: float = 300.0
    memory_max: int | None = None
    threads: int | None = None
    certificate: str | None = None
    json: str | None = None
    no_color: bool = False


def prove_spec(request: Request) -> ExitCode:
    """Proves what was asked, shows what was found, and returns what the process is to return."""
    begun = time.monotonic()
    specification = load_specification(request.spec, no_color=request.no_color)
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    check = request.check or default_check(specification)
    all_known("property", request.properties, [one.name for one in system.properties])
    for one in system.properties:
        if one.name in request.properties and one.kind not in SAFETY:
            raise BadInput(f"{one.name} is no invariant, lemma or transition", "verify decides it within bounds")
    folder = None if request.certificate is None else _certificate_folder(request.certificate)
    target = None if request.json is None else json_output.open_target(request.json)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    wanted = Wanted(specification, request.settings, check, request.properties)
    line = ProgressLine(quiet=False, no_color=request.no_color)
    console.print(heading(specification, check))
    with Interruption().watching() as interruption:
        supervisor = ProofSupervisor(Asking(begun + request.seconds_max), interruption, line, request.memory_max)
        try:
            encoded = supervisor.run("encoding the model in logic", partial(prepared, wanted))
        except Unsupported as reason:
            console.print(report.outside(str(reason)))
            if target is not None:
                target.write(outside_document(request.spec, specification.name, str(reason)))
            return ExitCode.BAD_INPUT
        if encoded is not None and not encoded[1].claims:
            raise BadInput(f"check {check} asks nothing that could be proved", "name one with --property")
        z3_is_there()
        if encoded is not None:
            console.print(report.scope(encoded[1]))
        until = begun + request.seconds_max
        proof, violated = (None, ()) if encoded is None else _proof(request, wanted, *encoded, supervisor, until)
        late = max(until, time.monotonic() + LATE_SECONDS)
        examples = [] if proof is None or proof.proved else _examples(wanted, proof, supervisor, late)
    spent = time.monotonic() - begun
    if proof is None:
        console.print(report.unfinished(supervisor.asking.why, spent))
    else:
        _show(console, proof, violated, examples, spent)
    if folder is not None and proof is not None and proof.proved:
        _keep(console, folder, proof)
    if target is not None and proof is not None:
        target.write(proof_document(request.spec, check, proof, violated, examples, spent))
    elif target is not None:
        target.write(unfinished_document(request.spec, specification.name, check, supervisor.asking.why, spent))
    if violated:
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.AS_EXPECTED if proof is not None and proof.proved else ExitCode.UNDECIDED


def _proof(
    request: Request, wanted: Wanted, made: Uniform, theory: Theory, supervisor: ProofSupervisor, until: float
) -> tuple[Proof | None, tuple[Violation, ...]]:
    """What was proved with what is given; what small sizes violate of the rest; and what was proved with lemmas that
    were looked for. `None` if nothing was found before it had to stop. `until`: on the monotonic clock, when time is
    out."""
    asking, threads = supervisor.asking, request.threads or usable_cores()
    proof = supervisor.run("proving", lambda: prove_given(made, theory, asking, supervisor.report, threads))
    if proof is None or proof.proved:
        return proof, ()
    violated = _violated(wanted, proof, supervisor, until)
    rest = without(proof, {one.property.name for one in violated})
    more: Proof | None = rest
    if not (rest.proved or request.given_only or asking.over):
        more = supervisor.run("looking for lemmas", lambda: search(wanted, rest, asking, supervisor.report, threads))
    if more is None:
        more = replace(rest, stopped=asking.why)
    return with_violated(more, [one.property for one in violated]), violated


def _violated(wanted: Wanted, proof: Proof, supervisor: ProofSupervisor, until: float) -> tuple[Violation, ...]:
    """What exploring small sizes refutes."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    now = time.monotonic()
    end = min(max(until, now + LATE_SECONDS), now + EXPLORING_SECONDS)

    def go_on() -> bool:
        return not supervisor.interruption.requested

    explored = partial(violations, wanted, proof, NativeEngine(), end, go_on)
    return supervisor.run("exploring small sizes", explored, timed=False) or ()


def _examples(
    wanted: Wanted, proof: Proof, supervisor: ProofSupervisor, until: float
) -> list[tuple[str, Counterexample]]:
    """The first step at which each claim failed, with whether its state is reachable. `until`: on the monotonic clock,
    when to come to an end."""
    found: dict[str, Counterexample] = {}
    checking = partial(_confirm, wanted, proof, supervisor.interruption, until, found)
    supervisor.run("checking counterexamples", checking, timed=False)
    return list(found.items())


def _confirm(
    wanted: Wanted, proof: Proof, interruption: Interruption, until: float, found: dict[str, Counterexample]
) -> None:
    """Adds the counterexamples, by the claims that failed, one after the other."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    for one in proof.failed:
        name = one.obligation.claim.name
        if one.refutation is None or name in found or interruption.requested:
            continue
        example = counterexample(
            one,
            lambda size, number: at_size(wanted.specification, wanted.settings, wanted.check, proof.made, size, number),
        )
        if example is not None:
            seconds = min(REACHED_SECONDS, max(until - time.monotonic(), 0.1))
            found[name] = reached(example, NativeEngine(), seconds, lambda: not interruption.requested)


def _show(
    console: Console,
    proof: Proof,
    violated: Sequence[Violation],
    examples: list[tuple[str, Counterexample]],
    spent: float,
) -> None:
    console.print()
    console.print(report.verdicts(console, proof))
    for one in violated:
        console.print()
        for part in report.violation(console, proof, one):
            console.print(part)
    for name, example in examples:
        console.print()
        for part in report.example(console, proof, name, example):
            console.print(part)
    console.print()
    console.print(report.summary(proof, spent))


def _certificate_folder(text: str) -> Path:
    """Errors: `BadInput` for a folder with other files."""
    folder = json_output.open_folder(text)
    try:
        certificate.check_free(folder)
    except certificate.Occupied as error:
        raise BadInput(str(error), "give a new folder, or that of an older certificate") from None
    except OSError as error:
        raise BadInput(f"{text}: cannot be read: {error.strerror}") from None
    return folder


def _keep(console: Console, folder: Path, proof: Proof) -> None:
    try:
        written = certificate.write(folder, proof.theory, proof.claims, proof.outcomes)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    console.print(report.kept(folder, len(written)))
