"""The tables of events in `docs/adapters.md`, made of the adapters themselves.

`python -m hacheck.traces.adapters.tables docs/adapters.md` writes them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from hacheck.atomic_files import replace_text
from hacheck.traces.adapters.adapter_files import load, shipped_names
from hacheck.traces.adapters.description import Adapter, EventRule, FieldRule

BEGIN = "<!-- made by hacheck.traces.adapters.tables -->"
END = "<!-- end of what is made -->"


def with_tables(document: str) -> str:
    """The document with what stands between the two marks made anew."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, "the document says where its tables begin"
    assert end, "the document says where its tables end"
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """A section for each adapter that comes with hacheck."""
    return "\n".join("\n".join(section(load(name))) + "\n" for name in shipped_names())


def section(adapter: Adapter) -> Iterator[str]:
    """The lines of an adapter's section."""
    yield f"### `{adapter.name}`"
    yield ""
    yield sentence(adapter.about)
    if adapter.source:
        yield f"Source: {adapter.source}."
    yield ""
    names = [f"`{item.pattern}`" for item in (adapter.paths, adapter.files) if item is not None]
    yield f"Names of logs: {' or '.join(names)}. Time zone, if none is given: {adapter.line.zone}."
    if adapter.json is not None and adapter.json.any_event:
        yield ""
        yield "Every event is accepted, with the name and the fields that it has."
        return
    yield ""
    yield "| event | meaning | fields |"
    yield "|---|---|---|"
    explained: set[str] = set()
    for event in adapter.events:
        yield f"| `{event.name}` | {_cell(event.about)} | {_cell(_fields(event, explained))} |"
    for nothing in adapter.nothing:
        yield f"| (nothing) | {_cell(f'{nothing.name}: {nothing.about}' if nothing.about else nothing.name)} | |"


def _fields(event: EventRule, explained: set[str]) -> str:
    """The fields of an event; what one means is said where it comes first."""
    return "; ".join(_field(field, explained) for field in event.fields)


def _field(field: FieldRule, explained: set[str]) -> str:
    about = f": {field.about}" if field.about and field.name not in explained else ""
    explained.add(field.name)
    return f"`{field.name}` {field.type.value}{about}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def sentence(text: str) -> str:
    """A text that begins with a capital letter and ends with a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


if __name__ == "__main__":
    path = Path(sys.argv[1])
    replace_text(path, with_tables(path.read_text(encoding="utf-8")))
