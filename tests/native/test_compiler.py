"""The compiler: IR to object code, object code to addresses."""

from __future__ import annotations

import ctypes
import gc
import platform
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from hacheck.compile.machine.compiler import (
    KERNEL_LEVELS,
    CompilerError,
    Levels,
    compile_object,
    compile_objects,
    is_available,
    link,
)

LEVELS = [Levels(None, 0), Levels(None, 2), KERNEL_LEVELS, Levels(0, 0), Levels(1, 2), Levels(2, 2), Levels(3, 3)]

# What linking has to fill in: calls near and far, tables of numbers, of places in the code and of addresses, data
# that is written and data that begins as zeros, a function and data that others see.
CALLING = """
@table = internal constant [8 x i64] [i64 3, i64 1, i64 4, i64 1, i64 5, i64 9, i64 2, i64 6]
@written = internal global i64 7
@zeros = internal global [1000 x i64] zeroinitializer
@seen = global i64 70
@addresses = internal constant [2 x ptr] [ptr @one, ptr @far]
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @far(i64)
define internal i64 @one(i64 %a) noinline {
  %r = add i64 %a, 1
  ret i64 %r
}
define i64 @data(i64 %a) {
  %entry = getelementptr i64, ptr @table, i64 %a
  %number = load i64, ptr %entry
  %old = load i64, ptr @written
  %new = add i64 %old, 100
  store i64 %new, ptr @written
  %place = getelementptr i64, ptr @zeros, i64 %a
  %zero = load i64, ptr %place
  %one = add i64 %zero, 1
  store i64 %one, ptr %place
  %seen = load i64, ptr @seen
  %s1 = add i64 %number, %old
  %s2 = add i64 %s1, %zero
  %s3 = mul i64 %s2, %seen
  ret i64 %s3
}
define i64 @through(i64 %a, i64 %b) {
  %place = getelementptr ptr, ptr @addresses, i64 %a
  %function = load ptr, ptr %place
  %r = call i64 %function(i64 %b)
  ret i64 %r
}
define i64 @cases(i64 %a) {
  switch i64 %a, label %other [ i64 0, label %c0 i64 1, label %c1 i64 2, label %c2 i64 3, label %c3 i64 4, label %c4 ]
c0:
  %r0 = call i64 @one(i64 10)
  ret i64 %r0
c1:
  %r1 = call i64 @far(i64 20)
  ret i64 %r1
c2:
  %r2 = call i64 @through(i64 1, i64 30)
  ret i64 %r2
c3:
  ret i64 40
c4:
  %r4 = mul i64 %a, %a
  ret i64 %r4
other:
  ret i64 99
}
define i64 @copy(i64 %to, i64 %from, i64 %bytes) {
  %t = inttoptr i64 %to to ptr
  %f = inttoptr i64 %from to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %f, i64 %bytes, i1 false)
  ret i64 %bytes
}
"""
FAR = """
@factor = internal constant i64 1000
define i64 @far(i64 %a) {
  %factor = load volatile i64, ptr @factor
  %r = mul i64 %a, %factor
  ret i64 %r
}
"""


@pytest.mark.parametrize("levels", LEVELS, ids=str)
def test_linked_code_does_what_it_says(levels: Levels) -> None:
    linked = link([compile_object(CALLING, levels), compile_object(FAR, levels)])
    data, through = linked.function("data", 1), linked.function("through", 2)
    numbers, seen = [3, 1, 4, 1, 5, 9, 2, 6], 70
    asked = [0, 1, 1, 7, 7, 7]
    zeros = [0, 0, 1, 0, 1, 2]
    expected = [(numbers[a] + 7 + 100 * turn + zeros[turn]) * seen for turn, a in enumerate(asked)]
    assert [data(a) for a in asked] == expected
    assert [through(0, 5), through(1, 5), linked.function("far", 1)(6)] == [6, 5000, 6000]
    cases = linked.function("cases", 1)
    assert [cases(a) for a in range(6)] == [11, 20_000, 30_000, 40, 16, 99]
    source = ctypes.create_string_buffer(bytes(range(200)), 200)
    target = ctypes.create_string_buffer(200)
    assert linked.function("copy", 3)(ctypes.addressof(target), ctypes.addressof(source), 150) == 150
    assert target.raw == bytes(range(150)) + bytes(50)


