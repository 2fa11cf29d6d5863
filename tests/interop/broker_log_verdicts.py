"""Has `hacheck conform` check the logs of pairs of brokers: as they are, and with one line changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hacheck.replay.artemis.broker_kind import BrokerKind
from tests.interop.broker_damage import KINDS, damaged
from tests.interop.log_verdicts import LogVerdict, conform

SPECS = {"replication": "artemis_replication", "shared_store": "artemis_shared_store"}
SECONDS_MAX = 120.0


def compared(brokers: Path, policy: str, kind: BrokerKind) -> LogVerdict:
    """The verdict on the logs of a pair."""
    return conform(SPECS[policy], brokers, ["--adapter", kind.adapter], SECONDS_MAX)


def check(folders: Mapping[str, Path], policy: str, kind: BrokerKind) -> list[str]:
    """The stories of a policy whose logs do not conform, by name; `folders`: those of their brokers."""
    wrong = []
    for name, brokers in folders.items():
        found = compared(brokers, policy, kind)
        show(name, found)
        wrong += [] if found.kind == "conforms" else [name]
    return wrong


def check_damaged(folders: Iterable[Path], policy: str, target: Path, product: BrokerKind) -> list[str]:
    """Changes one line of one of these logs, for each kind of change; the changes that are not found out, by name."""
    wrong = []
    for kind in KINDS:
        name = f"changed-{policy}-{kind}"
        for brokers in folders:
            change = damaged(brokers, target / name, policy, kind, product)
            if change is not None:
                found = compared(target / name, policy, product)
                show(f"{brokers.parent.name}, {kind} at {change.broker}: line {change.line}", found)
                wrong += [] if found.kind == "deviates" else [name]
                break
        else:
            print(f"no log has a line for the change `{kind}` of {policy}")
            wrong.append(name)
    return wrong


def show(name: str, found: LogVerdict) -> None:
    """A line about a verdict."""
    where = f" at {found.place}: {found.said}" if found.place else f" {found.said}" if found.said else ""
    print(
        f"{found.kind:9} {found.seconds:6.1f} s {found.records:4} records, width {found.width:5}  {name}{where}",
        flush=True,
    )
