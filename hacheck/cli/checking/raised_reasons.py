"""What a refuted claim means: the check of the spec that shows the same, or a sentence that somebody wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hacheck.checker.limit_trials import Trial
from hacheck.checker.verify import Question, questions_of
from hacheck.cli.guard import BadInput
from hacheck.model.language import Specification
from hacheck.model.language import declarations as d
from hacheck.model.property_names import is_named


class Shown(Struct, frozen=True):
    """A check that raises a limit of a trial, too, and violates the same property. `is_within`: in the same variant of
    the protocol and with no number greater than in the trial, so that its counterexample is one of the trial."""

    check: str
    is_within: bool


class Reason(Struct, frozen=True):
    """Why a limit refutes claims that no check shows. `limit`: its name. `claims`, `checks`: empty where the reason is
    that of all of them."""

    limit: str
    text: str
    claims: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def covers(self, check: str, trial: Trial, claim: str) -> bool:
        """Whether the reason is that of this refutation."""
        named = any(one.name == self.limit for one in trial.raises)
        return named and (not self.claims or claim in self.claims) and (not self.checks or check in self.checks)


class Explained:
    """Looks up what explains the refutations of one spec."""

    def __init__(self, specification: Specification, reasons: Sequence[Reason] = ()) -> None:
        self.reasons = reasons
        self._questions = questions_of(specification)
        self._defaults = {one.name: one.default for one in specification.parameters}
        settings = [one for one in specification.declarations if isinstance(one, d.Setting)]
        self._kinds = {one.name.text: one.kind for one in settings}

    def shown(self, check: str, trial: Trial, claim: str) -> Shown | None:
        """The check that shows what this trial refutes; the most similar one where there are several."""
        by_name = {one.name: one for one in self._questions}
        is_reachable = is_named(claim, by_name[check].expect_violated)
        values = self._values(trial.question) | {one.name: one.after for one in trial.raises if one.setting}
        found = []
        for one in self._questions:
            is_selected = not one.only or is_named(claim, one.only)
            if one.name == check or not is_selected or is_named(claim, one.expect_violated) == is_reachable:
                continue
            other = self._values(one)
            raised = [item for item in trial.raises if item.setting and self._reaches(other[item.name], item.after)]
            if raised:
                differing = sum(other[name] != value for name, value in values.items())
                found.append((not self._is_within(other, values), differing, one.name))
        if not found:
            return None
        beyond, _, name = min(found)
        return Shown(name, not beyond)

    def reason(self, check: str, trial: Trial, claim: str) -> Reason | None:
        """The sentence that was written of this refutation."""
        return next((one for one in self.reasons if one.covers(check, trial, claim)), None)

    def _values(self, question: Question) -> dict[str, str]:
        return self._defaults | dict(question.settings)

    @staticmethod
    def _reaches(value: str, wanted: str) -> bool:
        return value == wanted or (_is_number(value) and _is_number(wanted) and int(value) >= int(wanted))

    def _is_within(self, other: Mapping[str, str], values: Mapping[str, str]) -> bool:
        for name, value in values.items():
            mine = other[name]
            if _is_number(value) and _is_number(mine):
                allowed = int(mine) <= int(value)
            else:  # an assumption excludes steps: with it on, there are no others
                allowed = mine == value or (self._kinds.get(name) == "assumption" and mine == "on")
            if not allowed:
                return False
        return True


def _is_number(value: str) -> bool:
    return value.lstrip("-").isdigit()


def read_reasons(path: Path) -> dict[str, list[Reason]]:
    """The reasons in a TOML file: for each spec tables with `limit`, `text` and perhaps `claims` and `checks`.

    Errors: `BadInput` where the file says something else.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: [_reason(one) for one in tables] for name, tables in content.items()}
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        hint = "write [[SPEC]] with limit, text and, where it is not that of all of them, claims and checks"
        raise BadInput(f"{path}: no reasons can be read: {error}", hint) from None


def _reason(table: Mapping[str, object]) -> Reason:
    if unknown := set(table) - {"limit", "text", "claims", "checks"}:
        raise KeyError(f"unknown: {', '.join(sorted(unknown))}")
    lists = {name: tuple(_words(table.get(name, []))) for name in ("claims", "checks")}
    return Reason(str(table["limit"]), " ".join(str(table["text"]).split()), **lists)


def _words(found: object) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise TypeError(f"{found!r} is no list of names")
    return found
