"""Replicas of the reference implementation in memory: messages are held as those of real ones are, and timers fire only
of the replica whose step it is. So a run is carried out in milliseconds, the same each time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from hacheck.impl.node import Message as Sent
from hacheck.impl.node import Received, Record, Send
from hacheck.impl.protocols.icestorm import messages as ice
from hacheck.impl.protocols.icestorm.records import Create, Stamp
from hacheck.impl.stepper import Cluster
from hacheck.impl.system import System
from hacheck.replay.outcomes import Awaited
from hacheck.replay.reference.call_messages import Calls, line_of
from hacheck.replay.traffic import CLIENT, Message, Traffic

CLIENT_NAME = "client-1"
GUEST = "guest"
STEPS_MAX = 400
"""So many deliveries and timers are tried for what a step waits for."""


class SteppedReplicas:
    """One cluster. `paused`: the replicas that stand still; `acting`: the one whose timers may fire."""

    def __init__(self, system: System, replicas: int, options: Any, traffic: Traffic) -> None:
        self.traffic = traffic
        self.ids = range(1, replicas + 1)
        members = system.members(replicas, 1, options)
        self.cluster = Cluster(system, members, options, self._record)
        self.paused: set[int] = set()
        self.acting: int | None = None
        self._names = {f"replica-{number}": number for number in self.ids}
        self._down = set(self.ids)
        self._lines: dict[int, list[str]] = {number: [] for number in self.ids}
        self._seen: dict[int, Message | None] = {}  # what is under way, by its identity, with what holds it
        self._calls = Calls()
        self._ready: set[int] = set()
        self._done: dict[str, Callable[[str], None]] = {}
        self._kept: list[Sent] = []  # so that identities are not used again
        self.cluster.do(("start", CLIENT_NAME))

    def lines(self, replica: int) -> Sequence[str]:
        """The records of a replica, in the words of real logs."""
        return self._lines[replica]

    def _record(self, member: str, record: Record) -> None:
        number = self._names.get(member)
        if number is None:
            return
        self._lines[number].append(line_of(record.event, record.fields))

    # ---- replicas ----

    def start(self, replica: int) -> None:
        """Starts a replica."""
        self._down.discard(replica)
        self.cluster.do(("start", f"replica-{replica}"))
        self._look()

    def kill(self, replica: int) -> None:
        """Ends one: what it was writing is not written."""
        self._down.add(replica)
        self.paused.discard(replica)
        self.cluster.do(("crash", f"replica-{replica}"))
        self._look()

    def pause(self, replica: int) -> None:
        """It takes no message, and none of its timers fires."""
        self.paused.add(replica)

    def resume(self, replica: int) -> None:
        """It goes on."""
        self.paused.discard(replica)

    def left(self) -> Sequence[int]:
        """The replicas that run, or are paused."""
        return [number for number in self.ids if number not in self._down]

    def standing(self, replica: int) -> ice.View | None:
        """How a replica says that it stands; none, if it is down."""
        process = self.cluster.processes[f"replica-{replica}"]
        if process.node is None:
            return None
        effects = process.node.handle(Received(GUEST, ice.Query(0)), process.now_us)
        (view,) = (one.message for one in effects if isinstance(one, Send) and isinstance(one.message, ice.View))
        return view

    def topics(self, replica: int) -> list[str]:
        """The topics that a replica has."""
        node: Any = self.cluster.processes[f"replica-{replica}"].node
        return sorted(node.store.topics) if node is not None else []

    def stamp(self, replica: int) -> Stamp | None:
        """The stamp of the last update that a replica has; none, if it is down."""
        node: Any = self.cluster.processes[f"replica-{replica}"].node
        return node.store.stamp if node is not None else None

    def begin_request(self, replica: int, topic: str, done: Callable[[str], None]) -> None:
        """A client asks a replica for a topic."""
        self._done[topic] = done
        request = ice.Request(topic, 1, Create(topic))
        self.cluster.links.setdefault((CLIENT_NAME, f"replica-{replica}"), deque()).append(request)

    # ---- what happens ----

    def settle(self) -> None:
        """Delivers what is not held."""
        for _ in range(STEPS_MAX):
            if not self._deliver():
                return

    def until(self, what: str, found: Callable[[], Any], seconds: float, meanwhile: Callable[[], None]) -> Any:
        """The first true value of `found`, within so many deliveries and timers of the replica whose step it is."""
        for _ in range(STEPS_MAX):
            self._look()
            value = found()
            if value:
                return value
            meanwhile()
            if not self._deliver() and not self._learn() and not self.fire():
                break
        raise Awaited(what, seconds)

    def _look(self) -> None:
        """Hands what was sent since to the traffic."""
        for (sender, to), queue in list(self.cluster.links.items()):
            for item in list(queue):
                if id(item) in self._seen or not isinstance(item, Sent):
                    continue
                self._kept.append(item)
                self._seen[id(item)] = None
                message = self._message(sender, to, item)
                if message is None:
                    self._ready.add(id(item))
                elif self.traffic.is_refused(message.source, message.target) and message.operation != "invitation":
                    queue.remove(item)  # the call times out
                elif self.traffic.came(message):
                    self._seen[id(item)] = message

    def _message(self, sender: str, to: str, item: Any) -> Message | None:
        source, target = self._names.get(sender), self._names.get(to)
        if source is None or target is None:
            return None

        def deliver(goes: bool) -> None:
            if goes:
                self._ready.add(id(item))
            elif item in (queue := self.cluster.links.get((sender, to), deque())):
                queue.remove(item)

        return self._calls.message(source, target, item, deliver)

    def _deliver(self) -> bool:
        """Takes the next thing that nothing holds: a write, an answer of a host, a message. Returns whether there was
        one."""
        for name, process in self.cluster.processes.items():
            if process.writes and self._names.get(name, CLIENT) not in self.paused:
                self.cluster.do(("disk", name))
                self._look()
                return True
        for (sender, to), queue in sorted(self.cluster.links.items()):
            for item in list(queue):
                if id(item) in self._ready:
                    self._hand_over(sender, to, item)
                    return True
        return False

    def _hand_over(self, sender: str, to: str, item: Any) -> None:
        queue = self.cluster.links[sender, to]
        if to == CLIENT_NAME:
            queue.remove(item)
            if isinstance(item, ice.Reply):
                self._done[item.request](item.outcome)
            return
        if self._names[to] in self.paused:
            self._ready.discard(id(item))
            return
        queue.remove(item)
        queue.appendleft(item)
        self.cluster.do(("deliver", sender, to))
        self._look()

    def _learn(self) -> bool:
        """The replica whose step it is learns that others have ended. Returns whether there was such news."""
        acting = self.traffic.acting
        for (sender, to), queue in sorted(self.cluster.links.items()):
            if queue and not isinstance(queue[0], Sent) and self._names.get(to) in (acting, None):
                self.cluster.do(("deliver", sender, to))
                self._look()
                return True
        return False

    def fire(self) -> bool:
        """The next timer of the replica whose step it is fires. Returns whether there was one."""
        acting = self.acting
        process = None if acting is None else self.cluster.processes[f"replica-{acting}"]
        if process is None or process.node is None or acting in self.paused or not process.timers:
            return False
        self.cluster.do(("timer", f"replica-{acting}"))
        self._look()
        return True
