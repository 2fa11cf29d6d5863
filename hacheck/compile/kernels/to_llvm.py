"""Kernels as LLVM IR, in textual form with opaque pointers.

Every kernel takes and returns 64-bit numbers. Locals are stack slots, which the first pass of the optimiser turns into
registers: kernels are compiled with passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, assert_never

from msgspec import Struct, field

from hacheck.compile.kernels.kernel_reader import read_functions, read_text
from hacheck.compile.kernels.kernel_tree import (
    Arithmetic,
    Assign,
    Block,
    Both,
    Break,
    Call,
    Choice,
    Comparison,
    Condition,
    Constant,
    Continue,
    Either,
    Evaluate,
    If,
    Kernel,
    Known,
    Local,
    Not,
    Number,
    Return,
    Statement,
    Truth,
    Unrolled,
    While,
    is_plain,
)
from hacheck.compile.kernels.language import INTRINSICS, WORD_BITS, KernelError

INLINED_LINES_MAX = 100
"""How long a kernel called from several places may be, in lines of IR, to be copied to each."""

DECLARATIONS = """\
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
"""

_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "lshr"}
_DIVISIONS = {"//": "udiv", "%": "urem"}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}

# Where other threads read and write: what LLVM must say of it. The plain ones may be moved, split and left out.
_ORDERS = {"load64_relaxed": "monotonic", "load64_acquire": "acquire"} | {
    "store64_relaxed": "monotonic",
    "store64_release": "release",
}


def kernel_ir(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int], exported: Collection[str]) -> str:
    """LLVM IR of kernels that call each other; those `exported` are found by name after linking.

    A name in a kernel is a number of `constants`, else one of its module. Raises `KernelError` with file and line.
    """
    return ir_of_kernels(read_functions(functions, constants), exported)


def kernel_ir_of_source(text: str, constants: Mapping[str, int], exported: Collection[str]) -> str:
    """As `kernel_ir`, of a text with functions and `NAME = number`. `constants` go before those."""
    return ir_of_kernels(read_text(text, constants), exported)


def ir_of_kernels(kernels: Sequence[Kernel], exported: Collection[str]) -> str:
    """LLVM IR of kernels that were read."""
    missing = set(exported) - {kernel.name for kernel in kernels}
    if missing:
        raise KernelError(f"no kernel to be exported as `{min(missing)}`")
    printed = {kernel.name: _printed(kernel) for kernel in kernels}
    inlined = _inlined(printed, exported)
    parts = [DECLARATIONS]
    for kernel in kernels:
        parts.append(_function(kernel, printed[kernel.name], kernel.name in exported, kernel.name in inlined))
    return "\n".join(parts)


def _printed(kernel: Kernel) -> _Printer:
    printer = _Printer()
    for name in kernel.parameters:
        printer.assign(name, f"%{name}.in")
    printer.block(kernel.body)
    if printer.open:
        printer.end("ret i64 0")
    return printer


def _function(kernel: Kernel, printed: _Printer, exported: bool, inlined: bool) -> str:
    parameters = ", ".join(f"i64 %{name}.in" for name in kernel.parameters)
    linkage, attributes = "" if exported else "internal ", "nounwind alwaysinline" if inlined else "nounwind"
    slots = [f"  %{name}.slot = alloca i64" for name in printed.slots]
    head = f"define {linkage}i64 @{kernel.name}({parameters}) {attributes} {{"
    return "\n".join([head, "entry:", *slots, *printed.lines, "}", ""])


def _inlined(printed: Mapping[str, _Printer], exported: Collection[str]) -> frozenset[str]:
    """The kernels to be put where they are called: those called from one place, and small ones."""
    places = Counter(name for printer in printed.values() for name in printer.calls)
    lines: dict[str, int] = {}  # of those looked at, with what they inline
    inlined: set[str] = set()

    def look_at(name: str, around: frozenset[str]) -> None:
        if name in lines or name in around:
            return
        for called in printed[name].calls:
            look_at(called, around | {name})
        recursive = any(called not in lines for called in printed[name].calls)
        lines[name] = len(printed[name].lines) + sum(
            lines[called] for called in printed[name].calls if called in inlined
        )
        if name not in exported and not recursive and (places[name] == 1 or lines[name] <= INLINED_LINES_MAX):
            inlined.add(name)

    for name in printed:
        look_at(name, frozenset())
    return frozenset(inlined)


class _Printer(Struct):
    """Prints the instructions of one function. `open`: the basic block at the end still lacks its last instruction."""

    lines: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # the kernel called, for each place of a call
    slots: dict[str, None] = field(default_factory=dict)
    loops: list[tuple[str, str]] = field(default_factory=list)  # where `continue` and `break` go
    names: int = 0
    open: bool = True

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def value(self, instruction: str) -> str:
        name = self.fresh("%t")
        self.lines.append(f"  {name} = {instruction}")
        return name

    def end(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")
        self.open = False

    def label(self, name: str) -> None:
        if self.open:
            self.end(f"br label %{name}")
        self.lines.append(f"{name}:")
        self.open = True

    def assign(self, name: str, value: str) -> None:
        self.slots[name] = None
        self.lines.append(f"  store i64 {value}, ptr %{name}.slot")

    # ---- statements

    def block(self, statements: Block) -> None:
        for statement in statements:
            if not self.open:
                return
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(name, value):
                self.assign(name, self.number(value))
            case Evaluate(call):
                self.call(call)
            case If(condition, then, otherwise):
                yes, no, after = self.fresh("then"), self.fresh("else"), self.fresh("after")
                self.branch(condition, yes, no)
                for label, block in ((yes, then), (no, otherwise)):
                    self.label(label)
                    self.block(block)
                    if self.open:
                        self.end(f"br label %{after}")
                self.label(after)
            case While(condition, body):
                head, inside, after = self.fresh("while"), self.fresh("do"), self.fresh("after")
                self.label(head)
                self.branch(condition, inside, after)
                self.label(inside)
                self.turn(body, head, after)
                if self.open:
                    self.end(f"br label %{head}")
                self.label(after)
            case Unrolled(turns):
                after = self.fresh("after")
                for turn in turns:
                    following = self.fresh("turn")
                    self.turn(turn, following, after)
                    self.label(following)
                self.label(after)
            case Break():
                self.end(f"br label %{self.loops[-1][1]}")
            case Continue():
                self.end(f"br label %{self.loops[-1][0]}")
            case Return(value):
                self.end(f"ret i64 {self.number(value) if value is not None else 0}")
            case _:
                assert_never(statement)

    def turn(self, body: Block, on: str, out: str) -> None:
        self.loops.append((on, out))
        self.block(body)
        self.loops.pop()

    # ---- conditions

    def branch(self, condition: Condition, yes: str, no: str) -> None:
        match condition:
            case Both(left, right) if not is_plain(right):
                following = self.fresh("and")
                self.branch(left, following, no)
                self.label(following)
                self.branch(right, yes, no)
            case Either(left, right) if not is_plain(right):
                following = self.fresh("or")
                self.branch(left, yes, following)
                self.label(following)
                self.branch(right, yes, no)
            case Not(inner):
                self.branch(inner, no, yes)
            case Known(value):
                self.end(f"br label %{yes if value else no}")
            case _:
                self.end(f"br i1 {self.condition(condition)}, label %{yes}, label %{no}")

    def condition(self, condition: Condition) -> str:
        match condition:
            case Known(value):
                return "true" if value else "false"
            case Comparison(operator, left, right):
                first, second = self.number(left), self.number(right)
                return self.value(f"icmp {_COMPARISONS[operator]} i64 {first}, {second}")
            case Both(left, right) if is_plain(right):
                return self.value(f"and i1 {self.condition(left)}, {self.condition(right)}")
            case Either(left, right) if is_plain(right):
                return self.value(f"or i1 {self.condition(left)}, {self.condition(right)}")
            case Both() | Either():
                return self.selected(condition, "i1", "true", "false")
            case Not(inner):
                return self.value(f"xor i1 {self.condition(inner)}, true")
            case _:
                assert_never(condition)

    def selected(self, condition: Condition, kind: str, then: Number | str, otherwise: Number | str) -> str:
        """One of two values by way of a branch, so that only the one chosen is evaluated."""
        yes, no, after = self.fresh("yes"), self.fresh("no"), self.fresh("after")
        self.branch(condition, yes, no)
        incoming = []
        for label, value in ((yes, then), (no, otherwise)):
            self.label(label)
            printed = value if isinstance(value, str) else self.number(value)
            came_from = self.fresh("from")
            self.label(came_from)
            incoming.append(f"[ {printed}, %{came_from} ]")
            self.end(f"br label %{after}")
        self.label(after)
        return self.value(f"phi {kind} {', '.join(incoming)}")

    # ---- numbers

    def number(self, number: Number) -> str:
        match number:
            case Constant(value):
                return str(value)
            case Local(name):
                return self.value(f"load i64, ptr %{name}.slot")
            case Arithmetic(operator, left, right):
                return self.arithmetic(operator, self.number(left), self.number(right), isinstance(right, Constant))
            case Choice(condition, then, otherwise):
                if is_plain(then) and is_plain(otherwise):
                    test, first, second = self.condition(condition), self.number(then), self.number(otherwise)
                    return self.value(f"select i1 {test}, i64 {first}, i64 {second}")
                return self.selected(condition, "i64", then, otherwise)
            case Truth(condition):
                return self.value(f"zext i1 {self.condition(condition)} to i64")
            case Call():
                return self.call(number)
            case _:
                assert_never(number)

    def arithmetic(self, operator: str, left: str, right: str, known: bool) -> str:
        if operator in _DIVISIONS:
            return self.division(operator, left, right, known)
        if operator in ("<<", ">>") and not known:
            right = self.value(f"and i64 {right}, {WORD_BITS - 1}")  # shifting further is undefined in LLVM
        return self.value(f"{_OPERATIONS[operator]} i64 {left}, {right}")

    def division(self, operator: str, left: str, right: str, known: bool) -> str:
        if known:
            return self.value(f"{_DIVISIONS[operator]} i64 {left}, {right}")
        nothing = self.value(f"icmp eq i64 {right}, 0")
        divisor = self.value(f"select i1 {nothing}, i64 1, i64 {right}")
        result = self.value(f"{_DIVISIONS[operator]} i64 {left}, {divisor}")
        return self.value(f"select i1 {nothing}, i64 {'0' if operator == '//' else left}, i64 {result}")

    # ---- calls

    def call(self, call: Call) -> str:
        arguments = [self.number(argument) for argument in call.arguments]
        if call.function in INTRINSICS:
            return self.intrinsic(call.function, arguments)
        self.calls.append(call.function)
        return self.value(f"call i64 @{call.function}({_typed(arguments)})")

    def place(self, arguments: Sequence[str], bits: str) -> str:
        address = self.value(f"inttoptr i64 {arguments[0]} to ptr")
        return self.value(f"getelementptr i{bits}, ptr {address}, i64 {arguments[1]}")

    def intrinsic(self, name: str, arguments: Sequence[str]) -> str:
        match name:
            case "load64_relaxed" | "load64_acquire":
                return self.value(f"load atomic i64, ptr {self.place(arguments, '64')} {_ORDERS[name]}, align 8")
            case "store64_relaxed" | "store64_release":
                place = self.place(arguments, "64")
                self.lines.append(f"  store atomic i64 {arguments[2]}, ptr {place} {_ORDERS[name]}, align 8")
                return "0"
            case "load8" | "load16" | "load32" | "load64":
                bits = name.removeprefix("load")
                loaded = self.value(f"load i{bits}, ptr {self.place(arguments, bits)}")
                return loaded if bits == "64" else self.value(f"zext i{bits} {loaded} to i64")
            case "store8" | "store16" | "store32" | "store64":
                bits, place = name.removeprefix("store"), self.place(arguments, name.removeprefix("store"))
                stored = arguments[2] if bits == "64" else self.value(f"trunc i64 {arguments[2]} to i{bits}")
                self.lines.append(f"  store i{bits} {stored}, ptr {place}")
                return "0"
            case "prefetch":
                place = self.place(arguments, "64")
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")
                return "0"
            case "compare_swap64":
                place, values = self.place(arguments, "64"), f"i64 {arguments[2]}, i64 {arguments[3]}"
                swapped = self.value(f"cmpxchg ptr {place}, {values} acq_rel acquire")
                return self.value(f"extractvalue {{i64, i1}} {swapped}, 0")
            case "fetch_add64":
                return self.value(f"atomicrmw add ptr {self.place(arguments, '64')}, i64 {arguments[2]} acq_rel")
            case "popcount":
                return self.value(f"call i64 @llvm.ctpop.i64(i64 {arguments[0]})")
            case "trailing_zeros":
                return self.value(f"call i64 @llvm.cttz.i64(i64 {arguments[0]}, i1 false)")
            case "multiply_high":
                wide = [self.value(f"zext i64 {argument} to i128") for argument in arguments]
                upper = self.value(f"lshr i128 {self.value(f'mul i128 {wide[0]}, {wide[1]}')}, {WORD_BITS}")
                return self.value(f"trunc i128 {upper} to i64")
            case "call":
                function = self.value(f"inttoptr i64 {arguments[0]} to ptr")
                return self.value(f"call i64 {function}({_typed(arguments[1:])})")
            case _:
                raise AssertionError(f"an intrinsic without instructions: {name}")


def _typed(arguments: Sequence[str]) -> str:
    return ", ".join(f"i64 {argument}" for argument in arguments)
