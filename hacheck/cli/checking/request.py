"""What the user wants of `hacheck verify`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from hacheck.checker.engine import Limits
from hacheck.cli.checking.ci_outputs import Ci
from hacheck.cli.engines import Exploring
from hacheck.supervise.resources import memory_default


class Request(Struct, frozen=True):
    """What the user wants of `verify`."""

    spec: str
    checks: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    wide: bool = False
    jobs: int | None = None
    raising: bool = False
    blame: bool = False
    counterexamples: int = 1
    exploring: Exploring = Exploring()
    states_max: int | None = None
    depth_max: int | None = None
    seconds_max: float | None = None
    memory_max: int | None = None
    json: str | None = None
    itf: str | None = None
    report: str | None = None
    ci: Ci = Ci()
    runs: bool = False
    steps: bool = False
    details: bool = False
    witnesses: bool = False
    quiet: bool = False
    no_color: bool = False

    @property
    def is_limited(self) -> bool:
        """Whether the user has said how far an exploration goes."""
        return any(one is not None for one in (self.states_max, self.depth_max, self.seconds_max))

    @property
    def limits(self) -> Limits:
        """Where each exploration gives up; without a word from the user, before the machine swaps."""
        memory = self.memory_max if self.memory_max is not None else memory_default()
        return Limits(self.states_max, self.seconds_max, memory, self.depth_max)
