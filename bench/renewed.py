"""Keeps the trials of raised limits of a spec whose text was changed, as far as they mean what they meant.

    git archive REVISION spec | tar -x -C BEFORE
    python bench/renewed.py BEFORE/spec SPEC...

A new switch changes the digest under which `bench/bounds/SPEC.json` keeps trials, and no system in which it is off.
Each check and each trial that is kept is elaborated from both texts; it stays where the two systems are the same, but
for numbers of lines and of bound variables, and variables that nothing reads or sets. The others are dropped, and
`bench/bounds.py` tries them.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys

from bounds import KEPT
from msgspec.structs import replace

from hacheck.checker.limit_trials import Trial, plan
from hacheck.checker.verify import Question, questions_of
from hacheck.cli.checking.kept_trials import KeptTrials, explored_key, kept_trials, known
from hacheck.cli.sources import load_specification
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import Raise, raised

TEXTS = re.compile(r"""Span\([^)]*\)|line=\d+|[\w/]+\.ha:\d+|(?:description|source)=(?:'[^']*'|"[^"]*")""")
NUMBERED = re.compile(r"\$\d+")


def main() -> int:
    """Renews what is kept of each spec."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="BEFORE/spec", help="the folder with the specs as they were")
    parser.add_argument("specs", nargs="+", metavar="SPEC")
    given = parser.parse_args()
    for name in given.specs:
        old, new = load_specification(f"{given.before}/{name}.ha"), load_specification(name)
        kept = kept_trials(old, KEPT / f"{name}.json")
        if not kept.explored:
            print(f"{name}: what is kept is not of {given.before}/{name}.ha", file=sys.stderr)
            return 1
        fresh = renewed(old, new, kept, kept_trials(new, KEPT / f"{name}.json"))
        if not fresh.explored:
            print(f"{name}: nothing means what it meant, so nothing was changed", file=sys.stderr)
            return 1
        fresh.save()
        print(f"{name}: {len(fresh.explored)} of {len(kept.explored)} checks stay, {len(fresh.results)} of "
              f"{len(kept.results)} trials", flush=True)  # fmt: skip
    return 0


def renewed(old: Specification, new: Specification, kept: KeptTrials, fresh: KeptTrials) -> KeptTrials:
    """What is kept of the old text and holds of the new one, in `fresh`, which has nothing yet."""
    for question in questions_of(old):
        key = explored_key(question)
        explored = kept.explored.get(key)
        if explored is None or key not in {explored_key(one) for one in questions_of(new)}:
            continue
        if meaning(old, question, {}) != meaning(new, question, {}):
            continue
        values = {one.name: one.default for one in new.parameters} | dict(explored.values)
        fresh.explored[key] = replace(explored, values=tuple(values.items()))
        limits = {words(one): one for trial in plan(new, fresh.explored[key]).trials for one in trial.raises}
        found = known(kept, plan(old, explored))
        for trial, result in found.found if found is not None else ():
            raises = tuple(limits[words(one)] for one in trial.raises if words(one) in limits)
            then = Trial(trial.question, trial.settings, raises, trial.claims, trial.weight)
            if len(raises) == len(trial.raises) and meaning_of(old, trial) == meaning_of(new, then):
                fresh.store(then, result)
    return fresh


def words(limit: Raise) -> tuple[str, ...]:
    """A limit, whatever its place in the text."""
    return (limit.kind, limit.name, limit.before, limit.after)


def meaning_of(specification: Specification, trial: Trial) -> str:
    """The meaning of a trial."""
    changed, settings = raised(specification, trial.raises)
    return meaning(changed, trial.question, {**dict(trial.settings), **settings})


def meaning(specification: Specification, question: Question, settings: dict[str, str]) -> str:
    """A digest that two texts share if the systems of a check are the same."""
    made = specification.instantiate(settings, question.name)
    if made.system is None:
        return "\n".join(one.message for one in made.diagnostics)
    return hashlib.sha256(text_of(made.system, question.only).encode()).hexdigest()


def text_of(system: System, only: tuple[str, ...]) -> str:
    """A system without places and texts, with its bound variables numbered in the order in which they occur. What
    neither its steps nor the properties to check name is left out."""
    checked = [one for one in system.properties if not only or one.name in only]
    steps = repr((system.initial, system.actions, checked, system.observations))
    named = [one for one in system.variables if f"name={one.name!r}" in steps]
    text = f"{TEXTS.sub('', steps)}{TEXTS.sub('', repr(named))}"
    numbers: dict[str, str] = {}
    text = NUMBERED.sub(lambda found: numbers.setdefault(found[0], f"${len(numbers)}"), text)
    return (
        f"{text}{system.nodes}{system.assumptions}{system.faults}{system.endless}{TEXTS.sub('', repr(system.bounds))}"
    )


if __name__ == "__main__":
    sys.exit(main())
