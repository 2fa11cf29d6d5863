"""A random spec: its text, and that of its library."""

from __future__ import annotations

from msgspec import Struct

from tests.meanings.generator import declarations, faults, handlers
from tests.meanings.generator.scope import Spec
from tests.strategies.choosing import Chooser, Seeded, chance

LIBRARY = "parts.ha"


class Program(Struct, frozen=True):
    """A spec and the library that it uses, if it uses one."""

    text: str
    library: str = ""

    def read(self, path: str) -> str | None:
        """The text of a library, as `load` asks for it."""
        return self.library if path.endswith(LIBRARY) and self.library else None


def random_program(chooser: Chooser, logged: bool = False) -> Program:
    """A random spec. `logged`: each statement writes a line; the spec is otherwise the same."""
    spec = Spec(chooser, logged)
    settings = declarations.settings(spec)
    heads = declarations.choose_nodes(spec)
    identities = declarations.identities(spec)
    types = declarations.types(spec)
    nodes = declarations.nodes(spec, heads)
    variables = declarations.variables(spec)
    channels = declarations.messages(spec) + declarations.operations(spec) + declarations.locks_and_clocks(spec)
    defines = declarations.defines(spec)
    procedures = declarations.procedures(spec)
    behaviour = handlers.handlers(spec)
    asked = faults.faults(spec) + faults.properties(spec)
    first, second = [*settings, *types], [*defines, *procedures]
    library = ""
    if (first or second) and chance(chooser, 8):
        library = "\n".join(('library Parts "what is shared"', *first, *second)) + "\n"
        first, second = [f'use "{LIBRARY}"'], []
    source = ' source "a book"' * chooser.integer(1, 2) if chance(chooser, 8) else ""
    lines = [f'system Random "made by chance"{source}', *identities, *first, *nodes, *variables, *channels, *second]
    return Program("\n".join((*lines, *behaviour, *asked)) + "\n", library)


def seeded_program(seed: int, logged: bool = False) -> Program:
    """The random spec of a seed."""
    return random_program(Seeded(seed), logged)
