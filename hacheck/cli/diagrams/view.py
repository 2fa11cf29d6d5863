"""A state diagram made ready to be drawn: what happens from everywhere is drawn once, and edges carry their
labels."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.state_diagram import Diagram, Transition
from hacheck.model.ir import ActionKind

ANY = "(any state)"
"""Stands for every state a node can be in, where an action leads from all of them to the same one."""

SEVERAL = "(several states)"
"""Stands in a brief view for the states in which a fault has been seen, where they are many and not all."""

SEVERAL_LEAST = 4
"""From how many states a fault must lead to one other state to be drawn once in a brief view."""

ANY_LEAST = 3
"""From how many states an action must lead to one other state to be drawn once."""


class Label(Struct, frozen=True):
    """An action on an edge: when it happens, and whether exploration saw it there (`None`: nobody looked)."""

    action: str
    kind: ActionKind
    guard: str
    seen: bool | None


class Arrow(Struct, frozen=True):
    """An edge with everything that takes it."""

    source: str
    target: str
    labels: tuple[Label, ...]

    @property
    def seen(self) -> bool:
        """Whether it can be taken as far as is known: no label says otherwise of all."""
        return any(label.seen is not False for label in self.labels)


class View(Struct, frozen=True):
    """A diagram as it is drawn. `absent`: how a state or edge that was not seen is to be called."""

    title: str
    states: tuple[str, ...]
    initial: tuple[str, ...]
    unseen: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    footing: str
    absent: str


def view_of(diagram: Diagram, *, brief: bool = False, unseen: bool = True) -> View:
    """The diagram as it is drawn. `brief`: of a fault that many states have, it is not said which, nor in what the
    edges of an action differ. `unseen`: with the edges and modes that exploration has not seen."""
    left_out = 0
    if not unseen and diagram.walk is not None:
        seen = tuple(one for one in diagram.transitions if one.seen)
        left_out = len(diagram.transitions) - len(seen)
        states = tuple(state for state in diagram.states if state not in diagram.unseen)
        diagram = replace(diagram, transitions=seen, states=states, unseen=())
    arrows: dict[tuple[str, str], list[Label]] = {}
    for transition in _drawn_once(diagram, brief):
        action = transition.action.removesuffix(f" {diagram.owner}")
        guard = transition.guard if brief else _all_of(transition.guard, transition.condition)
        label = Label(action, transition.kind, guard, transition.seen)
        labels = arrows.setdefault((transition.source, transition.target), [])
        if label not in labels:
            labels.append(label)
    used = {end for edge in arrows for end in edge}
    states = tuple(state for state in (*diagram.states, ANY, SEVERAL) if state in diagram.states or state in used)
    return View(
        f"{diagram.owner}: {diagram.field.removeprefix(diagram.owner + '.')}",
        states,
        diagram.initial,
        diagram.unseen,
        tuple(Arrow(*ends, tuple(labels)) for ends, labels in arrows.items()),
        footing_of(diagram) + (f"; not drawn, because never taken: {left_out}" if left_out else ""),
        "not seen" if diagram.walk is not None and not diagram.walk.complete else "unreachable",
    )


def _all_of(*conditions: str) -> str:
    parts = [part for condition in conditions for part in condition.split(" and ") if part]
    return " and ".join(dict.fromkeys(parts))


def footing_of(diagram: Diagram) -> str:
    """What the marks on the edges rest on."""
    walk = diagram.walk
    if walk is None:
        return "edges as the text allows them; not explored"
    if walk.complete:
        return f"explored completely: {walk.states:,} states"
    return f"explored {walk.states:,} states, not all of them: what is not seen may still be possible"


def _drawn_once(diagram: Diagram, brief: bool) -> list[Transition]:
    """The transitions, those that lead from every other state to one under the same condition put into
    one; in a brief view also faults seen in several."""
    groups: dict[tuple[str, str, str, bool | None, str], list[Transition]] = {}
    for transition in diagram.transitions:
        condition = "" if brief else transition.condition
        key = (transition.target, transition.action, transition.guard, transition.seen, condition)
        groups.setdefault(key, []).append(transition)
    live = [state for state in diagram.states if state not in diagram.unseen and not state.startswith("(")]
    drawn: list[Transition] = []
    for (target, action, guard, seen, condition), group in groups.items():
        sources = {transition.source for transition in group}
        everywhere = {state for state in live if state != target} <= sources
        if everywhere and len(sources) >= ANY_LEAST and not any(source.startswith("(") for source in sources):
            drawn.append(Transition(ANY, target, action, group[0].kind, guard, seen, condition))
        elif brief and seen and group[0].kind == "fault" and len(sources) >= SEVERAL_LEAST:
            drawn.append(Transition(SEVERAL, target, action, "fault", guard, seen))
        else:
            drawn += group
    order = {state: place for place, state in enumerate((*diagram.states, ANY, SEVERAL))}
    return sorted(drawn, key=lambda item: (order[item.source], order[item.target]))
