"""The document of `hacheck audit`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from hacheck.documents.document import Document, Part
from hacheck.documents.run import Run

FindingKind: TypeAlias = Literal[
    "split_brain", "acknowledged_loss", "stale_promoted", "never_recovers", "contradiction"
]


class AuditedSetting(Part, frozen=True, kw_only=True):
    """A setting of a node as it is in a file, or as it is assumed: then `line` is null, and `source` says who says so.
    `value`: its text; that of a secret is hidden. `known`: whether the spec knows it. `becomes`: the settings of the
    spec that are made of it."""

    node: str | None
    name: str | None
    file: str
    line: int | None
    path: str
    value: str | None
    known: bool
    source: str | None
    becomes: list[str]


class AuditedNode(Part, frozen=True, kw_only=True):
    """A node: its name and its role in the files, and what the spec calls it."""

    name: str
    role: str | None
    file: str
    in_spec: str | None


class Place(Part, frozen=True, kw_only=True):
    """A setting that takes part in a finding."""

    node: str | None
    file: str
    line: int | None
    path: str
    value: str | None


class SettingEdit(Part, frozen=True, kw_only=True):
    """A setting at another value, on these nodes."""

    path: str
    value: str
    nodes: list[str]
    places: list[Place]


class SettingChange(Part, frozen=True, kw_only=True):
    """Edits that go together. `cures`: the properties that are violated no more; `brings`: those that are instead."""

    edits: list[SettingEdit]
    cures: list[str]
    brings: list[str]


class OtherHelp(Part, frozen=True, kw_only=True):
    """What helps beyond these settings. `prevents`: the properties that hold then, where the spec was explored so."""

    says: str
    prevents: list[str]
    source: str | None


class Finding(Part, frozen=True, kw_only=True):
    """Something that is wrong. `property`: of the spec, null for a contradiction; `faults`: the fewest that lead to it;
    `settings`: those that make it possible, or that contradict each other; `avoidable`: whether some change of settings
    prevents it without other harm, null where that was not found out; `run`: a shortest one that shows it."""

    kind: FindingKind
    property: str | None
    sentence: str
    story: str | None
    faults: int | None
    avoidable: bool | None
    settings: list[Place]
    change: list[SettingChange]
    hint: str | None
    source: str | None
    run: Run | None


class TimeOuts(Part, frozen=True, kw_only=True):
    """Time-outs in a spec that has time. `tick`: seconds of a tick; `now`: its settings in ticks; `safe`: null where it
    is not decided; `region`: where it is safe, as inequalities; `room`: how far each may be changed alone, in ticks."""

    spec: str
    property: str
    tick: float
    now: dict[str, int]
    safe: bool | None
    region: list[str]
    room: dict[str, list[int]]
    settings: list[Place]
    notes: list[str]


class AuditDocument(Document, tag="audit", frozen=True, kw_only=True):
    """What `hacheck audit` found. `ignored`: what is in the files and has no bearing on
    availability; `scope`: kinds of faults and how many; `change`: what would help, the smallest change
    first; `change_complete`: whether every change of one and two settings was tried; `open`: properties that are not
    decided, and why; `skipped`: what was not read, and why; `sentences`: what each property says that
    `cures`, `brings` and `prevents` name."""

    product: str
    product_version: str | None
    mode: str
    spec: str
    check: str | None
    exit_code: int
    nodes: list[AuditedNode]
    settings: list[AuditedSetting]
    ignored: list[Place]
    spec_settings: dict[str, str]
    scope: dict[str, int]
    faults: list[str]
    findings: list[Finding]
    change: list[SettingChange]
    change_tried: int
    change_complete: bool
    other_help: list[OtherHelp]
    timing: TimeOuts | None
    open: dict[str, str]
    sentences: dict[str, str]
    notes: list[str]
    skipped: list[str]
    explorations: int
    seconds: float