def relocations(code: bytes) -> set[int]:
    """The types of all places in an ELF object that linking fills in."""
    (headers,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    found: set[int] = set()
    for section in range(count):
        kind, start, length = struct.unpack_from("<4xI16xQQ", code, headers + section * size)
        if kind == 4:  # relocations with addends, of 24 bytes
            found |= {struct.unpack_from("<8xI", code, place)[0] for place in range(start, start + length, 24)}
    return found


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="other relocations elsewhere")
@pytest.mark.parametrize("levels", LEVELS)
def test_code_finds_everything_however_far_apart_it_lies(levels: Levels) -> None:
    """Where much address space is taken, parts of one object may lie further apart than 32 bits reach."""
    whole, distance = 1, 24  # R_X86_64_64, R_X86_64_PC64: of 64 bits
    found = {kind for text in (CALLING, FAR) for kind in relocations(compile_object(text, levels))}
    assert whole in found
    assert found <= {whole, distance}


def test_function_works_when_nothing_else_holds_its_code() -> None:
    functions = [link([compile_object(FAR)]).function("far", 1) for _ in range(20)]
    gc.collect()
    assert [function(number) for number, function in enumerate(functions)] == [1000 * n for n in range(20)]


def test_missing_function_is_said_to_be_missing() -> None:
    linked = link([compile_object(FAR)])
    with pytest.raises(CompilerError, match="no function `near`"):
        linked.address("near")


def test_nothing_is_linked_from_nothing() -> None:
    with pytest.raises(CompilerError, match="no function `f`"):
        link([]).address("f")


@pytest.mark.parametrize("content", [b"", b"not an object", bytes(1000)])
def test_what_is_no_object_file_is_refused(content: bytes) -> None:
    with pytest.raises(CompilerError, match="object file"):
        link([content])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in /proc")
def test_code_is_never_writable_while_it_can_run() -> None:
    linked = link([compile_object(CALLING), compile_object(FAR)])
    address = linked.address("data")
    with open("/proc/self/maps", encoding="ascii") as maps:
        regions = [line.split() for line in maps]
    protections = []
    for region, protection, *_ in regions:
        begin, end = (int(part, 16) for part in region.split("-"))
        if begin <= address < end:
            protections.append(protection[:3])
    assert protections == ["r-x"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in /proc")
def test_memory_of_code_no_longer_used_is_given_back() -> None:
    large = compile_object("@large = global [1000000 x i64] zeroinitializer\n" + FAR)

    def mapped() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0])

    link([large])
    gc.collect()
    before = mapped()
    for _ in range(30):
        link([large])
    gc.collect()
    assert mapped() - before < 4096  # pages; what 30 of them would keep is over 50,000


@pytest.mark.parametrize(
    ("ir", "words"),
    [
        ("define i64 @f() { ret i32 0 }", "value doesn't match function result type"),
        ("define i64 @f(i64 %a) { ret i64 %b }", "use of undefined value"),
        ("defin", "expected top-level entity"),
        (
            "define i64 @f(i1 %c) {\nentry:\n br i1 %c, label %x, label %y\nx:\n %v = add i64 1, 2\n br label %y\n"
            "y:\n ret i64 %v\n}",
            "does not dominate",
        ),
    ],
)
def test_wrong_ir_is_refused_in_the_words_of_llvm(ir: str, words: str) -> None:
    with pytest.raises(CompilerError, match=words):
        compile_object(ir)


