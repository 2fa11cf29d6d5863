"""What comes of a replay: an outcome with its evidence, and what was seen after each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Outcome: TypeAlias = Literal["confirmed", "refuted", "not_carried_out", "masked", "environment"]
"""`confirmed`: every step came out as the model says, and what the run shows was observed on the product; of a random
run: every step. `refuted`: the product did something else at a step. `not_carried_out`: the product was not brought to
do a step, or does not show what the property reads. `masked`: every step came out, but something in between hides what
the run shows. `environment`: this machine cannot produce a step."""


class Refuted(Exception):
    """The product did something else than the step says: what."""


class NotCarriedOut(Exception):
    """The plug-in cannot bring the product to do this step: why."""


class Masked(Exception):
    """What the run shows was hidden by something that the product did in between: what."""


class EnvironmentLacks(Exception):
    """This machine cannot produce the step: what it lacks."""


class Awaited(Exception):
    """Something that a step must lead to did not come in time: what, and after how many seconds."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"no {what} in {seconds:g} s")
        self.what, self.seconds = what, seconds


class StepResult(Struct, frozen=True):
    """What was seen after a step. `differences`: between product and model; none if it is as the model says.
    `observed`: the product's state as its plug-in reads it; `at`: seconds since the replay began."""

    number: int
    title: str
    changes: tuple[str, ...]
    differences: tuple[str, ...]
    observed: Mapping[str, Any]
    at: float


class ReplayResult(Struct, frozen=True):
    """What came of one replay.

    `outcome` and `reason`: the verdict, and why; `at_step`: the step at which it was reached, `None` after the last.
    `evidence`: lines of the product's logs, messages and answers to clients. `recording`: the folder with all of them.
    """

    outcome: Outcome
    reason: str
    product: str
    run: str
    at_step: int | None
    step: str
    steps: tuple[StepResult, ...]
    evidence: tuple[str, ...]
    recording: str
    seconds: float
    total_steps: int = 0
