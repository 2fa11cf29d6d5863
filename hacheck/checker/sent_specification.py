"""A specification on its way to another process, which does many tasks with the same one."""

from __future__ import annotations

import pickle
from functools import lru_cache

from hacheck.model.language import Specification
from hacheck.supervise.recursion_limit import room_for_nesting


def sent(specification: Specification) -> bytes:
    """The specification as it is sent."""
    with room_for_nesting():
        return pickle.dumps(specification)


@lru_cache(maxsize=1)
def specification_of(content: bytes) -> Specification:
    """The specification, which is the same for one task after the other."""
    specification = pickle.loads(content)
    assert isinstance(specification, Specification), "nothing else is sent"
    return specification
