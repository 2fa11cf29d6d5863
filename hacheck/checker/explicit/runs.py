"""Runs of a model from packed states, replayed before anyone sees them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from hacheck.checker.explicit.portable.program import Code, successors
from hacheck.checker.explicit.portable.ways import Way
from hacheck.model.ir import System
from hacheck.model.lowering.layout import unpack
from hacheck.model.runs import Run, Step, StepFault
from hacheck.model.semantics import Failed, Interpreter, Taken, replay


def step_between(code: Code, before: int, after: int, by: int | None = None) -> Step:
    """A step that leads from one state to another (of the instance `by`, if given), with its choices."""
    layout, system = code.lowered.layout, code.lowered.system
    old, new = unpack(layout, before), unpack(layout, after)
    for found, index in successors(code, before):
        if found == after and by in (None, index):
            instance = code.lowered.instances[index]
            outcomes = Interpreter(system).outcomes_with(instance.action, instance.arguments, old)
            for outcome in outcomes:
                if isinstance(outcome, Taken) and outcome.step.state == new:
                    return outcome.step
    raise AssertionError(_ours(system, f"no step of the interpreter leads from {old} to {new}"))


def run_along(code: Code, way: Way, loop: int | None = None) -> Run:
    """The run along a way, replayed."""
    states = way.states
    instances = (*(None for _ in range(len(states) - 1 - len(way.by))), *way.by)
    steps = tuple(step_between(code, a, b, i) for a, b, i in zip(states, states[1:], instances, strict=False))
    return replayed(code.lowered.system, Run(unpack(code.lowered.layout, states[0]), steps, loop))


def run_into_fault(code: Code, way: Way, index: int) -> Run:
    """The run along a way into the step of an instance that is an error of the spec, replayed."""
    system, instance = code.lowered.system, code.lowered.instances[index]
    last = unpack(code.lowered.layout, way.states[-1])
    for outcome in Interpreter(system).outcomes_with(instance.action, instance.arguments, last):
        if isinstance(outcome, Failed):
            run = run_along(code, way)
            return replayed(system, Run(run.initial, run.steps, None, outcome.fault))
    fault = StepFault(instance.action, instance.arguments, (), "")
    raise AssertionError(_ours(system, f"the interpreter knows no such error in {last}: {fault}"))


def replayed(system: System, run: Run) -> Run:
    """The run, if the interpreter can do it. Errors: `AssertionError` if not, which is a bug of ours."""
    problem = replay(system, run)
    if problem is not None:
        raise AssertionError(_ours(system, problem))
    return run


def _ours(system: System, problem: str) -> str:
    try:
        release = version("hacheck")
    except PackageNotFoundError:
        release = "unreleased"
    settings = " ".join(f"{name}={value}" for name, value in system.settings)
    return f"a run that does not replay (hacheck {release}, {system.name} {settings}): {problem}"
