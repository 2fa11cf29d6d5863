"""Which conditions of a system's guards are there because of an assumption."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from hacheck.model.language.specification import Specification
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import conjuncts


class AssumedConditions(Struct, eq=False):
    """The conditions of guards that are not there without one of the assumptions in force.

    `settings`, `check`, `logs`: as in `Specification.instantiate`. They are looked for at the first question: each
    assumption costs one elaboration.
    """

    specification: Specification
    settings: Mapping[str, str]
    check: str | None
    logs: bool = False
    _found: dict[tuple[str, str], str] = field(default_factory=dict)
    _is_known: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        """What is pickled: not what was found."""
        return AssumedConditions, (self.specification, self.settings, self.check, self.logs)

    def of(self, action: str, condition: str) -> str | None:
        """The assumption without which a guard does not have this condition, given as `show_expression` has it."""
        if not self._is_known:
            self._find()
            self._is_known = True
        return self._found.get((action, condition))

    def _find(self) -> None:
        made = self.specification.instantiate(self.settings, self.check, logs=self.logs).system
        if made is None:
            return
        for name, _ in made.assumptions:
            other = self.specification.instantiate({**self.settings, name: "off"}, self.check, logs=self.logs).system
            if other is None:
                continue
            without = {(one.name, show_expression(part)) for one in other.actions for part in conjuncts(one.guard)}
            for action in made.actions:
                for part in conjuncts(action.guard):
                    key = action.name, show_expression(part)
                    if key not in without:
                        self._found.setdefault(key, name)
