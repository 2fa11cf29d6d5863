"""What records are compared with, and how far the search for an explanation goes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from hacheck.api.comparison import Compared, compared_with, wanted_comparison
from hacheck.api.errors import InputError
from hacheck.api.specification import Settings, Spec, load
from hacheck.model.observing.record_layout import ObservingError
from hacheck.traces.records import Order


class Sought(Struct, frozen=True):
    """What records are compared with, and how far the search goes."""

    compared: Compared
    skew_ms: int
    states_max: int
    any_start: int

    def checker(self, order: Order, more_skew_ms: int = 0) -> Any:
        """The checker of traces of that order."""
        base = self.compared.base(
            order, skew_ms=self.skew_ms + more_skew_ms, capacity=self.states_max, any_start=self.any_start
        )
        return self.compared.checker(base)


def compared_of(
    spec: str | os.PathLike[str] | Spec,
    check: str | None,
    settings: Settings | None,
    every_step: bool = False,
    hide: Sequence[str] = (),
    within_seconds: Mapping[str, float] | None = None,
    nodes: Mapping[str, str] | None = None,
    invariants: Sequence[str] = (),
) -> Compared:
    """What traces are compared with; arguments as those of `hacheck.conform`. Errors: `InputError`, `SpecError`."""
    loaded = load(spec)
    system, question = loaded.system(check, settings, logs=True)
    comparison = wanted_comparison(question.name, settings, every_step, hide, within_seconds, nodes, invariants)
    try:
        return compared_with(comparison, loaded.specification, system)
    except ObservingError as error:
        raise InputError(f"{loaded.path}: {error}", "see `log` in docs/language.md: hacheck explain language") from None
