"""What tests of brokers as real processes share: who serves, what clients were told, and what is there.

What is there is read as any client would read it: from whoever serves, by its queues.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from hacheck.cli.running.broker_administration import Operator
from hacheck.impl.node import Name
from hacheck.impl.recording import Line
from hacheck.impl.runtime.control import Guest
from tests.runtime.clusters import Running, until

CLIENTS = ("client-1", "client-2")
ARRIVES_SECONDS = 0.4
ENOUGH = 4
"""So many messages that nobody has taken are compared; clients that keep up with one another have five to ten."""


def lines(cluster: Running) -> list[Line]:
    """What all have recorded so far, by time; all clocks are the same one."""
    decode = msgspec.json.Decoder(Line).decode
    found = [decode(line) for member in cluster.folder.load().members for line in cluster.lines(member.name)]
    return sorted(found, key=lambda line: line.time)


def events(cluster: Running, name: str) -> Iterator[Line]:
    """All records of one event."""
    return (line for line in lines(cluster) if line.event == name)


def standings(cluster: Running) -> dict[Name, str]:
    """How brokers say that they stand."""
    return dict(Operator(Guest(cluster.folder), 5.0).stands())


def stands(cluster: Running, broker: Name, *begins: str) -> None:
    """Waits until a broker says so."""
    until(lambda: standings(cluster)[broker].startswith(begins), f"{broker} stands as {begins}")


def acknowledged(cluster: Running) -> int:
    """How many requests clients know to be done."""
    return sum(line.fields["outcome"] == "ok" for line in events(cluster, "told"))


def served(cluster: Running) -> None:
    """Waits until clients are served, all of them."""

    def count() -> Counter[Name]:
        return Counter(line.node for line in events(cluster, "told") if line.fields["outcome"] == "ok")

    before = count()

    def more() -> bool:
        now = count()
        return all(now[name] >= before[name] + 3 for name in CLIENTS)

    until(more, "clients are served")


def unserved(cluster: Running, seconds: float) -> None:
    """For so long nobody is served; what was answered before has arrived by then."""
    time.sleep(ARRIVES_SECONDS)
    before = acknowledged(cluster)
    time.sleep(seconds)
    assert acknowledged(cluster) == before


def there(cluster: Running, *queues: str) -> tuple[set[Name], Counter[str]]:
    """Who serves, and how often each message is there. Clients end first: what they hold is not for others."""
    standings = cluster.standings()
    if running := [name for name in CLIENTS if standings[name].state == "running"]:
        cluster.do("kill", *running)  # at once: one that is left takes what the others sent
    operator = Operator(Guest(cluster.folder), 20.0)
    found = [item for queue in queues for item in operator.browse(queue)]
    return {broker for broker, _, _ in found}, Counter(message for _, message, _ in found)


class Asked:
    """What clients asked for and were told, over all their incarnations.

    `sent`: for each message that was acknowledged the request it was sent with; `consumed`: those that a client knows
    to be consumed; `taken`: those that it asked to have consumed, whatever came of it; `times`: how often each message
    may have been sent.
    """

    def __init__(self, cluster: Running, sent_with: Callable[[Line], Sequence[str]]) -> None:
        """`sent_with`: the messages of a request, out of its record."""
        asked: dict[str, Line] = {}
        self.sent: dict[str, str] = {}
        self.consumed: set[str] = set()
        self.taken: set[str] = set()
        self.outcomes: Counter[str] = Counter()
        for line in lines(cluster):
            if line.event == "asked":
                asked[line.fields["request"]] = line
                self.taken.update(_consumed(line.fields))
            elif line.event == "told":
                request, outcome = line.fields["request"], line.fields["outcome"]
                self.outcomes[outcome] += 1
                if outcome == "ok" and request in asked:
                    self.sent |= dict.fromkeys(sent_with(asked[request]), request)
                    self.consumed.update(_consumed(asked[request].fields))

    def untaken(self) -> list[str]:
        """What was acknowledged and nobody asked to have consumed, so that it has to be there."""
        return [message for message in self.sent if message not in self.taken]

    def lost(self, present: Counter[str]) -> list[str]:
        """What was acknowledged, nobody asked to have consumed, and is not there."""
        return [message for message in self.untaken() if not present[message]]

    def again(self, present: Counter[str]) -> list[str]:
        """What is certainly consumed, and is there."""
        return sorted(message for message in self.consumed if present[message])


def _consumed(fields: Any) -> Sequence[str]:
    if fields.get("operation") == "accept":
        return tuple(fields["messages"])
    return tuple(fields.get("consumed", ()))


def kept_by(
    serving: Name, cluster: Running, queues: Sequence[str], sent_with: Callable[[Line], Sequence[str]]
) -> tuple[Asked, Counter[str]]:
    """Nothing that was acknowledged is lost: it is at the one that serves. Returns what was compared."""
    until(lambda: len(Asked(cluster, sent_with).untaken()) >= ENOUGH, "messages are there that nobody has taken")
    by, present = there(cluster, *queues)
    assert by == {serving}
    asked = Asked(cluster, sent_with)
    kept(asked, present)
    return asked, present


def kept(asked: Asked, present: Counter[str]) -> None:
    """Nothing that was acknowledged is lost; and the comparison has something to compare."""
    assert asked.lost(present) == []
    untaken = asked.untaken()
    assert untaken
    assert set(asked.lost(Counter())) == set(untaken)  # a loss would have been seen
