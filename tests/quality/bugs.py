"""Seeded bugs: mistakes that people make, each put into a copy of the reference implementation.

Each changes one place of one module and is of a kind that lines of logs show: what they do not show (who waits too
long, what only a client is told, what a spec leaves open) nobody can find by comparing lines with a spec.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

PACKAGE = "hacheck.impl"


class Bug(Struct, frozen=True):
    """A bug. `module`: below the package of the protocols, or `kit.…`; `old`: a text that it has exactly once,
    `new`: what stands there instead; `why`: what is wrong, and what shows it."""

    name: str
    protocol: str
    module: str
    old: str
    new: str
    why: str

    @property
    def full_module(self) -> str:
        """The module's full name."""
        return f"{PACKAGE}.{self.module}" if self.module.startswith("kit.") else f"{PACKAGE}.protocols.{self.module}"


def changed(bug: Bug, source: str) -> str:
    """The source of its module with the bug. Errors: `ValueError` if it does not fit exactly once."""
    fits = source.count(bug.old)
    if fits != 1:
        raise ValueError(f"{bug.name} fits {fits} times into {bug.full_module}")
    return source.replace(bug.old, bug.new)


def bugs() -> Mapping[str, Bug]:
    """All of them, by name."""
    from tests.quality.bugs_of_artemis import ARTEMIS
    from tests.quality.bugs_of_artemis_clients import ARTEMIS_CLIENTS
    from tests.quality.bugs_of_fiorano import FIORANO
    from tests.quality.bugs_of_icestorm import ICESTORM, TOPICS
    from tests.quality.bugs_of_qpid import QPID, STANDALONE

    listed = (*ICESTORM, *TOPICS, *FIORANO, *STANDALONE, *QPID, *ARTEMIS, *ARTEMIS_CLIENTS)
    found = {bug.name: bug for bug in listed}
    assert len(found) == len(listed), "two bugs have one name"
    return found
