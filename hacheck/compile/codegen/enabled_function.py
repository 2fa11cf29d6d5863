"""`enabled`: which tests of slots hold in each state of a batch, for 64 states at once.

Guards are mostly such tests, and whether one holds is as good as random to a processor: a branch for each, in each
state, costs more than all else that a successor takes. So the tests that guards consist of are made without branches,
each once, in vectors of eight states. The rest of a guard is evaluated where these tests hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hacheck.compile.codegen.function_text import Code
from hacheck.compile.codegen.module import Comparison, Module, signed
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_nodes import Node

_LANES = 8  # states in a vector: each test of them is a byte


class Guards(Struct, frozen=True):
    """The tests of all guards. `tests_of`: for each instance, the places of those tests among `tests` that are made in
    vectors, and the others."""

    tests: tuple[Comparison, ...]
    tests_of: tuple[tuple[tuple[int, ...], tuple[Node, ...]], ...]

    @property
    def bytes(self) -> int:
        """What `enabled` writes: a word for each test, with a bit for each state."""
        return max(len(self.tests), 1) * WORD_BITS // 8


def guards_of(module: Module, lowered: Lowered) -> Guards:
    """The tests of all guards of a system."""
    numbers: dict[Comparison, int] = {}
    tests_of = []
    for instance in lowered.instances:
        others: list[Node] = []
        found: list[int] = []
        for node in instance.guard:
            comparison = module.comparison(node)
            if comparison is None:
                others.append(node)
            else:
                found.append(numbers.setdefault(comparison, len(numbers)))
        tests_of.append((tuple(found), tuple(others)))
    return Guards(tuple(numbers), tuple(tests_of))


def enabled_function(module: Module, tests: Sequence[Comparison]) -> str:
    """The function that makes all tests of `n` states, 64 at most; of the others in their words nothing is said."""
    used = sorted({test.word for test in tests})
    code = Code(label="test")
    code.lines += [
        f"  %lanes = alloca [{max(len(used), 1) * WORD_BITS} x i64], align 64",
        "  br label %state",
        "state:",
        "  %i = phi i64 [ 0, %entry ], [ %i1, %state ]",
        f"  %offset = mul i64 %i, {module.words}",
        "  %s = getelementptr i64, ptr %states, i64 %offset",
        "  %lane = getelementptr i64, ptr %lanes, i64 %i",
    ]
    for number, word in enumerate(used):
        value = code.put(f"load i64, ptr {code.at('%s', word)}")
        code.do(f"store i64 {value}, ptr {code.at('%lane', number * WORD_BITS)}")
    code.lines += [
        "  %i1 = add i64 %i, 1",
        "  %all = icmp eq i64 %i1, %n",
        "  br i1 %all, label %test, label %state",
        "test:",
        "  %g = phi i64 [ 0, %state ], [ %g1, %test ]",
        "  %group = getelementptr i64, ptr %lanes, i64 %g",
        "  %byte = lshr i64 %g, 3",
        "  %bytes = getelementptr i8, ptr %masks, i64 %byte",
    ]
    _print_tests(code, tests, used)
    code.lines += [
        f"  %g1 = add i64 %g, {_LANES}",
        "  %done = icmp uge i64 %g1, %n",
        "  br i1 %done, label %exit, label %test",
        "exit:",
        "  ret void",
    ]
    return code.text("define internal void @enabled(ptr noalias readonly %states, i64 %n, ptr noalias %masks) #0 {")


def _print_tests(code: Code, tests: Sequence[Comparison], used: Sequence[int]) -> None:
    """Makes each test of eight states. A machine of which the first byte of a word is not its lowest has no native
    engine."""
    vector = f"<{_LANES} x i64>"
    words = {
        word: code.put(f"load {vector}, ptr {code.at('%group', number * WORD_BITS)}, align 64")
        for number, word in enumerate(used)
    }
    parts: dict[tuple[int, int], str] = {}
    for number, test in enumerate(tests):
        part = parts.get((test.word, test.mask))
        if part is None:
            part = code.put(f"and {vector} {words[test.word]}, splat (i64 {signed(test.mask)})")
            parts[test.word, test.mask] = part
        holds = code.put(f"icmp {test.predicate} {vector} {part}, splat (i64 {signed(test.number)})")
        byte = code.put(f"bitcast <{_LANES} x i1> {holds} to i{_LANES}")
        place = code.put(f"getelementptr i64, ptr %bytes, i64 {number}")
        code.do(f"store i{_LANES} {byte}, ptr {place}")
