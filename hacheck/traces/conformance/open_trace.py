"""A trace that is checked while its records come in, perhaps in one process after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hacheck.traces.conformance.derived_settings import HELD_MAX, Contradiction, DerivedSettings
from hacheck.traces.conformance.open_trace_state import (
    RECORDS_MAX,
    BySettingsState,
    ContradictionState,
    PiecesState,
    damaged,
    from_bytes,
    is_count,
    one_trace,
    to_bytes,
)
from hacheck.traces.conformance.partial_order import PartiallyOrdered
from hacheck.traces.conformance.timed_total_order import TimedTotallyOrdered
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.records import TRACE_ID, Order

if TYPE_CHECKING:
    from hacheck.traces.conformance.checker_by_settings import CheckerBySettings

_PLACE = {"seq", "node", "event", "file", "line"}
"""What a verdict says of a place."""


class OpenTotallyOrdered:
    """A trace whose records are in one order: it is known at once where it leaves the model."""

    def __init__(self, trace_follower: TotallyOrdered | TimedTotallyOrdered, state: bytes | None) -> None:
        """`trace_follower`: works on no other trace between two calls of one method here. `state`: as `state` gave it.
        Errors: `TracesError` for another one."""
        self.trace_follower = trace_follower
        self.held: dict[str, Any] | None = None
        self.reported = False
        if state is not None:
            self.held, self.reported = trace_follower.from_kept(state)

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records. Returns a verdict that is certain by now, once."""
        self.trace_follower.restore(self.held)
        self.trace_follower.feed(batch)
        certain = self.trace_follower.certain()
        self.held = self.trace_follower.snapshot()
        if certain is None or self.reported:
            return []
        self.reported = True
        return [certain]

    def state(self) -> bytes:
        """All there is to know to go on later; see `open_trace_state`."""
        return to_bytes(self.trace_follower.kept(self.held, self.reported))

    def kept_records(self) -> list[Any] | None:
        """Those that it keeps for later; `None` before the first one."""
        return self.trace_follower.records(self.held)

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        self.trace_follower.restore(self.held)
        (batch,) = self.trace_follower.finish()
        (verdict,) = from_batch(batch)
        return verdict


class OpenPartiallyOrdered:
    """A trace whose nodes logged apart: its records are kept, and checked when it ends."""

    def __init__(self, trace_follower: PartiallyOrdered, state: bytes | None) -> None:
        """`state`: as `state` gave it. Errors: `TracesError` for another one."""
        self.trace_follower = trace_follower
        self.pieces: list[Any] = [] if state is None else from_bytes(state, PiecesState).pieces
        one_trace(self.pieces)

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records."""
        self.pieces.append(batch)
        return []

    def state(self) -> bytes:
        """All there is to know to go on later; see `open_trace_state`."""
        return to_bytes(PiecesState(self.pieces))

    def kept_records(self) -> list[Any] | None:
        """Those that it has taken; `None` before the first one."""
        return self.pieces or None

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        for piece in self.pieces:
            self.trace_follower.feed(piece)
        (batch,) = self.trace_follower.finish()
        (verdict,) = from_batch(batch)
        return verdict


class OpenBySettings:
    """A trace that is checked under the settings that its own records give: it is held back until they are known."""

    def __init__(self, checker: CheckerBySettings, state: bytes | None) -> None:
        """`state`: as `state` gave it. Errors: `TracesError` for another one."""
        self.checker = checker
        held = BySettingsState("", {}, None, False, 0, None, [])
        if state is not None:
            held = from_bytes(state, BySettingsState)
        wrong = None if held.wrong is None else Contradiction(held.wrong.reason, held.wrong.place)
        known = {rule.setting for rule in checker.derived}
        if not known.issuperset(held.values) or not set(held.wrong.place if held.wrong else ()) <= _PLACE:
            raise damaged("gives settings that its records do not give")
        self.trace_id = held.trace_id
        self.said = DerivedSettings(checker.derived, dict(held.values), wrong, held.fixed)
        self.pieces, self.seen = held.pieces, held.seen
        one_trace(self.pieces)
        if not is_count(self.seen, RECORDS_MAX) or (
            not held.fixed and self.seen != sum(len(one) for one in self.pieces)
        ):
            raise damaged("has another number of records than it says")
        self.inner: OpenTotallyOrdered | OpenPartiallyOrdered | None = None
        if self.said.fixed and checker.wrong(self.said) is None:
            if held.inner is None:
                raise damaged("lacks the state of its checker")
            self.inner = self._opened(held.inner)
            if (self.inner.kept_records() is None) != (self.seen == 0):
                raise damaged("has another number of records than it says")

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records. Returns a verdict that is certain by now, once."""
        self.trace_id = batch.column(TRACE_ID)[0].as_py()
        self.seen += batch.num_rows
        self.said.read(batch)
        if self.inner is not None:
            return [] if self.said.wrong is not None else self._with_settings(self.inner.feed(batch))
        if not self.said.fixed:
            self.pieces.append(batch)
            if self.checker.order == Order.TOTAL and (self.said.complete or self.seen >= HELD_MAX):
                return self._decided()
        return []

    def state(self) -> bytes:
        """All there is to know to go on later; see `open_trace_state`."""
        said = self.said
        wrong = None if said.wrong is None else ContradictionState(said.wrong.reason, dict(said.wrong.place))
        inner = None if self.inner is None else self.inner.state()
        return to_bytes(
            BySettingsState(self.trace_id, said.values, wrong, said.fixed, self.seen, inner, list(self.pieces))
        )

    def kept_records(self) -> list[Any] | None:
        """Those that it keeps for later; `None` before the first one."""
        if not self.seen:
            return None
        return [*self.pieces, *((self.inner.kept_records() or []) if self.inner is not None else [])]

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        if not self.said.fixed:
            self._decided()
        wrong = self.checker.wrong(self.said)
        if wrong is not None:
            return wrong.on(self.trace_id, self.seen)
        assert self.inner is not None, "a trace whose settings are right is checked"
        (verdict,) = self._with_settings([self.inner.close()])
        return verdict

    def _decided(self) -> list[Verdict]:
        """Begins to check, now that it is clear under which settings."""
        pieces, self.pieces, self.said.fixed = self.pieces, [], True
        if self.checker.wrong(self.said) is not None:
            return []
        self.inner = self._opened(None)
        return self._with_settings([verdict for piece in pieces for verdict in self.inner.feed(piece)])

    def _opened(self, state: bytes | None) -> OpenTotallyOrdered | OpenPartiallyOrdered:
        trace_follower = self.checker.variant(self.said.chosen)
        assert not isinstance(trace_follower, str), "settings that are wrong were reported before"
        return trace_follower.resume(state)

    def _with_settings(self, verdicts: list[Verdict]) -> list[Verdict]:
        words = tuple(f"{name}={value}" for name, value in self.said.chosen)
        return [replace(verdict, settings=words) for verdict in verdicts]
