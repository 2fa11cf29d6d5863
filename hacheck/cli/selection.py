"""Which checks a command runs, with which settings: the choice is made, and refused, before anything is
explored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hacheck.checker.verify import Prepared, asked_of, settings_of
from hacheck.cli.guard import BadInput
from hacheck.cli.options import all_known
from hacheck.cli.sources import instantiate

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Check, Specification


@dataclass(frozen=True, slots=True)
class Selection:
    """The checks to run, and those left out because they run by request only."""

    prepared: tuple[Prepared, ...]
    left_out: tuple[Check, ...]


def select(
    specification: Specification,
    names: tuple[str, ...],
    overrides: Mapping[str, str],
    properties: tuple[str, ...],
    *,
    wide: bool,
    no_color: bool,
) -> Selection:
    """The checks named, or all that need no request, each with the system it means.

    Errors: `BadInput` or `Reported` for an unknown check, setting or property.
    """
    checks = checks_of(specification)
    all_known("check", names, [check.name for check in checks])
    chosen = [check for check in checks if (check.name in names if names else wide or not check.on_request)]
    left_out = [check for check in checks if check.on_request and check not in chosen and not names]
    if not chosen:
        hint = f"run one with --check {checks[0].name}, or all with --wide"
        raise BadInput("every check of this spec runs by request only", hint)
    prepared = []
    for check in chosen:
        system = instantiate(specification, settings_of(check, overrides), no_color=no_color)
        all_known("property", properties, [item.name for item in system.properties])
        prepared.append(Prepared(check, system, asked_of(check, properties)))
    return Selection(tuple(prepared), tuple(left_out))


def checks_of(specification: Specification) -> tuple[Check, ...]:
    """The checks of the specification; one that asks everything at the defaults where it has none."""
    from hacheck.model.language import Check

    if specification.checks:
        return specification.checks
    return (
        Check(
            name="default",
            settings=(),
            expect_violated=(),
            only=(),
            on_request=False,
            description="The spec has no check of its own: every property, at the default settings.",
            line=0,
        ),
    )


def one_system(
    specification: Specification, name: str | None, overrides: Mapping[str, str], *, no_color: bool
) -> System:
    """The system of one check, by default the one called `default`, else the first that needs no request."""
    checks = checks_of(specification)
    if name is not None:
        all_known("check", (name,), [check.name for check in checks])
    ordered = sorted(checks, key=lambda check: (check.name != (name or "default"), check.on_request))
    return instantiate(specification, settings_of(ordered[0], overrides), no_color=no_color)
