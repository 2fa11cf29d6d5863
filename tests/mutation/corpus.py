"""Fixed specs, and what each comes to: the states and steps of its system, what each property is in them, what an
engine says of it.

A mutant that changes any of this is noticed. The specs are random ones of which both meanings of the language agree
state by state, the examples of `docs/language.md` and the cases beside its tests, the wrong and right examples of each
diagnostic, and for engines random systems.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hacheck import shipped
from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, StoppedAtBound, Taken
from hacheck.model.ir import Property, System
from hacheck.model.language import Specification, load
from hacheck.model.language.codes import CODES
from hacheck.model.language.specification import Instance
from hacheck.model.render import show
from hacheck.model.runs import State
from tests.language.examples import Example, examples
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.properties.test_engine_liveness import small_systems
from tests.strategies import seeded_system
from tests.strategies.costly import costly_system

ROOT = Path(__file__).resolve().parents[2]
STATES_MAX = 30
"""So many states of a system are looked at by the interpreter."""
ENGINE_STATES_MAX = 600
COMPARED_STATES_MAX = 60
TEXT_MAX = 4_000


class Case(Struct, frozen=True):
    """A spec or text. `digest`: what it comes to, as text; `expected`: what it came to before anything was mutated."""

    name: str
    digest: Callable[[], str]
    expected: str

    @property
    def noticed(self) -> bool:
        """Whether it comes to something else now."""
        try:
            return self.digest() != self.expected
        except Exception:
            return True


def language_cases(seeds: int, with_shipped: bool) -> Iterator[Case]:
    """What specs mean: random ones, those of the reference, shipped ones, and what is wrong with wrong ones."""
    for name, specification in (*_documented(), *_random(seeds), *(_shipped() if with_shipped else ())):
        checks = [None, *[one.name for one in specification.checks][:2]]
        for check in checks:
            made = specification.instantiate(check=check)
            expected = meaning(made)
            yield Case(f"{name} {check}", partial(_instantiated, specification, check, made, expected), expected)
    for example in _examples():
        if load(example.text, "example.ha", example.libraries.get).specification is None:
            yield Case(example.where, partial(diagnosed, example.text), diagnosed(example.text))
    for code, info in CODES.items():
        for which, text in (("wrong", info.example_wrong), ("right", info.example_right)):
            if text and len(text) < TEXT_MAX:
                yield Case(f"{code} {which}", partial(diagnosed, text), diagnosed(text))


def engine_cases(seeds: int) -> Iterator[Case]:
    """What the portable engine says of systems: of the same specs, and of random systems that no spec is made into."""
    for seed in range(seeds):
        made = seeded_system(seed)
        yield Case(f"system {seed}", partial(answered, made), answered(made))
    for seed in range(seeds // 3):
        made = costly_system(seed)
        yield Case(f"costly conditions {seed}", partial(answered, made), answered(made))
    for number, made in enumerate(small_systems(range(seeds))):
        yield Case(f"fair system {number}", partial(answered, made), answered(made))
    for name, specification in specifications(seeds):
        system = specification.instantiate().system
        if system is not None:
            yield Case(name, partial(answered, system), answered(system))


def specifications(seeds: int) -> Iterator[tuple[str, Specification]]:
    """The specs of the reference and random ones, by name."""
    yield from _documented()
    yield from _random(seeds)


def _instantiated(specification: Specification, check: str | None, before: Instance, expected: str) -> str:
    """What a spec means; equal systems need not be explored to know that they mean the same."""
    made = specification.instantiate(check=check)
    return expected if made == before else meaning(made)


def _random(count: int) -> Iterator[tuple[str, Specification]]:
    """Random specs of which both meanings agree."""
    seed = found = 0
    while found < count:
        seed += 1
        program = seeded_program(seed)
        loaded = load(program.text, "random.ha", program.read)
        if loaded.specification is None:
            continue
        try:
            outcome = compared(comparison(loaded.specification), COMPARED_STATES_MAX)
        except Exception as error:
            print(f"seed {seed}: not compared: {error!r:.100}", file=sys.stderr)
            continue
        if outcome.differences or outcome.states < 2:
            continue
        found += 1
        yield f"seed {seed}", loaded.specification


def _examples() -> Iterator[Example]:
    for document in (ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))):
        for example in examples(document):
            yield replace(example, where=f"{document.stem}: {example.where}")


def _documented() -> Iterator[tuple[str, Specification]]:
    for example in _examples():
        loaded = load(example.text, "example.ha", example.libraries.get)
        if loaded.specification is not None:
            yield example.where, loaded.specification


def _shipped() -> Iterator[tuple[str, Specification]]:
    for path in shipped.specs():
        loaded = load(path.read_text(encoding="utf-8"), str(path), lambda name: Path(name).read_text(encoding="utf-8"))
        if loaded.specification is not None:
            yield path.stem, loaded.specification


# ---- digests -------------------------------------------------------------------------------------------------------


def diagnosed(text: str) -> str:
    """What is wrong with a text: codes and places."""
    found = load(text, "example.ha").diagnostics
    return repr(sorted((one.code, one.span.start, one.span.end) for one in found))


def meaning(made: Instance) -> str:
    """The first states of a system, their steps, and what each property is there."""
    if made.system is None:
        return repr([one.code for one in made.diagnostics])
    system = made.system
    interpreter = Interpreter(system)
    head = [
        *sorted(f"{one.name}: {one.type} {one.role} {one.owner} {one.durable} {one.ghost}" for one in system.variables),
        *sorted(f"{one.name}{one.parameters} {one.kind} {one.actor} {one.handler}" for one in system.actions),
        *sorted(f"{one.name}: {one.kind} {one.fairness}" for one in system.properties),
    ]
    try:
        queue = list(interpreter.initial_states())
    except EvaluationError:
        return "\n".join((*head, "no start"))
    seen = dict.fromkeys(queue)
    found = []
    for state in queue:
        found.append(_of_state(interpreter, system, state))
        for outcome in interpreter.outcomes(state):
            if isinstance(outcome, Taken) and outcome.step.state not in seen and len(seen) < STATES_MAX:
                seen[outcome.step.state] = None
                queue.append(outcome.step.state)
    return "\n".join((*head, *sorted(found)))


def _shown(system: System, state: State) -> str:
    pairs = zip(system.variables, state, strict=True)
    return "; ".join(sorted(f"{one.name}={show(one.type, value)}" for one, value in pairs))


def _of_state(interpreter: Interpreter, system: System, state: State) -> str:
    lines = []
    for outcome in interpreter.outcomes(state):
        match outcome:
            case Taken(step):
                name = system.actions[step.action].name
                steps = [one for one in system.properties if one.kind == "step"]
                told = [_value(partial(interpreter.holds_step, one, state, step.state)) for one in steps]
                lines.append(f"  {name}{step.arguments} -> {_shown(system, step.state)} {told}")
            case StoppedAtBound(action, arguments, _, bound):
                lines.append(f"  {system.actions[action].name}{arguments} cut at {bound}")
            case Failed(fault):
                lines.append(f"  {system.actions[fault.action].name}{fault.arguments} failed")
    held = [f"{one.name} {_value(partial(_holds, interpreter, one, state))}" for one in system.properties]
    return "\n".join((_shown(system, state), *sorted(held), *sorted(lines)))


def _holds(interpreter: Interpreter, asked: Property, state: State) -> object:
    if asked.kind == "step":
        return ""
    if asked.kind == "leads_to":
        return interpreter.premise_holds(asked, state), interpreter.value(asked.goal, state)
    return interpreter.holds(asked, state)


def _value(of: Callable[[], object]) -> str:
    try:
        return str(of())
    except EvaluationError:
        return "has no value"


def answered(system: System) -> str:
    """What the portable engine says: what it explored, and each verdict with the length of its run."""
    limits = Limits(states_max=ENGINE_STATES_MAX)
    whole, early = (PortableEngine(stop).check(system, (), limits, lambda _: True) for stop in (False, True))
    return "\n\n".join((said(whole), said(early)))


def said(answer: Answer) -> str:
    """An answer without times and words."""
    coverage = answer.coverage
    size = f"{coverage.states} {coverage.transitions} {coverage.depth}"
    lines = [f"{size} {coverage.complete} {sorted(coverage.bounds_reached)}"]
    lines.append(f"{coverage.action_counts} {answer.unstartable}")
    lines.append(str(None if answer.error is None else len(answer.error.steps)))
    for one in answer.properties:
        lines.append(f"{one.name} {one.verdict} {None if one.run is None else (len(one.run.steps), one.run.loop)}")
    return "\n".join(lines)
