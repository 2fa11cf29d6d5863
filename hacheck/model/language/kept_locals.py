"""What the elaboration claims of the locals of handlers, as data, so that another interpreter can check it."""

from __future__ import annotations

from msgspec import Struct


class KeptLocal(Struct, frozen=True):
    """What is claimed of a local that is kept between steps: that a later step may read it from these points only.

    `variable`: where it is kept. `word` and `start`: its name and where that is declared, -1 for what the handler's
    head declares. What is kept for the language's own use has a word with a blank: `x to come`, `write callees`.
    """

    variable: str
    kind: str
    handler: str
    word: str
    start: int
    read_after: frozenset[str]
