"""The view of a run, `hacheck.view/1`: everything that a picture of it shows. `hacheck show --format json` writes it.

States are rows of values in words, one for each slot, by their numbers in `strings`; a step says which of them it
changes. States count from 0, which is the initial one; steps from 1, so that step n leads to state n.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from hacheck.documents.document import Json, Part
from hacheck.documents.verify import BlameResult, NearestGoodRun

Delta: TypeAlias = tuple[int, int]
"""A slot, and the number of its new value in `strings`."""

Span: TypeAlias = tuple[int, int, int, int]
"""First line and column, last line and column, counted from 1."""


class ViewNode(Part, frozen=True, kw_only=True):
    """A node: `Replica 3`, of kind `Replica`."""

    id: str
    kind: str


class ViewMode(Part, frozen=True, kw_only=True):
    """The mode of a kind of node: its variable, its values, and those that the property names."""

    variable: str
    members: list[str]
    named: list[str]


class ViewSlot(Part, frozen=True, kw_only=True):
    """A place of the state. `owner`: the node whose field it is, or nothing; `variable`: the model's name of it."""

    owner: str
    name: str
    variable: str
    role: Literal["field", "shared", "status", "frame", "channel", "budget", "lock", "clock", "view", "distance"]
    mode: bool
    durable: bool
    ghost: bool


# ---- effects ----


class _Message(Part, frozen=True, kw_only=True, tag_field="t"):
    name: str
    item: str
    sender: str = msgspec.field(name="from")
    receiver: str = msgspec.field(name="to")


class SentMessage(_Message, frozen=True, kw_only=True, tag="send"):
    """A message is sent. `until`: the step at which it is taken or lost, not there where it stays under way."""

    until: int | UnsetType = UNSET


class TakenMessage(_Message, frozen=True, kw_only=True, tag="take"):
    """A message is taken. `sent`: the step at which it was sent."""

    sent: int | UnsetType = UNSET


class LostMessage(_Message, frozen=True, kw_only=True, tag="lost"):
    """A message is lost on its way."""

    sent: int | UnsetType = UNSET


class ClearedMessage(_Message, frozen=True, kw_only=True, tag="cleared"):
    """A message is lost because an end crashed."""

    sent: int | UnsetType = UNSET


class ReplacedMessage(_Message, frozen=True, kw_only=True, tag="replaced"):
    """A message gives way to a newer one, where only the latest is under way."""

    sent: int | UnsetType = UNSET


class CallEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="call"):
    """A call within the step. `arguments`: names and values; `answer`: empty where the caller got none, or one that
    says only that it was served; `lost`: an injected fault took the request or the answer away."""

    op: str
    caller: str = msgspec.field(name="from")
    callee: str = msgspec.field(name="to")
    outcome: Literal["answered", "not done", "answer lost", "callee halted"]
    arguments: list[tuple[str, str]]
    answer: str
    lost: bool | UnsetType = UNSET


class DirectEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="direct"):
    """A step of one node writes a field of another one."""

    writer: str = msgspec.field(name="from")
    written: str = msgspec.field(name="to")


class CrashEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="crash"):
    """A node crashes. `wiped`: its disk is lost, too."""

    node: str
    wiped: bool


class _OfNode(Part, frozen=True, kw_only=True, tag_field="t"):
    node: str


class RestartEffect(_OfNode, frozen=True, kw_only=True, tag="restart"):
    """A node starts again."""


class PauseEffect(_OfNode, frozen=True, kw_only=True, tag="pause"):
    """A node stops for a while, and does not know it."""


class ResumeEffect(_OfNode, frozen=True, kw_only=True, tag="resume"):
    """A paused node goes on."""


class HaltEffect(_OfNode, frozen=True, kw_only=True, tag="halt"):
    """A node stops by itself."""


class _OfLink(Part, frozen=True, kw_only=True, tag_field="t"):
    a: str
    b: str


class CutEffect(_OfLink, frozen=True, kw_only=True, tag="cut"):
    """The link between two nodes is cut, in one direction or both."""


class HealEffect(_OfLink, frozen=True, kw_only=True, tag="heal"):
    """The link between two nodes works again."""


class LockEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="lock"):
    """A lock has another holder, or none. `notified`: of code, the one that held it is notified of its loss."""

    lock: str
    before: str
    after: str
    notified: bool | UnsetType = UNSET


class RecordEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="record"):
    """Of code: a process writes a record, with its fields in words."""

    node: str
    event: str
    fields: str


class BelieveEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="believe"):
    """A node believes that it holds a lock, or no longer."""

    lock: str
    node: str
    value: str


class AcknowledgedEffect(Part, frozen=True, kw_only=True, tag_field="t", tag="acknowledged"):
    """Clients have been promised something: `what` the spec calls the promise, and what came to it."""

    what: str
    item: str


