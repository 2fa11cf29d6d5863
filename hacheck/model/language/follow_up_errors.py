"""Errors that only follow from a declaration that could not be read are left out: the first one says it all."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Diagnostic
from hacheck.model.language.syntax_errors import HEAD

NAMED = re.compile(r"`(\w+)`")
MISSING = frozenset({"HA102", "HA103", "HA126", "HA142"})
"""The codes that say of a name that something of it is not there."""


def without_followers(
    found: Iterable[Diagnostic], text: str, declarations: Iterable[d.Declaration]
) -> list[Diagnostic]:
    """These errors without those about a name that the text declares where it cannot be read. To be called only where
    there is an error of syntax, so that the file remains refused."""
    read = {one.span.start for one in declarations}
    lost: set[str] = set()
    for head in HEAD.finditer(text):
        if head.start(1) not in read and (name := re.compile(r"\s*(?:action\s+)?(\w+)").match(text, head.end(1))):
            lost.add(name.group(1))
    return [one for one in found if one.code not in MISSING or not set(NAMED.findall(one.message)) & lost]
