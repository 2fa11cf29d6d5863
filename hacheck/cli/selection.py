"""Which checks a command runs, with which settings: chosen, and refused, before anything is explored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.checker.verify import Prepared, Question, default_check, questions_of
from hacheck.cli.guard import BadInput
from hacheck.cli.options import all_known
from hacheck.cli.sources import instantiate

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
from hacheck.model.property_names import expanded, nameable


class Selection(Struct, frozen=True):
    """The checks to run, and those left out because they run by request only. `known`: those of which the system is
    known already, by name; `overrides`, `properties`: what the user said of all of them."""

    specification: Specification
    questions: tuple[Question, ...]
    left_out: tuple[Question, ...]
    overrides: Mapping[str, str]
    properties: tuple[str, ...]
    no_color: bool
    known: Mapping[str, Prepared]

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """All of the checks. Errors: those of `prepare`."""
        return tuple(map(self.prepare, self.questions))

    def prepare(self, question: Question) -> Prepared:
        """One of the checks with the system it means. Errors: `Reported` where the spec is wrong under its settings."""
        known = self.known.get(question.name)
        return known or prepare(self.specification, question, self.overrides, self.properties, no_color=self.no_color)


def select(
    specification: Specification,
    names: tuple[str, ...],
    overrides: Mapping[str, str],
    properties: tuple[str, ...],
    *,
    wide: bool,
    no_color: bool,
) -> Selection:
    """The checks named, or all that need no request. Where the user named settings or properties, the system of each
    check is made at once: only so is it known whether they fit.

    Errors: `BadInput` or `Reported` for an unknown check, setting or property.
    """
    chosen, left_out = choose(specification, names, wide=wide)
    all_known("setting", overrides, [parameter.name for parameter in specification.parameters])
    at_once = chosen if overrides or properties else ()
    prepared = {one.name: prepare(specification, one, overrides, properties, no_color=no_color) for one in at_once}
    return Selection(specification, chosen, left_out, overrides, properties, no_color, prepared)


def choose(
    specification: Specification, names: tuple[str, ...], *, wide: bool
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The checks named, or all that need no request; and those left out because they run by request only.

    Errors: `BadInput` for an unknown check, or where none is left.
    """
    questions = questions_of(specification)
    all_known("check", names, [question.name for question in questions])
    chosen = tuple(item for item in questions if (item.name in names if names else wide or not item.by_request))
    if not chosen:
        hint = f"run one with --check {questions[0].name}, or all with --wide"
        raise BadInput("every check of this spec runs by request only", hint)
    return chosen, tuple(item for item in questions if item not in chosen and item.by_request and not names)


def prepare(
    specification: Specification,
    question: Question,
    overrides: Mapping[str, str],
    properties: tuple[str, ...],
    *,
    no_color: bool,
) -> Prepared:
    """A check with the system it means. Errors: `BadInput` or `Reported` for an unknown setting or property."""
    system = instantiate(specification, overrides, question.name, no_color=no_color)
    known = [item.name for item in system.properties]
    all_known("property", properties, nameable(known))
    return Prepared(question, system, expanded(properties or question.only, known))


def one_system(
    specification: Specification, name: str | None, overrides: Mapping[str, str], *, no_color: bool
) -> System:
    """The system of one check, by default that of `default_check`."""
    return instantiate(specification, overrides, one_check(specification, name, overrides), no_color=no_color)


def one_check(specification: Specification, name: str | None, overrides: Mapping[str, str]) -> str:
    """The check of this name, by default that of `default_check`. Errors: `BadInput` for an unknown one, or setting."""
    if name is not None:
        all_known("check", (name,), [question.name for question in questions_of(specification)])
    all_known("setting", overrides, [parameter.name for parameter in specification.parameters])
    return name or default_check(specification)
