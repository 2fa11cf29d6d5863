"""Code checked against its model: the tests for people with a highly available system of their own.

See `docs/testing.md`.
"""

from hacheck.testing.adapter import Adapter, Event
from hacheck.testing.machine import SETTINGS, state_machine
from hacheck.testing.model import BadModel
from hacheck.testing.recorded import BadRun, do, replay
from hacheck.testing.session import Disagreement, Undecided

__all__ = [
    "SETTINGS",
    "Adapter",
    "BadModel",
    "BadRun",
    "Disagreement",
    "Event",
    "Undecided",
    "do",
    "replay",
    "state_machine",
]
