"""A trace checker in a file, for machines that have no spec: JSON of one version, with the system in its text form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from hacheck.atomic_files import replace_bytes
from hacheck.model.system_text import parse_system, print_system
from hacheck.model.text_reader import TextError
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.findings import TracesError
from hacheck.traces.records import Order

VERSION = 1
HINT = "write it again, with this version of hacheck: `checker_file.write`"

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: what a `TraceChecker` is made of."""

    version: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)] = msgspec.field(name="hacheck.checker")
    system: str
    order: Order
    skew_ns: Count
    checked: tuple[str, ...] = msgspec.field(name="asked")
    capacity: Annotated[int, msgspec.Meta(ge=1, le=10**12)]
    any_start: Count
    explained_max: Count
    rules: dict[str, Count]
    called: dict[str, str]


def write(checker: TraceChecker, path: Path) -> None:
    """Puts a checker into a file. Errors: `OSError`."""
    kept = Kept(
        version=VERSION,
        system=print_system(checker.system),
        order=checker.order,
        skew_ns=checker.skew_ns,
        checked=checker.checked,
        capacity=checker.capacity,
        any_start=checker.any_start,
        explained_max=checker.explained_max,
        rules={rule.name: rule.nanoseconds for rule in checker.rules},
        called=dict(checker.called),
    )
    replace_bytes(path, msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def read(path: Path) -> TraceChecker:
    """The checker in a file. Errors: `TracesError` for another version and what is damaged; `OSError`."""
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Kept)
        system = parse_system(kept.system)
    except (msgspec.DecodeError, TextError, UnicodeDecodeError, RecursionError) as error:
        raise TracesError(f"{path}: no trace checker of version {VERSION}: {error}", HINT) from None
    properties = {one.name for one in system.properties}
    unknown = sorted({*kept.checked, *kept.rules} - properties)
    if unknown:
        raise TracesError(f"{path}: damaged: the system has no property {unknown[0]}", HINT)
    return TraceChecker(
        system,
        kept.order,
        skew_ns=kept.skew_ns,
        checked=kept.checked,
        capacity=kept.capacity,
        any_start=kept.any_start,
        explained_max=kept.explained_max,
        rules=tuple(Rule(name, nanoseconds) for name, nanoseconds in kept.rules.items()),
        called=kept.called,
    )
