"""Reads a view of a run: the values of every state, who was up, which links were cut, when a message was sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct

Json: TypeAlias = Any
Link: TypeAlias = tuple[str, str]

UNKNOWN = ""
"""The value of a field that a node does not have."""


class FieldChange(Struct, frozen=True):
    """A value that a step changed. `owner` is empty for what no node owns."""

    owner: str
    name: str
    variable: str
    role: str
    mode: bool
    before: str
    after: str


class ViewReader:
    """A view with its states unfolded. Steps count from 1; state 0 is the initial one, state n the one after step n.

    Cost: one pass over the view.
    """

    def __init__(self, view: Json) -> None:
        self.view = view
        self.steps: list[Json] = view["steps"]
        self.loop: int | None = view["loop"]
        self.property: Json = view["property"]
        self.nodes = [node["id"] for node in view["nodes"]]
        self.kind_of = {node["id"]: node["kind"] for node in view["nodes"]}
        self.slots: list[Json] = view["slots"]
        self.strings: list[str] = view["strings"]
        self.promised = frozenset(name for names in view["promised"].values() for name in names)
        self._place = {(slot["owner"], slot["name"]): place for place, slot in enumerate(self.slots)}
        self._states = list(self._unfold())
        self._cuts = list(self._cut_links())
        self._names = names_of(self.nodes)
        self.mentions = lru_cache(maxsize=None)(self._mentions)

    def _unfold(self) -> Iterator[list[int]]:
        state = list(self.view["initial"])
        yield state
        for step in self.steps:
            state = list(state)
            for place, word in step["delta"]:
                state[place] = word
            yield state

    def _cut_links(self) -> Iterator[frozenset[Link]]:
        cut: frozenset[Link] = frozenset()
        yield cut
        for step in self.steps:
            for effect in step["effects"]:
                if effect["t"] == "cut":
                    cut |= {(effect["a"], effect["b"])}
                elif effect["t"] == "heal":
                    cut -= {(effect["a"], effect["b"])}
            yield cut

    # ---- states ----

    @property
    def last(self) -> int:
        """The number of the last state, which is the number of steps."""
        return len(self.steps)

    def value(self, number: int, owner: str, name: str) -> str:
        """The value of a field in a state, in words; `UNKNOWN` where there is no such field."""
        place = self._place.get((owner, name))
        return UNKNOWN if place is None else self.strings[self._states[number][place]]

    def mode(self, number: int, node: str) -> str:
        """The mode of a node in a state, if its kind has modes."""
        mode = self.view["modes"].get(self.kind_of[node])
        return UNKNOWN if mode is None else self.value(number, node, mode["variable"])

    def is_up(self, number: int, node: str) -> bool:
        """Whether the process of a node runs."""
        return self.value(number, node, "up") != "false"

    def is_paused(self, number: int, node: str) -> bool:
        """Whether a node is paused."""
        return self.value(number, node, "paused") == "true"

    def cuts(self, number: int) -> frozenset[Link]:
        """The links that are cut in a state, the ends of each in order."""
        return self._cuts[number]

    def is_cut(self, number: int, one: str, other: str) -> bool:
        """Whether the link between two nodes is cut, in either direction."""
        return (min(one, other), max(one, other)) in self._cuts[number]

    def changes(self, step: int) -> list[FieldChange]:
        """What a step changed, in the order of the slots."""
        before, after = self._states[step - 1], self._states[step]
        return [
            FieldChange(
                slot["owner"],
                slot["name"],
                slot["variable"],
                slot["role"],
                slot["mode"],
                self.strings[before[place]],
                self.strings[after[place]],
            )
            for place, slot in ((place, self.slots[place]) for place, _ in self.steps[step - 1]["delta"])
        ]

    def last_change(self, owner: str, name: str, until: int) -> int:
        """The last step up to `until` that changed a field; 0 where none did."""
        place = self._place.get((owner, name))
        if place is None:
            return 0
        steps = range(until, 0, -1)
        return next((step for step in steps if self._states[step][place] != self._states[step - 1][place]), 0)

    def _mentions(self, words: str) -> tuple[str, ...]:
        """The nodes that a value or a sentence names, each once, in the order of the spec."""
        if not self.nodes:
            return ()
        found = set(self._names.findall(words))
        return tuple(node for node in self.nodes if node in found)

    # ---- steps ----

    @property
    def needed_faults(self) -> frozenset[int]:
        """The steps of faults that blame showed to be needed: with one of them less nothing is violated."""
        trials = (self.view.get("blame") or {}).get("trials", ())
        shown = [one for one in trials if one["kind"] == "fault" and one["outcome"] == "prevents"]
        return frozenset(step for one in shown for step in one["steps"])

    @property
    def acknowledges(self) -> bool:
        """Whether the run acknowledges something to clients."""
        return any(effect["t"] == "acknowledged" for step in self.steps for effect in step["effects"])

    def is_fault(self, step: int) -> bool:
        """Whether a step is an injected fault."""
        return bool(self.steps[step - 1]["kind"] == "fault")

    def effects(self, step: int, *kinds: str) -> list[Json]:
        """The effects of a step of these kinds."""
        return [effect for effect in self.steps[step - 1]["effects"] if effect["t"] in kinds]

    def actor(self, step: int) -> str:
        """The node on which a step happens, or nothing."""
        return self.steps[step - 1]["actor"] or ""


def names_of(nodes: Iterable[str]) -> re.Pattern[str]:
    """What finds nodes in text: `Replica 1`, `replica-1`, and not in `replica-1/7`, which is something else."""
    return re.compile("|".join(rf"(?<![\w/-]){re.escape(node)}(?![\w/-])" for node in sorted(nodes, reverse=True)))


def note_send_steps(steps: Sequence[Json], initial: int = 0) -> None:
    """Writes into each message that is taken, lost, cleared or replaced the step at which it was sent (`sent`), and
    into each that is sent where it ends (`until`). Links keep order; a message of the initial state has no step."""
    open_sends: dict[tuple[str, str, str, str], list[tuple[int, Json]]] = {}
    for number, step in enumerate(steps, start=initial + 1):
        for effect in step["effects"]:
            if effect["t"] not in ("send", "take", "lost", "cleared", "replaced"):
                continue
            key = (effect["name"], effect["from"], effect["to"], effect["item"])
            if effect["t"] == "send":
                open_sends.setdefault(key, []).append((number, effect))
            elif waiting := open_sends.get(key):
                sent, send = waiting.pop(0)
                effect["sent"] = sent
                send["until"] = number
