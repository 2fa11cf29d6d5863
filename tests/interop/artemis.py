"""Pairs of real Artemis brokers, played and checked: `make interop-artemis`."""

from __future__ import annotations

import sys

from hacheck.replay.artemis.broker_kind import ARTEMIS
from tests.interop.broker_interop import run

if __name__ == "__main__":
    sys.exit(run(ARTEMIS))
