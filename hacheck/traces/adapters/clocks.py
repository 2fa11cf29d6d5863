"""Time stamps of logs as nanoseconds since 1970-01-01 00:00 UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

TIMELINE = "timeline_s"
"""Seconds since the beginning of the time line that stands beside the logs; no time where there is none."""

FORMS = ("iso", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns", TIMELINE)
"""Forms that have a name: ISO 8601 (with a blank or T, with or without a zone), counts since 1970, seconds of the time
line."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"epoch_s": 1_000_000_000, "epoch_ms": 1_000_000, "epoch_us": 1_000, "epoch_ns": 1}
_LONG_FRACTION = re.compile(r"([.,]\d{6})(\d{1,3})")


def is_form(text: str) -> bool:
    """Whether a text is the name of a form, or a form in the letters of `strptime` with a year in it."""
    return text in FORMS or ("%" in text and any(letter in text for letter in ("%y", "%Y", "%x", "%c", "%D")))


class Clock:
    """Reads the time stamps of one node. Where a zone goes back to winter time, an hour comes twice; the second one is
    meant where the first would be before the line above."""

    def __init__(self, forms: tuple[str, ...], zone: str, timeline_start: int | None = None) -> None:
        self._forms = forms
        self._zone = ZoneInfo(zone)
        self._timeline_start = timeline_start
        self._text = ""
        self._last = 0

    def read(self, text: str) -> int | None:
        """The time of a stamp; `None` if it has none of the forms."""
        if text == self._text:
            return self._last
        for form in self._forms:
            found = self._in_form(text.strip(), form)
            if found is not None:
                self._text, self._last = text, found
                return found
        return None

    def _in_form(self, text: str, form: str) -> int | None:
        if form in _UNITS:
            return _count(text, _UNITS[form])
        if form == TIMELINE:
            since = None if self._timeline_start is None else _count(text, _UNITS["epoch_s"])
            return None if since is None or self._timeline_start is None else self._timeline_start + since
        extra = 0
        try:
            if form == "iso":
                match = _LONG_FRACTION.search(text)
                if match:
                    extra = int(match[2].ljust(3, "0"))
                    text = text[: match.end(1)] + text[match.end() :]
                moment = datetime.fromisoformat(text)
            else:
                moment = datetime.strptime(text, form)
            return self._since(moment) + extra
        except (ValueError, OverflowError):
            return None

    def _since(self, moment: datetime) -> int:
        if moment.tzinfo is not None:
            return _nanoseconds(moment)
        first = _nanoseconds(moment.replace(tzinfo=self._zone))
        if first < self._last:
            second = _nanoseconds(moment.replace(tzinfo=self._zone, fold=1))
            return second if second >= self._last else first
        return first


def _nanoseconds(moment: datetime) -> int:
    found = (moment - _EPOCH) // timedelta(microseconds=1) * 1_000
    if not -(2**63) <= found < 2**63:
        raise OverflowError
    return found


def _count(text: str, unit: int) -> int | None:
    match = re.fullmatch(r"(-?\d{1,19})(?:[.,](\d{1,9}))?s?", text)
    if match is None:
        return None
    fraction = int((match[2] or "0").ljust(9, "0")) * unit // 1_000_000_000
    found = int(match[1]) * unit + fraction
    return found if -(2**63) <= found < 2**63 else None
