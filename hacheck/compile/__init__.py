"""From a model to machine code: lowering to scalar slots and blocks, LLVM IR, compiled objects kept and loaded.

`build` is the one pipeline. The names here are for packages that compile a system for a purpose of their own, such as
reading logs. Each is imported at its first use: what is found compiled needs neither lowering nor LLVM IR. Kernels are
written in `kernels.language`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hacheck.compile.artifact import Artifact, Source, Unit, build, described, levels_for
    from hacheck.compile.codegen.generated_program import Program
    from hacheck.compile.codegen.system_module import Mark, emit
    from hacheck.compile.codegen.thread_notes import Notes
    from hacheck.compile.codegen.word_layout import from_words
    from hacheck.compile.kernels.compiled_kernels import compiled_kernels, kept_kernels
    from hacheck.compile.lowering.blocks import Lowered
    from hacheck.compile.lowering.cone_of_influence import relevant
    from hacheck.compile.lowering.constant_slots import constant_slots, with_constants
    from hacheck.compile.lowering.layout import Cell, Flagged, Group, Layout, pack, scalar, slots_of, unpack
    from hacheck.compile.lowering.system import lower, lower_condition
    from hacheck.compile.machine.compiler import KERNEL_LEVELS, Linked, is_available, link
    from hacheck.compile.machine.object_cache import ObjectCache, cache_folder, key_of
    from hacheck.compile.machine.reserved_memory import Region

_MODULES = {
    "artifact": ("Artifact", "Source", "Unit", "build", "described", "levels_for"),
    "codegen.generated_program": ("Program",),
    "codegen.system_module": ("Mark", "emit"),
    "codegen.thread_notes": ("Notes",),
    "codegen.word_layout": ("from_words",),
    "kernels.compiled_kernels": ("compiled_kernels", "kept_kernels"),
    "lowering.blocks": ("Lowered",),
    "lowering.cone_of_influence": ("relevant",),
    "lowering.constant_slots": ("constant_slots", "with_constants"),
    "lowering.layout": ("Cell", "Flagged", "Group", "Layout", "pack", "scalar", "slots_of", "unpack"),
    "lowering.system": ("lower", "lower_condition"),
    "machine.compiler": ("KERNEL_LEVELS", "Linked", "is_available", "link"),
    "machine.object_cache": ("ObjectCache", "cache_folder", "key_of"),
    "machine.reserved_memory": ("Region",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "KERNEL_LEVELS",
    "Artifact",
    "Cell",
    "Flagged",
    "Group",
    "Layout",
    "Linked",
    "Lowered",
    "Mark",
    "Notes",
    "ObjectCache",
    "Program",
    "Region",
    "Source",
    "Unit",
    "build",
    "cache_folder",
    "compiled_kernels",
    "constant_slots",
    "described",
    "emit",
    "from_words",
    "is_available",
    "kept_kernels",
    "key_of",
    "levels_for",
    "link",
    "lower",
    "lower_condition",
    "pack",
    "relevant",
    "scalar",
    "slots_of",
    "unpack",
    "with_constants",
]


def __getattr__(name: str) -> object:
    """One of the names above, imported at its first use."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return found
