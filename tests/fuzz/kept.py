"""What hacheck itself has kept, damaged: checkpoints of searches and of monitors, states of open traces, compiled code,
and runs. Half of the damage is under a new digest, as if somebody had written it on purpose."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import chdir, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from hacheck.checker.explicit.search.checkpoint_manifest import CheckpointError, Manifest, read_manifest, write_manifest
from hacheck.cli.checking.saved_runs import choose, decode, saved_runs
from hacheck.cli.guard import BadInput
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.impl.simulator.saved_run import from_json
from hacheck.impl.system import Refused
from hacheck.model.language import load
from hacheck.testing.failing_runs import BadRun, steps_from
from hacheck.traces import manifest
from hacheck.traces.conformance.open_trace_state import HEAD
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.drivers.tail import Monitor, Tailing
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import Order, TraceSchema
from tests.cli.command import hacheck
from tests.fuzz.kinds import Kind
from tests.fuzz.mutation import changed_bytes, changed_data, changed_text
from tests.fuzz.places import folder

SPEC = """system Kept "x"
node A[2] { level: 0..3 = 0  lit: bool = false }
action go(a: A) when a.level < 3 do a.level := a.level + 1
action turn(a: A) do
  a.lit := not a.lit
  log turned()
invariant small: every a: A satisfies a.level < 3
reachable up: some a: A where a.lit
"""

# ---- checkpoints of searches ----


@cache
def _manifest() -> bytes:
    whole = Manifest(
        "identity", 3, 1, 2, ((("states-0", 0, 1),), (("states-0", 1, 2),)), {"states-0": ((24, 12345),)}, [1, 2], [0],
        {"small": 2}, {"one": (1, 2)}, None, {"up": 1}, 0.5,
    )  # fmt: skip
    with folder() as place:
        write_manifest(whole, place)
        return (place / "checkpoint").read_bytes()


def draw_manifest(random: Random) -> bytes:
    """The manifest of a checkpoint, damaged."""
    head, _, content = _manifest().partition(b"\n")
    if random.random() < 0.5:
        return changed_bytes(_manifest(), random)
    content = json.dumps(changed_data(json.loads(content), random)).encode()
    return head[: -hashlib.sha256().digest_size * 2] + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def read_checkpoint(content: bytes) -> None:
    """Reads it."""
    with folder() as place:
        (place / "checkpoint").write_bytes(content)
        with suppress(CheckpointError):
            read_manifest(place)


# ---- monitors ----


@cache
def _checker() -> TraceChecker:
    specification = load(SPEC, "kept.ha").specification
    assert specification is not None
    system = specification.instantiate({}, None, logs=True).system
    assert system is not None
    return TraceChecker(system, Order.TOTAL, capacity=64)


def _tailing(place: Path) -> Tailing:
    schema = TraceSchema((), Order.TOTAL)
    return Tailing(place / "in", schema, _checker(), place / "verdicts.jsonl", place / "checkpoint.json")


RECORDS = "".join(
    json.dumps({"trace_id": trace, "node": "1", "seq": seq, "event": "turned"}) + "\n"
    for trace, seq in (("a", 1), ("a", 2), ("b", 1), ("a", 4), ("c", 2))
)


@cache
def _checkpoint() -> bytes:
    with folder() as place:
        (place / "in").mkdir()
        (place / "in" / "t.jsonl").write_text(RECORDS, encoding="utf-8")
        Monitor(_tailing(place), Findings()).step(1000.0)
        return (place / "checkpoint.json").read_bytes()


def draw_monitor(random: Random) -> bytes:
    """The checkpoint of a monitor, damaged as data or as text; its states under new digests, too."""
    content: Any = json.loads(_checkpoint())
    match random.randrange(4):
        case 0:
            return changed_bytes(_checkpoint(), random)
        case 1:
            return changed_text(_checkpoint().decode(), ('"over"', "null", "1e9", "[]"), random).encode()
        case 2:
            return json.dumps(changed_data(content, random)).encode()
        case _:
            name = random.choice(sorted(content["traces"]))
            trace: Any = msgspec.convert(content["traces"][name], type=bytes)
            content["traces"][name] = _encoded(_changed_trace(json.loads(trace), random))
            return json.dumps(content).encode()


def _encoded(trace: Any) -> Any:
    return msgspec.to_builtins(json.dumps(trace).encode())


def _changed_trace(trace: Any, random: Random) -> Any:
    """The state of a trace, of whose innermost part something is another under a digest that is right."""
    if random.random() < 0.4 or not isinstance(trace.get("open"), str):
        return changed_data(trace, random)
    state = msgspec.convert(trace["open"], type=bytes)
    content = msgspec.msgpack.decode(state[len(HEAD) + 32 :])
    if random.random() < 0.3:
        packed = changed_bytes(state[len(HEAD) + 32 :], random, 2)
    else:
        try:
            packed = msgspec.msgpack.encode(changed_data(content, random))
        except (OverflowError, UnicodeEncodeError):
            packed = b""
    return trace | {"open": msgspec.to_builtins(HEAD + hashlib.sha256(packed).digest() + packed)}


def read_monitor(content: bytes) -> None:
    """Goes on from it, with one record more for each trace."""
    with folder() as place:
        (place / "in").mkdir()
        (place / "checkpoint.json").write_bytes(content)
        (place / "verdicts.jsonl").write_bytes(b"x" * 4000)
        more = [{"trace_id": trace, "node": "2", "seq": 3, "event": "turned"} for trace in "abc"]
        (place / "in" / "more.jsonl").write_text("".join(json.dumps(one) + "\n" for one in more), encoding="utf-8")
        try:
            monitor = Monitor(_tailing(place), Findings())
            monitor.step(1000.5)
            monitor.close_all()
        except TracesError:
            pass


# ---- compiled code ----

KEY = "ab" * 32


@cache
def _entry() -> bytes:
    with folder() as place:
        cache_ = ObjectCache(place)
        cache_.store(KEY, [b"\x7fELF" * 9, b"more"], {"program": [1, 2], "names": {"a": 1}})
        return (place / f"object-{KEY}").read_bytes()


def draw_entry(random: Random) -> bytes:
    """What is kept of compiled code, damaged."""
    return changed_bytes(_entry(), random)


def read_entry(content: bytes) -> None:
    """Looks it up: it is what was kept, or nothing."""
    with folder() as place:
        path = place / f"object-{KEY}"
        path.write_bytes(content)
        os.chmod(path, 0o600)
        cache_ = ObjectCache(place)
        found = cache_.lookup(KEY)
        assert found is None or content == _entry(), "damaged code would be run"
        assert found is not None or cache_.trouble, "no reason"


# ---- runs, and what stands beside traces ----


@cache
def _runs() -> tuple[bytes, ...]:
    """Runs as `verify` and `simulate` write them, and one of a test."""
    with folder() as place, chdir(place):
        Path("kept.ha").write_text(SPEC, encoding="utf-8")
        hacheck("verify", "kept.ha", "--engine", "python", "--json", "verify.json", "--states", "400")
        hacheck("simulate", "kept.ha", "--steps", "4", "--json", "simulate.json")
        found = [Path("verify.json").read_bytes(), Path("simulate.json").read_bytes()]
    steps = {"hacheck.run": 1, "steps": [["go", {"a": "A-1"}], ["wait", {"seconds": 1.0}]]}
    plan = {"version": 1, "system": "icestorm", "plan": {"seed": 1, "faults": [], "replicas": 3}, "label": "x"}
    parts = {manifest.KEY: 1, "files": [{"name": "a", "records": 1, "traces": 1, "first": "a", "last": "b"}]}
    return (*found, *(json.dumps(one).encode() for one in (steps, plan, parts)))


def draw_run(random: Random) -> bytes:
    """One of them, damaged."""
    whole = random.choice(_runs())
    if random.random() < 0.2:
        return changed_bytes(whole, random)
    content = json.loads(whole)
    for _ in range(random.randint(1, 3)):
        content = changed_data(content, random)
    return json.dumps(content).encode()


def read_run(content: bytes) -> None:
    """Reads it as each kind of run, and decodes what can be found in it."""
    text = content.decode("utf-8", errors="replace")
    with suppress(BadRun):
        steps_from(text, "fuzz.json")
    with suppress(Refused):
        from_json(content)
    with folder() as place:
        (place / manifest.NAME).write_bytes(content)
        manifest.describes(place, [("a", 1)])
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    with suppress(BadInput):
        for saved in saved_runs(found, "fuzz.json"):
            decode(_checker().system, choose([saved], "fuzz.json", None, None), "fuzz.json")


KINDS = (
    Kind("checkpoints", "manifests of searches, damaged", draw_manifest, read_checkpoint, ".checkpoint"),
    Kind("monitors", "checkpoints of monitors, damaged", draw_monitor, read_monitor, ".json"),
    Kind("caches", "compiled code, damaged", draw_entry, read_entry, ".object"),
    Kind("runs", "runs in files, damaged", draw_run, read_run, ".json"),
)
