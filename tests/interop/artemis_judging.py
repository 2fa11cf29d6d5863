"""Has `hacheck conform` judge the logs of pairs of Artemis brokers: as they are, and with one line changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.interop.artemis_damage import KINDS, damaged
from tests.interop.judging import Judged, conform

SPECS = {"replication": "artemis_replication", "shared_store": "artemis_shared_store"}
SECONDS_MAX = 120.0


def compared(brokers: Path, policy: str) -> Judged:
    """The verdict on the logs of a pair."""
    return conform(SPECS[policy], brokers, ["--adapter", "artemis"], SECONDS_MAX)


def judge(folders: Mapping[str, Path], policy: str) -> list[str]:
    """The stories of a policy whose logs do not conform, by name; `folders`: those of their brokers."""
    wrong = []
    for name, brokers in folders.items():
        judged = compared(brokers, policy)
        tell(name, judged)
        wrong += [] if judged.kind == "conforms" else [name]
    return wrong


def judge_damaged(folders: Iterable[Path], policy: str, target: Path) -> list[str]:
    """Changes one line of one of these logs, for each kind of change; the changes that are not found out, by name."""
    wrong = []
    for kind in KINDS:
        name = f"changed-{policy}-{kind}"
        for brokers in folders:
            change = damaged(brokers, target / name, policy, kind)
            if change is not None:
                judged = compared(target / name, policy)
                tell(f"{brokers.parent.name}, {kind} at {change.broker}: line {change.line}", judged)
                wrong += [] if judged.kind == "deviates" else [name]
                break
        else:
            print(f"no log has a line for the change `{kind}` of {policy}")
            wrong.append(name)
    return wrong


def tell(name: str, judged: Judged) -> None:
    """A line about a verdict."""
    where = f" at {judged.place}: {judged.said}" if judged.place else f" {judged.said}" if judged.said else ""
    print(
        f"{judged.kind:9} {judged.seconds:6.1f} s {judged.records:4} records, width {judged.width:5}  {name}{where}",
        flush=True,
    )
