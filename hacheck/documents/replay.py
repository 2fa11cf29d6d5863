"""The document of `hacheck replay`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from hacheck.documents.document import Document, Json, Part

ReplayOutcome: TypeAlias = Literal["confirmed", "refuted", "not_carried_out", "masked", "environment"]


class ReplayedStep(Part, frozen=True, kw_only=True):
    """What was seen after a step, the start being number 0. `changes`: what the model says it changes; `differences`:
    between product and model; `observed`: the product's state in the model's variables, as far as it was read."""

    number: int
    title: str
    changes: list[str]
    differences: list[str]
    observed: dict[str, Json]
    at_seconds: float


class ReplayedRun(Part, frozen=True, kw_only=True):
    """What came of one run. `at_step`, `step`: where a run that was not confirmed ended, null and empty after the last
    step; `evidence`: lines of the product's logs and answers to clients; `recording`: the folder with all of them."""

    outcome: ReplayOutcome
    reason: str
    product: str
    run: str
    at_step: int | None
    step: str
    steps_compared: int
    steps_of_run: int
    steps: list[ReplayedStep]
    evidence: list[str]
    recording: str
    seconds: float


class ReplayDocument(Document, tag="replay", frozen=True, kw_only=True):
    """What `hacheck replay` found. `outcome`: that of several runs is the one that decides the exit code; `counts`: how
    often each came."""

    outcome: ReplayOutcome
    exit_code: int
    product: str
    counts: dict[str, int]
    runs: list[ReplayedRun]
