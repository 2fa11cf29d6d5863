"""The kernel language: a restricted Python in which the native engine's own loops are written.

A kernel is an ordinary function; every value in it is a whole number from 0 to 2**64 - 1, and every operation wraps
around. The same text becomes LLVM IR (`to_llvm`) and Python that wraps in the same way (`to_python`), so a kernel can
be tested against its compiled form. There is no undefined behaviour but that of memory: an address must point to what
is read or written, aligned to the size of the access.

What there is:

- `name = value`, augmented assignments, `if`/`elif`/`else`, `while`, `break`, `continue`, `return`, `pass`;
- `for w in range(...)` over numbers known at compile time, unrolled: `w` is known in each turn;
- `+ - * & | ^ ~ << >> // %`: unsigned; a shift goes by its right side modulo 64; `x // 0` is 0 and `x % 0` is `x`;
- comparisons (unsigned), `and`, `or`, `not`, `a if condition else b`: an operand that is not needed is not evaluated,
  so a load may stand behind its guard. A number may be a condition, and is true unless it is 0; a comparison may be a
  number, 0 or 1;
- whole numbers written out or known by name at compile time; an `if` whose condition is known keeps one branch;
- calls of other kernels, by name and position, and of the intrinsics below.

A kernel which returns a value returns one on every path; a local is assigned before it is read, on every path.
Anything else is refused with the line where it stands.

The intrinsics below are what they mean: in plain Python they work on this process's memory. `index` counts elements of
the access's own size, and addresses wrap around like all numbers.
"""

from __future__ import annotations

import ctypes
from threading import Lock

from msgspec import Struct

WORD_BITS = 64
WORD_MASK = (1 << WORD_BITS) - 1

_atomic = Lock()  # what one instruction does at once, other threads must not see half done


class KernelError(SyntaxError):
    """A kernel has what the kernel language lacks; says what, in which file and line."""


class Intrinsic(Struct, frozen=True):
    """One intrinsic: how many arguments it has, and what it may do.

    - `arguments`: `None` stands for one or more.
    - `returns`: whether a value comes back.
    - `plain`: it may be evaluated though its value is not needed: it touches no memory.
    """

    arguments: int | None
    returns: bool = True
    plain: bool = False


INTRINSICS = {
    "load8": Intrinsic(2),
    "load16": Intrinsic(2),
    "load32": Intrinsic(2),
    "load64": Intrinsic(2),
    "load64_relaxed": Intrinsic(2),
    "load64_acquire": Intrinsic(2),
    "store8": Intrinsic(3, returns=False),
    "store16": Intrinsic(3, returns=False),
    "store32": Intrinsic(3, returns=False),
    "store64": Intrinsic(3, returns=False),
    "store64_relaxed": Intrinsic(3, returns=False),
    "store64_release": Intrinsic(3, returns=False),
    "prefetch": Intrinsic(2, returns=False),
    "compare_swap64": Intrinsic(4),
    "fetch_add64": Intrinsic(3),
    "popcount": Intrinsic(1, plain=True),
    "trailing_zeros": Intrinsic(1, plain=True),
    "multiply_high": Intrinsic(2, plain=True),
    "call": Intrinsic(None),
}
"""Every intrinsic of the language, by name."""


def load8(address: int, index: int) -> int:
    """The byte at `address + index`."""
    return ctypes.c_uint8.from_address((address + index) & WORD_MASK).value


def load16(address: int, index: int) -> int:
    """The 16-bit number at `address + 2 * index`."""
    return ctypes.c_uint16.from_address((address + 2 * index) & WORD_MASK).value


def load32(address: int, index: int) -> int:
    """The 32-bit number at `address + 4 * index`."""
    return ctypes.c_uint32.from_address((address + 4 * index) & WORD_MASK).value


def load64(address: int, index: int) -> int:
    """The 64-bit number at `address + 8 * index`. No other thread may be writing it: see `load64_relaxed`."""
    return ctypes.c_uint64.from_address((address + 8 * index) & WORD_MASK).value


def load64_relaxed(address: int, index: int) -> int:
    """As `load64`, of a number that other threads may be writing; nothing is ordered by it."""
    return load64(address, index)


def load64_acquire(address: int, index: int) -> int:
    """As `load64`, of a number that other threads may be writing: what was stored before it was released is seen."""
    return load64(address, index)


def store8(address: int, index: int, value: int) -> None:
    """Writes the low 8 bits of `value` at `address + index`."""
    ctypes.c_uint8.from_address((address + index) & WORD_MASK).value = value


def store16(address: int, index: int, value: int) -> None:
    """Writes the low 16 bits of `value` at `address + 2 * index`."""
    ctypes.c_uint16.from_address((address + 2 * index) & WORD_MASK).value = value


def store32(address: int, index: int, value: int) -> None:
    """Writes the low 32 bits of `value` at `address + 4 * index`."""
    ctypes.c_uint32.from_address((address + 4 * index) & WORD_MASK).value = value


def store64(address: int, index: int, value: int) -> None:
    """Writes `value` at `address + 8 * index`. No other thread may be reading it: see `store64_relaxed`."""
    ctypes.c_uint64.from_address((address + 8 * index) & WORD_MASK).value = value


def store64_relaxed(address: int, index: int, value: int) -> None:
    """As `store64`, of a number that other threads may be reading; nothing is ordered by it."""
    with _atomic:
        store64(address, index, value)


def store64_release(address: int, index: int, value: int) -> None:
    """As `store64`, of a number that other threads may be reading: who sees it sees what was stored before it."""
    with _atomic:
        store64(address, index, value)


def prefetch(address: int, index: int) -> None:
    """Says that the 64-bit number at `address + 8 * index` will soon be read. Any address may be named."""


def compare_swap64(address: int, index: int, expected: int, new: int) -> int:
    """Writes `new` if the number is `expected`, at once for all threads. Returns the number that was there.

    It orders as acquire and release: what this thread stored before is seen by whom sees `new`.
    """
    with _atomic:
        old = load64(address, index)
        if old == expected:
            store64(address, index, new)
        return old


def fetch_add64(address: int, index: int, amount: int) -> int:
    """Adds to the number, at once for all threads. Returns the number that was there. Orders as acquire and release."""
    with _atomic:
        old = load64(address, index)
        store64(address, index, (old + amount) & WORD_MASK)
        return old


def popcount(value: int) -> int:
    """The number of ones in `value`."""
    return value.bit_count()


def trailing_zeros(value: int) -> int:
    """The number of zeros below the lowest one of `value`; 64 for 0."""
    return (value & -value).bit_length() - 1 if value else WORD_BITS


def multiply_high(left: int, right: int) -> int:
    """The upper 64 of the 128 bits of a product."""
    return (left * right) >> WORD_BITS


def call(address: int, *arguments: int) -> int:
    """Calls compiled code: a function of 64-bit numbers or addresses that returns a 64-bit number, or nothing.

    Where it returns nothing, the value is whatever was left there, and is not to be used.
    """
    prototype = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * len(arguments))
    result: int = prototype(address)(*arguments)
    return result
