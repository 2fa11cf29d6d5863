"""Values on disks: as msgpack, each with the version of its format where its class has a field `version`."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from hacheck.impl.system import Refused

Value = TypeVar("Value", bound=Struct)

encode = msgspec.msgpack.Encoder().encode
"""A value as bytes."""


class _Versioned(Struct, frozen=True):
    """What is certain of a value of any version."""

    version: int


def decode(raw: bytes, kind: type[Value], what: str, *, version: int = 1) -> Value:
    """A value of a disk. `what`: its name in messages; `version`: the one that this program reads. Errors: `Refused`,
    for a damaged value and for one of another version."""
    try:
        if "version" in kind.__struct_fields__:
            found = msgspec.msgpack.decode(raw, type=_Versioned).version
            if found != version:
                raise Refused(
                    f"{what} is of version {found}, and this program reads version {version}: use the program that "
                    "wrote it"
                )
        return msgspec.msgpack.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{what} cannot be read ({error}): it is damaged; restore it, or erase the disk") from None
