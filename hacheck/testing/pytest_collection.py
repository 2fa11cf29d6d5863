"""Specs as tests of pytest: a file, in it the checks, in each the properties. Needs pytest.

A check is explored when the first of its properties is run, and once for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hacheck.checker.verify import properties_of
from hacheck.testing.check_results import NO_PROPERTY, Explored, explored, is_library, questions, what_is_wrong
from hacheck.testing.tested_model import BadModel, listed, specification_of

if TYPE_CHECKING:
    from hacheck.checker.verify import Question
    from hacheck.model.ir import Property, System
    from hacheck.model.language import Specification


class Surprise(Exception):
    """A property, or a spec, came out otherwise than it says; the text says how."""


class SpecFile(pytest.File):
    """A spec."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Its checks; those by request only where they were selected. A library has none. Errors: pytest's
        `CollectError`, with what is wrong with the text."""
        if is_library(self.path):
            return
        try:
            specification = specification_of(_shown(self.path))
        except BadModel as error:
            raise self.CollectError(str(error)) from None
        for question in questions(specification, wide=bool(self.config.getoption("--hacheck-wide"))):
            yield CheckCollector.from_parent(self, name=question.name, question=question, specification=specification)


class CheckCollector(pytest.Collector):
    """A check of a spec."""

    def __init__(self, *, question: Question, specification: Specification, **given: Any) -> None:
        super().__init__(**given)
        self.question, self.specification = question, specification
        self._system: System | None = None
        self._explored: Explored | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """The properties that it asks; where it asks none, whether the spec has an error in any state."""
        instance = self.specification.instantiate(check=self.question.name if self.specification.checks else None)
        if instance.system is None:
            raise self.CollectError(listed(instance.diagnostics))
        self._system = instance.system
        properties = properties_of(self.question, instance.system, self.question.only)
        for name in [one.name for one in properties] or [NO_PROPERTY]:
            yield PropertyItem.from_parent(self, name=name)

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties of its system."""
        return () if self._system is None else self._system.properties

    def explored(self) -> Explored:
        """What was found: explored now, if it was not yet."""
        if self._explored is None:
            assert self._system is not None, "items are collected before they run"
            workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
            self._explored = explored(self._system, self.question, workers)
        return self._explored


class PropertyItem(pytest.Item):
    """A property of a check."""

    def runtest(self) -> None:
        """Errors: `Surprise` where it did not come out as expected."""
        assert isinstance(self.parent, CheckCollector), "properties belong to checks"
        wrong = what_is_wrong(self.parent.explored(), self.name, self.parent.specification)
        if wrong:
            raise Surprise(wrong)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong, in words; of a mistake of hacheck's own, where."""
        if isinstance(excinfo.value, Surprise):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the property is declared."""
        assert isinstance(self.parent, CheckCollector), "properties belong to checks"
        written = (one.line for one in self.parent.properties if one.name == self.name)
        return self.path, next((line - 1 for line in written if line), None), f"{self.parent.name}::{self.name}"


def _shown(path: Path) -> Path:
    """The path as it is shortest."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
