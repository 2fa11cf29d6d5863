"""The protocols that can be run, by name. A protocol is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from hacheck.impl.system import Refused, System
from hacheck.wording import did_you_mean

_PACKAGE = "hacheck.impl.protocols"

PLACES: Mapping[str, str] = {
    "icestorm": f"{_PACKAGE}.icestorm.system",
    "icestorm-topics": f"{_PACKAGE}.icestorm.topics_system",
    "fiorano-replicated": f"{_PACKAGE}.fiorano.system",
    "fiorano-shared": f"{_PACKAGE}.fiorano.system",
    "qpid": f"{_PACKAGE}.qpid.system",
    "qpid-standalone": f"{_PACKAGE}.qpid.system",
    "artemis-shared-store": f"{_PACKAGE}.artemis.system",
    "artemis-replication": f"{_PACKAGE}.artemis.system",
    "artemis-scale-down": f"{_PACKAGE}.artemis.scale_down.system",
    "artemis-colocated": f"{_PACKAGE}.artemis.colocated.system",
    "artemis-client": f"{_PACKAGE}.artemis.client_library.system",
    "artemis-lock-manager": f"{_PACKAGE}.artemis.lock_manager.system",
}
"""In which module each protocol is: a value there that has its name."""


def names() -> tuple[str, ...]:
    """All protocols."""
    return tuple(PLACES)


def system(name: str) -> System:
    """A protocol. `name`: one of `names()`, or `module:value` for one of somebody else's. Errors: `Refused`."""
    place, colon, attribute = name.partition(":")
    if colon:
        return _foreign(name, place, attribute)
    if name not in PLACES:
        hint = did_you_mean(name, PLACES, most=1) or f"there are {', '.join(PLACES)}"
        raise Refused(f"no protocol `{name}` that can be run: {hint}")
    for value in vars(import_module(PLACES[name])).values():
        if getattr(value, "name", None) == name and not isinstance(value, type):
            return cast(System, value)
    raise AssertionError(f"{PLACES[name]} has no system of the name {name}")


def _foreign(name: str, place: str, attribute: str) -> System:
    try:
        found = getattr(import_module(place), attribute, None)
    except ImportError as error:
        raise Refused(f"`{name}`: {error}") from None
    if not hasattr(found, "survives"):
        raise Refused(f"`{name}` is no system: write the name of a module, a colon, and of a value in it")
    return cast(System, found)
