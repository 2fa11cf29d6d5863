"""The document of `hacheck sweep`."""

from __future__ import annotations

from hacheck.documents.document import Document, Part


class VariedSetting(Part, frozen=True, kw_only=True):
    """A setting that was varied, and its values in the order given."""

    name: str
    values: list[str]


class SweptProperty(Part, frozen=True, kw_only=True):
    """A property under the settings of a task. `steps`, `faults`: of a shortest run that violates it, or reaches it.
    With `follows_from`, smaller settings whose run is one here, too, there may be a shorter one."""

    name: str
    kind: str
    verdict: str
    scope: str
    steps: int | None
    faults: int | None
    follows_from: str | None


class SweepTask(Part, frozen=True, kw_only=True):
    """A check under one combination of values. `done`: whether it was run; `error`: why it could not be explored;
    `stopped`: why not every state was explored. Seconds are those of the task, wherever it ran."""

    check: str
    settings: dict[str, str]
    done: bool
    properties: list[SweptProperty]
    error: str | None
    stopped: str | None
    states: int
    transitions: int
    depth: int
    wall_seconds: float
    cpu_seconds: float


class SweepDocument(Document, tag="sweep", frozen=True, kw_only=True):
    """What `hacheck sweep` found. `settings`: those that are the same for all tasks."""

    spec: str
    system: str
    exit_code: int
    checks: list[str]
    settings: dict[str, str]
    varied: list[VariedSetting]
    tasks: list[SweepTask]
