"""Small random changes of texts, of their tokens, and of bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

TOKEN = re.compile(r'"[^"\n]*"|\w+|[^\w\s]|\s+')

NUMBERS = ("0", "1", "-1", "2", "7", "255", "65536", "2147483648", "999999999", "9223372036854775808", "9" * 26)
ODD = ("", "-", "é", "\u202e", "\ud7ff", "​", "\t", "\r\n", "'", '"', "\\", "x" * 300, "[", "}", "(", "..", "NaN")


def changed_text(text: str, words: Sequence[str], random: Random, changes_max: int = 4) -> str:
    """The text after a few changes: tokens and lines deleted, repeated, exchanged, or replaced by other `words`."""
    for _ in range(random.randint(1, changes_max)):
        tokens = TOKEN.findall(text)
        if not tokens:
            return random.choice(words)
        text = _changed(tokens, text, words, random)
    return text


def _changed(tokens: list[str], text: str, words: Sequence[str], random: Random) -> str:
    at, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(11):
        case 0:
            del tokens[at : at + random.randint(1, 4)]
        case 1:
            tokens[at] = random.choice(words)
        case 2:
            tokens.insert(at, f" {random.choice(words)} ")
        case 3:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 4:
            tokens[at] = tokens[other]
        case 5:
            numbers = [place for place, token in enumerate(tokens) if token.isdigit()] or [at]
            tokens[random.choice(numbers)] = random.choice(NUMBERS)
        case 6:
            tokens[at] = random.choice(ODD)
        case 7 | 8:
            return _changed_lines(text, random)
        case 9:
            return text[: random.randrange(len(text) + 1)]
        case _:
            first, last = sorted((at, other))
            tokens[other:other] = tokens[first : min(last, first + 12)]
    return "".join(tokens)


def _changed_lines(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return "".join(lines)


def changed_bytes(content: bytes, random: Random, changes_max: int = 4) -> bytes:
    """The bytes after a few changes: some flipped, cut out, repeated, or the end missing."""
    found = bytearray(content)
    for _ in range(random.randint(1, changes_max)):
        if not found:
            return bytes(random.randbytes(random.randrange(8)))
        at = random.randrange(len(found))
        match random.randrange(5):
            case 0:
                found[at] ^= 1 << random.randrange(8)
            case 1:
                found[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                del found[at : at + random.randint(1, 16)]
            case 3:
                found[at:at] = found[at : at + random.randint(1, 16)]
            case _:
                del found[at:]
    return bytes(found)


def changed_data(value: object, random: Random, depth: int = 0) -> object:
    """JSON data with one thing in it replaced, removed or added."""
    if depth < 6 and isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        match random.randrange(8):
            case 0:
                return {name: item for name, item in value.items() if name != key}
            case 1:
                return value | {random.choice(ODD): value[key]}
            case _:
                return value | {key: changed_data(value[key], random, depth + 1)}
    if depth < 6 and isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        match random.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
            case _:
                return [*value[:at], changed_data(value[at], random, depth + 1), *value[at + 1 :]]
    return _other(value, random)


def _other(value: object, random: Random) -> object:
    others: list[object] = [None, True, 0, 1, -1, 2**31, 2**63, 2**70, 0.5, "", "x", "é", [], {}, [[]], {"": None}, "1"]
    if isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int | float):
        others += [value + 1, value - 1, -value, str(value)] * 3
    elif isinstance(value, str):
        others += [value + "x", value[:-1], value.upper()] * 3
    return random.choice(others)
