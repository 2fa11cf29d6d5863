"""Specs, damaged in one place, verified: most of them are specs still, and some have errors that only a run shows."""

from __future__ import annotations

import zlib
from contextlib import chdir
from pathlib import Path
from random import Random

from tests.fuzz.commands import check_ending, hacheck_here
from tests.fuzz.kinds import Kind
from tests.fuzz.places import folder
from tests.fuzz.specs import SMALL, by_subtrees, by_tokens, seeds

ENGINES = ("python", "python", "python", "simulation", "native", "bmc")
ADDED = (
    "",
    "\ndeadlock_free fuzz_goes_on\n",
    "\ndeadlock_free fuzz_rests except true\n",
    "\ninitially do choose fuzz: 0..1 where fuzz > 1\n",
    "\ncheck fuzz_only { only fuzz_goes_on }\ndeadlock_free fuzz_goes_on\n",
    "\nparam fuzz = 1 in 0..3\ncheck fuzz_more { fuzz = 3 }\ncheck fuzz_less { fuzz = 0 }\n",
)


def draw(random: Random) -> bytes:
    """A small spec, with a property or a setting more, after one change."""
    small = [text for text in seeds()[0] if len(text) < SMALL // 4]
    text = random.choice(small) + random.choice(ADDED)
    return by_tokens(random, text, 1) if random.random() < 0.2 else by_subtrees(random, text, 1)


def read(content: bytes) -> None:
    """Verifies a spec by one of the engines."""
    turn = zlib.crc32(content)
    words = ["verify", "fuzz.ha", "--engine", ENGINES[turn % len(ENGINES)], "--time", "1", "--depth", "6"]
    if "bmc" not in words:
        words += ["--states", "500"]
    with folder() as place, chdir(place):
        Path("fuzz.ha").write_bytes(content)
        code, said = hacheck_here(words, place)
        check_ending(code, said)


KINDS = (Kind("checks", "specs, damaged in one place, verified", draw, read, ".ha", 60.0),)
