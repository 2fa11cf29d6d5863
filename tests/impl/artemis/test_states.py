"""The tables of states of the brokers are complete."""

from __future__ import annotations

from hacheck.impl.protocols.artemis.lock_manager import replication as lock_managed
from hacheck.impl.protocols.artemis.lock_manager.states import LOCKED_BROKER
from hacheck.impl.protocols.artemis.replication import server as replication
from hacheck.impl.protocols.artemis.replication import states as replication_states
from hacheck.impl.protocols.artemis.scale_down.server import SCALING_TABLES
from hacheck.impl.protocols.artemis.shared_store import server as shared_store
from hacheck.impl.protocols.artemis.shared_store import states as shared_store_states


def test_every_state_has_a_function_that_enters_it() -> None:
    shared = set(shared_store_states.State)
    assert set(shared_store_states.BROKER.states) == set(SCALING_TABLES.enter) == shared
    assert set(shared_store.TABLES.enter) == shared - {shared_store_states.State.SCALING}
    replicated = set(replication_states.State) - set(replication_states.OF_LOCK_MANAGERS)
    assert set(replication.TABLES.enter) == set(replication_states.BROKER.states) == replicated
    assert set(lock_managed.TABLES.enter) == set(LOCKED_BROKER.states)
