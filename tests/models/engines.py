"""The explicit engines that must give the same answers."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine

ExplicitEngine: TypeAlias = NativeEngine | PortableEngine

EXACT = [
    pytest.param(PortableEngine(), id="portable"),
    pytest.param(NativeEngine(reductions=False), id="native"),
]
"""Those that explore every state, and say how many there are."""

TWO_THREADS = pytest.param(NativeEngine(threads=2, reductions=False), id="native-2-threads")
REDUCING = pytest.param(NativeEngine(), id="native-reducing")
EVERY = [*EXACT, TWO_THREADS, REDUCING]
"""Those that give the same verdicts, by runs of the same length."""
