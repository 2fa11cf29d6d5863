"""What the runs of a test covered of a model: what was done and refused, which lines came, how many states came up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from hacheck.atomic_files import replace_text
from hacheck.testing.directed_runs import Plan
from hacheck.testing.driven_system import DONE
from hacheck.testing.line_encoding import Event
from hacheck.testing.scenarios import scenario_lines
from hacheck.testing.session import Session
from hacheck.testing.stimuli import Step
from hacheck.testing.tested_model import Model, is_fault


class RunCoverage(Struct):
    """Of all runs of one test. `done`, `refused`: by method, how often; `lines`: by event, those that the model knows;
    `sets`: sets of model states that explained a run on its way; `reached`: by scenario, how many of its parts came in
    each run; `met`: in how many all of them did; `directed`: by directed run, of the runs that were to begin with the
    whole of it, what each lacked first, or nothing."""

    runs: int = 0
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    sets: set[int] = field(default_factory=set)
    reached: dict[str, list[int]] = field(default_factory=dict)
    met: Counter[str] = field(default_factory=Counter)
    directed: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, session: Session) -> None:
        """Counts a run."""
        self.runs += 1
        self.done.update(one.method for one in session.entries if isinstance(one, Step))
        refused = [step.method for step in session.refused]
        self.refused.update(refused)
        self.done.subtract(refused)
        knows = session.model.tracker.lines.knows
        self.lines.update(one.name for one in session.entries if isinstance(one, Event) and knows(one))
        self.sets |= session.passed
        for one in session.model.scenarios:
            reached = one.reached(session.sights())
            self.reached.setdefault(one.name, []).append(reached)
            self.met[one.name] += reached == len(one.parts)

    def add_plan(self, plan: Plan) -> None:
        """Counts what a run began with."""
        if plan.direction is not None and plan.is_whole:
            self.directed.setdefault(plan.direction.name, Counter())[plan.lacks] += 1

    def missed(self, aims: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """The scenarios that were to be met in more runs, by name: in how many they were, and were to be."""
        return {name: (self.met[name], aim) for name, aim in aims.items() if self.met[name] < aim}

    def content(self, model: Model, besides: tuple[Step, ...], name: str) -> dict[str, Any]:
        """It as JSON has it; what never came is in it with the number 0."""
        methods = dict.fromkeys((*model.actions, *(step.method for step in besides)))
        faults = {method for method in methods if is_fault(model, method)}
        events = [event for event in model.tracker.compiled.shape.events if event.written]
        known = [event.name for event in events if not event.name.startswith(DONE)]
        return {
            "test": name,
            "model": model.system.name,
            "runs": self.runs,
            "actions": {method: self.done[method] for method in methods if method not in faults},
            "faults": {method: self.done[method] for method in methods if method in faults},
            "refused": {method: number for method, number in sorted(self.refused.items()) if number},
            "lines": {event: self.lines[event] for event in dict.fromkeys(known)},
            "state_sets": len(self.sets),
            "directed": [
                {"name": one, "runs": lacked.total(), "came_about": lacked[""], "lacked": _most_often(lacked)}
                for one, lacked in self.directed.items()
            ],
            "scenarios": [one.content(self.reached.get(one.name, [])) for one in model.scenarios],
        }


def coverage_text(content: Mapping[str, Any]) -> str:
    """The same for people."""
    lines = [f"coverage: {content['test']} beside {content['model']}, {content['runs']:,} runs"]
    for name in ("actions", "faults", "lines"):
        seen = {one: number for one, number in content[name].items() if number}
        if seen:
            lines.append(f"  {name:<8} {', '.join(f'{one} {number:,}' for one, number in seen.items())}")
    if content["refused"]:
        lines.append(f"  refused  {', '.join(f'{one} {number:,}' for one, number in content['refused'].items())}")
    never = [
        f"{name}: {', '.join(missing)}"
        for name in ("actions", "faults", "lines")
        if (missing := [one for one, number in content[name].items() if not number])
    ]
    lines += [f"  never    {one}" for one in never]
    lines.append(f"  states   {content['state_sets']:,} sets of states of the model explained some run on its way")
    for one in content["directed"]:
        lines.append(f"  directed {one['name']}: came about in {one['came_about']} of {one['runs']} runs{_lacked(one)}")
    lines += scenario_lines(content, content["runs"])
    return "\n".join(lines)


def _most_often(lacked: Counter[str]) -> str | None:
    return next((what for what, _ in lacked.most_common() if what), None)


def _lacked(content: Mapping[str, Any]) -> str:
    return f"; most often it lacked {content['lacked']}" if content["lacked"] else ""


def write_coverage(folder: Path, content: Mapping[str, Any]) -> None:
    """Writes it as `NAME.json` into a folder. Errors: `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / f"{content['test']}.json", json.dumps(content, indent=1) + "\n")
