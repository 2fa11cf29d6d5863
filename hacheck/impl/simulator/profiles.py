"""Which faults a run may meet: menus of kinds and of who is hit, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from hacheck.impl.simulator import targets
from hacheck.impl.simulator.faults import NAMES
from hacheck.impl.simulator.targets import Cluster
from hacheck.impl.system import Refused, System
from hacheck.wording import did_you_mean

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

ONCE = " once"
"""What ends the word of a fault of which, with all others so marked, a run has only one: a protocol survives any of
them, but not two."""


class Menu(Struct, frozen=True):
    """What may be drawn: pairs of kind and target. `careful`: never more than a minority of the servers (of two, one)
    are down, paused or without their disk at once. `once`: of these, one in a run."""

    faults: tuple[tuple[str, str], ...]
    careful: bool = False
    once: frozenset[tuple[str, str]] = frozenset()


def names() -> tuple[str, ...]:
    """All profiles."""
    return (PROMISED, *PROFILES)


def profile(name: str, system: System, cluster: Cluster) -> Menu:
    """The menu of a profile for a cluster. `name`: one of `names()`, or kinds of faults, each with its target or not,
    and with `once` or not: `crash/coordinator,cut once`. Errors: `Refused`, for an unknown one, or one that is nothing
    in this cluster."""
    if name in PROFILES:
        return Menu(_possible(((kind, target) for kind in PROFILES[name] for target in TARGETS[kind]), cluster))
    if name == PROMISED:
        survived = tuple(system.survives())
        try:
            return _menu(survived, cluster, careful=not _many(survived))
        except Refused as refused:
            raise Refused(f"{system.name} says that it survives what is no fault: {refused}") from None
    words = tuple(word.strip() for word in name.split(",") if word.strip())
    if len(words) == 1 and words[0].removesuffix(ONCE).partition("/")[0] not in TARGETS:
        raise Refused(f"no profile `{name}`: {_near(name, names())}")
    menu = _menu(words, cluster, careful=False)
    if not menu.faults:
        raise Refused(
            f"`{name}` is nothing that can happen to this cluster: it has too few members, or no lock or disk"
        )
    return menu


def _near(word: str, known: Iterable[str]) -> str:
    listed = tuple(known)
    return did_you_mean(word, listed, most=1) or f"there are {', '.join(listed)}"


def _menu(words: tuple[str, ...], cluster: Cluster, *, careful: bool) -> Menu:
    marked = tuple(word.removesuffix(ONCE) for word in words if word.endswith(ONCE))
    faults = _possible(_listed(tuple(word.removesuffix(ONCE) for word in words), careful=careful), cluster)
    return Menu(faults, careful, frozenset(_listed(marked, careful=careful)))


def _listed(words: tuple[str, ...], *, careful: bool) -> Iterator[tuple[str, str]]:
    """Pairs for words such as `crash` and `crash/one`. `careful`: a kind alone does not mean most of the servers."""
    for word in words:
        kind, slash, target = word.partition("/")
        if kind not in TARGETS:
            raise Refused(f"no fault `{kind}`: {_near(kind, TARGETS)}")
        if slash and target not in TARGETS[kind]:
            raise Refused(f"`{kind}` hits no `{target}`: {_near(target, TARGETS[kind])}")
        for one in (target,) if slash else TARGETS[kind]:
            if slash or not careful or one not in ("majority", "all"):
                yield kind, one


def _many(words: tuple[str, ...]) -> bool:
    return any(word.removesuffix(ONCE).partition("/")[2] in ("majority", "all") for word in words)


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
