"""`eventually` and `leads_to`, decided on the finished graph of reachable states.

A violation is a fair run (`hacheck.checker.explicit.fairness` says what that is) that stays among the states where the
goal does not hold: from the start for `eventually`, from a state where the premise holds for `leads_to`. First the
states are reached in which such a run can be, breadth first, so that the shortest way to each is known; their steps are
listed on the way, once for all properties. Then the strongly connected components among them are checked. From one in
which nothing but strong constraints is starved, the states that enable those are taken away, and what is left is
checked again.

Where no such run is fair, but one can reach a step that only a bound of the exploration forbids, nobody knows how it
would go on: then the property is not said to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from hacheck.checker.explicit.fairness import constraints_of
from hacheck.checker.explicit.liveness import edge_lists, strong_components
from hacheck.checker.explicit.liveness import graph_fields as fields
from hacheck.checker.explicit.liveness.kernel_slices import Slices
from hacheck.checker.explicit.liveness.marked_states import Marks
from hacheck.checker.explicit.liveness.shortest_lasso import (
    FairnessMask,
    fair_loop,
    instance_of,
    nearest_fair,
    path_into,
)
from hacheck.checker.explicit.liveness.working_memory import Ground, Kernels, StateSpace, kernel_constants
from hacheck.checker.explicit.search_result import (
    BEYOND,
    Lasso,
    LivenessVerdict,
    Occurrence,
    StatePath,
    Undecided,
    Valueless,
)
from hacheck.model.ir import Fairness, Property, System
from hacheck.supervise.task import Cancelled


class Searched(Struct, frozen=True):
    """What liveness needs of a search that has ended.

    `marks`: the marking functions of `marks.conditions`, by key. `kernels`: those of `ground` by name, given what they
    are compiled for. `path_to`: a shortest run to one of some packed states of one level. `room`: how many bytes there
    are; `None` if nobody counts; `full`: why to give up where they do not suffice.
    """

    system: System
    instances: Sequence[Occurrence]
    space: StateSpace
    marks: Mapping[str, Callable[..., int]]
    kernels: Callable[[Mapping[str, int]], Kernels]
    path_to: Callable[[Sequence[int]], StatePath]
    threads: int
    room: int | None
    full: str


def check_liveness(
    searched: Searched, properties: Sequence[Property], poll: Callable[[], None]
) -> list[LivenessVerdict]:
    """What there is to say about each property. `poll` is called at least every tenth of a second, and raises
    `Cancelled` to stop. Cost: about that of the search for all properties together, and for each of them about a third
    of that."""
    marks = Marks(searched.space, searched.marks, poll)
    verdicts: dict[str, LivenessVerdict] = {}
    try:
        for item in properties:
            verdicts |= _valueless(searched, marks, item)
        live = [item for item in properties if item.name not in verdicts]
        for together in grouped(live):
            _LivenessSearch(searched, marks, together, poll, verdicts).run()
    except (Cancelled, MemoryError) as failure:
        reason = failure.reason if isinstance(failure, Cancelled) else searched.full
        undecided = Undecided(f"not checked; stopped because {reason}")
        verdicts |= {item.name: undecided for item in properties if item.name not in verdicts}
    return [verdicts[item.name] for item in properties]


def grouped(properties: Sequence[Property]) -> list[list[Property]]:
    """Properties that can be looked at together: where a step takes one constraint at most. So of one handler they are
    fair for the same arguments."""
    groups: list[tuple[dict[str, tuple[str, ...]], list[Property]]] = []
    for one in properties:
        wanted = {fair.handler: fair.arguments for fair in one.fairness}
        for known, members in groups:
            if all(known.get(handler, arguments) == arguments for handler, arguments in wanted.items()):
                known.update(wanted)
                members.append(one)
                break
        else:
            groups.append((wanted, [one]))
    return [members for _, members in groups]


def _valueless(searched: Searched, marks: Marks, prop: Property) -> dict[str, LivenessVerdict]:
    """The verdict, if the goal or premise has no value in some state."""
    for key, expression in (("goal", prop.goal), ("premise", prop.premise)):
        if expression is not None:
            states = marks.first(f"{key}-error:{prop.name}")
            if states:
                return {prop.name: Valueless(searched.path_to(states), expression)}
    return {}


def fairness_masks(
    system: System, instances: Sequence[Occurrence], properties: Sequence[Property]
) -> tuple[list[int], list[FairnessMask]]:
    """For each instance the constraint it takes, from 1, or 0, of all that the properties name; and for each property
    those that it asks for."""
    together = tuple(Fairness(item.handler, False, item.arguments) for one in properties for item in one.fairness)
    everything = constraints_of(system, instances, together)
    by_handler: dict[str, int] = {}
    for (action, _), bit in zip(instances, everything.taken_by, strict=True):
        handler = system.actions[action].handler
        by_handler[handler] = by_handler.get(handler, 0) | bit
    masks = []
    for one in properties:
        strong, fair = 0, 0
        for item in one.fairness:
            fair |= by_handler.get(item.handler, 0)
            strong |= by_handler.get(item.handler, 0) if item.strong else 0
        masks.append(FairnessMask(fair & ~strong, strong))
    return [bit.bit_length() for bit in everything.taken_by], masks


class _LivenessSearch(Struct):
    """The work on the properties whose goals and premises have values everywhere; `verdicts` gets what is found, by
    their names."""

    searched: Searched
    marks: Marks
    properties: Sequence[Property]
    poll: Callable[[], None]
    verdicts: dict[str, LivenessVerdict]

    def run(self) -> None:
        """Checks one property after the other."""
        searched = self.searched
        taken_by, masks = fairness_masks(searched.system, searched.instances, self.properties)
        constants = kernel_constants(searched.space.words, searched.space.size, max(taken_by, default=0))
        kernels = searched.kernels(constants)
        ground = Ground(searched.space, taken_by, constants, searched.threads, searched.room, searched.full)
        slices = Slices(ground, kernels, self.poll)
        try:
            for item in self.properties:
                self.marks.doubt(slices, item)
            for item, mask in zip(self.properties, masks, strict=True):
                self.verdicts[item.name] = self.verdict_on(ground, slices, item, mask)
        finally:
            slices.close()
            ground.free()

    def verdict_on(self, ground: Ground, slices: Slices, prop: Property, mask: FairnessMask) -> LivenessVerdict:
        """What there is to say about one property."""
        self.marks.prepare(slices, prop)
        every_state_is_fair = not mask.weak | mask.strong
        levels = reached(ground, slices, every_state_is_fair)
        at_bound = any(worker[edge_lists.BOUND_SEEN] for worker in ground.workers)
        if not every_state_is_fair:
            check_components(ground, slices, mask, levels[-1])
        assert not any(worker[edge_lists.LOST] for worker in ground.workers), "every successor has been found before"
        nearest = nearest_fair(ground, slices, levels)
        if nearest is None:
            return BEYOND if at_bound else None
        try:
            return self.lasso(ground, slices, levels, nearest, mask)
        except Cancelled as given_up:
            text = f"a fair run that avoids it was found, but not reconstructed; stopped because {given_up.reason}"
            return Undecided(text)

    def lasso(
        self, ground: Ground, slices: Slices, levels: list[int], nearest: tuple[int, int], mask: FairnessMask
    ) -> Lasso:
        """The run that shows a violation, from the nearest vertex in a fair set and its level."""
        walk = path_into(ground, slices, levels, *nearest)
        loop = fair_loop(ground, slices, levels[-1], walk[-1], mask)
        instances = [
            instance_of(ground, slices, before, after, taken)
            for before, after, taken in zip(loop.vertices, loop.vertices[1:], loop.taken, strict=False)
        ]
        prefix = self.searched.path_to([ground.state(walk[0])])
        states = [ground.state(vertex) for vertex in (*walk[1:], *loop.vertices[1:])]
        path = prefix.then(states, (*(None for _ in walk[1:]), *instances))
        return Lasso(path, len(prefix.states) - 1 + len(walk) - 1)


def reached(ground: Ground, slices: Slices, only_nearest: bool) -> list[int]:
    """Reaches the vertices at which a run can be that waits for the goal. Returns where in ORDER each level begins, and
    the end. `only_nearest`: the first level that has any will do, and what it leads to is not computed."""
    ground.begin()
    levels = [0]
    by_depth = ground.space.levels
    while len(levels) <= len(by_depth) or levels[-1] < ground.words[fields.ORDER_COUNT]:
        if len(levels) <= len(by_depth):
            for first, end in ground.vertices(by_depth[len(levels) - 1]):
                slices.over("seed", first, end)
        levels.append(ground.words[fields.ORDER_COUNT])
        if levels[-2] < levels[-1]:
            if only_nearest:
                break
            slices.reach_level(levels[-2], levels[-1])
    return levels


def check_components(ground: Ground, slices: Slices, mask: FairnessMask, end: int) -> None:
    """Leaves a part as the number of each vertex in a fair set, and `OUTSIDE` of all others that were reached."""
    words = ground.words
    ground.put_mask(fields.WEAK, mask.weak)
    ground.put_mask(fields.STRONG, mask.strong)
    words[fields.ROOTS], words[fields.ROOTS_END] = words[fields.ORDER], end
    words[fields.PARTS] = fields.FIRST_PART + 1
    words[fields.DEPTH] = words[fields.HEIGHT] = 0
    words[fields.CLOSING] = strong_components.OPEN
    rooms = (ground.again(0), ground.again(1)) if mask.strong else (0, 0)
    round_ = 0
    while words[fields.ROOTS_END]:
        words[fields.ROOTS_NEXT] = words[fields.NUMBERED] = words[fields.AGAIN_COUNT] = 0
        words[fields.ROUND_END] = words[fields.PARTS]
        if words[fields.PARTS] + words[fields.ROOTS_END] >= fields.OUTSIDE:
            raise Cancelled("there are more strongly connected sets than this engine can number")
        words[fields.AGAIN] = rooms[round_ % 2]
        slices.until("find_components", words.address)
        words[fields.ROOTS], words[fields.ROOTS_END] = words[fields.AGAIN], words[fields.AGAIN_COUNT]
        round_ += 1
