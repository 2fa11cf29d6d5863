"""The other settings of a counterexample: their systems, and a part of them tried in a process of its own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from hacheck.checker.blame.trials import Elsewhere, Subject, TrialResult, Variant, variants_tried
from hacheck.checker.engine import Limits
from hacheck.checker.sent_specification import specification_of
from hacheck.compile.kept_models import kept_result
from hacheck.model.canonical_text import text_of
from hacheck.model.ir import Property, System
from hacheck.model.language import Specification
from hacheck.model.language.known_handlers import KnownHandlers
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Caller, Died, Done, Failed, ProcessPool

ALONE_ACTIONS_MAX = 800
"""Settings whose systems have no more actions than this in all are tried in one process: some 0.8 CPU seconds to make,
where another process takes 0.6 to begin."""

WAIT_SECONDS = 0.1
GRACE_SECONDS = 1.0
"""How long the other process may take to say what it found once the user has interrupted."""


def other_systems(
    specification: Specification, settings: Mapping[str, str], check: str | None, known: KnownHandlers
) -> Callable[[Variant], System | None]:
    """Makes the systems of a check with one more setting, and keeps them. `settings`: on top of those of the check."""
    whole = text_of(specification)
    digest = None if whole is None else hashlib.sha256(whole.encode()).hexdigest()

    def other(variant: Variant) -> System | None:
        given = {**settings, variant.name: variant.value}
        text = None if digest is None else f"{sorted(given.items())} {check!r} {digest}"

        def make() -> System | None:
            return specification.instantiate(given, check, known=known).system

        return kept_result("variant", text, make, _is_system)

    return other


def _is_system(made: System | None) -> bool:
    return made is not None


class Task(Struct, frozen=True):
    """Settings to try of a counterexample of a check. `specification`: pickled; `settings`: on top of the check's."""

    specification: bytes
    settings: dict[str, str]
    check: str | None
    prop: Property
    run: Run
    variants: tuple[Variant, ...]
    limits: Limits
    threads: int


@contextmanager
def tried_elsewhere(task: Task, interruption: Interruption) -> Iterator[Elsewhere]:
    """The settings, being tried in a process that ends with the block. When the user interrupts, its results are those
    that it has. Errors: of `results`, `JobFailed` where trying them failed for a mistake of ours."""
    with ProcessPool[str](tried, 1) as processes:
        processes.begin("settings", task)
        yield Elsewhere(task.variants, partial(_results, processes, task, interruption))


def _results(processes: ProcessPool[str], task: Task, interruption: Interruption) -> dict[Variant, TrialResult]:
    until: float | None = None
    while until is None or time.monotonic() < until:
        for _, event in processes.wait(WAIT_SECONDS):
            match event:
                case Done(results):
                    return dict(results)
                case Died() as died:
                    return _open(task, f"the process that tried it {died.how}")
                case Failed() as failed:
                    raise failed.as_mistake("blame with other settings")
        if until is None and interruption.requested:
            processes.ask_to_stop()
            until = time.monotonic() + GRACE_SECONDS
    return _open(task, "interrupted")


def _open(task: Task, stopped: str) -> dict[Variant, TrialResult]:
    return {one: TrialResult(one.trial, "open", stopped=stopped) for one in task.variants}


def tried(task: Task, caller: Caller) -> dict[Variant, TrialResult]:
    """Tries the settings, in the other process."""
    specification = specification_of(task.specification)
    known = specification.known_handlers()
    system = specification.instantiate(task.settings, task.check, known=known).system
    assert system is not None, "it has the counterexample"
    other = other_systems(specification, task.settings, task.check, known)
    subject = Subject(system, task.prop, task.run, task.variants, other)
    return variants_tried(subject, task.limits, lambda _: not caller.wants_stop, task.threads)
