"""What a test may do next: the driven actions that the model allows in a state that it may be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from hacheck.model.interpreter import Interpreter, Taken, instances
from hacheck.model.runs import State
from hacheck.model.types import Value
from hacheck.testing.driven_system import Move, move
from hacheck.testing.state_tracker import Track, Tracker

STATES_SAMPLED = 32
"""In so many of the states that the model may be in it is computed what is possible, spread over all of them."""

_Instance: TypeAlias = tuple[int, tuple[Value, ...]]  # an action, and its arguments


class Offers(Struct):
    """Moves that are possible, by track. `methods`: by driven action, what adapters call it."""

    tracker: Tracker
    methods: Mapping[int, str]
    _by_state: dict[bytes, frozenset[_Instance]] = field(default_factory=dict)
    _by_set: dict[int, tuple[Move, ...]] = field(default_factory=dict)
    _moves: dict[_Instance, Move] = field(default_factory=dict)
    _interpreter: list[Interpreter] = field(default_factory=list)

    def at(self, track: Track) -> tuple[Move, ...]:
        """The moves that some state allows: in the order of the model's actions, then of their arguments."""
        if not self.methods:  # a test of faults alone, which the model does not see
            return ()
        number = track.sets[-1]
        found = self._by_set.get(number)
        if found is None:
            rows = self.tracker.closed(track)
            chosen = rows[:: -(-len(rows) // STATES_SAMPLED)] if len(rows) else rows
            instances = frozenset().union(*(self._instances(row) for row in chosen))
            listed = [self._move(instance) for instance in instances]
            found = self._by_set[number] = tuple(sorted(listed, key=lambda one: (one.index, repr(one.values))))
        return found

    def _instances(self, row: Any) -> frozenset[_Instance]:
        key = row.tobytes()
        found = self._by_state.get(key)
        if found is None:
            found = self._by_state[key] = frozenset(self._possible(self.tracker.state(row)))
        return found

    def _possible(self, state: State) -> Sequence[_Instance]:
        if not self._interpreter:
            self._interpreter.append(Interpreter(self.tracker.system))
        interpreter = self._interpreter[0]
        return [
            (index, arguments)
            for index in self.methods
            for arguments in instances(self.tracker.system.actions[index])
            if any(isinstance(one, Taken) for one in interpreter.outcomes_with(index, arguments, state))
        ]

    def _move(self, instance: _Instance) -> Move:
        found = self._moves.get(instance)
        if found is None:
            index, values = instance
            found = self._moves[instance] = move(self.tracker.system, index, self.methods[index], values)
        return found
