"""Runs `hacheck prove`: examines what was given, proves, shows what came out, and keeps it where the user wants
that."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from rich.console import Console

from hacheck.api.proof_stages import LATE_SECONDS, Supervision, induction_counterexamples, proof_of
from hacheck.api.prove_document import outside_document, proof_document, unfinished_document
from hacheck.checker.parametric import certificate
from hacheck.checker.parametric.cti_states import Counterexample
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.proof import SAFETY, Proof, Wanted, prepared
from hacheck.checker.parametric.small_violations import Violation
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.checker.verify import default_check
from hacheck.cli import json_output
from hacheck.cli.console import error_console, heading, output_console
from hacheck.cli.engines import z3_is_there
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.options import all_known
from hacheck.cli.progress import ProgressLine
from hacheck.cli.proving import report
from hacheck.cli.proving.proof_supervision import ProofSupervisor
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores


class Request(Struct, frozen=True):
    """What the user wants of `prove`. `given_only`: look for no claims that the spec does not have; `memory_max`: stop
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
    """Proves the selected properties, shows what was found, and returns what the process is to return."""
    begun = time.monotonic()
    z3_is_there()  # it is needed at the end, and encoding may take long
    specification = load_specification(request.spec, no_color=request.no_color)
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    check = request.check or default_check(specification)
    all_known("property", request.properties, [one.name for one in system.properties])
    for one in system.properties:
        if one.name in request.properties and one.kind not in SAFETY:
            raise BadInput(f"{one.name} is no invariant, lemma or step invariant", "verify decides it within bounds")
    folder = None if request.certificate is None else _certificate_folder(request.certificate)
    target = None if request.json is None else json_output.open_target(request.json)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    wanted = Wanted(specification, request.settings, check, request.properties)
    line = ProgressLine(quiet=False, no_color=request.no_color)
    console.print(heading(specification, check))
    with Interruption().watching() as interruption:
        supervisor = ProofSupervisor(SolverSession(begun + request.seconds_max), interruption, line, request.memory_max)
        try:
            encoded = supervisor.run("encoding the model in logic", partial(prepared, wanted))
        except Unsupported as reason:
            console.print(report.outside(str(reason)))
            if target is not None:
                target.write(outside_document(request.spec, specification.name, str(reason)))
            return ExitCode.BAD_INPUT
        if encoded is not None and not encoded[1].claims:
            raise BadInput(f"check {check} has no property that could be proved", "name one with --property")
        if encoded is not None:
            console.print(report.scope(encoded[1]))
        stages = Supervision(supervisor.session, supervisor.run, supervisor.report, lambda: not interruption.requested)
        until = begun + request.seconds_max
        threads = request.threads or usable_cores()
        proof: Proof | None = None
        violated: tuple[Violation, ...] = ()
        if encoded is not None:
            proof, violated = proof_of(wanted, *encoded, stages, until, given_only=request.given_only, threads=threads)
        late = max(until, time.monotonic() + LATE_SECONDS)
        examples = [] if proof is None or proof.proved else induction_counterexamples(wanted, proof, stages, late)
    spent = time.monotonic() - begun
    if proof is None:
        console.print(report.unfinished(supervisor.session.why, spent))
    else:
        _show(console, proof, violated, examples, spent)
    if folder is not None and proof is not None and proof.proved:
        _keep(console, folder, proof)
    if target is not None and proof is not None:
        target.write(proof_document(request.spec, check, proof, violated, examples, spent))
    elif target is not None:
        target.write(unfinished_document(request.spec, specification.name, check, supervisor.session.why, spent))
    if violated:
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.AS_EXPECTED if proof is not None and proof.proved else ExitCode.UNDECIDED


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
