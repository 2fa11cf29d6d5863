"""The kernel language: what is written, run by Python itself, printed as Python and compiled, does the same."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hacheck.compile.kernels.language import WORD_MASK, KernelError, load64
from hacheck.compile.kernels.to_llvm import kernel_ir, kernel_ir_of_source
from hacheck.compile.kernels.to_python import as_python, as_python_of_source
from hacheck.compile.machine.compiler import KERNEL_LEVELS, compile_object, link
from tests.native.kernel_programs import programs
from tests.native.kernel_ways import (
    INTERESTING,
    LARGE,
    MEMORY_WORDS,
    WITHOUT_PASSES,
    Word,
    body,
    by_python_itself,
    compiled,
    results,
    the_result,
)


@pytest.mark.parametrize("operator", ["+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%"])
def test_arithmetic_wraps_around_whatever_the_numbers(operator: str) -> None:
    text = body(f"return a {operator} b")
    paths = [compiled(text, "f", 3, {}, KERNEL_LEVELS), as_python_of_source(text, {})["f"]]
    paths.append(by_python_itself(text, {})["f"])
    for left in INTERESTING:
        for right in INTERESTING:
            assert len({path(0, left, right) for path in paths}) == 1, (left, right)


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_comparison_is_unsigned(operator: str) -> None:
    paths = [
        compiled(body(f"return a {operator} b"), "f", 3, {}, KERNEL_LEVELS),
        compiled(body(f"if a {operator} b:", "    return 1", "return 0"), "f", 3, {}, WITHOUT_PASSES),
        as_python_of_source(body(f"return a {operator} b"), {})["f"],
    ]
    for left in INTERESTING:
        for right in INTERESTING:
            expected = int(eval(f"left {operator} right", {"left": left, "right": right}))
            assert [path(0, left, right) for path in paths] == [expected] * 3, (left, right)


@pytest.mark.parametrize(
    ("expression", "a", "b", "expected"),
    [
        ("~a", 0, 0, LARGE),
        ("-a", 1, 0, LARGE),
        ("a & -a", 24, 0, 8),
        ("a - b", 1, 2, LARGE),
        ("a // 0x10 % 7", 1000, 0, 62 % 7),
        ("a // b", 5, 0, 0),
        ("a % b", 5, 0, 5),
        ("1 << a", 64, 0, 1),
        ("1 << a", 63, 0, 2**63),
        ("a >> b", LARGE, 65, LARGE >> 1),
        ("popcount(a)", LARGE, 0, 64),
        ("trailing_zeros(a)", 0, 0, 64),
        ("trailing_zeros(a)", 40, 0, 3),
        ("multiply_high(a, b)", LARGE, LARGE, LARGE - 1),
        ("7 if a else 9", 2**63, 0, 7),
        ("7 if a < b else 9", 3, 3, 9),
        ("(a < b) + (a == a)", 1, 2, 2),
        ("a < b <= 9", 1, 9, 1),
        ("a < b <= 9", 1, 10, 0),
        ("not a", 0, 0, 1),
        ("not a", 5, 0, 0),
        ("a < 3 and b < 3", 1, 2, 1),
        ("a < 3 or b < 3", 4, 4, 0),
        ("True + True + False", 0, 0, 2),
        ("a < 3 and True", 1, 0, 1),
        ("False or a < 3", 5, 0, 0),
        ("(a if a > b else b) * (10 if not a > b else 1)", 4, 6, 60),
    ],
)
def test_expression_means_what_python_says(expression: str, a: int, b: int, expected: int) -> None:
    assert the_result(body(f"return {expression}"), a, b) == expected


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_memory_is_read_and_written_in_its_own_size(bits: int) -> None:
    text = body(f"store{bits}(m, 1, a)", f"store{bits}(m, 3, b)", f"return load{bits}(m, 1) + load{bits}(m, 2)")
    [(result, words), *others] = results(text, (LARGE, 0x0123456789ABCDEF), {}, tuple(range(100, 108)))
    assert others == [(result, words)] * len(others)
    content = b"".join(word.to_bytes(8, "little") for word in words)
    size = bits // 8
    assert content[size : 2 * size] == b"\xff" * size
    assert content[3 * size : 4 * size] == 0x0123456789ABCDEF.to_bytes(8, "little")[:size]
    before = b"".join(word.to_bytes(8, "little") for word in range(100, 108))
    assert content[2 * size : 3 * size] == before[2 * size : 3 * size]
    assert content[4 * size :] == before[4 * size :]


def test_address_may_lie_before_the_index() -> None:
    assert the_result(body("store64(m, 0, 77)", "return load64(m + 8, 0 - 1)"), 0, 0) == 77


def test_what_is_behind_a_guard_is_not_loaded() -> None:
    guarded = [
        "if a != 0 and load64(a, 0) == 1:",
        "    return 1",
        "if not (a == 0 or load64(a, 0) == 1):",
        "    return 2",
        "c = load64(a, 0) if a else 5",
        "d = a != 0 and load64(a, 0) == 1",
        "e = a == 0 or load64(a, 0) == 1",
        "return c + d + e",
    ]
    assert the_result(body(*guarded), 0, 0) == 6


def test_atomic_operations_return_what_was_there() -> None:
    text = body(
        "store64_release(m, 0, 5)",
        "store64_relaxed(m, 5, 1)",
        "missed = compare_swap64(m, 0, a, 9)",
        "met = compare_swap64(m, 0, 5, b)",
        "before = fetch_add64(m, 0, 0 - 1)",
        "prefetch(m, 3)",
        "return missed * 1000000 + met * 10000 + before * 100 + load64_acquire(m, 0) + load64_relaxed(m, 5)",
    )
    assert the_result(text, 4, 20) == 5052020 + 0 * 100


def test_kernels_call_each_other_and_what_has_an_address() -> None:
    text = "\n".join(
        [
            "def twice(x):",
            "    return x + x",
            "def note(m, x):",
            "    if x == 0:",
            "        return",
            "    store64(m, 1, load64(m, 1) + x)",
            "def down(x):",
            "    return 0 if x == 0 else x + down(x - 1)",
            "def f(m, a, b):",
            "    note(m, a)",
            "    note(m, 0)",
            "    twice(4)",
            "    return call(b, twice(a), down(10)) + load64(m, 1)",
        ]
    )
    prototype = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    callback = prototype(lambda x, y: x * 1000 + y)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    assert the_result(text, 7, address) == 14 * 1000 + 55 + 7


@pytest.mark.parametrize(
    ("caller", "called", "inlined"),
    [
        ("return g(a) + g(b)", "return x * 3", True),
        ("return g(a) + g(b)", "return " + " + ".join(["x * x"] * 100), False),
        ("return g(a)", "return " + " + ".join(["x * x"] * 100), True),
        ("return g(a)", "return g(x - 1) + 1 if x else 0", False),
    ],
    ids=["small", "large", "called once", "recursive"],
)
def test_kernel_is_put_where_it_is_called_if_that_makes_no_more_of_it(caller: str, called: str, inlined: bool) -> None:
    text = f"def g(x):\n    {called}\n" + body(caller)
    [head] = [line for line in kernel_ir_of_source(text, {}, ["f"]).splitlines() if "@g(i64 %x.in)" in line]
    assert ("alwaysinline" in head) == inlined
    assert the_result(text, 5, 4) == by_python_itself(text, {})["f"](0, 5, 4)


def test_kernels_that_call_each_other_in_a_circle_end() -> None:
    even = "def even(x):\n    return odd(x - 1) if x else 1\n"
    odd = "def odd(x):\n    return even(x - 1) if x else 0\n"
    assert the_result(even + odd + body("return even(a) * 10 + odd(b)"), 6, 7) == 11


def test_loop_is_left_and_gone_on_with() -> None:
    text = body(
        "total = 0",
        "while 1:",
        "    a += 1",
        "    if a % 2:",
        "        continue",
        "    for w in range(3, 9, 2):",
        "        if w == 5 and a == 4:",
        "            continue",
        "        if w == 7 and a == 6:",
        "            break",
        "        total += w * a",
        "    if a >= b:",
        "        break",
        "    else:",
        "        pass",
        "return total",
    )
    expected = sum(w * a for a in (2, 4, 6, 8) for w in (3, 5, 7) if (w, a) not in ((5, 4), (7, 6)))
    assert the_result(text, 0, 8) == expected


def test_loop_over_nothing_and_nested_loops_are_unrolled() -> None:
    text = body(
        "total = 0",
        "for w in range(W - 2):",
        "    total = 1000",
        "for w in range(W):",
        "    for v in range(w, W):",
        "        total += 10 * w + v",
        "return total",
    )
    assert the_result(text, 0, 0, W=2) == 0 + 1 + 11


def test_known_condition_keeps_one_branch() -> None:
    text = body("if W == 1:", "    return only_then(a)", "while W == 1:", "    return nothing", "return W if W else no")
    assert the_result(text, 0, 0, W=2) == 2


def test_constants_of_a_text_give_way_to_those_given() -> None:
    text = 'LIMIT = 5\nTWICE = 2 * LIMIT\n"""Said of a kernel."""\n' + body('"""And inside."""', "return LIMIT + TWICE")
    assert results(text, (0, 0), {})[3][0] == 15
    assert results(text, (0, 0), {"LIMIT": 7})[3][0] == 21
    assert as_python_of_source(text, {"TWICE": 1})["f"](0, 0, 0) == 6


def test_parameters_are_taken_modulo_64_bits() -> None:
    assert as_python_of_source(body("a += b", "return a"), {})["f"](0, 2**64 + 1, -1) == 0


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.lists(st.sampled_from(INTERESTING), min_size=MEMORY_WORDS, max_size=MEMORY_WORDS))
def test_any_program_does_the_same_however_it_is_run(program: str, memory: list[int]) -> None:
    found = results(program, (memory[0], memory[1] ^ 5), {"W": 3}, tuple(memory))
    assert found == [found[0]] * len(found)


# ---- function objects
LIMIT = 12
W = 1


def mixed(value: int) -> int:
    """A kernel of this module."""
    value ^= value >> 32
    return value * 0x9E3779B97F4A7C15


def summed(address: int, number: int) -> int:
    total = 0
    index = 0
    while index < number:
        for w in range(W):
            word = load64(address, index * W + w)
            total += mixed(word) if word < LIMIT else word
        index += 1
    return total


def test_functions_are_read_where_they_are_written() -> None:
    words = (ctypes.c_uint64 * 6)(1, 50, 3, 2**63, 5, 2**63)
    paths = [as_python([mixed, summed], {"W": 2})["summed"]]
    paths.append(link([compile_object(kernel_ir([mixed, summed], {"W": 2}, ["summed"]))]).function("summed", 2))
    expected = sum(int(Word(w) * Word(0x9E3779B97F4A7C15)) if w < LIMIT else w for w in words) & WORD_MASK
    assert [path(ctypes.addressof(words), 3) for path in paths] == [expected, expected]


def test_name_of_an_enclosing_function_is_known() -> None:
    step = 3

    def stepped(value: int) -> int:
        return value + step

    assert as_python([stepped], {})["stepped"](4) == 7


def test_only_what_is_exported_is_found() -> None:
    linked = link([compile_object(kernel_ir([mixed, summed], {}, ["summed"]))])
    with pytest.raises(Exception, match="no function `mixed`"):
        linked.address("mixed")
    with pytest.raises(KernelError, match="no kernel to be exported as `missing`"):
        kernel_ir([mixed], {}, ["missing"])
