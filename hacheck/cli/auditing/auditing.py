"""Runs `hacheck audit`: reads, explores, shows, and writes what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from rich.console import Console

from hacheck.api.errors import InputError
from hacheck.audit.audit import Audit, AuditRequest, audit, read_system
from hacheck.audit.audit_document import audit_document, audit_sarif
from hacheck.audit.modelling import mode_of
from hacheck.audit.source_files import files_below
from hacheck.checker.engine import Limits
from hacheck.cli import json_output
from hacheck.cli.auditing import report, settings_report
from hacheck.cli.console import error_console, output_console
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.progress import ProgressLine
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import memory_default


class Request(Struct, frozen=True):
    """What the user wants of `audit`."""

    paths: tuple[str, ...]
    product: str | None = None
    reader: str | None = None
    before: str | None = None
    show: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    seconds_max: float | None = None
    json: str | None = None
    report: str | None = None
    sarif: str | None = None
    allow_unavoidable: bool = False
    no_color: bool = False

    def for_paths(self, paths: tuple[str, ...]) -> AuditRequest:
        """The same of other files. Errors: `BadInput` for a number of faults that is none."""
        numbers = {}
        for name, text in self.faults.items():
            if not text.isdecimal():
                raise BadInput(f"--faults {name}={text}: not a number", f"for example --faults {name}=1")
            numbers[name] = int(text)
        limits = Limits(wall_seconds_max=self.seconds_max, memory_bytes_max=memory_default())
        return AuditRequest(
            paths, self.product, self.reader, numbers, self.settings, limits,
            allows_unavoidable=self.allow_unavoidable,
        )  # fmt: skip


class Outputs(Struct, frozen=True):
    """Where everything goes."""

    console: Console
    json: json_output.Target | None
    report: json_output.Target | None
    sarif: json_output.Target | None

    @staticmethod
    def of(request: Request) -> Outputs:
        """Those of a request. Errors: `BadInput` where one cannot be written."""
        targets = [
            None if one is None else json_output.open_target(one)
            for one in (request.json, request.report, request.sarif)
        ]
        to_stderr = any(one is not None and one.path is None for one in targets)
        console = (error_console if to_stderr else output_console)(no_color=request.no_color)
        return Outputs(console, *targets)

    def write(self, found: Audit) -> None:
        """Writes the files that are wanted."""
        if self.json is None and self.sarif is None and self.report is None:
            return
        document = audit_document(found)
        if self.json is not None:
            self.json.write(document)
        if self.sarif is not None:
            self.sarif.save(audit_sarif(document))
        if self.report is not None:
            from hacheck.cli.auditing.audit_page import audit_page

            self.report.save(audit_page(found))


def runner(*, watched: bool) -> Callable[[Request], ExitCode]:
    """What carries a request out: once, or each time that a file is saved."""
    if watched:
        from hacheck.cli.auditing.file_watch import watch

        return watch
    return audit_files


def audit_files(request: Request) -> ExitCode:
    """Audits the files, shows what was found, and returns what the process is to return."""
    with Interruption().watching() as interruption:
        return audited(request, interruption)[0]


def audited(request: Request, interruption: Interruption) -> tuple[ExitCode, Audit]:
    """Audits the files once, and shows what was found."""
    request = of_two_versions(request)
    outputs = Outputs.of(request)
    found = explored(request, request.paths, interruption)
    if request.show:
        settings_report.show(outputs.console, found)
    if request.before is None:
        report.show(outputs.console, found)
    else:
        from hacheck.audit.earlier_files import earlier
        from hacheck.cli.auditing.change_report import show_difference

        with earlier(request.before, request.paths) as paths:
            old = explored(request, paths, interruption)
        code = show_difference(outputs.console, request.before, old, found)
        outputs.write(found)
        return code, found
    outputs.write(found)
    return ExitCode(found.exit_code), found


def of_two_versions(request: Request) -> Request:
    """The request; where it names two versions of one system, that is of the second one, with the first as what was
    before. They are two folders each of which is a system, with the same files in the folders of several nodes."""
    if request.before is not None or len(request.paths) != 2:
        return request
    old, new = request.paths
    names = [
        {path.relative_to(one).parts for path in files_below((one,))} if Path(one).is_dir() else set()
        for one in (old, new)
    ]
    nodes = {parts[0] for parts in names[0] & names[1] if len(parts) > 1}
    if len(nodes) < 2:
        return request
    try:
        for path in (old, new):
            mode_of(read_system((path,), request.product, request.reader)[0])
    except InputError:
        return request
    return replace(request, before=old, paths=(new,))


def explored(request: Request, paths: tuple[str, ...], interruption: Interruption) -> Audit:
    """The audit of some files, with its progress."""
    line = ProgressLine(quiet=False, no_color=request.no_color)
    doing = ["reading files"]

    def proceeding() -> bool:
        line.update(lambda: doing[0])
        return not interruption.requested

    def phase(what: str) -> None:
        doing[0] = what

    with line.shown("reading files"):
        return audit(request.for_paths(paths), proceeding, phase)
