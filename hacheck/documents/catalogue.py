"""All documents, and the schema of each."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from hacheck.documents.audit import AuditDocument
from hacheck.documents.diagram import DiagramDocument
from hacheck.documents.document import Document, Json
from hacheck.documents.implementation import CheckImplDocument, SimulateImplDocument
from hacheck.documents.prove import ProveDocument
from hacheck.documents.records import ConformDocument, SimulateTracesDocument, TracesDocument
from hacheck.documents.replay import ReplayDocument
from hacheck.documents.run import SimulateDocument
from hacheck.documents.sweep import SweepDocument
from hacheck.documents.timing import TimingDocument
from hacheck.documents.verify import VerifyAllDocument, VerifyDocument
from hacheck.documents.view import RunView

DOCUMENTS: Final[tuple[type[Document], ...]] = (
    VerifyDocument,
    VerifyAllDocument,
    SweepDocument,
    ProveDocument,
    TimingDocument,
    ReplayDocument,
    ConformDocument,
    SimulateDocument,
    SimulateTracesDocument,
    SimulateImplDocument,
    CheckImplDocument,
    TracesDocument,
    DiagramDocument,
    AuditDocument,
)
"""A class for each kind, in the order of the commands that write them."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def kind_of(document: type[Document]) -> str:
    """What a document of this class says of itself: `verify`."""
    return str(document.__struct_config__.tag)


def schema_of(document: type[Document]) -> dict[str, Json]:
    """The JSON schema of a document. It allows keys that it does not name: a later hacheck may add some."""
    reference, parts = _components(document)
    always = parts[document.__name__]["required"]
    parts[document.__name__]["required"] = sorted({*always, "version"}, key=list(document_fields(document)).index)
    return {
        "$schema": DIALECT,
        "$id": f"urn:hacheck:document:{kind_of(document)}:1",
        "title": f"hacheck {kind_of(document)}, version 1",
        **reference,
        "$defs": parts,
    }


def view_schema() -> dict[str, Json]:
    """The JSON schema of the view of a run, which is no document of its own: reports have many."""
    reference, parts = _components(RunView)
    return {
        "$schema": DIALECT,
        "$id": "urn:hacheck:view:1",
        "title": "hacheck.view/1, the view of a run",
        **reference,
        "$defs": parts,
    }


def _components(kind: type[msgspec.Struct]) -> tuple[dict[str, Json], dict[str, Json]]:
    """A reference to the schema of a class, and the schemas of all that it consists of."""
    (reference,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for part in parts.values():
        if "description" in part:
            part["description"] = " ".join(part["description"].split())
    return reference, parts


def document_fields(document: type[Document]) -> tuple[str, ...]:
    """The keys of a document in their order."""
    return ("document", *document.__struct_encode_fields__)


def schema_text(document: type[Document]) -> str:
    """The schema as a file."""
    return _text(schema_of(document))


def view_schema_text() -> str:
    """The schema of a view as a file."""
    return _text(view_schema())


def _text(schema: dict[str, Json]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
