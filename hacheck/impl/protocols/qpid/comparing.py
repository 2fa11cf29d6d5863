"""Two brokers side by side: what a replica lacks or has too much."""

from __future__ import annotations

from collections.abc import Iterator, Set

from hacheck.impl.protocols.qpid.broker import Broker
from hacheck.impl.protocols.qpid.queues import Queue


def differences(
    primary: Broker, replica: Broker, recent: Set[str], names: frozenset[str] | None = None
) -> Iterator[str]:
    """Each in words. `recent`: messages that may just be on their way from the queues. `names`: the queues that are
    compared; none: those that are replicated."""
    for name, queue in primary.wiring.queues.items():
        if name in names if names is not None else queue.arguments.replicate == "all":
            other = replica.wiring.queues.get(name)
            if other is None:
                yield f"no queue {name}"
            elif other.arguments.uuid != queue.arguments.uuid:
                yield f"{name} is another queue of that name"
            else:
                yield from _messages(queue, other, recent)
    for name, other in replica.wiring.queues.items():
        is_meant = other.arguments.replicate != "none" if names is None else name in names
        if is_meant and name not in primary.wiring.queues:
            yield f"{name} is not a queue any more"


def _messages(queue: Queue, other: Queue, recent: Set[str]) -> Iterator[str]:
    here = {stored.content.message for stored in queue.messages.values() if not stored.outstanding}
    everything = {stored.content.message for stored in queue.messages.values()}
    there = {stored.content.message for stored in other.messages.values()}
    missing = [message for message in sorted(here - there) if message not in recent]
    excess = [message for message in sorted(there - everything) if message not in recent]
    if missing:
        yield f"{queue.name} lacks {len(missing)} messages, the first {missing[0]}"
    if excess:
        yield f"{queue.name} has {len(excess)} messages too many, the first {excess[0]}"
