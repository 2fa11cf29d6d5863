"""LLVM IR to object code, and object code to addresses, by llvmlite, which is loaded when it is first needed.

llvmlite is not safe for threads; everything here holds one lock.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from queue import SimpleQueue
from threading import RLock
from typing import Any, Literal

from msgspec import Struct

from hacheck.supervise.task import start_thread


class Levels(Struct, frozen=True):
    """How much LLVM does.

    - `passes`: 0 to 3, LLVM's own pipelines; "few", what kernels gain from; `None` for no pass at all.
    - `codegen`: 0 (fast to compile) to 3 (fast to run).
    """

    passes: int | Literal["few"] | None
    codegen: int


LLVM_MIN = 20
"""The first LLVM with whose textual IR and passes this works: llvmlite 0.45."""

KERNEL_LEVELS = Levels(passes="few", codegen=2)
"""For the engine's own loops: as fast as with `passes=2`, and compiled in two fifths of the time."""

QUICK_LEVELS = Levels(passes=None, codegen=0)
"""It takes a tenth of the time that optimised compiling takes, with the passes that kernels get, and a search by it a
quarter longer."""

_FEW = ("always_inliner", "sroa", "simplify_cfg", "instruction_combine", "simplify_cfg")


class Availability(Struct, frozen=True):
    """Whether machine code can be made and run here. `reason`: why not, as the end of a sentence; else empty."""

    reason: str

    def __bool__(self) -> bool:
        return not self.reason


class CompilerError(Exception):
    """LLVM refused what it was given: our mistake, or a machine that runs no code made at run time."""


_lock = RLock()
_OBJECT_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe")  # ELF, and Mach-O of 64 bits; LLVM crashes on other files


@cache
def is_available() -> Availability:
    """Whether this process can compile and run machine code. The first call loads llvmlite, some 45 ms."""
    if sys.maxsize < 2**63 - 1 or sys.byteorder != "little":
        return Availability("only 64-bit little-endian machines are compiled for")
    try:
        llvm = _binding()
        llvm.check_jit_execution()
        version = llvm.llvm_version_info[0]
    except ImportError:
        return Availability("llvmlite is not installed")
    except Exception as error:  # whatever a foreign library says when it cannot be loaded
        return Availability(f"llvmlite cannot be used: {' '.join(str(error).split())}")
    if version < LLVM_MIN:
        return Availability(f"llvmlite is too old: it has LLVM {version}, and LLVM {LLVM_MIN} is needed")
    return Availability("")


def compile_object(ir: str, levels: Levels = KERNEL_LEVELS) -> bytes:
    """Object code for this machine's CPU of a module in textual IR. Raises `CompilerError`."""
    with _lock:
        llvm = _usable()
        machine = _machine(levels.codegen)
        try:
            module = llvm.parse_assembly(ir, llvm.create_context())
            module.verify()
            module.triple, module.data_layout = machine.triple, str(machine.target_data)
            if levels.passes is not None:
                _optimise(module, machine, levels.passes)
            code: bytes = machine.emit_object(module)
        except RuntimeError as error:
            raise CompilerError(str(error)) from None
        return code


def compile_objects(modules: Iterable[tuple[str, Levels]]) -> list[bytes]:
    """Object code of each module, as by `compile_object`, made by another thread while this one prints the next.
    Errors: those of the iterable; `CompilerError`."""
    waiting: SimpleQueue[tuple[str, Levels] | None] = SimpleQueue()
    made: list[bytes] = []
    failed: list[BaseException] = []

    def compile_them() -> None:
        while (given := waiting.get()) is not None:
            try:
                if not failed:
                    made.append(compile_object(*given))
            except BaseException as error:
                failed.append(error)

    thread = start_thread(compile_them)
    try:
        for module in modules:
            waiting.put(module)
    finally:
        waiting.put(None)
        thread.join()
    if failed:
        raise failed[0]
    return made


def _optimise(module: Any, machine: Any, passes: int | Literal["few"]) -> None:
    llvm = _binding()
    level = 2 if passes == "few" else passes
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
    if passes == "few":
        manager = llvm.create_new_module_pass_manager()
        for name in _FEW:
            getattr(manager, f"add_{name}_pass")()
    else:
        manager = builder.getModulePassManager()
    manager.run(module, builder)


class Linked:
    """Object code in this process's memory, for as long as this lives and whichever of its functions were looked up."""

    __slots__ = ("_address", "_memory")

    def __init__(self, address: Callable[[str], int | None], memory: object) -> None:
        self._address = address
        self._memory = memory

    def address(self, name: str) -> int:
        """Where an exported function is. Raises `CompilerError` if there is none of that name."""
        with _lock:
            address = self._address(name)
        if not address:
            raise CompilerError(f"no function `{name}` among what was linked")
        return address

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """A function of so many 64-bit numbers as a Python callable, which lets other threads run meanwhile."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * arguments)
        function = prototype(self.address(name))
        function.linked = self  # type: ignore[attr-defined]  # the code stays while the function does
        return function


def link(objects: Sequence[bytes]) -> Linked:
    """Puts object code of this machine into memory; what one object exports, the others find.

    Raises `CompilerError`. Only whole objects may come here, whose names are all defined: for others LLVM ends the
    process.
    """
    if not all(code.startswith(_OBJECT_MAGIC) for code in objects):
        raise CompilerError("no object file")
    with _lock:
        llvm = _usable()
        try:
            # In LLVM's global context, which is never freed. Of an engine in a circle of garbage, Python may free the
            # context first, and LLVM does not survive that.
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(0))
            for code in objects:
                engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
        except (RuntimeError, ValueError) as error:
            raise CompilerError(str(error)) from None
        return Linked(engine.get_function_address, engine)


def _usable() -> Any:
    if not is_available():
        raise CompilerError(is_available().reason)
    return _binding()


@cache
def _binding() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _machine(codegen: int) -> Any:
    # Whole addresses: where a process has reserved much address space, code and its constants may come to lie further
    # apart than 31 bits reach, and then LLVM ends the process when it links.
    llvm = _binding()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=codegen,
        reloc="static",
        codemodel="large",
        jit=True,
    )
