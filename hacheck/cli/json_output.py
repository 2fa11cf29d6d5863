"""The JSON of `hacheck verify`: everything the screen shows, and every run in full.

```
{"hacheck": version, "spec": as the user called it, "path": file, "system": name, "exit_code": n,
 "not_run": [check, …],
 "checks": [{"name": …, "description": …, "expected": true|false|null,
   "outcome": "expected|unexpected|undecided",
   "settings": {…}, "faults": [line, …], "assumptions": {name: meaning},
   "engine": name, "threads": n, "phases": {what was done: seconds},
   "states": n, "transitions": n, "depth": n, "seconds": x, "complete": bool, "stopped": why or null,
   "recheck": {"states": n, "steps": n, "of_states": n, "seconds": x, "everything": bool, "not_supported": why or null,
     "differences": [{"where", "path": [step, …], "state": [what is so, …], "explored", "second"}, …]} or null,
   "bytes_per_state": x or null, "omission_probability": x, "notes": [sentence, …],
   "reach": what an engine that counts no states looked at, or null, "lemmas_found": [as a spec may say it, …],
   "bounds": [{"name", "meaning", "cut_steps"}, …], "bounds_not_reached": [{"name", "meaning"}, …],
   "reductions": […], "no_step_possible": bool, "never_happened": [action, …], "never_reached": {variable: [member, …]},
   "actions": {action: steps taken},
   "fault": {"run": as below, "message": …, "place": "file:line" of the action that failed, or ""} or null,
   "raised": {"trials": [{"limits": [limit, …], "complete", "stopped", "states", "depth", "seconds",
       "claims": {property: "holds|refuted|open"}}, …],
     "not_tried": [[limit, …], …], "not_raised": [{"name", "reason"}, …]} or null,
   "properties": [{"name", "kind", "description", "source", "place": "file:line",
     "verdict": "holds|violated|unknown|not-inductive", "scope", "expected_verdict", "outcome",
     "never_exercised": the condition that is never true, or null,
     "run": [state 0, step 1, …] or null, "loop": n or null, "gap": as run, or null,
     "raised": {"holds_with": [[limit, …], …], "refuted_by": [{"limits": [limit, …], "steps", "faults"}, …],
       "not_decided": [{"limits": [limit, …], "stopped"}, …]} or null}, …]}]}
```

`raised`: what `--raise-bounds` found, now or (of the same spec) earlier; each list of limits is one trial. A limit is
`{"kind": "bound|size|fault budget|setting|granularity|assumption", "name", "from", "to", "set": "NAME=VALUE" or null,
"place": "file:line" or null}`.

With `--all` there is one such object for each spec that could be read, and `not_run` names the specs not begun:

```
{"hacheck": version, "exit_code": n, "not_run": [spec, …], "specs": [{"spec": …, "checks": […], …}, …]}
```

`omission_probability` is at most how likely it is that a state was taken for another and left out; 0 where states
are compared in full. `expected` is null where the check is undecided. The first element of a run is the initial
state; each further one is a step with its action, arguments, choices, node, changes and the state it leads to. Of a
lasso, `loop` is the number of steps before the part that repeats. `gap`: of what is not inductive, states that nothing
shown forbids and a step from them that breaks it; the first is no initial one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hacheck.atomic_files import check_replaceable, replace_text
from hacheck.checker.verify import CheckResult, PropertyResult, no_step, not_reached, unused_actions
from hacheck.cli.checking import raised_json, recheck_report
from hacheck.cli.guard import BadInput, version
from hacheck.model.data import dataclass
from hacheck.model.run_json import run_to_json

if TYPE_CHECKING:
    from hacheck.cli.checking.kept_trials import Raised
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.model.runs import Run

# What the standard library's JSON encoder takes: a recursive type that Python cannot narrow usefully.
Json = Any


@dataclass(frozen=True, slots=True)
class Target:
    """Where an output goes: a file, or standard output."""

    path: Path | None

    def write(self, content: Json) -> None:
        """Writes the whole text.

        Errors: `BadInput` when the file cannot be written now, though it could before.
        """
        self.save(json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def save(self, text: str) -> None:
        """Writes a text as it is. Errors: as `write`."""
        if self.path is None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        try:
            replace_text(self.path, text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be written: {error.strerror}") from None


def open_target(text: str) -> Target:
    """The place a path names; `-` is standard output.

    Errors: `BadInput` when it cannot be written to, found out before any work is done.
    """
    if text == "-":
        return Target(None)
    path = Path(text)
    try:
        if path.is_dir() or not path.name:
            raise BadInput(f"{text}: is a directory", "give the name of a file, or - for standard output")
        if text.endswith(os.sep):
            raise BadInput(f"{text}: names a directory", "give the name of a file, or - for standard output")
        check_replaceable(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{text}: cannot be written: {reason}") from None
    return Target(path)


def open_folder(text: str) -> Path:
    """A folder to write into, made where it is missing. Errors: `BadInput`."""
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{text}: cannot be used as a folder: {reason}") from None
    if not os.access(path, os.W_OK):
        raise BadInput(f"{text}: no permission to write into it")
    return path


def verify_json(
    specification: Specification,
    spec: str,
    results: Sequence[CheckResult],
    not_run: Iterable[str],
    code: int,
    raised: Mapping[str, Raised] | None = None,
) -> Json:
    """Everything that was found. `raised`: by check, what is known of its raised limits."""
    known = raised or {}
    return {
        "hacheck": version(),
        "spec": spec,
        "path": os.path.abspath(specification.path),
        "system": specification.name,
        "exit_code": code,
        "not_run": list(not_run),
        "checks": [check_json(specification, result, known.get(result.check.name)) for result in results],
    }


def all_json(specs: Sequence[Json], not_run: Iterable[str], code: int) -> Json:
    """What `verify --all` found: everything of each spec."""
    return {"hacheck": version(), "exit_code": code, "not_run": list(not_run), "specs": list(specs)}


def check_json(specification: Specification, result: CheckResult, raised: Raised | None = None) -> Json:
    """One check."""
    system, coverage = result.system, result.answer.coverage
    meanings = dict(system.bounds)
    fault = result.answer.error
    return {
        "name": result.check.name,
        "description": result.check.description,
        "expected": {"expected": True, "unexpected": False, "undecided": None}[result.outcome],
        "outcome": result.outcome,
        "settings": dict(system.settings),
        "faults": list(system.faults),
        "assumptions": dict(system.assumptions),
        "engine": result.answer.engine,
        "threads": result.answer.threads,
        "phases": {name: round(seconds, 3) for name, seconds in result.answer.phases},
        "states": coverage.states,
        "transitions": coverage.transitions,
        "depth": coverage.depth,
        "seconds": round(coverage.wall_seconds, 3),
        "complete": coverage.complete,
        "stopped": coverage.stopped,
        "bytes_per_state": None if coverage.bytes_per_state is None else round(coverage.bytes_per_state, 1),
        "omission_probability": coverage.omission,
        "recheck": recheck_report.as_json(result.answer.rechecked),
        "notes": list(result.answer.notes),
        "reach": result.answer.reach or None,
        "lemmas_found": list(result.answer.lemmas),
        "bounds": [
            {"name": name, "meaning": meanings.get(name, ""), "cut_steps": count}
            for name, count in coverage.bounds_reached
        ],
        "bounds_not_reached": [{"name": name, "meaning": meaning} for name, meaning in not_reached(result)],
        "reductions": list(result.answer.reductions),
        "no_step_possible": no_step(result),
        "never_happened": list(unused_actions(result)),
        "never_reached": {variable: list(members) for variable, members in coverage.unreached if members},
        "actions": action_counts(system, coverage.action_counts),
        "fault": None if fault is None else fault_json(specification, system, fault),
        "raised": None if raised is None else raised_json.check_json(raised),
        "properties": [property_json(specification, result, found, raised) for found in result.properties],
    }


def action_counts(system: System, counts: tuple[int, ...]) -> dict[str, int]:
    """Steps taken by action name; actions of one name are added up."""
    totals: dict[str, int] = {}
    for action, count in zip(system.actions, counts, strict=False):
        totals[action.name] = totals.get(action.name, 0) + count
    return totals


def property_json(
    specification: Specification, result: CheckResult, found: PropertyResult, raised: Raised | None = None
) -> Json:
    """One property of a check with its run."""
    system, run = result.system, found.answer.run
    never = {} if found.answer.verdict == "violated" else dict(result.answer.coverage.unexercised)
    return {
        "name": found.asked.name,
        "kind": found.asked.kind,
        "description": found.asked.description,
        "source": found.asked.source,
        "place": specification.place_of(found.asked),
        "verdict": found.answer.verdict,
        "scope": found.answer.scope,
        "expected_verdict": found.expected,
        "outcome": found.outcome,
        "never_exercised": never.get(found.asked.name),
        "run": None if run is None else rows(system, run),
        "loop": None if run is None else run.loop,
        "gap": None if found.answer.gap is None else rows(system, found.answer.gap),
        "raised": None if raised is None else raised_json.property_json(raised, found.asked.name),
    }


def fault_json(specification: Specification, system: System, run: Run) -> Json:
    """A run into an error of the spec: what went wrong in its last step, and where that is declared."""
    failed = run.error
    return {
        "run": rows(system, run),
        "message": "" if failed is None else failed.message,
        "place": "" if failed is None else specification.place_of(system.actions[failed.action]),
    }


def rows(system: System, run: Run) -> list[Json]:
    """The run as one list: the initial state, the steps, and the step that failed if there is one."""
    encoded = run_to_json(system, run)
    found: list[Json] = [{"state": encoded["initial"]}, *encoded["steps"]]
    return [*found, {"failed": encoded["fault"]}] if encoded["fault"] is not None else found


def from_rows(found: list[Json], loop: int | None) -> Json:
    """What `run_from_json` reads, from what `rows` wrote.

    Errors: `ValueError` when it is no such list.
    """
    if not found or not all(isinstance(row, dict) for row in found) or "state" not in found[0]:
        raise ValueError("a run is a list that begins with the initial state")
    failed = found[-1].get("failed") if len(found) > 1 else None
    steps = found[1:-1] if failed is not None else found[1:]
    return {"initial": found[0]["state"], "steps": steps, "loop": loop, "fault": failed}
