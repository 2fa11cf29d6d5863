"""The document of an audit, and SARIF made of it."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck import __version__
from hacheck.api.ci_reports import sarif_text
from hacheck.api.run_document import run_object
from hacheck.audit.audit import Audit, Finding
from hacheck.audit.changes import Change
from hacheck.audit.configuration import SettingValue
from hacheck.audit.named_views import named_view, story_of
from hacheck.audit.timing import Timed
from hacheck.documents.audit import (
    AuditDocument,
    AuditedNode,
    AuditedSetting,
    OtherHelp,
    Place,
    SettingChange,
    SettingEdit,
    TimeOuts,
)
from hacheck.documents.audit import Finding as FindingPart


def audit_document(found: Audit) -> AuditDocument:
    """Everything that was found."""
    search = found.search
    return AuditDocument(
        hacheck=__version__,
        product=found.configuration.reader.name,
        product_version=found.configuration.version,
        mode=found.model.mode.name,
        spec=found.model.mode.spec,
        check=found.result.check.name,
        exit_code=found.exit_code,
        nodes=nodes_of(found),
        settings=list(settings_of(found)),
        ignored=ignored_of(found),
        spec_settings=dict(found.model.settings),
        scope=dict(found.model.scope),
        faults=list(found.result.system.faults),
        findings=[_finding(found, one) for one in found.findings],
        change=[] if search is None else [_change(found, one) for one in search.changes],
        change_tried=0 if search is None else search.tried,
        change_complete=search is None or search.complete,
        other_help=[
            OtherHelp(says=one.remedy.says, prevents=sorted(one.cures), source=one.remedy.source or None)
            for one in (() if search is None else search.remedies)
        ],
        timing=None if found.timed is None else _time_outs(found, found.timed),
        open=dict(found.open),
        sentences={one.prop.name: one.prop.description or "" for one in found.result.properties},
        notes=list(found.model.notes),
        skipped=list(found.skipped),
        explorations=found.explored,
        seconds=round(found.seconds, 3),
    )


def _time_outs(found: Audit, one: Timed) -> TimeOuts:
    return TimeOuts(
        spec=one.rule.spec,
        property=one.rule.property,
        tick=one.tick,
        now=one.now,
        safe=one.safe,
        region=list(one.region),
        room={name: list(ends) for name, ends in one.room.items()},
        settings=[_place(found, value) for value in one.values],
        notes=list(one.notes),
    )


def nodes_of(found: Audit) -> list[AuditedNode]:
    """The nodes with what the spec calls them."""
    in_spec = {name: of_spec for of_spec, name in reversed(found.names.items())}
    return [
        AuditedNode(name=node.name, role=node.role or None, file=node.file, in_spec=in_spec.get(node.name))
        for node in found.configuration.nodes
    ]


def settings_of(found: Audit) -> Iterator[AuditedSetting]:
    """Each setting of each node, and what is in the files besides."""
    becomes: dict[str, list[str]] = {}
    for of_spec, names in found.model.made_of.items():
        for name in names:
            becomes.setdefault(name, []).append(of_spec)
    for node in found.configuration.nodes:
        for value in node.values.values():
            yield AuditedSetting(
                node=node.name,
                name=value.name,
                file=value.file,
                line=value.line,
                path=value.path,
                value=value.text or None,
                known=not value.unknown,
                source=value.source or None,
                becomes=becomes.get(value.name, []),
            )
    for one in found.configuration.passed:
        yield AuditedSetting(
            node=None, name=None, file=one.file, line=one.line, path=one.path, value=one.value or None, known=False,
            source=None, becomes=[],
        )  # fmt: skip


def ignored_of(found: Audit) -> list[Place]:
    """What the reader says has no bearing on availability."""
    return [
        Place(node=None, file=one.file, line=one.line, path=one.path, value=one.value or None)
        for one in found.configuration.ignored
    ]


def _finding(found: Audit, one: Finding) -> FindingPart:
    violation, broken = one.violation, one.contradiction
    run = None if violation is None else violation.result.answer.run
    return FindingPart(
        kind=one.kind,
        property=None if broken is not None else one.name,
        sentence=one.sentence,
        story=None if violation is None else story_of(named_view(violation, found.names)),
        faults=None if violation is None else violation.faults,
        avoidable=one.avoidable,
        settings=[_place(found, value) for value in one.causes],
        change=[_change(found, change) for change in one.changes],
        hint=None if broken is None else broken.rule.hint or None,
        source=(None if broken is None else broken.rule.source or None),
        run=None if violation is None or run is None else run_object(violation.check.system, run),
    )


def _place(found: Audit, value: SettingValue) -> Place:
    node = next((node.name for node in found.configuration.nodes if node.values.get(value.name) is value), None)
    return Place(node=node, file=value.file, line=value.line, path=value.path, value=value.text or None)


def _change(found: Audit, change: Change) -> SettingChange:
    return SettingChange(
        edits=[
            SettingEdit(
                path=found.configuration.reader.setting[edit.name].path[0] if not places else places[0].path,
                value=edit.value,
                nodes=list(edit.nodes),
                places=places,
            )
            for edit in change.edits
            for places in [
                [
                    _place(found, node.values[edit.name])
                    for node in found.configuration.nodes
                    if node.name in edit.nodes and edit.name in node.values
                ]
            ]
        ],
        cures=sorted(change.cures),
        brings=sorted(change.brings),
    )


def audit_sarif(document: AuditDocument) -> str:
    """SARIF 2.1.0: a result for each finding, at the settings that make it possible."""
    rules = {
        one.kind: {"id": one.kind, "shortDescription": {"text": one.kind.replace("_", " ")}}
        for one in document.findings
    }
    results = []
    for one in document.findings:
        places = [(place.file, place.line or 1) for place in one.settings] or [(document.nodes[0].file, 1)]
        locations = [
            {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
            for file, line in dict.fromkeys(places)
        ]
        text = "\n".join(part for part in (one.sentence, one.story, *_advice(one)) if part)
        results.append(
            {
                "ruleId": one.kind,
                "level": "error",
                "message": {"text": text},
                "locations": locations[:1],
                "relatedLocations": locations[1:],
                "partialFingerprints": {
                    "audit/finding": f"{document.product}/{one.kind}/{one.property or one.sentence}"
                },
            }
        )
    return sarif_text(document.hacheck, list(rules.values()), results)


def _advice(one: FindingPart) -> Iterator[str]:
    if one.hint:
        yield one.hint
    for change in [change for change in one.change if not change.brings][:1]:
        yield "It cannot happen with " + " and ".join(f"{edit.path} = {edit.value}" for edit in change.edits)
