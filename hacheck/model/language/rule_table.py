"""The parts of the language put together, so that each can be used by the others."""

from __future__ import annotations

from hacheck.model.language import (
    clocks,
    containers,
    function_calls,
    locks,
    messages,
    resolve_types,
    sequence_functions,
    single_steps,
)
from hacheck.model.language.context import Rules

RULES = Rules(
    resolve=resolve_types.resolve,
    collection=containers.elaborate_collection,
    membership=containers.membership,
    combine=containers.combine,
    apply=function_calls.apply,
    expand=function_calls.expand,
    functions={
        **function_calls.FUNCTIONS,
        **sequence_functions.FUNCTIONS,
        "free": locks.function,
        "holds": locks.function,
        "holder": locks.function,
        "clock": clocks.function,
        "time": clocks.function,
        "in_flight": messages.in_flight,
        "under_way": messages.under_way,
    },
    one_step=single_steps.one_step,
)
"""The language as a whole."""
