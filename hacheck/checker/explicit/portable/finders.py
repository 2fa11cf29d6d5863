"""What is asked, as generated code: functions that find a state, and conditions that an expansion asks of its steps."""

from __future__ import annotations

from hacheck.checker.explicit.portable.program import Code, Wanted, compiled, finding_source, generate
from hacheck.checker.explicit.portable.search import Finder, Goal
from hacheck.checker.explicit.questions import Questions
from hacheck.model.data import dataclass
from hacheck.model.lowering.blocks import Lowered


@dataclass(frozen=True, slots=True)
class Prepared:
    """The generated program of a check. `steps`: the key of each step condition, in the order of `Log.hits`."""

    code: Code
    finders: tuple[Finder, ...]
    steps: tuple[str, ...]

    def goal(self, keys: frozenset[str] | None) -> Goal | None:
        """When a search may end early: once each of these keys was hit."""
        if keys is None:
            return None
        places = tuple(place for place, key in enumerate(self.steps) if key in keys)
        return Goal(keys - set(self.steps), places)


def prepare(lowered: Lowered, questions: Questions) -> Prepared:
    """Everything that has to be generated and compiled to search for what is asked."""
    steps = tuple(sought.key for sought in questions.sought if sought.kind == "step")
    finders = tuple(
        Finder(
            sought.key,
            compiled(finding_source(lowered, sought.wanted), sought.key)["find"],
            sought.kind == "dead",
        )
        for sought in questions.sought
        if sought.kind != "step"
    )
    return Prepared(generate(lowered, wanted_by(questions)), finders, steps)


def wanted_by(questions: Questions) -> Wanted:
    """What the expansion has to note."""
    return Wanted(tuple(sought.wanted for sought in questions.sought if sought.kind == "step"), questions.lively)
