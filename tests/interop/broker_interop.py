"""Pairs of real brokers of Artemis or HornetQ: failover, failback, kills and pauses; their logs checked.

Each log must be read to its last line, without a finding, show what happened, and conform to the spec of its policy;
with one line changed it must deviate. Exit code 0 if so, or if what is needed is not installed; else 1.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from hacheck.replay.artemis.broker_kind import BrokerKind
from hacheck.replay.artemis.jars import classpath, missing
from hacheck.replay.processes import ProcessGroup
from tests.interop.broker_log_verdicts import check, check_damaged
from tests.interop.broker_pair import POLICIES, Pair
from tests.interop.broker_stories import STORIES, Seen, TooLate, stories_of, who_served

SERVING = ("active", "backup_active", "acceptor_started")


def main(kind: BrokerKind, arguments: Sequence[str] | None = None) -> int:
    name = f"interop-{kind.product.lower()}"
    parser = argparse.ArgumentParser(prog=name, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", type=Path, help="the folder for the logs, which must not be there yet")
    parser.add_argument("--stories", nargs="*", choices=STORIES, default=list(STORIES))
    options = parser.parse_args(arguments)
    reason = missing()
    if reason is not None:
        print(f"skipped: {reason}")
        return 0
    signal.signal(signal.SIGTERM, interrupted)
    folder = options.keep or Path(tempfile.mkdtemp(prefix=f"{name}-"))
    folder.mkdir(parents=True, exist_ok=True)
    jars = classpath(folder, kind)
    if jars is None:
        print(f"skipped: Maven cannot get the jars of {kind.artifact}")
        return 0
    print(f"logs in {folder}", flush=True)
    wrong = []
    for policy in POLICIES:
        stories = [story for story in options.stories if story in stories_of(policy)]
        names = [f"{policy}-{story}" for story in stories]
        pairs = zip(names, stories, strict=True)
        wrong += [
            name for name, story in pairs if not told(Pair(folder / name, policy, jars, ProcessGroup(), kind), story)
        ]
        played = {name: folder / name / "brokers" for name in names if name not in wrong}
        wrong += check(played, policy, kind)
        wrong += check_damaged(played.values(), policy, folder, kind)
    print(f"wrong: {', '.join(wrong)}" if wrong else "all as expected")
    return 1 if wrong else 0


def interrupted(number: int, frame: FrameType | None) -> None:
    """Being asked to end is as Ctrl-C: brokers are stopped first."""
    raise KeyboardInterrupt


def told(pair: Pair, story: str) -> bool:
    """Plays a story and looks at its logs; tells what is wrong. No broker is left, whatever happens."""
    began, name = time.monotonic(), pair.folder.name
    with pair.processes as processes:
        pair.configure()
        try:
            expected = STORIES[story](pair)
        except TooLate as late:
            print(f"wrong      {name}: {late}")
            return False
        finally:
            pair.end_writers()
        for member in sorted(processes.running, reverse=True):
            pair.stop(member)
    findings = read(pair.brokers, expected, who_served(pair, story), pair.kind)
    for finding in findings:
        print(f"wrong      {name}: {finding}")
    if not findings:
        print(f"as told    {time.monotonic() - began:5.1f} s {name}")
    sys.stdout.flush()
    return not findings


def read(folder: Path, expected: Sequence[Seen], servers: set[str], kind: BrokerKind) -> list[str]:
    """What is wrong with the logs of a pair: lines that the adapter does not account for, events of a broker
    that do not come in the expected order, a server that was active and must not have been."""
    files = [*folder.glob(f"*/{kind.log}"), *folder.glob("timeline.txt"), *folder.glob("client.jsonl")]
    lines = sum(len(file.read_bytes().splitlines()) for file in files)
    validated = hacheck(kind, "validate", folder, "--json", "-")
    if validated.returncode != 0:
        return [f"`traces validate` returns {validated.returncode}: {validated.stdout}{validated.stderr}"]
    wrong = []
    accounted = accounted_lines(json.loads(validated.stdout)["lines"])
    if accounted != lines:
        wrong.append(f"{accounted} of {lines} lines are accounted for")
    target = folder.parent / "records.jsonl"
    converted = hacheck(kind, "convert", folder, "--out", str(target))
    if converted.returncode != 0:
        return [*wrong, f"`traces convert` returns {converted.returncode}: {converted.stderr}"]
    records = [json.loads(line) for line in target.read_text().splitlines()[1:]]
    seen = [(record["node"], record["event"]) for record in records]
    for broker in sorted({node for node, _ in expected}):
        rest = iter([event for node, event in seen if node == broker])
        wanted = [event for node, event in expected if node == broker]
        wrong += [f"{event} at {broker} does not come, or too soon" for event in wanted if event not in rest]
    active = {node for node, event in seen if event in SERVING}
    if active != servers:
        wrong.append(f"{', '.join(sorted(active)) or 'nobody'} served; expected: {', '.join(sorted(servers))}")
    return wrong


def hacheck(kind: BrokerKind, command: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "hacheck", "traces", command, str(folder), "--adapter", kind.adapter, *options]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def accounted_lines(lines: dict[str, Any]) -> int:
    """How many lines are events, parts of the line above, empty, or known to mean nothing."""
    return (
        sum(lines["events"].values()) + sum(lines["nothing"].values()) + int(lines["continued"]) + int(lines["blank"])
    )


def run(kind: BrokerKind) -> int:
    """The command itself: Ctrl-C has its own exit code."""
    try:
        return main(kind)
    except KeyboardInterrupt:
        print("interrupted; no broker is left", file=sys.stderr)
        return 130
