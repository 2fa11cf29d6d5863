"""Both sides of a short branch are run where that changes nothing, and only there."""

from __future__ import annotations

import pytest

from hacheck.compile.codegen.function_text import Code, Join
from hacheck.compile.machine.compiler import compile_object, link

LONG = 40  # instructions, more than are run for nothing


def function(code: Code) -> str:
    """A function `f(x, y)` that ends where the code stands, with what temporary 0 holds."""
    code.do(f"ret i64 {code.read(0)}")
    return code.text("define i64 @f(i64 %x, i64 %y) {")


def side(code: Code, start: Join, value: str, end: Join, before: tuple[str, ...] = ()) -> None:
    """A block that sets temporary 0."""
    code.start(start)
    for line in before:
        code.do(line)
    code.carry(0, code.put(value))
    code.go(end)


def greater(first: tuple[str, ...] = ()) -> str:
    """The sum of two numbers if the first is smaller, else their product."""
    code = Code({0: "i64"})
    then, otherwise, end = code.join(), code.join(), code.join()
    code.choose(code.put("icmp ult i64 %x, %y"), then, otherwise)
    side(code, then, "add i64 %x, %y", end, first)
    side(code, otherwise, "mul i64 %x, %y", end)
    code.start(end)
    return function(code)


def results(text: str) -> list[int]:
    called = link([compile_object(text)]).function("f", 2)
    return [called(x, y) for x, y in ((3, 4), (4, 3), (5, 5), (0, 7))]


def test_short_sides_are_both_run_and_chosen_from() -> None:
    text = greater()
    assert "br " not in text
    assert "select" in text
    assert results(text) == [7, 12, 25, 7]


@pytest.mark.parametrize(
    "lines",
    [
        ("store i64 1, ptr null",),
        ("%z = load i64, ptr null",),
        ("%z = call i64 @g()",),
        tuple(f"%z{number} = add i64 %x, {number}" for number in range(LONG)),
    ],
)
def test_sides_that_do_more_than_compute_or_much_are_left_apart(lines: tuple[str, ...]) -> None:
    text = greater(lines)
    assert "br i1" in text
    assert "select" not in text


def test_one_side_may_have_nothing_to_do() -> None:
    code = Code({0: "i64"})
    then, end = code.join(), code.join()
    code.carry(0, "%x")
    code.choose(code.put("icmp ult i64 %x, %y"), then, end)
    side(code, then, "add i64 %x, 10", end)
    code.start(end)
    text = function(code)
    assert "br " not in text
    assert results(text) == [13, 4, 5, 10]


def test_sides_inside_sides_are_folded_from_within() -> None:
    code = Code({0: "i64"})
    outer, inner, small, otherwise, end = (code.join() for _ in range(5))
    code.choose(code.put("icmp ult i64 %x, %y"), outer, otherwise)
    code.start(outer)
    code.choose(code.put("icmp ult i64 %x, 2"), small, inner)
    side(code, small, "add i64 %x, 100", end)
    side(code, inner, "add i64 %x, 200", end)
    side(code, otherwise, "add i64 %x, 300", end)
    code.start(end)
    text = function(code)
    assert text.count("select") == 2
    assert "br " not in text
    assert results(text) == [203, 304, 305, 100]


def test_a_block_that_others_lead_to_as_well_is_no_side() -> None:
    code = Code({0: "i64"})
    first, second, shared, end = (code.join() for _ in range(4))
    code.choose(code.put("icmp ult i64 %x, 2"), first, second)
    code.start(first)
    code.do("call void @g()")
    code.go(shared)
    code.start(second)
    third = code.join()
    code.choose(code.put("icmp ult i64 %x, %y"), third, shared)
    side(code, third, "add i64 %x, 200", end)
    side(code, shared, "add i64 %x, 100", end)
    code.start(end)
    text = function(code).replace("  call void @g()\n", "")
    assert results(text) == [203, 104, 105, 100]
