"""The kernel language: what is written, run by Python itself, printed as Python and compiled, does the same."""

from __future__ import annotations

import ast
import ctypes
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hacheck.checker.explicit.native import kernel_language
from hacheck.checker.explicit.native.compiler import KERNEL_LEVELS, Levels, compile_object, link
from hacheck.checker.explicit.native.kernel_ir import kernel_ir, kernel_ir_of_source
from hacheck.checker.explicit.native.kernel_language import (
    INTRINSICS,
    WORD_MASK,
    KernelError,
    compare_swap64,
    fetch_add64,
    load64,
    load64_acquire,
    store64,
    store64_release,
)
from hacheck.checker.explicit.native.kernel_python import as_python, as_python_of_source
from tests.native.kernel_programs import programs

MEMORY_WORDS = 8
WITHOUT_PASSES = Levels(passes=None, codegen=0)
LARGE = WORD_MASK
INTERESTING = (0, 1, 2, 3, 7, 63, 64, 65, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, LARGE - 1, LARGE)


class Word(int):
    """A number of 64 bits in Python's own words: the third opinion on what a kernel means."""


def _wrapping(name: str) -> Callable[[int, int], Word]:
    def operation(left: int, right: int) -> Word:
        if name in ("lshift", "rshift"):
            right = int(right) % 64
        if name in ("floordiv", "mod") and int(right) == 0:
            return Word(0 if name == "floordiv" else left)
        result: int = getattr(int, f"__{name}__")(int(left), int(right))
        return Word(result & WORD_MASK)

    return operation


for _name in ("add", "sub", "mul", "and", "or", "xor", "lshift", "rshift", "floordiv", "mod"):
    setattr(Word, f"__{_name}__", _wrapping(_name))
Word.__invert__ = lambda self: Word(int(self) ^ WORD_MASK)  # type: ignore[method-assign]
Word.__neg__ = lambda self: Word(-int(self) & WORD_MASK)  # type: ignore[method-assign]


