"""The JSON of `hacheck prove`.

```
{"hacheck": version, "spec", "system", "check", "proved": bool, "in_fragment": bool, "reasons": [why not, …],
 "covers": [words, …], "left_open": [words, …], "seconds": x, "stopped": why or "", "circle": [sort, …],
 "properties": [{"name", "kind", "verdict": "proved|violated|not inductive|open"}, …],
 "violations": [{"property", "nodes": {kind: how many}, "run": as verify has it}, …], "found": [text of a spec, …],
 "found_without_words": how many claims were found that no spec can state,
 "obligations": [{"shows", "kind": "base|step", "verdict": "shown|refuted|open", "seconds"}, …],
 "counterexamples": [{"claim", "size", "reachable", "action", "arguments", "before": state, "after": state or null}, …]}
```

Where it had to stop before anything was found, there are only the fields up to "proved", "seconds" and "stopped".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hacheck.checker.parametric.cti_states import Counterexample
from hacheck.checker.parametric.proof import Proof
from hacheck.checker.parametric.small_violations import Violation
from hacheck.cli.guard import version
from hacheck.model.run_json import run_to_json
from hacheck.model.runs import State
from hacheck.model.value_json import value_to_json as to_json


def outside(spec: str, system: str, reasons: str) -> Any:
    """What is said of a spec that is told in no logic."""
    return {
        "hacheck": version(),
        "spec": spec,
        "system": system,
        "proved": False,
        "in_fragment": False,
        "reasons": reasons.splitlines(),
    }


def unfinished(spec: str, system: str, check: str, stopped: str, seconds: float) -> Any:
    """What is said where nothing was found before it had to stop."""
    return {
        "hacheck": version(),
        "spec": spec,
        "system": system,
        "check": check,
        "proved": False,
        "seconds": round(seconds, 3),
        "stopped": stopped,
    }


def proof(
    spec: str,
    check: str,
    found: Proof,
    violated: Sequence[Violation],
    examples: list[tuple[str, Counterexample]],
    seconds: float,
) -> Any:
    """Everything that was found."""
    return {
        "hacheck": version(),
        "spec": spec,
        "system": found.theory.name,
        "check": check,
        "proved": found.proved,
        "in_fragment": True,
        "covers": list(found.theory.covers),
        "left_open": list(found.theory.notes),
        "seconds": round(seconds, 3),
        "stopped": found.stopped,
        "circle": list(found.circle),
        "properties": [{"name": one.name, "kind": one.kind, "verdict": said} for one, said in found.verdicts],
        "violations": [_violation(one) for one in violated],
        "found": [one for one in found.texts if one is not None],
        "found_without_words": sum(one is None for one in found.texts),
        "obligations": [
            {
                "shows": one.obligation.title,
                "kind": one.obligation.kind,
                "verdict": one.verdict,
                "seconds": round(one.seconds, 3),
            }
            for one in (*found.outcomes, *found.failed)
        ],
        "counterexamples": [_example(name, one) for name, one in examples],
    }


def _violation(found: Violation) -> Any:
    return {
        "property": found.property.name,
        "nodes": {node.name: node.size for node in found.system.nodes},
        "run": run_to_json(found.system, found.run),
    }


def _example(name: str, found: Counterexample) -> Any:
    action = found.system.actions[found.action]
    return {
        "claim": name,
        "size": found.size,
        "reachable": found.reachable,
        "action": action.name,
        "arguments": None
        if found.arguments is None
        else {key: to_json(kind, value) for (key, kind), value in zip(action.parameters, found.arguments, strict=True)},
        "before": _state(found, found.before),
        "after": None if found.after is None else _state(found, found.after),
    }


def _state(found: Counterexample, state: State) -> Any:
    return {one.name: to_json(one.type, value) for one, value in zip(found.system.variables, state, strict=True)}
