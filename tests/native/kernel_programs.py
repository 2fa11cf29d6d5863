"""Random programs of the kernel language: every construct, ending, and with no address but in their own memory."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

LOCALS = ("a", "b", "x", "y")
CONSTANTS = ("0", "1", "2", "3", "5", "7", "63", "64", "0xFF", "0x8000000000000000", "0xFFFFFFFFFFFFFFFF", "W")
OPERATORS = ("+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
"""`f(m, a, b)`: `m` is the address of 8 words; `x` and `y` are locals; `W` is a constant."""


@dataclass
class _Writer:
    draw: st.DrawFn
    loops: int = 0

    def pick(self, choices: tuple[str, ...]) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, depth: int, turns: tuple[str, ...] = ()) -> str:
        kind = self.pick(("local", "constant") if depth == 0 else ("local", "arithmetic", "load", "choice", "more"))
        match kind:
            case "local":
                return self.pick((*LOCALS, *turns))
            case "constant":
                return self.pick((*CONSTANTS, *turns))
            case "arithmetic":
                return self.arithmetic(depth, turns)
            case "load":
                size = self.pick(("8", "16", "32", "64", "64_relaxed", "64_acquire"))
                return f"load{size}(m, ({self.number(depth - 1, turns)}) & 7)"
            case "choice":
                then, otherwise = self.number(depth - 1, turns), self.number(depth - 1, turns)
                return f"({then} if {self.condition(depth - 1, turns)} else {otherwise})"
            case _:
                return self.other(depth, turns)

    def arithmetic(self, depth: int, turns: tuple[str, ...]) -> str:
        operator = self.pick(OPERATORS)
        left = self.number(depth - 1, turns)
        if operator in ("<<", ">>", "//", "%"):  # by a number known to be too large, or zero, they are refused
            return f"({left} {operator} {self.pick((*LOCALS, '1', '7', '63'))})"
        return f"({left} {operator} {self.number(depth - 1, turns)})"

    def other(self, depth: int, turns: tuple[str, ...]) -> str:
        first, second = self.number(depth - 1, turns), self.number(depth - 1, turns)
        return self.pick(
            (
                f"(~{first})",
                f"(-{first})",
                f"popcount({first})",
                f"trailing_zeros({first})",
                f"multiply_high({first}, {second})",
                f"compare_swap64(m, ({first}) & 7, {second}, {first})",
                f"fetch_add64(m, ({first}) & 7, {second})",
                f"helper(m, {first})",
                f"(not {first})",
                f"({first} {self.pick(COMPARISONS)} {second})",
                f"({first} < {second} and {second} != {first})",
            )
        )

    def condition(self, depth: int, turns: tuple[str, ...] = ()) -> str:
        if depth == 0:
            return f"{self.pick(LOCALS)} {self.pick(COMPARISONS)} {self.pick(CONSTANTS)}"
        left, right = self.condition(depth - 1, turns), self.condition(depth - 1, turns)
        return self.pick(
            (
                f"({left} and {right})",
                f"({left} or {right})",
                f"(not {left})",
                f"({self.number(depth - 1, turns)} {self.pick(COMPARISONS)} {self.number(depth - 1, turns)})",
                f"({self.pick(LOCALS)} < {self.pick(LOCALS)} <= {self.number(depth - 1, turns)})",
                self.number(depth - 1, turns),
                self.pick(("True", "False", "W == 3", "W < 2")),
            )
        )

    def block(self, depth: int, turns: tuple[str, ...], looping: bool) -> list[str]:
        lines = []
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(depth, turns, looping)
        return lines

    def statement(self, depth: int, turns: tuple[str, ...], looping: bool) -> list[str]:
        simple = ("assign", "augment", "store", "call", *(("leave",) if looping else ()))
        kind = self.pick(simple if depth == 0 else (*simple, "if", "while", "for", "return"))
        target = self.pick(LOCALS)
        match kind:
            case "assign":
                return [f"{target} = {self.number(2, turns)}"]
            case "augment":
                return [f"{target} {self.pick(('+', '-', '*', '&', '|', '^'))}= {self.number(1, turns)}"]
            case "store":
                size = self.pick(("8", "16", "32", "64", "64_relaxed", "64_release"))
                return [f"store{size}(m, ({self.number(1, turns)}) & 7, {self.number(1, turns)})"]
            case "call":
                return [self.pick((f"helper(m, {target})", f"note(m, {target})", f"prefetch(m, {target})"))]
            case "leave":
                return [f"if {self.condition(1, turns)}:", f"    {self.pick(('break', 'continue'))}"]
            case "return":
                return [f"if {self.condition(1, turns)}:", f"    return {self.number(1, turns)}"]
            case "if":
                then, otherwise = self.block(depth - 1, turns, looping), self.block(depth - 1, turns, looping)
                return [f"if {self.condition(2, turns)}:", *_inside(then), "else:", *_inside(otherwise)]
            case _:
                return self.loop(depth, turns, kind == "while")

    def loop(self, depth: int, turns: tuple[str, ...], bounded: bool) -> list[str]:
        self.loops += 1
        name = f"turn{self.loops}"
        if bounded:
            head = [f"{name} = 0", f"while {name} < 4 and {self.condition(1, turns)}:", f"    {name} += 1"]
            return [*head, *_inside(self.block(depth - 1, turns, True))]
        bounds = self.pick(("W", "2", "1, W", "1, 8, W", "0"))
        return [f"for {name} in range({bounds}):", *_inside(self.block(depth - 1, (*turns, name), True))]


def _inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


HELPERS = """\
def helper(m, v):
    if v > 100:
        return load64(m, v & 7) ^ v
    return v * 3
def note(m, v):
    store64(m, v & 7, v)
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a random program, with `f(m, a, b)`."""
    writer = _Writer(draw)
    lines = ["x = a ^ 5", "y = load64(m, 7)", *writer.block(3, (), False), f"return {writer.number(2)}"]
    return HELPERS + "def f(m, a, b):\n" + "\n".join(_inside(lines)) + "\n"
