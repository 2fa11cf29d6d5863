"""The code of a protocol as a command line asks for it: what it refuses, and how many replicas it may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hacheck.cli.guard import BadInput
from hacheck.impl.system import Member, Refused, System


@contextmanager
def refusals() -> Iterator[None]:
    """What a protocol refuses is the caller's fault."""
    try:
        yield
    except Refused as refused:
        message, _, hint = str(refused).partition(": ")
        raise BadInput(message, hint or None) from None


def first_possible(
    system: System, replicas: Iterable[int], clients: int, options: Any
) -> tuple[int, tuple[Member, ...]]:
    """The first of these numbers of replicas that the protocol allows, and the members. Errors: `Refused`, as of the
    first one, where it allows none."""
    refused: Refused | None = None
    for number in replicas:
        try:
            return number, system.members(number, clients, options)
        except Refused as error:
            refused = refused or error
    assert refused is not None, "some number is tried"
    raise refused
