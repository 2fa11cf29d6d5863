"""What the command line says about a comparison of traces with a spec, read and looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.api.comparison import Compared, Comparison, compared_with
from hacheck.cli.guard import BadInput
from hacheck.cli.logs.traces import words
from hacheck.cli.options import SECONDS_MAX, parse_settings
from hacheck.cli.selection import one_check
from hacheck.cli.sources import instantiate
from hacheck.model.language.log_settings import UNITS

if TYPE_CHECKING:
    from hacheck.model.language import Specification


class ComparisonOptions(Struct, frozen=True):
    """What the command line says about a comparison; see `hacheck.api.comparison.Comparison`."""

    check: str | None
    settings: Mapping[str, str]
    every_step: bool
    hidden: str | None
    within: Mapping[str, int]
    called: Mapping[str, str]


def comparison(
    check: str | None,
    settings: Iterable[str] | None,
    every_step: bool,
    hidden: str | None,
    within: Iterable[str] | None,
    nodes: Iterable[str] | None,
) -> ComparisonOptions:
    """What the command line says. Errors: `BadInput` for what cannot be read."""
    set_to = parse_settings(settings or ())
    return ComparisonOptions(check, set_to, every_step, hidden, parse_within(within or ()), parse_nodes(nodes or ()))


def what_is_compared(
    request: ComparisonOptions, specification: Specification, properties: tuple[str, ...] = (), *, no_color: bool
) -> Compared:
    """What traces are compared with. Errors: `BadInput`, `InputError` or `Reported` for what is not there."""
    check = one_check(specification, request.check, request.settings)
    system = instantiate(specification, request.settings, check, logs=True, no_color=no_color)
    hidden = words(request.hidden, "--hide") or frozenset()
    wanted = Comparison(check, request.settings, request.every_step, hidden, request.within, request.called, properties)
    return compared_with(wanted, specification, system)


def parse_within(texts: Iterable[str]) -> dict[str, int]:
    """`--within NAME=TIME`, as nanoseconds by name; the last of a name wins. Errors: `BadInput`."""
    found = {}
    for text in texts:
        name, equals, time = text.partition("=")
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|m|h)?\s*", time)
        if not equals or not name.strip() or match is None:
            raise BadInput(f"--within {text}: expected INVARIANT=TIME", "for example --within one_leader=10s")
        unit = {"m": "min"}.get(match[2] or "s", match[2] or "s")
        nanoseconds = float(match[1]) * UNITS[unit]
        if nanoseconds > SECONDS_MAX * UNITS["s"]:
            raise BadInput(f"--within {text}: longer than a year", "for example --within one_leader=10s")
        found[name.strip()] = int(nanoseconds)
    return found


def parse_nodes(texts: Iterable[str]) -> dict[str, str]:
    """`--node NAME=NODE`, as the model's names by those of the records. Errors: `BadInput`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, node = (part.strip() for part in text.partition("="))
        if not equals or not name or not node:
            raise BadInput(f"--node {text}: expected NAME=NODE", "for example --node primary=Server-1")
        if found.get(name, node) != node or node in (other for called, other in found.items() if called != name):
            raise BadInput(f"--node {text}: contradicts an earlier --node", "each node has one name")
        found[name] = node
    return found
