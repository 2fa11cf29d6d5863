"""One task of a sweep, from the settings to a verdict on each property, in a process of its own or on an executor."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.described_run import fault_count
from hacheck.checker.engine import Engine, Limits, Report, VerdictKind
from hacheck.checker.sent_specification import specification_of
from hacheck.checker.sweep.fault_budgets import FaultBudgets, carries_over, fault_budgets
from hacheck.checker.sweep.sweep_plan import Task, settings_text
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, properties_of, questions_of, run_check
from hacheck.model.interpreter import replay
from hacheck.model.ir import Property, PropertyKind, System
from hacheck.model.language import Specification
from hacheck.model.property_names import expanded, nameable
from hacheck.supervise.resources import memory_default, usable_cores


class Found(Struct, frozen=True):
    """What a task found of one property. `steps`, `faults`: of a shortest run that violates it, or reaches it; with
    `follows_from` of one that a task with these smaller settings has found: there may be a shorter one."""

    name: str
    kind: PropertyKind
    verdict: VerdictKind
    scope: str
    steps: int | None = None
    faults: int | None = None
    follows_from: str | None = None

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict in ("holds", "violated")


class TaskResult(Struct, frozen=True):
    """What a task found. `error`: why there is nothing to explore, or what is wrong with the spec under its settings;
    `stopped`: why not every state was explored. `budgets`: where verdicts on other tasks may follow from this one."""

    properties: tuple[Found, ...] = ()
    error: str = ""
    stopped: str = ""
    states: int = 0
    transitions: int = 0
    depth: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    budgets: FaultBudgets | None = None

    @property
    def is_decided(self) -> bool:
        """Whether every property has its verdict."""
        return bool(self.properties) and all(one.is_decided for one in self.properties)

    @property
    def was_interrupted(self) -> bool:
        """Whether somebody ended it, so that it counts for nothing."""
        return self.stopped == "interrupted" and not self.is_decided

    @property
    def is_short_of_memory(self) -> bool:
        """Whether more memory could decide more."""
        return not self.is_decided and "memory" in " ".join((self.stopped, *(one.scope for one in self.properties)))


class Smaller(Struct, frozen=True):
    """A task that was done, from which verdicts on a larger one may follow."""

    task: Task
    result: TaskResult


def sweep_job(
    sent: bytes,
    task: Task,
    smaller: tuple[Smaller, ...] | None,
    threads: int,
    limits: Limits,
    shares: int,
    report: Report,
) -> TaskResult:
    """A task of a specification that was sent, with the native engine. `smaller`: `None` where no verdict is to follow
    from another task. `shares`: where no limit says so, the memory of this machine is for so many tasks; 0: for one on
    each core."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    memory = memory_default()
    if limits.memory_bytes_max is None and memory is not None:
        limits = replace(limits, memory_bytes_max=memory // (shares or usable_cores()))
    return run_task(specification_of(sent), task, smaller, NativeEngine(threads=threads), limits, report)


def run_task(
    specification: Specification,
    task: Task,
    smaller: Sequence[Smaller] | None,
    engine: Engine,
    limits: Limits,
    report: Report,
) -> TaskResult:
    """Explores what a task asks for, but what follows from smaller ones. Errors: those of `run_check`."""
    begun, used = time.monotonic(), time.process_time()
    result = _run(specification, task, smaller, engine, limits, report)
    wall, cpu = time.monotonic() - begun, time.process_time() - used
    return replace(result, wall_seconds=round(wall, 3), cpu_seconds=round(cpu, 3))


def _run(
    specification: Specification,
    task: Task,
    smaller: Sequence[Smaller] | None,
    engine: Engine,
    limits: Limits,
    report: Report,
) -> TaskResult:
    question = next(one for one in questions_of(specification) if one.name == task.check)
    instance = specification.instantiate(task.settings, task.check)
    system = instance.system
    if system is None:
        wrong = next((one.message for one in instance.diagnostics if one.severity == "error"), "the spec has an error")
        return TaskResult(error=f"not possible: {wrong}")
    known = [one.name for one in system.properties]
    if missing := [one for one in task.properties if one not in nameable(known)]:
        return TaskResult(error=f"not possible: there is no property {', '.join(missing)} under these settings")
    wanted = properties_of(question, system, expanded(task.properties or question.only, known))
    budgets = None if smaller is None else fault_budgets(system)
    given = {} if budgets is None else following(budgets, wanted, smaller or ())
    left = tuple(one.name for one in wanted if one.name not in given)
    if not left:
        return TaskResult(tuple(given[one.name] for one in wanted), budgets=budgets)
    result = run_check(Prepared(question, system, left), engine, limits, report, replay)
    explored = {one.prop.name: found_of(result.system, one) for one in result.properties}
    coverage = result.answer.coverage
    return TaskResult(
        tuple({**explored, **given}[one.name] for one in wanted),
        error_of(result),
        "" if coverage.complete or coverage.ended_early else coverage.stopped or "not every state was visited",
        coverage.states,
        coverage.transitions,
        coverage.depth,
        budgets=budgets,
    )


def following(budgets: FaultBudgets, wanted: Sequence[Property], smaller: Sequence[Smaller]) -> dict[str, Found]:
    """What follows from smaller tasks, by property: of several runs the shortest."""
    given: dict[str, Found] = {}
    kinds = {one.name: one.kind for one in wanted}
    for one in smaller:
        if one.result.budgets is None or not one.result.budgets.grow_to(budgets):
            continue
        origin = settings_text(one.task.varied)
        for found in one.result.properties:
            shown = found.follows_from is None and kinds.get(found.name) == found.kind
            if not shown or not carries_over(found.verdict, found.kind) or found.steps is None:
                continue
            before = given.get(found.name)
            if before is None or before.steps is None or found.steps < before.steps:
                scope = f"every run with {origin} is one here, too"
                given[found.name] = Found(
                    found.name, found.kind, found.verdict, scope, found.steps, found.faults, origin
                )
    return given


def found_of(system: System, result: PropertyResult) -> Found:
    """What was found of a property."""
    answer = result.answer
    run = answer.run if answer.verdict in ("holds", "violated") else None
    steps, faults = (None, None) if run is None else (len(run.steps), fault_count(system, run))
    return Found(result.prop.name, result.prop.kind, answer.verdict, answer.scope, steps, faults)


def error_of(result: CheckResult) -> str:
    """What is wrong with the spec under the settings of a task, as its exploration met it."""
    answer = result.answer
    if answer.error is not None:
        failed = answer.error.error
        return f"the spec has an error under these settings: {'' if failed is None else failed.message}".rstrip(": ")
    return "there is no initial state under these settings" if answer.unstartable else ""
