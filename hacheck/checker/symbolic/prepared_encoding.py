"""From a system to its encoding in Z3: what both bounded model checking and induction begin with."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from hacheck.checker.engine import Answer, Limits, Report
from hacheck.checker.explicit.answers import no_start, unexplored
from hacheck.checker.explicit.property_conditions import Questions, pose
from hacheck.checker.explicit.reductions import reduced
from hacheck.checker.explicit.search_result import Subject
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.lassos import conditions
from hacheck.checker.symbolic.system_encoding import Encoding, encode, nothing_more
from hacheck.checker.symbolic.unrolling import Unrolling
from hacheck.checker.symbolic.z3_library import Library, Supervisor
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.model.runs import State
from hacheck.supervise.task import Cancelled


class Prepared(Struct, frozen=True):
    """A system ready for Z3: its questions, its encoding, copies of that, and how states are packed in it."""

    system: System
    questions: Questions
    initial: tuple[State, ...]
    encoding: Encoding
    unrolling: Unrolling
    subject: Subject
    watch: Stopwatch

    @property
    def library(self) -> Library:
        """Z3, within the limits of the check."""
        return self.unrolling.library

    @property
    def bounds(self) -> str:
        """The bounds that may be reached, in words; nothing where there are none."""
        words = dict(self.system.bounds)
        bounds_reached = (outcome.text for outcome in self.encoding.behaviour.outcomes if outcome.ended == "bound")
        return "; ".join(words.get(name, name) for name in dict.fromkeys(bounds_reached))

    def within(self, words: str) -> str:
        """The words with the bounds that may be reached."""
        return f"{words} within: {self.bounds}" if self.bounds else words


class Wanted(Struct, frozen=True):
    """What an encoding is for. `lassos`: whether infinite runs are looked for. `reductions`: whether to leave out what
    no property to check depends on."""

    lassos: bool = False
    reductions: bool = True


FINITE = Wanted()
"""Finite runs only, without what is not needed."""


def prepare(
    system: System,
    properties: tuple[str, ...],
    limits: Limits,
    report: Report,
    watch: Stopwatch,
    wanted: Wanted = FINITE,
) -> Prepared | None:
    """The system prepared for queries about properties; `None` where it has no initial state.

    Errors: `EvaluationError` where it cannot even begin; `Cancelled`; `Refused` without Z3.
    """
    library = Library(Supervisor(limits, report, watch.started))
    initial = watch.supervised("lowering", Interpreter(system).initial_states)
    return prepared_from(system, properties, initial, library, watch, wanted) if initial else None


def prepared_from(
    system: System,
    properties: tuple[str, ...],
    initial: tuple[State, ...],
    library: Library,
    watch: Stopwatch,
    wanted: Wanted = FINITE,
) -> Prepared:
    """The system prepared, which may begin in these states. Errors: `Cancelled`."""
    questions, encoding = watch.supervised("encoding", partial(_encoded, system, properties, initial, wanted))
    with watch.phase("encoding"):
        unrolling = Unrolling(encoding, library)
    lowered = encoding.lowered
    instances = tuple((instance.action, instance.arguments) for instance in lowered.instances)
    subject = Subject(system, instances, (), partial(pack, lowered.layout))
    return Prepared(system, questions, initial, encoding, unrolling, subject, watch)


def prepared_or_answer(
    system: System,
    selected: tuple[str, ...],
    properties: tuple[str, ...],
    limits: Limits,
    report: Report,
    watch: Stopwatch,
    wanted: Wanted = FINITE,
) -> Prepared | Answer:
    """The system encoded with the properties `selected`; where that cannot be, the answer about `properties`. Errors:
    `Refused` without Z3."""
    try:
        prepared = prepare(system, selected, limits, report, watch, wanted)
    except EvaluationError as error:
        return no_start(system, properties, f"an error of the spec {error.message}")
    except Cancelled as given_up:
        return unexplored(system, properties, given_up.reason)
    return no_start(system, properties) if prepared is None else prepared


def encoded(system: System, properties: tuple[str, ...] = ()) -> Encoding:
    """The encoding of a system and its properties. Errors: `EvaluationError` where it cannot even begin."""
    return _encoded(system, properties, Interpreter(system).initial_states(), FINITE)[1]


def _encoded(
    system: System, properties: tuple[str, ...], initial: tuple[State, ...], wanted: Wanted
) -> tuple[Questions, Encoding]:
    """Each instance is lowered to as few copies as can be: what branches is a choice of values, not of steps."""
    lowered = lower(system, initial, copies_max=1)
    questions = pose(lowered, properties)
    smaller, _ = reduced(lowered, questions, initial, symmetry=False, relevance=wanted.reductions)
    more = partial(conditions, properties=questions.properties) if wanted.lassos else nothing_more
    return questions, encode(smaller, questions, initial, more)
