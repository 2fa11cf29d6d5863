"""Runs as JSON: what a run depends on, to be run again elsewhere."""

from __future__ import annotations

import msgspec

from hacheck.impl.simulator.faults import NAMES
from hacheck.impl.simulator.running import Plan
from hacheck.impl.system import Refused

VERSION = 1


class SavedRun(msgspec.Struct, frozen=True, tag_field="hacheck.sim", tag=VERSION, forbid_unknown_fields=True):
    """A run that was kept. `system`: the protocol's name. `promise`: what it broke, if anything, for people."""

    system: str
    plan: Plan
    promise: str = ""


def to_json(run: SavedRun) -> bytes:
    """The run as text, one fault on each line."""
    text = msgspec.json.encode(run)
    return msgspec.json.format(text, indent=1) + b"\n"


def from_json(text: bytes) -> SavedRun:
    """The run of a text. Errors: `Refused`."""
    try:
        found = msgspec.json.decode(text, type=SavedRun)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(f"no run of version {VERSION}: {error}") from None
    for fault in found.plan.faults if isinstance(found.plan.faults, tuple) else ():
        if fault.kind not in NAMES:
            raise Refused(f"no fault is called `{fault.kind}`: there are {', '.join(NAMES)}")
        if fault.at_us < 0 or fault.for_us < 0:
            raise Refused(f"a fault `{fault.kind}` at {fault.at_us} for {fault.for_us}: times begin with 0")
    return found
