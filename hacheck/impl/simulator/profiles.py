"""Which faults a run may meet: menus of kinds and of who is hit, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from msgspec import Struct

from hacheck.impl.simulator import targets
from hacheck.impl.simulator.faults import NAMES
from hacheck.impl.simulator.targets import Cluster
from hacheck.impl.system import Refused, System

PROCESS = ("one", "coordinator", "minority", "third", "majority", "all", "client")
CUTS = (
    "halves",
    "isolate",
    "isolate-coordinator",
    "bridge",
    "ring",
    "deaf",
    "mute",
    "pair",
    "client",
    "host",
    "from-host",
)

TARGETS: Mapping[str, tuple[str, ...]] = {
    "crash": PROCESS,
    "power": PROCESS,
    "wipe": ("one", "coordinator"),
    "pause": PROCESS,
    "cut": CUTS,
    "reset": ("everywhere", "isolate", "isolate-coordinator", "pair"),
    "slow": ("everywhere", "isolate-coordinator", "pair", "host", "from-host"),
    "loss": ("everywhere", "isolate-coordinator", "pair"),
    "duplicate": ("everywhere", "pair"),
    "reorder": ("everywhere", "pair"),
    "disk-full": ("one", "coordinator", "minority", "all", "storage"),
    "disk-error": ("one", "coordinator", "minority", "all", "storage"),
    "disk-slow": ("one", "coordinator", "minority", "all", "storage"),
    "clock-rate": ("one", "coordinator", "minority", "all"),
    "clock-jump": ("one", "coordinator", "minority", "all"),
    "lock-lost": ("lock",),
    "lock-told": ("lock",),
    "lock-late": ("lock",),
    "lock-stale": ("from-host", "host"),
}
"""Who each kind of fault may hit, in the words of `targets` and, for hosts, `lock` and `storage`."""

PROFILES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "crashes": ("crash",),
    "power": ("crash", "power"),
    "wipes": ("crash", "power", "wipe"),
    "pauses": ("pause",),
    "partitions": ("cut",),
    "network": ("cut", "reset", "slow"),
    "datagrams": ("loss", "duplicate", "reorder"),
    "disk": ("disk-full", "disk-error", "disk-slow", "power"),
    "clocks": ("clock-rate", "clock-jump"),
    "locks": ("lock-lost", "lock-told", "lock-late", "lock-stale"),
    "chaos": tuple(name for name in NAMES if name not in ("wipe", "loss", "duplicate", "reorder")),
    "everything": NAMES,
}
"""Profiles by name. `chaos` has everything but a network that loses or repeats what it should not, and lost disks; one
more profile, `promised`, has what the protocol says it survives."""

PROMISED = "promised"


class Menu(Struct, frozen=True):
    """What may be drawn: pairs of kind and target. `careful`: never more than a minority of the servers (of two, one)
    are down, paused or without their disk at once."""

    faults: tuple[tuple[str, str], ...]
    careful: bool = False


def names() -> tuple[str, ...]:
    """All profiles."""
    return (PROMISED, *PROFILES)


def profile(name: str, system: System, cluster: Cluster) -> Menu:
    """The menu of a profile for a cluster. Errors: `Refused`, for an unknown one."""
    if name == PROMISED:
        asked = tuple(system.survives())
        return Menu(_possible(_promised(asked, system.name), cluster), careful=not _many(asked))
    if name not in PROFILES:
        near = get_close_matches(name, names(), 1)
        raise Refused(
            f"no profile `{name}`: " + (f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names())}")
        )
    return Menu(_possible(((kind, target) for kind in PROFILES[name] for target in TARGETS[kind]), cluster))


def _promised(asked: tuple[str, ...], system: str) -> Iterator[tuple[str, str]]:
    for word in asked:
        kind, _, target = word.partition("/")
        if kind not in TARGETS or (target and target not in TARGETS[kind]):
            raise Refused(f"{system} says that it survives `{word}`, which is no fault")
        chosen = (target,) if target else tuple(one for one in TARGETS[kind] if one not in ("majority", "all"))
        for one in chosen:
            yield kind, one


def _many(asked: tuple[str, ...]) -> bool:
    return any(word.partition("/")[2] in ("majority", "all") for word in asked)


def _possible(faults: Iterator[tuple[str, str]], cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Those that this cluster can have."""
    number = len(cluster.servers)
    least = {"minority": 3, "third": 4, "majority": 2, "bridge": 3, "ring": 3}
    for word in targets.DIRECTIONS:
        least.setdefault(word, 1 if word in ("client", "host", "from-host", "everywhere") else 2)
    there = {
        "client": bool(cluster.clients),
        "host": bool(cluster.hosts),
        "from-host": bool(cluster.hosts),
        "lock": bool(cluster.locks),
        "storage": bool(cluster.shared),
    }
    return tuple(
        (kind, target) for kind, target in faults if number >= least.get(target, 1) and there.get(target, True)
    )
