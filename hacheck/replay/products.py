"""The products that runs can be carried out on, by name. A plug-in is loaded when it is first used."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import cast

from hacheck.replay.product import Product
from hacheck.wording import did_you_mean

_PACKAGE = "hacheck.replay"

PLACES: Mapping[str, tuple[str, str]] = {
    "icestorm": (f"{_PACKAGE}.icestorm.plugin", "IceStorm"),
    "artemis-replication": (f"{_PACKAGE}.artemis.replication", "ArtemisReplication"),
    "artemis-shared-store": (f"{_PACKAGE}.artemis.shared_store", "ArtemisSharedStore"),
    "artemis-scale-down": (f"{_PACKAGE}.artemis.scale_down", "ArtemisScaleDown"),
    "reference": (f"{_PACKAGE}.reference.plugin", "Reference"),
    "reference-processes": (f"{_PACKAGE}.reference.replica_processes", "ReferenceProcesses"),
}
"""In which module each plug-in is, and its class."""


class UnknownProduct(Exception):
    """There is no such plug-in: the nearest name, or how to name one's own."""


def names() -> tuple[str, ...]:
    """All products with a plug-in."""
    return tuple(PLACES)


def product(name: str) -> Product:
    """A product. `name`: one of `names()`, or `module:class` of somebody else's. Errors: `UnknownProduct`."""
    place, colon, attribute = name.partition(":")
    if not colon:
        if name not in PLACES:
            all_of_them = f"there are {', '.join(PLACES)}, or module:class for one of your own"
            raise UnknownProduct(did_you_mean(name, PLACES, most=1, quote="") or all_of_them)
        place, attribute = PLACES[name]
    else:
        _look_here()
    try:
        found = getattr(import_module(place), attribute, None)
    except ImportError as error:
        raise UnknownProduct(f"{place} cannot be imported: {error}") from None
    if found is None or not hasattr(found, "session"):
        raise UnknownProduct(f"{place} has no plug-in `{attribute}`: see `hacheck explain replay`")
    return cast(Product, found())


def _look_here() -> None:
    """A plug-in of one's own may lie in the current directory, whichever way hacheck was started."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
