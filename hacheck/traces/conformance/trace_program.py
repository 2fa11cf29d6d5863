"""The machine code that follows logs of a system, and how records are written for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from hacheck.compile import Linked, Notes, Program, unpack
from hacheck.model.observing.record_layout import PREFIX, Observed
from hacheck.model.runs import State

WORD_BITS = 64


class Bits(Struct, frozen=True):
    """Where a number is in the words of a record: `width` bits from bit `shift` of word `word`."""

    word: int
    shift: int
    width: int


class RecordShape(Struct, frozen=True):
    """How a record is written in words. Of a column that nothing compares there are no bits.

    - `words`: of a record; `event`, `writer`: their numbers;
    - `given`, `content`: by column, whether there is a value, and the value's ordinal (of a name, its number).
    """

    words: int
    event: Bits | None
    writer: Bits | None
    given: tuple[Bits | None, ...]
    content: tuple[Bits | None, ...]


class LineActions(Struct, frozen=True):
    """Code that takes only the steps of actions that may write lines, and where it notes what."""

    notes: Notes
    code: Linked


class Compiled(Struct, frozen=True):
    """What follows logs. `expand` and `marks` are the addresses of generated functions.

    - `base`: words that say what is so; `program.words`: with those of the records that a candidate sees;
    - `taken`: by stream, where a candidate says how many of its records the last step took;
    - `starts`: the states, packed, that a trace may start in; `checked`: the properties that have marks;
    - `line_actions`: only the actions that may write lines, if there are others and traces are totally ordered;
    - `called`: the model's name of a node, as `Server-1`, by what records call it.
    """

    shape: Observed
    program: Program
    record: RecordShape
    base: int
    taken: tuple[Bits, ...]
    starts: tuple[int, ...]
    checked: tuple[str, ...]
    code: Linked
    kernels: Mapping[str, Callable[..., int]]
    line_actions: LineActions | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def state(self, packed: int) -> State:
        """The state of the system itself that a candidate has."""
        whole = unpack(self.program.layout, packed)
        names = [variable.name for variable in self.shape.system.variables]
        return tuple(value for name, value in zip(names, whole, strict=True) if not name.startswith(PREFIX))
