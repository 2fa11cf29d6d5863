"""The document of `diagram`, made from the diagrams of a system."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck import __version__
from hacheck.checker.state_diagram import Diagram
from hacheck.documents.diagram import DiagramDocument, DiagramEdge, StateDiagram
from hacheck.model.ir import System


def diagram_document(spec: str, system: System, diagrams: Sequence[Diagram], *, unseen: bool) -> DiagramDocument:
    """The diagrams as data. `spec`: as the user named it; `unseen`: with the edges that exploration did not see."""
    walk = diagrams[0].walk if diagrams else None
    return DiagramDocument(
        hacheck=__version__,
        spec=spec,
        system=system.name,
        settings=dict(system.settings),
        states=None if walk is None else walk.states,
        complete=walk is not None and walk.complete,
        diagrams=[state_diagram(diagram, unseen=unseen) for diagram in diagrams],
    )


def state_diagram(diagram: Diagram, *, unseen: bool) -> StateDiagram:
    """One diagram as data."""
    return StateDiagram(
        owner=diagram.owner,
        variable=diagram.field,
        modes=list(diagram.states),
        initial=list(diagram.initial),
        never_reached=list(diagram.unseen),
        edges=[
            DiagramEdge(
                source=one.source,
                target=one.target,
                action=one.action,
                kind=one.kind,
                guard=one.guard,
                condition=one.condition,
                seen=one.seen,
            )
            for one in diagram.transitions
            if unseen or one.seen is not False
        ],
    )
