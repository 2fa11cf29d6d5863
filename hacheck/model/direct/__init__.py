"""A second meaning of the language: an interpreter of the parsed tree, written from `docs/language.md` alone.

The first meaning turns a file into plain actions on plain variables, and every engine works on these. What is wrong
there is wrong in every engine. This package shares nothing with it but the parser: it walks the declarations as they
were written. It is made to be obviously right, not fast, and to be compared with the first one.
"""

from hacheck.model.direct.interfaces import (
    FORGOTTEN,
    BoundReached,
    ForgottenRead,
    Key,
    SpecificationError,
    State,
    Step,
    UnsupportedError,
)
from hacheck.model.direct.system import DirectSystem, load
from hacheck.model.direct.values import Bag, Identity, Map, Node, Record, Value, from_plain, to_plain

__all__ = [
    "FORGOTTEN",
    "Bag",
    "BoundReached",
    "DirectSystem",
    "ForgottenRead",
    "Identity",
    "Key",
    "Map",
    "Node",
    "Record",
    "SpecificationError",
    "State",
    "Step",
    "UnsupportedError",
    "Value",
    "from_plain",
    "load",
    "to_plain",
]
