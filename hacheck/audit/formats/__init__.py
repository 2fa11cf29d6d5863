"""The formats of configuration files: each module turns text into entries, and nothing in a file is carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from hacheck.audit.entries import Entry
from hacheck.audit.formats.line_formats import read_directives, read_ini, read_keepalived, read_options, read_properties
from hacheck.audit.formats.xml_format import read_xml
from hacheck.audit.formats.yaml_format import read_yaml

FormatName: TypeAlias = Literal["xml", "yaml", "ini", "properties", "keepalived", "directives", "options"]

FORMATS: dict[FormatName, Callable[[str, str], tuple[Entry, ...]]] = {
    "xml": read_xml,
    "yaml": read_yaml,
    "ini": read_ini,
    "properties": read_properties,
    "keepalived": read_keepalived,
    "directives": read_directives,
    "options": read_options,
}
"""What reads a text of a format; the second argument is the name of the file, for messages. Errors: `Unreadable`."""
