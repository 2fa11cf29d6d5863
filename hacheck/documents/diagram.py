"""The document of `hacheck diagram --format json`: the state diagram of each kind of node."""

from __future__ import annotations

from typing import Literal

from hacheck.documents.document import Document, Part


class DiagramEdge(Part, frozen=True, kw_only=True):
    """An edge. `guard`: what the action asks beyond the mode; `condition`: what a later step of a handler asks, and
    what is so on this edge and not on others of the action; `seen`: whether exploration took it, null without."""

    source: str
    target: str
    action: str
    kind: Literal["protocol", "network", "environment", "fault", "repair"]
    guard: str
    condition: str
    seen: bool | None


class StateDiagram(Part, frozen=True, kw_only=True):
    """The diagram of one kind of node. `owner`: the kind; `variable`: its mode; `never_reached`: the modes that were
    not seen."""

    owner: str
    variable: str
    modes: list[str]
    initial: list[str]
    never_reached: list[str]
    edges: list[DiagramEdge]


class DiagramDocument(Document, tag="diagram", frozen=True, kw_only=True):
    """The state diagrams of a spec under some settings.

    `states`: how many states were explored, null without exploration; `complete`: whether these were all.
    """

    spec: str
    system: str
    settings: dict[str, str]
    states: int | None
    complete: bool
    diagrams: list[StateDiagram]
