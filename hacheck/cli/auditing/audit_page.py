"""The page that `hacheck audit --report` writes: that of `verify`, with the nodes' names and what was found."""

from __future__ import annotations

from hacheck import __version__
from hacheck.api.verify_document import verify_document
from hacheck.audit.audit import Audit
from hacheck.audit.named_views import renamed
from hacheck.cli.auditing.report import KINDS
from hacheck.cli.guard import ExitCode
from hacheck.cli.page.html_page import html_page
from hacheck.cli.page.page_diagrams import diagrams_of
from hacheck.cli.page.report_data import frame, verdicts_of, views_of
from hacheck.cli.page.report_files import runs_of_results


def audit_page(found: Audit) -> str:
    """The page. Its title names the product, its description the findings with their settings."""
    specification = found.spec.specification
    code = ExitCode(found.exit_code)
    document = verify_document(specification, found.model.mode.spec, [found.result], [], code, {}).to_dict()
    report = frame(specification, __version__) | verdicts_of(document)
    shown = runs_of_results([found.result])
    report |= {"diagrams": diagrams_of(shown), "description": summary(found)}
    views = [(key, renamed(view, found.names)) for key, view in views_of(specification, shown)]
    return html_page(renamed(report, found.names), views)


def summary(found: Audit) -> str:
    """The findings and the changes that help, as sentences."""
    nodes = ", ".join(f"{node.name} ({node.role or node.kind})" for node in found.configuration.nodes)
    parts = [f"Audit of {found.configuration.reader.title}, {found.model.mode.name}: {nodes}."]
    for one in found.findings:
        places = "; ".join(f"{value.label} = {value.text or 'not set'} ({value.place})" for value in one.causes)
        parts.append(f"{KINDS[one.kind]}: {one.sentence}." + (f" Possible with {places}." if places else ""))
    for change in found.search.changes[:1] if found.search is not None else ():
        edits = " and ".join(f"{edit.label} = {edit.value}" for edit in change.edits)
        brings = f", but then {', '.join(sorted(change.brings))} is violated" if change.brings else ""
        parts.append(f"Smallest change: {edits}{brings}.")
    for one_help in found.search.remedies if found.search is not None else ():
        parts.append(f"What would help: {one_help.remedy.says}.")
    return " ".join(parts) if found.findings else f"{parts[0]} Nothing is violated in this scope."
