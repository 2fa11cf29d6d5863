"""Runs a cluster from one seed, and says what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from msgspec import Struct, field

from hacheck.impl.node import Name
from hacheck.impl.simulator.fault_injection import Injector
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import History, Standing, Watcher
from hacheck.impl.simulator.profiles import profile
from hacheck.impl.simulator.random_faults import RandomFaults
from hacheck.impl.simulator.targets import Cluster
from hacheck.impl.simulator.world import Defect, Exhausted, Surroundings, World
from hacheck.impl.system import Broken, Oracle, System


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be run: with the system, all that a run depends on.

    `faults`: the name of a profile, or the faults themselves. `settings`: of the protocol, as text. `fault_us`: how
    long things go wrong; the quiet phase comes on top. `stretch`: so many times further apart than usual are the
    faults of a profile, and so many times as long they may last, for runs of hours and days. `seed`: decides everything
    else.
    """

    seed: int = 0
    faults: str | tuple[Fault, ...] = "none"
    replicas: int = 3
    clients: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)
    fault_us: int = 60_000_000
    around: Surroundings = Surroundings()
    stretch: int = 1


class Gone(Struct, frozen=True):
    """A protocol that did what it must not: raised, or requested what there is not. `place`: where, in short; `trace`:
    how it got there, for its writers."""

    member: Name
    at_us: int
    given: str
    what: str
    place: str
    trace: str = ""


class Outcome(Struct, frozen=True):
    """What came of a run.

    `broken`: the promises that were, in the oracle's words. `defect`: the protocol did what it must not. `exhausted`:
    the run had too many events and was given up. `faults`: everything that went wrong, as a list with which the same
    run can be had again; `hits`: how often each made a difference, in the same order. `delivered`: messages; `lost`:
    those that never arrived; `events`: all that happened. `halts`: how often each member ended itself. `end_us`: when
    the run ended.
    """

    plan: Plan
    broken: tuple[Broken, ...]
    defect: Gone | None
    exhausted: bool
    faults: tuple[Fault, ...]
    hits: tuple[int, ...]
    delivered: int
    lost: int
    events: int
    halts: Mapping[Name, int]
    end_us: int

    @property
    def kept(self) -> bool:
        """Whether every promise was kept, in a run that came to its end."""
        return not (self.broken or self.defect is not None or self.exhausted)

    @property
    def happened(self) -> dict[str, int]:
        """How many faults of each kind and target made a difference."""
        found: dict[str, int] = {}
        for fault, hits in zip(self.faults, self.hits, strict=True):
            if hits:
                found[fault.label] = found.get(fault.label, 0) + 1
        return dict(sorted(found.items()))

    def again(self) -> Plan:
        """The same run, with its faults spelled out."""
        return Plan(
            **{name: getattr(self.plan, name) for name in self.plan.__struct_fields__} | {"faults": self.faults}
        )


def run(system: System, plan: Plan, watcher: Watcher | None = None) -> Outcome:
    """Runs a plan to its end: a phase of faults, a quiet phase, the verdict. The same plan gives the same run, always.

    Errors: `Refused`, for settings, members or a profile that there are not; `KeyError` for a fault that names a member
    or direction that there is not.
    """
    options = system.options(plan.settings)
    members = system.members(plan.replicas, plan.clients, options)
    oracle = system.oracle(members, options)
    world = World(system, members, options, oracle, str(plan.seed), plan.around)
    world.watcher = watcher
    if isinstance(watcher, History) and watcher.wants_standing:
        watcher.probe = lambda: Standing(_serving(system, world), _held(world))
    injector = Injector(world)
    drawing: RandomFaults | None = None
    if isinstance(plan.faults, str):
        cluster = Cluster(members, lambda: _serving(system, world), lambda name: world.processes[name].running)
        menu = profile(plan.faults, system, cluster)
        random = Random(f"{plan.seed} faults")
        drawing = RandomFaults(menu, cluster, injector, world.agenda, random, plan.fault_us, plan.stretch)
        world.listener = drawing.heard
    else:
        for fault in sorted(plan.faults, key=lambda fault: fault.at_us):
            injector.plan(fault)
    defect, exhausted = None, False
    broken: Sequence[Broken] = ()
    try:
        for process in world.processes.values():
            world.start(process)
        world.run(plan.fault_us)
        world.listener = None
        injector.end_all()
        world.run(plan.fault_us + system.quiet_us(options))
        broken = _verdict(oracle, world)
    except Defect as found:
        defect = Gone(found.member, found.at_us, found.given, found.what, found.place, found.trace)
    except Exhausted:
        exhausted = True
    if isinstance(watcher, History):
        watcher.look()
    return Outcome(
        plan=plan,
        broken=tuple(broken),
        defect=defect,
        exhausted=exhausted,
        faults=tuple(injector.faults),
        hits=tuple(world.hits.get(number, 0) for number in range(len(injector.faults))),
        delivered=world.delivered,
        lost=world.network.lost,
        events=world.delivered + world.dispatched - (0 if drawing is None else drawing.draws),
        halts=dict(sorted(world.ended_themselves.items())),
        end_us=world.agenda.now,
    )


def _serving(system: System, world: World) -> tuple[Name, ...]:
    nodes = {name: process.node for name, process in world.processes.items() if process.node is not None}
    return system.serving(nodes)


def _held(world: World) -> tuple[tuple[Name, Name], ...]:
    """The locks that are held, each with who holds it as its host sees it."""
    return tuple((host.name, host.holder[0].name) for host in world.hosts.all.values() if host.holder is not None)


def _verdict(oracle: Oracle, world: World) -> Sequence[Broken]:
    durable = {name: process.disk.copy() for name, process in world.processes.items()}
    durable |= {host.name: host.disk.copy() for host in world.hosts.all.values()}
    nodes = {name: process.node for name, process in world.processes.items() if process.node is not None}
    return oracle.verdict(world.agenda.now, durable, nodes)