def test_compiling_in_several_threads_is_safe() -> None:
    found: list[int] = []

    def work(number: int) -> None:
        for turn in range(5):
            name = f"f{number}_{turn}"
            code = compile_object(f"define i64 @{name}(i64 %a) {{\n %r = add i64 %a, {turn}\n ret i64 %r\n}}")
            found.append(link([code]).function(name, 1)(100 * number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(100 * number + turn for number in range(4) for turn in range(5))


def test_other_threads_run_while_compiled_code_does() -> None:
    waiting = """
define i64 @wait(i64 %place) {
entry:
  %p = inttoptr i64 %place to ptr
  br label %again
again:
  %v = load atomic i64, ptr %p monotonic, align 8
  %nothing = icmp eq i64 %v, 0
  br i1 %nothing, label %again, label %done
done:
  ret i64 %v
}
"""
    wait, word = link([compile_object(waiting)]).function("wait", 1), ctypes.c_uint64(0)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(wait(ctypes.addressof(word))))
    thread.start()
    thread.join(0.02)
    assert thread.is_alive()
    word.value = 5
    thread.join(10)
    assert found == [5]


# ---- what is loaded when


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_code_can_be_compiled_here() -> None:
    assert is_available()
    assert is_available().reason == ""


def test_missing_llvmlite_is_told_in_words() -> None:
    program = "import sys; sys.modules['llvmlite'] = None\n"
    program += "from hacheck.compile.machine.compiler import *\n"
    program += "print(bool(is_available()), is_available().reason)\n"
    program += "try: compile_object('')\nexcept CompilerError as error: print(error)"
    assert run(program).splitlines() == ["False llvmlite is not installed", "llvmlite is not installed"]


def test_broken_llvmlite_is_told_in_words() -> None:
    program = "import sys, types\n"
    program += "class Broken(types.ModuleType):\n"
    program += "    def __getattr__(self, name): raise OSError('libllvmlite.so:\\n cannot open')\n"
    program += "sys.modules['llvmlite.binding'] = Broken('llvmlite.binding')\n"
    program += "from hacheck.compile.machine.compiler import *\nprint(is_available().reason)"
    assert run(program) == "llvmlite cannot be used: libllvmlite.so: cannot open"


def test_old_llvmlite_is_told_in_words() -> None:
    program = "import llvmlite.binding\nllvmlite.binding.llvm_version_info = (15, 0, 7)\n"
    program += "from hacheck.compile.machine.compiler import *\nprint(is_available().reason)"
    assert run(program) == "llvmlite is too old: it has LLVM 15, and LLVM 20 is needed"


def test_llvmlite_is_loaded_only_to_compile() -> None:
    program = (
        "import sys\nfrom hacheck.compile.kernels import language, compiled_kernels as objects\n"
        "from hacheck.compile.machine import object_cache as cache, compiler\n"
    )
    program += "compiler.link\nprint([name for name in sys.modules if 'llvmlite' in name])"
    assert run(program) == "[]"


def test_modules_compiled_beside_their_printing_are_those_compiled_one_by_one() -> None:
    texts = [f"define i64 @f{number}(i64 %x) {{ ret i64 %x }}" for number in range(3)]
    printed = ((text, KERNEL_LEVELS) for text in texts)
    assert compile_objects(printed) == [compile_object(text) for text in texts]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_module_that_is_refused_is_told_after_the_last(place: int) -> None:
    texts = ["define void @f() { ret void }"] * 3
    texts[place] = "nonsense"
    with pytest.raises(CompilerError):
        compile_objects((text, KERNEL_LEVELS) for text in texts)


def test_what_goes_wrong_while_modules_are_printed_is_told() -> None:
    def printed() -> Iterator[tuple[str, Levels]]:
        yield "define void @f() { ret void }", KERNEL_LEVELS
        raise KeyError("printing")

    with pytest.raises(KeyError, match="printing"):
        compile_objects(printed())


def test_code_in_a_circle_of_garbage_is_freed_safely() -> None:
    """Python frees a circle in any order: a context before the engine that lives in it ended the process."""
    code = compile_object("define i64 @f(i64 %x) { ret i64 %x }\n", KERNEL_LEVELS)
    gc.freeze()  # so that only the circles are looked at
    try:
        for _ in range(50):
            circle: dict[str, object] = {"code": link([code])}
            circle["itself"] = circle
            del circle
            assert gc.collect() > 0
    finally:
        gc.unfreeze()
