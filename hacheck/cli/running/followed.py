"""Which spec a simulated protocol's records are compared with, as commands that can be copied."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from hacheck.cli.guard import BadInput
from hacheck.impl.simulator.profiles import PROMISED
from hacheck.impl.simulator.running import Plan
from hacheck.testing.reference_protocols import FOLLOWED, Followed


def refuse_sides(name: str) -> None:
    """Errors: `BadInput` for the name of what is no protocol but a side of one, which another spec describes; its hint
    says how it is run and recorded instead."""
    followed = FOLLOWED.get(name)
    if followed is None or followed.code == name:
        return
    raise BadInput(
        f"{name} is not run by itself: it is {followed.code} beside the spec {followed.spec}",
        f"{record_command(followed, 'runs')} says how to compare; or every schedule: hacheck check-impl {name}",
    )


def followed_by(plan: Plan, protocol: str) -> Followed | None:
    """The spec that the runs of a plan are compared with: that of a side of the protocol where the plan has all the
    settings with which the side is described. `None` where it is not known which spec it follows."""
    settings = dict(plan.settings)
    known = [
        one
        for name, one in FOLLOWED.items()
        if one.code == protocol and (name == protocol or one.options.items() <= settings.items())
    ]
    return max(known, key=lambda one: len(one.options.items() & settings.items()), default=None)


def is_as_counted(plan: Plan, followed: Followed) -> bool:
    """Whether runs are of the size and with the settings that the spec counts on, and have no faults that it lacks."""
    size = (plan.replicas, plan.clients) == (followed.replicas, followed.clients)
    same = size and plan.faults == _faults(followed, plan)
    return same and followed.options.items() <= dict(plan.settings).items()


def record_command(followed: Followed, folder: str, plan: Plan | None = None) -> str:
    """The command that records runs of the size and with the settings that the spec counts on; with the faults of a
    plan that it has."""
    faults = _faults(followed, plan)
    size = ["--replicas", str(followed.replicas), "--clients", str(followed.clients)]
    command = [
        "hacheck",
        "simulate-impl",
        followed.code,
        *size,
        *_options("--set", followed.options),
        "--record",
        folder,
    ]
    command += ["--faults", faults] if faults != PROMISED else []
    return shlex.join(command)


def conform_command(followed: Followed, folder: str, faults: Iterable[str]) -> str:
    """The command that compares what was recorded in a folder with the spec. `faults`: kinds that may have happened."""
    return shlex.join(["hacheck", "conform", followed.spec, folder, *conform_options(followed, faults)])


def conform_options(followed: Followed, faults: Iterable[str] = ()) -> Iterator[str]:
    """What `hacheck conform` needs beside the spec and the records."""
    if followed.check is not None:
        yield from ("--check", followed.check)
    settings = dict(followed.settings)
    for kind in faults:
        settings |= followed.with_faults.get(kind, {})
    yield from _options("--set", settings)
    yield from _options("--node", followed.called)


def _faults(followed: Followed, plan: Plan | None) -> str:
    """The faults of a plan that the spec has, as `--faults` takes them; some that it has, for those that the protocol
    promises to survive, where it lacks any."""
    faults = plan.faults if plan is not None and isinstance(plan.faults, str) else PROMISED
    return followed.faults("crashes" if faults == PROMISED and followed.spared else faults)


def _options(option: str, given: Mapping[str, str]) -> Iterator[str]:
    for name, value in given.items():
        yield from (option, f"{name}={value}")
