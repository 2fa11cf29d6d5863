"""Random models: small, well-typed systems that use every type, expression and statement.

`systems()` is a Hypothesis strategy whose examples shrink; `seeded_system(seed)` makes one model from a
number, many times faster, for counting and for long comparisons of engines. `types()` and `typed_values()`
are for laws of values.
"""

from tests.strategies.choosing import Chooser, Drawn, Seeded
from tests.strategies.kinds import random_type, random_value, typed_values, types
from tests.strategies.programs import programs, random_program
from tests.strategies.systems import random_system, seeded_system, systems

__all__ = [
    "Chooser",
    "Drawn",
    "Seeded",
    "programs",
    "random_program",
    "random_system",
    "random_type",
    "random_value",
    "seeded_system",
    "systems",
    "typed_values",
    "types",
]
