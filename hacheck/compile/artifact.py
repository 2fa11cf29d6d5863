"""The one pipeline from a system to functions in memory: found under a key, or lowered, emitted, compiled and kept;
then linked.

What is kept holds everything that its users need to know of a program, so where it is found nothing is lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile.codegen.generated_program import Program, ProgramError, program_from_json, program_to_json
from hacheck.compile.machine.compiler import KERNEL_LEVELS, QUICK_LEVELS, Levels, Linked, compile_objects, link
from hacheck.compile.machine.object_cache import Entry, ObjectCache
from hacheck.model.canonical_text import text_of
from hacheck.model.ir import System

Form = TypeVar("Form")
Made = TypeVar("Made")
Product = TypeVar("Product")

LARGE_LINES = 30_000
"""Of IR. What has more is compiled the quick way where nothing says how much there will be to do."""


class Unit(Struct, frozen=True):
    """A program, and the modules of LLVM IR that are linked with each other for it. A module is printed when it is
    needed, while the one before it is compiled."""

    program: Program
    modules: Iterable[tuple[str, Levels]]


class Source(Struct, frozen=True):
    """What is compiled for a system. `starts`: packed states, as the first program has them. `facts`: what is kept
    beside the code, as JSON has it; called when everything is compiled."""

    units: Sequence[Unit]
    starts: Sequence[int] = ()
    facts: Callable[[], Mapping[str, Any]] = dict


class Artifact(Struct, frozen=True):
    """What was compiled, linked in memory: `code` of each of `programs`. `entry`: as it is kept."""

    programs: tuple[Program, ...]
    code: tuple[Linked, ...]
    starts: tuple[int, ...]
    entry: Entry

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was kept beside the code."""
        facts: Mapping[str, Any] = self.entry.facts
        return facts


def at_once(name: str, work: Callable[[], Made]) -> Made:
    """Does the work of a phase, unsupervised."""
    return work()


def build(
    key: str,
    cache: ObjectCache,
    system: System,
    *,
    lower: Callable[[], Form],
    emit: Callable[[Form], Source],
    load: Callable[[Artifact], Product | None],
    run: Callable[[str, Callable[[], Any]], Any] = at_once,
) -> Product:
    """What `load` makes of the artifact that is kept under a key. It is compiled now where there is none, or where
    `load` returns `None` since it cannot use it.

    `run`: does the work of a phase, `lowering` or `compiling`. Errors: those of the functions; `CompilerError`.
    """

    def make() -> Entry:
        form: Form = run("lowering", lower)
        entry: Entry = run("compiling", lambda: compiled(system, emit(form)))
        return entry

    return cache.found_or_made(key, lambda entry: loaded(system, entry, load), make)


def compiled(system: System, source: Source) -> Entry:
    """Object code of everything, and what belongs to it. Errors: `CompilerError`; those of printing a module."""
    sizes: list[int] = []

    def modules() -> Iterator[tuple[str, Levels]]:
        for unit in source.units:
            sizes.append(0)
            for module in unit.modules:
                sizes[-1] += 1
                yield module

    objects = compile_objects(modules())
    facts = {
        "programs": [program_to_json(unit.program, system) for unit in source.units],
        "objects": sizes,
        "starts": [f"{state:x}" for state in source.starts],
        **source.facts(),
    }
    return Entry(tuple(objects), facts)


def loaded(system: System, entry: Entry, load: Callable[[Artifact], Product | None]) -> Product | None:
    """What `load` makes of an entry, linked; `None` where it is of no use."""
    try:
        programs = tuple(program_from_json(one, system) for one in entry.facts["programs"])
        starts = tuple(int(state, 16) for state in entry.facts["starts"])
        sizes = [int(size) for size in entry.facts["objects"]]
    except (ProgramError, KeyError, TypeError, ValueError):
        return None
    if sum(sizes) != len(entry.objects) or len(sizes) != len(programs):
        return None
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    code = tuple(link(entry.objects[end - size : end]) for size, end in zip(sizes, ends, strict=True))
    return load(Artifact(programs, code, starts, entry))


def levels_for(ir: str) -> Levels:
    """How much LLVM does with a module where nothing says how much there will be to do."""
    return KERNEL_LEVELS if ir.count("\n") <= LARGE_LINES else QUICK_LEVELS


def described(system: System) -> str:
    """A text that differs for systems that differ in what they do. Comments, places and words in the file count for
    nothing."""
    actions = tuple(replace(action, description="", source="", line=0) for action in system.actions)
    properties = tuple(replace(prop, description="", source="", line=0) for prop in system.properties)
    bare = replace(
        system,
        description="",
        source="",
        settings=(),
        actions=actions,
        properties=properties,
        observations=(),
        assumptions=(),
        faults=(),
        promises=(),
        definitions=(),
    )
    text = text_of(bare)
    if text is not None:
        return text
    from hacheck.model.system_text import print_system  # in it all sets have one order, which takes its time

    return print_system(bare)
