"""A specification on its way to another process, which does many tasks with the same one."""

from __future__ import annotations

import pickle
from functools import lru_cache

from hacheck.model.language import Specification
from hacheck.supervise.recursion_limit import pickled


def sent(specification: Specification) -> bytes:
    """The specification as it is sent."""
    return pickled(specification)


@lru_cache(maxsize=1)
def specification_of(content: bytes) -> Specification:
    """The specification, which is the same for one task after the other."""
    specification = pickle.loads(content)
    assert isinstance(specification, Specification), "nothing else is sent"
    return specification
