"""All documents, and the schema of each."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from hacheck.documents.diagram import DiagramDocument
from hacheck.documents.document import Document, Json
from hacheck.documents.implementation import CheckImplDocument, SimulateImplDocument
from hacheck.documents.prove import ProveDocument
from hacheck.documents.records import ConformDocument, SimulateTracesDocument, TracesDocument
from hacheck.documents.replay import ReplayDocument
from hacheck.documents.run import SimulateDocument
from hacheck.documents.timing import TimingDocument
from hacheck.documents.verify import VerifyAllDocument, VerifyDocument

DOCUMENTS: Final[tuple[type[Document], ...]] = (
    VerifyDocument,
    VerifyAllDocument,
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
)
"""A class for each kind, in the order of the commands that write them."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def kind_of(document: type[Document]) -> str:
    """What a document of this class says of itself: `verify`."""
    return str(document.__struct_config__.tag)


def schema_of(document: type[Document]) -> dict[str, Json]:
    """The JSON schema of a document. It allows keys that it does not name: a later hacheck may add some."""
    (reference,), parts = msgspec.json.schema_components([document], ref_template="#/$defs/{name}")
    always = parts[document.__name__]["required"]
    parts[document.__name__]["required"] = sorted({*always, "version"}, key=list(document_fields(document)).index)
    for part in parts.values():
        if "description" in part:
            part["description"] = " ".join(part["description"].split())
    return {
        "$schema": DIALECT,
        "$id": f"urn:hacheck:document:{kind_of(document)}:1",
        "title": f"hacheck {kind_of(document)}, version 1",
        **reference,
        "$defs": parts,
    }


def document_fields(document: type[Document]) -> tuple[str, ...]:
    """The keys of a document in their order."""
    return ("document", *document.__struct_encode_fields__)


def schema_text(document: type[Document]) -> str:
    """The schema as a file."""
    return json.dumps(schema_of(document), indent=1, ensure_ascii=False) + "\n"
