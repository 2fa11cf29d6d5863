"""A run of a model in a document, and the document of `hacheck simulate`."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from hacheck.documents.document import Document, Json, Part

JsonState: TypeAlias = dict[str, Json]
"""A state: each variable with its value."""


class ActionFault(Part, frozen=True, kw_only=True):
    """A step that cannot be completed, because the spec has an error."""

    action: str
    arguments: dict[str, Json]
    choices: list[Json]
    message: str


class RunRow(Part, frozen=True, kw_only=True):
    """An element of a run that is written as a list.

    The first has the initial `state` and nothing else. A step has its `action` with `arguments` and `choices`; `node`:
    where it happens, null for a step of the environment; `changes`: what it changed, a line for each variable; `state`:
    the state that it leads to. Where the run ends in an error of the spec, the last has nothing but `failed`.
    """

    action: str | UnsetType = UNSET
    arguments: dict[str, Json] | UnsetType = UNSET
    choices: list[Json] | UnsetType = UNSET
    node: str | UnsetType | None = UNSET
    changes: list[str] | UnsetType = UNSET
    state: JsonState | UnsetType = UNSET
    failed: ActionFault | UnsetType = UNSET


class RunStep(Part, frozen=True, kw_only=True):
    """A step of a run that is written as an object; see `RunRow`."""

    action: str
    arguments: dict[str, Json]
    choices: list[Json]
    node: str | None
    changes: list[str]
    state: JsonState


class Run(Part, frozen=True, kw_only=True):
    """A run as one object. `loop`: of a lasso, the number of steps before the part that repeats."""

    initial: JsonState
    steps: list[RunStep]
    loop: int | None
    fault: ActionFault | None


class SimulateDocument(Document, tag="simulate", frozen=True, kw_only=True):
    """A random run of a spec, which the same seed gives again. `spec`: as the user named it; `path`: its file."""

    spec: str
    path: str
    system: str
    settings: dict[str, str]
    seed: int
    run: list[RunRow]
    loop: int | None
