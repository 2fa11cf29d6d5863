"""The tasks of a sweep: every check under every combination of the values of the settings that are varied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product

from msgspec import Struct

Settings = tuple[tuple[str, str], ...]


class Axis(Struct, frozen=True):
    """A setting that is varied, and its values in the order given."""

    name: str
    values: tuple[str, ...]


class Task(Struct, frozen=True):
    """One exploration: a check, the settings that are varied, and those that are the same for all tasks. `properties`:
    those selected by name, or none for all that the check decides."""

    check: str
    varied: Settings
    fixed: Settings = ()
    properties: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """All that goes before the settings of the check."""
        return dict((*self.fixed, *self.varied))

    @property
    def title(self) -> str:
        """`as_released with crashes = 2, updates = 1`."""
        return f"{self.check} with {settings_text(self.varied)}"


def settings_text(settings: Iterable[tuple[str, str]]) -> str:
    """`crashes = 2, updates = 1`."""
    return ", ".join(f"{name} = {value}" for name, value in settings)


def tasks_of(
    checks: Sequence[str], axes: Sequence[Axis], fixed: Settings, properties: tuple[str, ...]
) -> tuple[Task, ...]:
    """All tasks: check by check, the last axis fastest."""
    combinations = [
        tuple((axis.name, value) for axis, value in zip(axes, values, strict=True))
        for values in product(*(axis.values for axis in axes))
    ]
    return tuple(Task(check, varied, fixed, properties) for check in checks for varied in combinations)


def smaller_tasks(tasks: Sequence[Task], budgets: Collection[str]) -> tuple[tuple[int, ...], ...]:
    """For each task the numbers of those of the same check that differ from it in budgets of faults alone, none of them
    larger. Cost: the square of the tasks that differ in nothing else."""
    groups: dict[object, list[int]] = {}
    for number, task in enumerate(tasks):
        others = tuple(pair for pair in task.varied if pair[0] not in budgets or not pair[1].isdigit())
        groups.setdefault((task.check, others), []).append(number)
    found: list[tuple[int, ...]] = [()] * len(tasks)
    for members in groups.values():
        counts = {
            number: [int(value) for name, value in tasks[number].varied if name in budgets and value.isdigit()]
            for number in members
        }
        for number in members:
            mine = counts[number]
            found[number] = tuple(
                other
                for other in members
                if counts[other] != mine and all(a <= b for a, b in zip(counts[other], mine, strict=True))
            )
    return tuple(found)
