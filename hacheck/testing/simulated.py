"""The reference implementation as a system under test: its nodes in the deterministic simulator, beside their spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hacheck.impl.node import Name
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import Came, History, Recorded, Went
from hacheck.impl.simulator.injecting import Injector
from hacheck.impl.simulator.world import Defect, Surroundings, World
from hacheck.impl.systems import system
from hacheck.testing.adapter import Adapter
from hacheck.testing.encoding import Event
from hacheck.testing.reference import FOLLOWED
from hacheck.testing.steps import Step

SECOND_US = 1_000_000

CRASH_SECONDS, PAUSE_SECONDS, CUT_SECONDS = (0.5, 5.0), (3.0, 12.0), (3.0, 15.0)


class Simulated(Adapter):
    """A protocol's cluster. Subclasses say which: `protocol`, one of `hacheck.impl.systems.names()`, how many
    `replicas`, `clients`, with which `options`. `adapter_for` makes them.

    Faults last for a time and then end by themselves. The model is told of none of them: it takes them for hidden.
    """

    protocol: str
    replicas: int = 2
    clients: int = 1
    options: Mapping[str, str] = {}
    waits = (0.01, 0.3, 2.0, 10.0)

    def start(self) -> None:
        """Starts all members."""
        code = system(self.protocol)
        options = code.options(self.options)
        members = code.members(self.replicas, self.clients, options)
        self._history, self._seen = History(inputs=False), 0
        self._world = World(code, members, options, code.judge(members, options), "0", Surroundings())
        self._world.watcher = self._history
        self._injector = Injector(self._world)
        for process in self._world.processes.values():
            self._world.start(process)

    def wait(self, seconds: float) -> None:
        """Lets virtual time pass. Errors: `AssertionError` where a node raises."""
        self._run_until(self._world.agenda.now + int(seconds * SECOND_US))

    def _run_until(self, at_us: int) -> None:
        try:
            self._world.run(at_us)
        except Defect as defect:
            raise AssertionError(f"{defect}\n{defect.trace}") from None

    def act(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Makes a fault begin."""
        begins = self._world.agenda.now + 1
        kind = action.removeprefix("fault_")
        lasting = int(arguments["seconds"] * SECOND_US)
        if kind == "cut":
            one, other = arguments["one"], arguments["other"]
            fault = Fault(at_us=begins, kind=kind, target="one", for_us=lasting, links=((one, other), (other, one)))
        else:
            fault = Fault(at_us=begins, kind=kind, target="one", for_us=lasting, members=(arguments["member"],))
        self._injector.plan(fault)
        self._run_until(begins + 1)

    def events(self) -> Iterable[Event]:
        """The records that members wrote."""
        entries, seen = self._history.entries, self._seen
        self._seen = len(entries)
        return [
            Event(one.member, one.record.event, one.record.fields)
            for one in entries[seen:]
            if isinstance(one, Recorded)
        ]

    def story(self) -> str:
        """When its members started and ended."""
        told = []
        for entry in self._history.entries:
            if isinstance(entry, (Came, Went)):
                what = "starts" if isinstance(entry, Came) else f"ends: {entry.why}"
                told.append(f"{entry.at_us / SECOND_US:10.6f} s  {entry.member} {what}")
        return "\n".join(["Members that started and ended:", *told])


def adapter_for(protocol: str, options: Mapping[str, str] | None = None) -> type[Simulated]:
    """The adapter of a protocol, beside the spec that it follows. `options`: further settings of its code. Errors:
    `KeyError` for a protocol that is compared with no spec."""
    followed = FOLLOWED[protocol]
    code = system(protocol)
    given = {**followed.options, **(options or {})}
    members = code.members(followed.replicas, 1, code.options(given))
    servers = [member.name for member in members if not member.role.startswith("client")]
    body = {
        "__doc__": f"{protocol} in the simulator.",
        "__module__": __name__,
        "protocol": protocol,
        "replicas": followed.replicas,
        "options": given,
        "spec": followed.spec,
        "check": followed.check,
        "settings": dict(followed.settings),
        "called": dict(followed.called),
        "besides": tuple(_faults(servers)),
    }
    return type("".join(word.capitalize() for word in protocol.split("-")), (Simulated,), body)


def _faults(servers: list[Name]) -> Iterable[Step]:
    for kind, lasting in (("crash", CRASH_SECONDS), ("pause", PAUSE_SECONDS)):
        for name in servers:
            for seconds in lasting:
                yield Step(f"fault_{kind}", (("member", name), ("seconds", seconds)))
    for place, one in enumerate(servers):
        for other in servers[place + 1 :]:
            for seconds in CUT_SECONDS:
                yield Step("fault_cut", (("one", one), ("other", other), ("seconds", seconds)))
