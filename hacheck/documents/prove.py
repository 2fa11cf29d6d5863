"""The document of `hacheck prove`."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from hacheck.documents.document import Document, Json, Part
from hacheck.documents.run import Run


class ProofVerdict(Part, frozen=True, kw_only=True):
    """What was found of one property. A lemma that is not inductive was not needed."""

    name: str
    kind: str
    verdict: Literal["proved", "violated", "not inductive", "open"]


class SmallViolation(Part, frozen=True, kw_only=True):
    """A counterexample that exploring a small size found. `nodes`: how many of each kind."""

    property: str
    nodes: dict[str, int]
    run: Run


class ProofObligation(Part, frozen=True, kw_only=True):
    """A formula given to the solver: that a claim holds at first (`base`), or that steps preserve it (`step`)."""

    shows: str
    kind: str
    verdict: Literal["shown", "refuted", "open"]
    seconds: float


class InductionCounterexample(Part, frozen=True, kw_only=True):
    """A step that does not preserve a claim. `size`: of the model; `after` is null where the model has no such step."""

    claim: str
    size: int
    reachable: Literal["reachable", "not reachable", "not known"]
    action: str
    arguments: dict[str, Json] | None
    before: dict[str, Json]
    after: dict[str, Json] | None


class ProveDocument(Document, tag="prove", frozen=True, kw_only=True):
    """What `hacheck prove` found. A key stands only where the search came far enough to know it.

    `in_fragment`: whether the spec can be encoded in first-order logic; `reasons`: why not. `covers`: what the proof
    ranges over; `left_open`: what the encoding over-approximates. `stopped`: why it ended early, or nothing. `circle`:
    sorts whose functions form a cycle, for which a solver may not terminate. `found`: lemmas found, as a spec states
    them; `found_without_words`: how many were found that no spec can state.
    """

    spec: str
    system: str
    check: str | UnsetType = UNSET
    proved: bool
    in_fragment: bool | UnsetType = UNSET
    reasons: list[str] | UnsetType = UNSET
    covers: list[str] | UnsetType = UNSET
    left_open: list[str] | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    stopped: str | UnsetType = UNSET
    circle: list[str] | UnsetType = UNSET
    properties: list[ProofVerdict] | UnsetType = UNSET
    violations: list[SmallViolation] | UnsetType = UNSET
    found: list[str] | UnsetType = UNSET
    found_without_words: int | UnsetType = UNSET
    obligations: list[ProofObligation] | UnsetType = UNSET
    counterexamples: list[InductionCounterexample] | UnsetType = UNSET
