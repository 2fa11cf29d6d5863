"""Searches by compiled code, and by the portable engine, of the same system with the same questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.portable.breadth_first_search import search
from hacheck.checker.explicit.portable.condition_functions import Prepared, prepare
from hacheck.checker.explicit.portable.portable_result import LogFindings
from hacheck.checker.explicit.property_conditions import Questions, pose
from hacheck.checker.explicit.search.breadth_first_search import Options, Search
from hacheck.checker.explicit.search.exploration import explore
from hacheck.checker.explicit.search.kernel_groups import Kernels
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.search.worker_memory import Functions
from hacheck.checker.explicit.search_result import StatePath
from hacheck.compile.codegen.system_module import emit
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.layout import pack, unpack
from hacheck.compile.lowering.system import lower
from hacheck.compile.machine.compiler import Levels, Linked, compile_object, link
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.runs import State

SPEC = Path(__file__).parents[2] / "bench" / "quorum_election.ha"


def never_stop(_: object) -> bool:
    return True


@dataclass(frozen=True)
class Model:
    """A system compiled, and what is asked of it."""

    system: System
    initial: Sequence[State]
    lowered: Lowered
    questions: Questions
    functions: Functions
    linked: Linked

    def pack(self, state: State) -> int:
        return pack(self.functions.program.layout, state)

    def unpack(self, packed: int) -> State:
        return unpack(self.functions.program.layout, packed)

    def packed_initial(self) -> list[int]:
        return [self.pack(state) for state in self.initial]

    @cached_property
    def prepared(self) -> Prepared:
        """What the portable engine works with."""
        return prepare(self.lowered, self.questions)

    def faults(self, path: StatePath) -> int:
        """How many steps of a run are faults."""
        instances = self.functions.program.instances
        assert len(path.by) == len(path.states) - 1, "the instance of each step is known"
        return sum(self.system.actions[instances[by][0]].kind == "fault" for by in path.by if by is not None)


def model_of(system: System, names: tuple[str, ...] = ()) -> Model:
    """The system compiled, with its properties asked. Errors: as finding the initial states."""
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial, copies_max=1)
    questions = pose(lowered, names)
    emitted = emit(lowered, questions.sought, questions.unblocking)
    linked = link([compile_object(emitted.ir, Levels(None, 0))])
    functions = Functions(emitted.program, linked.address("expand"), linked.address("inspect"))
    return Model(system, initial, lowered, questions, functions, linked)


@cache
def election(replicas: int, terms: int, crashes: int, votes_lost: bool = False) -> Model:
    """QuorumElection, with its properties asked."""
    specification = load(SPEC.read_text(encoding="utf-8"), str(SPEC)).specification
    assert specification is not None
    settings = {"replicas": replicas, "terms": terms, "crashes": crashes, "votes_lost": "on" if votes_lost else "off"}
    system = specification.instantiate({name: str(value) for name, value in settings.items()}).system
    assert system is not None
    return model_of(system)


@cache
def kernels_for(words: int, fingerprint: bool, alone: bool, constants: tuple[tuple[str, int], ...] = ()) -> Kernels:
    """The engine's loops, compiled once for all tests."""
    return Kernels(words, fingerprint, alone, ObjectCache(), dict(constants))


@contextmanager
def searched(
    model: Model,
    options: Options | None = None,
    limits: Limits | None = None,
    report: Report = never_stop,
    goal: frozenset[str] | None = None,
    fingerprint: bool = False,
    constants: Mapping[str, int] | None = None,
) -> Iterator[Log]:
    """What a search by compiled code leaves."""
    options, words = options or Options(), model.functions.program.words
    kernels = kernels_for(words, fingerprint, options.threads == 1, tuple(sorted((constants or {}).items())))
    under_way = Search(model.functions, kernels, options, Bounds(limits or Limits(), report))
    log = explore(under_way, model.system, model.packed_initial(), goal)
    try:
        yield log
    finally:
        log.close()


def portable(model: Model, limits: Limits | None = None) -> LogFindings:
    """What a search by the portable engine leaves."""
    prepared = model.prepared
    packed = [pack(model.lowered.layout, state) for state in model.initial]
    log = search(prepared.code, packed, list(prepared.finders), limits or Limits(), never_stop)
    return LogFindings(prepared, log)


def portable_state(model: Model, packed: int) -> State:
    """A state as the portable engine packs it."""
    return unpack(model.lowered.layout, packed)
