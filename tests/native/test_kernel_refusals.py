"""What the kernel language lacks is refused, with the line where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hacheck.compile.kernels.language import KernelError
from hacheck.compile.kernels.to_llvm import kernel_ir, kernel_ir_of_source
from hacheck.compile.kernels.to_python import as_python_of_source
from tests.native.kernel_ways import body


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
