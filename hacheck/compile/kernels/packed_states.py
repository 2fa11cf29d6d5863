"""States of `W` words, in the kernel language: hashed, compared and copied."""

from __future__ import annotations

from hacheck.compile.kernels.language import load64, multiply_high, store64

# Set when the kernels are compiled:
W = 1  # words of a state
HASH_MASK = (1 << 64) - 1  # bits of the hash that are used: all, except in tests that want collisions


def mixed(x: int) -> int:
    """Another number for each number, its bits well spread."""
    x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15
    x = (x ^ (x >> 29)) * 0xD6E8FEB86659FD93
    return x ^ (x >> 32)


def folded(left: int, right: int) -> int:
    """Both halves of a product in one word."""
    return (left * right) ^ multiply_high(left, right)


def hash_of(state: int) -> int:
    """64 bits that depend on every bit of the state; different ones for different states of one word."""
    h = load64(state, 0)
    for w in range(1, W, 2):
        if w + 1 < W:
            h = folded(h ^ 0xA24BAED4963EE407, load64(state, w) ^ 0x9FB21C651E98DF25) + load64(state, w + 1)
        else:
            h = folded(h ^ 0xA24BAED4963EE407, load64(state, w) ^ 0x9FB21C651E98DF25)
    return mixed(h) & HASH_MASK


def same(left: int, right: int) -> int:
    """Whether two states are equal."""
    difference = load64(left, 0) ^ load64(right, 0)
    for w in range(1, W):
        difference = difference | (load64(left, w) ^ load64(right, w))
    return difference == 0


def copy(to: int, state: int) -> None:
    """Copies a state: two words at once, for LLVM cannot see that storing one leaves the next unchanged."""
    for w in range(0, W - 1, 2):
        first = load64(state, w)
        second = load64(state, w + 1)
        store64(to, w, first)
        store64(to, w + 1, second)
    if W % 2:
        store64(to, W - 1, load64(state, W - 1))


KERNELS = (mixed, folded, hash_of, same, copy)