class _Words(ast.NodeTransformer):
    """Makes each number of a kernel a `Word`, and what a call returns."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _word(node) if isinstance(node.value, int) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return _word(self.generic_visit(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return _word(self.generic_visit(node))

    def visit_For(self, node: ast.For) -> ast.For:
        node.body = [self.visit(statement) for statement in node.body]
        target = ast.Name(node.target.id, ast.Store())  # type: ignore[attr-defined]
        node.body.insert(0, ast.Assign([target], _word(ast.Name(target.id, ast.Load()))))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return _word(self.generic_visit(node))


def _word(node: ast.AST) -> ast.expr:
    return ast.Call(ast.Name("Word_", ast.Load()), [node], [])  # type: ignore[list-item]


def by_python_itself(text: str, constants: Mapping[str, int]) -> dict[str, Callable[..., Any]]:
    """A text of kernels run as it stands, with numbers that wrap around."""
    names: dict[str, Any] = {name: _of_plain_numbers(getattr(kernel_language, name)) for name in INTRINSICS}
    names |= {name: Word(value) for name, value in constants.items()}
    names["Word_"] = lambda value: Word(value or 0)
    tree = ast.fix_missing_locations(_Words().visit(ast.parse(text)))
    exec(compile(tree, "<words>", "exec"), names)
    kernel = names["f"]
    return names | {"f": lambda *arguments: int(kernel(*map(Word, arguments)) or 0)}


def _of_plain_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*map(int, arguments))


def compiled(text: str, name: str, arguments: int, constants: Mapping[str, int], levels: Levels) -> Callable[..., int]:
    return link([compile_object(kernel_ir_of_source(text, constants, [name]), levels)]).function(name, arguments)


def results(
    text: str, arguments: tuple[int, ...], constants: Mapping[str, int], memory: tuple[int, ...] = (0,) * MEMORY_WORDS
) -> list[tuple[int, tuple[int, ...]]]:
    """What `f(memory, *arguments)` of a text returns, and leaves in memory: one result for each way of running it."""
    number = len(arguments) + 1
    ways = [
        by_python_itself(text, constants)["f"],
        as_python_of_source(text, constants)["f"],
        compiled(text, "f", number, constants, WITHOUT_PASSES),
        compiled(text, "f", number, constants, KERNEL_LEVELS),
    ]
    found = []
    for way in ways:
        words = (ctypes.c_uint64 * MEMORY_WORDS)(*memory)
        found.append((way(ctypes.addressof(words), *arguments), tuple(words)))
    return found


def the_result(text: str, *arguments: int, **constants: int) -> int:
    """What all ways of running agree on."""
    found = results(text, arguments, constants)
    assert found == [found[0]] * len(found)
    return found[0][0]


def body(*lines: str) -> str:
    return "\n".join(["def f(m, a, b):", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize("operator", ["+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%"])
def test_arithmetic_wraps_around_whatever_the_numbers(operator: str) -> None:
    text = body(f"return a {operator} b")
    ways = [compiled(text, "f", 3, {}, KERNEL_LEVELS), as_python_of_source(text, {})["f"]]
    ways.append(by_python_itself(text, {})["f"])
    for left in INTERESTING:
        for right in INTERESTING:
            assert len({way(0, left, right) for way in ways}) == 1, (left, right)


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_comparison_is_unsigned(operator: str) -> None:
    ways = [
        compiled(body(f"return a {operator} b"), "f", 3, {}, KERNEL_LEVELS),
        compiled(body(f"if a {operator} b:", "    return 1", "return 0"), "f", 3, {}, WITHOUT_PASSES),
        as_python_of_source(body(f"return a {operator} b"), {})["f"],
    ]
    for left in INTERESTING:
        for right in INTERESTING:
            expected = int(eval(f"left {operator} right", {"left": left, "right": right}))
            assert [way(0, left, right) for way in ways] == [expected] * 3, (left, right)


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
    assert others == [(result, words)] * 3
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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
    ways = [as_python([mixed, summed], {"W": 2})["summed"]]
    ways.append(link([compile_object(kernel_ir([mixed, summed], {"W": 2}, ["summed"]))]).function("summed", 2))
    expected = sum(int(Word(w) * Word(0x9E3779B97F4A7C15)) if w < LIMIT else w for w in words) & WORD_MASK
    assert [way(ctypes.addressof(words), 3) for way in ways] == [expected, expected]


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


# ---- what is refused


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (body("return a / b"), 2, "no such operator in the kernel language: Div"),
        (body("return a ** 2"), 2, "no such operator"),
        (body("return a << 64"), 2, "a shift by 64"),
        (body("return a // (W - W)"), 2, "a division by zero"),
        (body("c = a % 0", "return c"), 2, "a division by zero"),
        (body("return 1.5"), 2, "not a whole number: 1.5"),
        (body("return 'a'"), 2, "not a whole number"),
        (body(f"return {2**64}"), 2, "more than 64 bits"),
        (body("return +a"), 2, "no such expression in the kernel language: +a"),
        (body("return a and b"), 2, "compare"),
        (body("return a < 1 or b"), 2, "compare"),
        (body("return a is b"), 2, "no such comparison"),
        (body("return a in b"), 2, "no such comparison"),
        (body("return 1 < load64(m, 0) < 5"), 2, "give it a name first"),
        (body("return [a][0]"), 2, "no such expression"),
        (body("return m.a"), 2, "no such expression"),
        (body("return (c := a)"), 2, "no such expression"),
        (body("return lambda: a"), 2, "no such expression"),
        (body("pass", "return c"), 3, "`c` is no local variable and no number known at compile time"),
        (body("if a:", "    c = 1", "return c"), 4, "`c` may be read before it is assigned"),
        (body("while a:", "    c = 1", "    a -= 1", "return c"), 5, "`c` may be read before it is assigned"),
        (body("while 1:", "    if a:", "        break", "    c = 1", "return c"), 6, "`c` may be read before"),
        (body("for w in range(2):", "    if a:", "        continue", "    c = 1", "return c"), 6, "`c` may be read"),
        (body("c += 1", "return c"), 2, "`c` may be read before it is assigned"),
        (body("if a:", "    return 1"), 1, "`f` returns a value, but not on every path"),
        (body("while a:", "    return 1"), 1, "`f` returns a value, but not on every path"),
        (body("if a:", "    return", "return 1"), 3, "returns no value, though it does elsewhere"),
        (body("for w in range(a):", "    b += 1", "return b"), 2, "written with `while`"),
        (body("for w in range(2000):", "    b += 1", "return b"), 2, "more than 1024 turns"),
        (body("for w in range(0 - 1):", "    b += 1", "return b"), 2, "more than 1024 turns"),
        (body("for w in range(5, 0, 0 - 1):", "    b += 1", "return b"), 2, "goes up, by at least 1"),
        (body("for w in range(5, 9, 0):", "    b += 1", "return b"), 2, "goes up, by at least 1"),
        (body("for w in b:", "    b += 1", "return b"), 2, "goes over `range(...)`"),
        (body("for w in range(2):", "    w = 1", "return b"), 1, "both assigned and the variable"),
        (body("for w in range(2):", "    pass", "return w"), 4, "`w` is known inside its loop only"),
        (body("for w in range(2):", "    for w in range(2):", "        pass", "return 1"), 3, "a loop around this one"),
        (body("for a in range(2):", "    pass", "return 1"), 1, "both assigned and the variable"),
        (body("for w in range(2):", "    pass", "else:", "    pass", "return 1"), 2, "no such statement"),
        (body("while a:", "    pass", "else:", "    pass", "return 1"), 2, "no such statement"),
        (body("a, b = b, a", "return a"), 2, "no such statement"),
        (body("a = b = 1", "return a"), 2, "no such statement"),
        (body("a: int = 1", "return a"), 2, "no such statement"),
        (body("a", "return a"), 2, "no such statement"),
        (body("del a", "return b"), 2, "no such statement"),
        (body("try:", "    pass", "finally:", "    pass"), 2, "no such statement"),
        (body("def g():", "    pass"), 2, "no such statement"),
        (body("return other(a)"), 2, "`other` is no intrinsic and not among the kernels compiled together"),
        (body("return f(a)"), 2, "`f` takes 3 arguments, 1 are given"),
        (body("return load64(a)"), 2, "`load64` takes 2 arguments, 1 are given"),
        (body("return call()"), 2, "`call` takes an address and"),
        (body("return load64(m, index=0)"), 2, "arguments by position"),
        (body("return load64(*m)"), 2, "arguments by position"),
        (body("return m.load(1)"), 2, "by their name"),
        (body("return store64(m, 0, a)"), 2, "`store64` has no value"),
        ("def g():\n    pass\n" + body("return g()"), 4, "`g` has no value"),
        ("def g(a, *b):\n    pass", 1, "parameters that are more than names"),
        ("def g(a=1):\n    pass", 1, "parameters that are more than names"),
        ("def g(a, /):\n    pass", 1, "parameters that are more than names"),
        ("def g(*, a):\n    pass", 1, "parameters that are more than names"),
        ("@once\ndef g():\n    pass", 2, "decorated"),
        ("def load64(a, b):\n    return a", 1, "a second `load64`"),
        ("def g():\n    pass\ndef g():\n    pass", 3, "a second `g`"),
        ("import os", 1, "functions and `NAME = number` only"),
        ("N = M + 1", 1, "`M` is no local variable and no number known at compile time"),
        ("N = load64(1, 1)", 1, "`N` is not known at compile time"),
        ("def größe():\n    pass", 1, "letters"),
        ("def f(:", 1, "invalid syntax"),
    ],
)
def test_what_the_language_lacks_is_refused_where_it_stands(text: str, line: int, words: str) -> None:
    with pytest.raises(KernelError) as caught:
        kernel_ir_of_source(text, {"W": 2}, [])
    assert words in str(caught.value)
    assert (caught.value.filename, caught.value.lineno) == ("<kernels>", line)
    with pytest.raises(KernelError):
        as_python_of_source(text, {"W": 2})


def test_mistake_in_a_function_names_its_file_and_line() -> None:
    def wrong(value: int) -> int:
        return value**2

    with pytest.raises(KernelError) as caught:
        kernel_ir([wrong], {}, [])
    assert caught.value.filename == __file__
    assert caught.value.lineno == wrong.__code__.co_firstlineno + 1
    assert "return value**2" in str(caught.value.text)


@pytest.mark.parametrize("function", [len, lambda value: value])
def test_what_has_no_text_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(KernelError):
        kernel_ir([function], {}, [])


# ---- threads


def claim(slots: int, number: int, name: int) -> int:
    """Puts a name on every slot that has none. Returns how many got it."""
    claimed = 0
    slot = 0
    while slot < number:
        if compare_swap64(slots, slot, 0, name) == 0:
            claimed += 1
        slot += 1
    return claimed


def count(place: int, times: int) -> int:
    """Adds 1 so many times, by compare-and-swap at index 0 and by addition at index 1."""
    turn = 0
    while turn < times:
        old = load64_acquire(place, 0)
        if compare_swap64(place, 0, old, old + 1) == old:
            fetch_add64(place, 1, 1)
            turn += 1
    return 0


def publish(place: int, times: int) -> int:
    """Writes a number and then says that it is there."""
    turn = 1
    while turn <= times:
        while load64_acquire(place, 0) != 0:
            pass
        store64(place, 8, turn * 3)
        store64_release(place, 0, turn)
        turn += 1
    return 0


def consume(place: int, times: int) -> int:
    """Counts the numbers that were not there when they were said to be."""
    wrong = 0
    turn = 1
    while turn <= times:
        while load64_acquire(place, 0) != turn:
            pass
        if load64(place, 8) != turn * 3:
            wrong += 1
        store64_release(place, 0, 0)
        turn += 1
    return wrong


def in_threads(*calls: Callable[[], int]) -> list[int]:
    found = [0] * len(calls)

    def run(number: int) -> None:
        found[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.parametrize("machine", [True, False], ids=["compiled", "python"])
def test_two_threads_never_claim_one_slot_twice(machine: bool) -> None:
    number = 200_000 if machine else 2_000
    functions = as_python([claim, count], {})
    if machine:
        linked = link([compile_object(kernel_ir([claim, count], {}, ["claim", "count"]))])
        functions = {"claim": linked.function("claim", 3), "count": linked.function("count", 2)}
    slots = (ctypes.c_uint64 * number)()
    address = ctypes.addressof(slots)
    won = in_threads(*(lambda name=name: functions["claim"](address, number, name) for name in (1, 2)))
    assert sum(won) == number
    assert [list(slots).count(name) for name in (1, 2)] == won
    counters = (ctypes.c_uint64 * 2)()
    place = ctypes.addressof(counters)
    in_threads(*[lambda: functions["count"](place, number)] * 2)
    assert list(counters) == [2 * number, 2 * number]


def test_what_was_stored_before_a_release_is_seen_after_it() -> None:
    linked = link([compile_object(kernel_ir([publish, consume], {}, ["publish", "consume"]))])
    publisher, consumer = linked.function("publish", 2), linked.function("consume", 2)
    words = (ctypes.c_uint64 * 16)()
    place, times = ctypes.addressof(words), 20_000
    assert in_threads(lambda: publisher(place, times), lambda: consumer(place, times)) == [0, 0]
