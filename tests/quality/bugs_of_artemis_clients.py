"""Seeded bugs of Artemis: in the client library, and in brokers with a lock manager."""

from __future__ import annotations

from tests.quality.bugs import Bug


def client(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the client library, or of the sessions that brokers have for it."""
    return Bug(name, "artemis-client", f"artemis.{module}", old, new, why)


def locked(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the brokers with a lock manager, or of that."""
    return Bug(name, "artemis-lock-manager", f"artemis.lock_manager.{module}", old, new, why)


ARTEMIS_CLIENTS = (
    client(
        "transaction_goes_on_in_a_new_session",
        "client_library.library",
        "        if self.dirty and not self.prepared:\n            self.rollback_only = True\n",
        "",
        "Nobody marks a transaction whose first half is gone: the second half is committed.",
    ),
    client(
        "call_forgotten_in_a_new_session",
        "client_library.library",
        '        self._end(call, "unblocked")\n',
        '        self._end(call, "ok")\n',
        "A call that nobody has answered is taken for done.",
    ),
    client(
        "listener_hears_failures_only",
        "client_library.library",
        '        if not first:\n            self.application.failed("failover")\n',
        "",
        "A listener is not told of a failover, although it is always to be called.",
    ),
    client(
        "duplicates_are_stored",
        "sessions",
        "        if self._refused(session, message):\n            return\n"
        "        outgoing, numbers = self._take(session)\n        if not",
        "        outgoing, numbers = self._take(session)\n        if not",
        "Guard dropped: a message that was stored before is noticed where it is sent again, and stored with the rest.",
    ),
    locked(
        "claim_two_behind_repaired",
        "states",
        "    return Standing.MAYBE_IN_SYNC if own + 1 == -coordinated else Standing.STALE\n",
        "    return Standing.MAYBE_IN_SYNC\n",
        "Whoever is two numbers behind, or more, takes a claim for one that is one ahead.",
    ),
    locked(
        "alone_without_a_claim",
        "replication",
        "        State.GOING_ALONE: activation.claim_alone,\n",
        "        State.GOING_ALONE: lambda broker: broker.go(Cause.CLAIMED),\n",
        "A server that has lost its replica goes on without the next number, and its replica may take over.",
    ),
    locked(
        "one_look_is_enough",
        "activation",
        '    elif answer.done:\n        link.ask("read", broker.node_id, "again")\n',
        "    elif answer.done:\n        broker.go(Cause.LOCKED)\n",
        "No second look under the lock: a claim that was not committed is not repaired, and ends whoever finds it.",
    ),
    locked(
        "number_kept_in_memory",
        "activation",
        '        write_sequence(broker, broker.next, "claim")\n',
        "        claim_written(broker, 0, str(broker.next))\n",
        "The claimed number never comes to the disk: after a start its own data are stale for everybody.",
    ),
)
