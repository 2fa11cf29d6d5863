"""Lets the tests import the modules of `bench/`, which are scripts beside each other and no package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
