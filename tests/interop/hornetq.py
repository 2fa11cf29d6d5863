"""Pairs of real HornetQ servers, played and checked: `make interop-hornetq`."""

from __future__ import annotations

import sys

from hacheck.replay.hornetq.broker_kind import HORNETQ
from tests.interop.broker_interop import run

if __name__ == "__main__":
    sys.exit(run(HORNETQ))
