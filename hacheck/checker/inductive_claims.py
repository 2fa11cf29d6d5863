"""Which of many claims are inductive together, and which of those a goal needs: for one setting and for every size.

A *step* here is whatever a caller decides one question about: an outcome of an instance, or a transition at a small
size. How a question is decided is the caller's.

**Source**: Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, FME 2001 (the largest inductive set).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
Step = TypeVar("Step")


def largest_inductive(
    claims: Iterable[Item],
    steps: Sequence[Step],
    broken: Callable[[Step, Sequence[Item]], Collection[Item]],
    is_over: Callable[[], bool],
) -> list[Item]:
    """The largest set of these claims that every step keeps, in their order.

    - `broken`: some claims that a step breaks where all these hold before it; none if it breaks none.
    - `is_over`: whether to stop; then what is left need not be inductive.
    """
    left = list(claims)
    again = True
    while again:
        again = False
        for step in steps:
            while not is_over() and (gone := set(broken(step, left))):
                again = True
                left = [one for one in left if one not in gone]
    return left


def with_premises(
    goals: Iterable[Item],
    steps: Sequence[Step],
    premises: Callable[[Item, Step, Collection[Item]], Iterable[Item]],
    is_over: Callable[[], bool],
) -> list[Item]:
    """The goals, and claims that are inductive together with them: each kept by every step, given the others.

    - `premises`: the claims that have to hold before a step so that one holds after it, of those chosen so far if these
      are enough.
    """
    chosen: dict[Item, None] = dict.fromkeys(goals)
    waiting = list(chosen)
    while waiting and not is_over():
        goal = waiting.pop(0)
        for step in steps:
            for claim in premises(goal, step, chosen):
                if claim not in chosen:
                    chosen[claim] = None
                    waiting.append(claim)
    return list(chosen)
