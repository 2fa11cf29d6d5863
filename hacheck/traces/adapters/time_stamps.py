"""Time stamps of logs as nanoseconds since 1970-01-01 00:00 UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

TIMELINE = "timeline_s"
"""Seconds since the beginning of the time line that stands beside the logs; no time where there is none."""

SYSLOG = "syslog"
"""Month by name, day and time, as in `Nov 22 03:14:07`, without a year."""

FORMS = ("iso", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns", SYSLOG, TIMELINE)
"""Forms that have a name: ISO 8601 (with a blank or T, with or without a zone), counts since 1970, that of syslog,
seconds of the time line."""

_DAY = 86_400_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"epoch_s": 1_000_000_000, "epoch_ms": 1_000_000, "epoch_us": 1_000, "epoch_ns": 1}
_FRACTION_LAST = re.compile(r"[^\w%]%f$")
_LONG_FRACTION = re.compile(r"([.,]\d{6})(\d{1,3})")


def is_form(text: str) -> bool:
    """Whether a text is the name of a form, or a form in the letters of `strptime` with a day in it. Without a year it
    is that in which the newest file of the trace was last written, or the one before."""
    return text in FORMS or any(letter in text for letter in ("%d", "%e", "%j", "%x", "%c", "%D", "%F"))


def plain_form(text: str) -> str:
    """A form in letters that `strptime` knows."""
    text = "%b %d %H:%M:%S" if text == SYSLOG else text
    for letter, meaning in (("%e", "%d"), ("%T", "%H:%M:%S"), ("%F", "%Y-%m-%d"), ("%D", "%m/%d/%y"), ("%h", "%b")):
        text = text.replace(letter, meaning)
    return text


def has_year(form: str) -> bool:
    """Whether stamps of a form show their year."""
    return (form in FORMS and form != SYSLOG) or any(letter in form for letter in ("%y", "%Y", "%x", "%c"))


class Clock:
    """Reads the time stamps of one node. Where a zone goes back to winter time, an hour comes twice; the second one is
    meant where the first would be before the line above. `timeline_start`, `written`: when the time line beside the
    logs begins, and when the newest file of the trace was written, in nanoseconds since 1970."""

    def __init__(
        self, forms: tuple[str, ...], zone: str, timeline_start: int | None = None, written: int | None = None
    ) -> None:
        self._forms = tuple(form if form in FORMS and form != SYSLOG else plain_form(form) for form in forms)
        self._written = written
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
            elif not has_year(form):
                return self._without_year(text, form)
            else:
                whole, extra = _apart(text, form)
                return self._chosen(*_instants(whole, form, self._zone), extra)
            return self._since(moment) + extra
        except (ValueError, OverflowError):
            return None

    def _without_year(self, text: str, form: str) -> int | None:
        """The time of a stamp without its year: the latest such time that is not after the file was written."""
        if self._written is None:
            return None
        latest = self._written + _DAY
        year = datetime.fromtimestamp(latest // 10**9, UTC).year
        for candidate in range(year, year - 9, -1):  # as far back as to a leap year
            try:
                found = self._since(datetime.strptime(f"{candidate} {text}", f"%Y {form}"))
            except ValueError:
                continue
            if found <= latest:
                return found
        return None

    def _since(self, moment: datetime) -> int:
        return self._chosen(*_both(moment, self._zone))

    def _chosen(self, first: int, second: int, extra: int = 0) -> int:
        """Which of two instants is meant, and something more."""
        return (second if first + extra < self._last <= second + extra else first) + extra


def _apart(text: str, form: str) -> tuple[str, int]:
    """A stamp without its fraction of a second, and that in nanoseconds: logs have many stamps within a second."""
    if not _FRACTION_LAST.search(form):
        return text, 0
    whole = text.rstrip("0123456789")
    digits = text[len(whole) :]
    if not 0 < len(digits) <= 6:
        return text, 0
    return f"{whole}0", int(digits.ljust(6, "0")) * 1_000


@lru_cache(maxsize=1 << 12)
def _instants(text: str, form: str, zone: ZoneInfo) -> tuple[int, int]:
    """The two instants of a stamp, see `_both`. Errors: `ValueError` where it has not the form."""
    return _both(datetime.strptime(text, form), zone)


def _both(moment: datetime, zone: ZoneInfo) -> tuple[int, int]:
    """The instants that a moment may be, in nanoseconds: two where a zone goes back to winter time, mostly the same."""
    if moment.tzinfo is not None:
        return (_nanoseconds(moment),) * 2
    return _nanoseconds(moment.replace(tzinfo=zone)), _nanoseconds(moment.replace(tzinfo=zone, fold=1))


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
