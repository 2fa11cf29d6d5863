"""Every code that a diagnostic of this package can have, with what it means and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.model.language.code_info import CodeInfo
from hacheck.model.language.codes_of_meaning import MEANING
from hacheck.model.language.codes_of_names import NAMES
from hacheck.model.language.codes_of_text import TEXT
from hacheck.model.language.codes_of_types import TYPES

__all__ = ["CODES", "CodeInfo"]

CODES: Mapping[str, CodeInfo] = {info.code: info for info in (*TEXT, *NAMES, *TYPES, *MEANING)}
"""By code. Those from HA201 on are warnings, which stop nothing."""
