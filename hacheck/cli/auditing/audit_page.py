"""The page that `hacheck audit --report` writes: that of `verify`, with the nodes' names and what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from hacheck import __version__
from hacheck.api.verify_document import verify_document
from hacheck.audit.audit import Audit, Finding
from hacheck.audit.configuration import SettingValue
from hacheck.audit.named_views import renamed
from hacheck.cli.auditing.report import KINDS, change_lines, placed
from hacheck.cli.guard import ExitCode
from hacheck.cli.page.html_page import html_page
from hacheck.cli.page.page_diagrams import diagrams_of
from hacheck.cli.page.report_data import frame, verdicts_of, views_of
from hacheck.cli.page.report_files import runs_of_results

Json: TypeAlias = Any


def audit_page(found: Audit) -> str:
    """The page: findings with the settings behind them, all settings, and the runs to step through."""
    specification = found.spec.specification
    code = ExitCode(found.exit_code)
    document = verify_document(specification, found.model.mode.spec, [found.result], [], code, {}).to_dict()
    report = frame(specification, __version__) | verdicts_of(document)
    for check in report["checks"]:
        for prop in check["properties"]:
            prop["expected_verdict"] = prop["verdict"]  # an audit expects nothing: what was found is the answer
    shown = runs_of_results([found.result])
    report |= {"diagrams": diagrams_of(shown), "description": summary(found), "audit": _found(found)}
    views = [(key, renamed(view, found.names)) for key, view in views_of(specification, shown)]
    return html_page(renamed(report, found.names), views)


def summary(found: Audit) -> str:
    """What was audited, in a sentence."""
    nodes = ", ".join(f"{node.name} ({node.role or node.kind})" for node in found.configuration.nodes)
    return f"Audit of {found.configuration.reader.title}, {found.model.mode.name}: {nodes}."


def _found(found: Audit) -> Json:
    """The findings, what would help, and every setting that has a value, as the page shows them."""
    kinds = dict.fromkeys(KINDS[one.kind] for one in found.findings)
    open_ = "undecided" if found.open else "nothing is violated in this scope"
    return {
        "check": found.result.check.name,
        "verdict": f"violated: {'; '.join(kinds)}" if kinds else open_,
        "findings": [_finding(found, one) for one in found.findings],
        "help": list(_help(found)),
        "settings": [
            _setting(found, value)
            for node in found.configuration.nodes
            for value in node.values.values()
            if value.text or value.line is not None
        ],
    }


def _finding(found: Audit, one: Finding) -> Json:
    broken = one.contradiction
    return {
        "kind": KINDS[one.kind],
        "property": one.name,
        "sentence": one.sentence,
        "hint": None if broken is None else broken.rule.hint or None,
        "settings": [_setting(found, value) for value in one.causes],
        "avoidable": one.avoidable,
        "changes": [line for change in one.changes for line in change_lines(found, change, frozenset((one.name,)))],
    }


def _help(found: Audit) -> Iterator[str]:
    if found.search is None:
        return
    wanted = frozenset(one.name for one in found.findings if one.violation is not None)
    for change in found.search.changes:
        yield from change_lines(found, change, wanted)
    for one in found.search.remedies:
        yield one.remedy.says


def _setting(found: Audit, value: SettingValue) -> Json:
    node = next((one.name for one in found.configuration.nodes if one.values.get(value.name) is value), None)
    file = placed(found, value.file)
    return {"node": node, "path": value.label, "value": value.text or None, "file": file, "line": value.line}
