"""What can be fuzzed: for each kind of input how one is drawn and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    - `draw`: a new input, as the bytes of a file; the same for the same state of `Random`;
    - `read`: gives it to hacheck. It raises nothing where hacheck is right: what is wrong with the input is said by
      the errors that are documented, which `read` takes;
    - `ending`: of files with such inputs;
    - `cpu_seconds_max`: more is a hang.
    """

    name: str
    about: str
    draw: Callable[[Random], bytes]
    read: Callable[[bytes], None]
    ending: str
    cpu_seconds_max: float = 20.0


def registered() -> dict[str, Kind]:
    """All kinds by name. What they need is imported when one is drawn or read first."""
    from tests.fuzz import adapters, checks, commands, kept, specs, traces

    kinds = (*specs.KINDS, *adapters.KINDS, *traces.KINDS, *kept.KINDS, *checks.KINDS, *commands.KINDS)
    return {kind.name: kind for kind in kinds}
