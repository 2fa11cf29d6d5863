"""Functions that evaluate conditions of states: `inspect`, `mark_0`, `mark_1`, …, and what `expand` needs besides.

Each condition has one function of its own, which finds the next state of a batch in which it holds; the others call it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.compile.codegen.basic_blocks import Printer
from hacheck.compile.codegen.function_text import Code, Join
from hacheck.compile.codegen.instructions import Values
from hacheck.compile.codegen.module import AFTER, BEFORE, Module, listed
from hacheck.compile.codegen.thread_notes import Notes
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.expression_nodes import Node

ANYTHING = "@anything"
"""Where the number stands of an instance that may write everything."""


def _no_outcome(*_: object) -> None:
    raise AssertionError("a condition has no outcome")


def finding_function(module: Module, name: str, condition: Node, affecting: Sequence[bool]) -> str:
    """A function that gives the first state from `start` on in which a condition holds, or `n`.

    The number at `by[i * stride]` is that of the instance which made state `i`. `affecting`: by that number, whether
    the condition may have changed; states where it has not are passed over.
    """
    code = Code()
    code.lines.append(
        f"""  br label %head
head:
  %i = phi i64 [ %start, %entry ], [ %i1, %next ]
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %state, label %none
none:
  ret i64 %n
state:
  %offset = mul i64 %i, {module.words}
  %s = getelementptr i64, ptr %states, i64 %offset"""
    )
    code.label = "state"
    if not all(affecting):
        table = f"@{name}_affecting"
        elements = listed("i8", map(int, affecting))
        module.parts.append(f"{table} = private unnamed_addr constant [{len(affecting)} x i8] [{elements}]")
        code.lines.append(
            f"""  %place = mul i64 %i, %stride
  %by_place = getelementptr i32, ptr %by, i64 %place
  %instance = load i32, ptr %by_place
  %number = zext i32 %instance to i64
  %bit_place = getelementptr i8, ptr {table}, i64 %number
  %bit = load i8, ptr %bit_place
  %is_pending = icmp ne i8 %bit, 0
  br i1 %is_pending, label %evaluate, label %next
evaluate:"""
        )
        code.label = "evaluate"
    values = Values(module, code, {BEFORE: "%s"})
    Printer(values, _no_outcome).jump(condition, Join("found"), Join("next"))
    code.lines.append(
        """found:
  ret i64 %i
next:
  %i1 = add i64 %i, 1
  br label %head"""
    )
    return code.text(f"define internal i64 @{name}(ptr %states, i64 %n, ptr %by, i64 %stride, i64 %start) #0 {{")


def inspect_function(module: Module, notes: Notes, finders: Sequence[str]) -> str:
    """`inspect`: evaluates the pending conditions in `n` states; a hit is noted, and its condition is done."""
    code = Code()
    for name, argument in (("states", "states"), ("by", "by"), ("notes", "notes")):
        code.do(f"%{name} = inttoptr i64 %{argument}_address to ptr")
    for number, finder in enumerate(finders):
        word, bit = divmod(number, WORD_BITS)
        ask, hit, following = code.join(), code.join(), code.join()
        place = code.put(f"getelementptr i64, ptr %notes, i64 {notes.pending + word}")
        pending = code.put(f"load i64, ptr {place}")
        code.choose(code.put(f"trunc i64 {code.put(f'lshr i64 {pending}, {bit}')} to i1"), ask, following)
        code.start(ask)
        found = code.put(f"call i64 @{finder}(ptr %states, i64 %n, ptr %by, i64 1, i64 0)")
        code.choose(code.put(f"icmp ult i64 {found}, %n"), hit, following)
        code.start(hit)
        code.do(
            f"store i64 {code.put(f'xor i64 {pending}, {1 << bit if bit < WORD_BITS - 1 else -1 << bit}')}, ptr {place}"
        )
        state = code.put(f"getelementptr i64, ptr %states, i64 {code.put(f'mul i64 {found}, {module.words}')}")
        note(module, code, notes.state_hit(number), state)
        code.go(following)
        code.start(following)
    code.do("ret void")
    return code.text("define void @inspect(i64 %states_address, i64 %n, i64 %by_address, i64 %notes_address) #0 {")


def note(module: Module, code: Code, place: int, *states: str) -> None:
    """Notes a hit: that there was one, and the states at some addresses."""
    found = code.put(f"getelementptr i64, ptr %notes, i64 {place}")
    code.do(f"store i64 1, ptr {found}")
    for number, state in enumerate(states):
        copy(module, code, state, place + 1 + number * module.words)


def copy(module: Module, code: Code, state: str, place: int) -> None:
    """Copies a state to the notes."""
    target = code.put(f"getelementptr i64, ptr %notes, i64 {place}")
    copying = module.intrinsic("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
    code.do(f"call void {copying}(ptr {target}, ptr {state}, i64 {8 * module.words}, i1 false)")


def marking_functions(module: Module, finders: Sequence[str]) -> list[str]:
    """`mark_0`, `mark_1`, …, one for each finder: 1 for each of `n` states in which its condition holds, else 0."""
    clearing = module.intrinsic("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
    parts = []
    for number, finder in enumerate(finders):
        parts.append(
            f"""define void @mark_{number}(i64 %states_address, i64 %n, i64 %bytes_address) #0 {{
entry:
  %states = inttoptr i64 %states_address to ptr
  %bytes = inttoptr i64 %bytes_address to ptr
  call void {clearing}(ptr %bytes, i8 0, i64 %n, i1 false)
  br label %head
head:
  %start = phi i64 [ 0, %entry ], [ %start1, %found ]
  %i = call i64 @{finder}(ptr %states, i64 %n, ptr {ANYTHING}, i64 0, i64 %start)
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %found, label %none
found:
  %byte = getelementptr i8, ptr %bytes, i64 %i
  store i8 1, ptr %byte
  %start1 = add i64 %i, 1
  br label %head
none:
  ret void
}}"""
        )
    return parts


def step_function(module: Module, name: str, condition: Node) -> str:
    """A function that says whether a condition holds for the step from one state to another."""
    code = Code()
    values = Values(module, code, {BEFORE: "%s", AFTER: "%t"})
    code.do(f"ret i1 {values.truth(condition)}")
    return code.text(f"define internal i1 @{name}(ptr %s, ptr %t) #0 {{")
