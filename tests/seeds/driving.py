"""A protocol driven by hand: named steps taken with the reference interpreter, fields read back by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from hacheck.model.types import Map, Node, Value
from hacheck.shipped import directory


def text(path: str) -> str:
    """What a file says."""
    return Path(path).read_text(encoding="utf-8")


@cache
def specification(spec: str) -> Specification:
    """A shipped spec by its name. Cost: seconds, the first time."""
    path = str(directory() / f"{spec}.ha")
    loaded = load(text(path), path, text)
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


@cache
def system(spec: str, settings: tuple[tuple[str, str], ...]) -> System:
    """The system a spec means under some settings, the others at their defaults."""
    instance = specification(spec).instantiate(dict(settings))
    assert instance.system is not None, instance.diagnostics
    return instance.system


class Cluster:
    """One run of a system with one kind of several nodes, from its only initial state; the steps taken move it on."""

    def __init__(self, driven: System) -> None:
        self.system = driven
        self.interpreter = Interpreter(driven)
        (self.state,) = self.interpreter.initial_states()
        kinds = [kind.key for _, kind in self.interpreter.variables.values() if isinstance(kind, Map)]
        (self.kind,) = {kind.name for kind in kinds if isinstance(kind, Node) and kind.size > 1}

    def can(self, action: str, *arguments: Value) -> bool:
        """Whether a step with these arguments is possible now."""
        return bool(self._outcomes(action, arguments))

    def take(self, action: str, *arguments: Value, choices: tuple[Value, ...] | None = None) -> None:
        """Takes one step. Without `choices` it must be the only step with these arguments."""
        outcomes = self._outcomes(action, arguments)
        wanted = [one for one in outcomes if choices is None or one.step.choices == choices]
        assert wanted, f"{action}{arguments} is not possible; with other choices: {outcomes}"
        assert len({one.step.state for one in wanted}) == 1, f"{action}{arguments} can end in several ways: {wanted}"
        self.state = wanted[0].step.state

    def _outcomes(self, action: str, arguments: tuple[Value, ...]) -> list[Taken]:
        names = [one.name for one in self.system.actions]
        assert action in names, f"{action} is none of {names}"
        outcomes = self.interpreter.outcomes_with(names.index(action), arguments, self.state)
        return [one for one in outcomes if isinstance(one, Taken)]

    def value(self, variable: str) -> Value:
        """The value of a variable that belongs to no node."""
        place, _ = self.interpreter.variables[variable]
        return self.state[place]

    def __getitem__(self, node: int) -> SimpleNamespace:
        """The fields of a node of the kind that has several, by their names."""
        return self.of(self.kind, node)

    def of(self, kind: str, node: int = 1) -> SimpleNamespace:
        """The fields of a node of any kind, by their names."""
        return SimpleNamespace(**dict(self._fields(kind, node)))

    def _fields(self, kind: str, node: int) -> Iterable[tuple[str, Value]]:
        for name, (place, of_all) in self.interpreter.variables.items():
            if isinstance(of_all, Map) and isinstance(of_all.key, Node) and name.startswith(f"{kind}."):
                yield name.removeprefix(f"{kind}."), self.state[place][node - 1]

    def holds(self, name: str) -> bool:
        """Whether an invariant holds now."""
        (asked,) = (one for one in self.system.properties if one.name == name)
        return self.interpreter.holds(asked, self.state)