Effect: TypeAlias = (
    SentMessage
    | TakenMessage
    | LostMessage
    | ClearedMessage
    | ReplacedMessage
    | CallEffect
    | DirectEffect
    | CrashEffect
    | RestartEffect
    | PauseEffect
    | ResumeEffect
    | HaltEffect
    | CutEffect
    | HealEffect
    | LockEffect
    | BelieveEffect
    | AcknowledgedEffect
    | RecordEffect
)
"""What happened in a step."""


# ---- steps ----


class ViewStep(Part, frozen=True, kw_only=True):
    """A step. `actor`: the node on which it happens. `arguments`, `choices`: names with values, in words; `caption`:
    what is done, and what comes of it. `file` and `span`: where its action is declared. `at`: of code, seconds since
    the start of the run, of virtual time."""

    action: str
    kind: Literal["protocol", "network", "environment", "fault", "repair"]
    actor: str | None
    arguments: list[str]
    choices: list[str]
    caption: tuple[str, str]
    delta: list[Delta]
    effects: list[Effect]
    description: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    span: Span | UnsetType = UNSET
    at: float | UnsetType = UNSET


class ViewEdge(ViewStep, frozen=True, kw_only=True):
    """A step that is possible in a state, of the run or around it. `to`: the state that it leads to; `breaks`: the
    properties that do not hold there, null where no state decides them."""

    to: int
    breaks: list[str] | None


class ViewGraph(Part, frozen=True, kw_only=True):
    """What else was possible: the steps from each state that was expanded, by its number."""

    edges: dict[str, list[ViewEdge]]


# ---- the property ----


class Operand(Part, frozen=True, kw_only=True):
    """What a comparison compares, with the number of its value in each state."""

    text: str
    values: list[int]


class PropertyPart(Part, frozen=True, kw_only=True):
    """A part of a property. `op`: empty for a comparison, which has `operands`; `and`, `or`, `implies` and `not` have
    `children`; a quantifier has a `variable` and `instances`, each of which is called `instance`. `label`: what the
    spec calls it, a definition with its arguments: `leads(n)`."""

    id: int
    op: str
    text: str
    label: str | UnsetType = UNSET
    variable: str | UnsetType = UNSET
    instance: str | UnsetType = UNSET
    children: list[PropertyPart] | UnsetType = UNSET
    instances: list[PropertyPart] | UnsetType = UNSET
    operands: list[Operand] | UnsetType = UNSET


class PropertyTree(Part, frozen=True, kw_only=True):
    """The property taken apart; `premise` is there for `leads_to` only."""

    goal: PropertyPart | None
    premise: PropertyPart | None


class ViewProperty(Part, frozen=True, kw_only=True):
    """The property that a run decides. `reads`: the variables that it reads; `truth`: of each part by its number a
    letter for each state: 1, 0, or - where it has no value. `verdict`, `outcome` and `scope` are there in reports."""

    name: str
    kind: Literal["invariant", "lemma", "step", "reachable", "eventually", "leads_to", "deadlock"]
    description: str
    source: str
    reads: list[str]
    tree: PropertyTree
    truth: list[str]
    file: str | UnsetType = UNSET
    span: Span | UnsetType = UNSET
    verdict: str | UnsetType = UNSET
    outcome: str | UnsetType = UNSET
    scope: str | UnsetType = UNSET


class ViewBelief(Part, frozen=True, kw_only=True):
    """`holder` is wrong about `about` in the states from `wrong` to `until`. `variable` names the other node (or is the
    belief to hold a lock), `back` is the other side; `born`: the step since which it is believed."""

    rule: Literal["relation", "lock"]
    holder: str
    about: str
    variable: str
    back: str
    born: int
    wrong: int
    until: int


class ViewSentence(Part, frozen=True, kw_only=True):
    """A sentence of the story, by which rule it was made, and the steps that it names."""

    rule: str
    text: str
    steps: list[int]


class RunView(Part, frozen=True, kw_only=True):
    """A run with all that a picture of it shows.

    `loop`: of a lasso, the number of steps before the part that repeats. `promised`: what the spec marks as
    `acknowledged to clients`, each with the variables that it depends on. `graph` is there in reports, `settings` there
    and in what `show` writes, `blame` and `good_run` with `--blame`. A later hacheck may add keys.
    """

    format: Literal["hacheck.view/1"]
    nodes: list[ViewNode]
    modes: dict[str, ViewMode]
    slots: list[ViewSlot]
    initial: list[int]
    steps: list[ViewStep]
    loop: int | None
    promised: dict[str, list[str]]
    property: ViewProperty | None
    beliefs: list[ViewBelief]
    story: list[ViewSentence]
    strings: list[str]
    spec: str | UnsetType = UNSET
    check: str | UnsetType | None = UNSET
    settings: dict[str, str] | UnsetType = UNSET
    graph: ViewGraph | UnsetType = UNSET
    blame: BlameResult | UnsetType = UNSET
    good_run: NearestGoodRun | UnsetType | None = UNSET


def view_of(content: Json) -> RunView:
    """The view that plain data is. Errors: `msgspec.ValidationError`, with the place, where it is none."""
    made: RunView = msgspec.convert(content, type=RunView)
    return made


__all__: list[Any] = ["Effect", "RunView", "view_of"]
