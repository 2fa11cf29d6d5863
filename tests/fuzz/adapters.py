"""Adapters in TOML, damaged, and logs read by them; logs, damaged, read by adapters that are whole."""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path
from random import Random

from hacheck.traces.adapters.adapter_files import SHIPPED, from_toml, load, shipped_names
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.findings import Findings, TracesError
from tests.fuzz.kinds import Kind
from tests.fuzz.mutation import TOKEN, changed_bytes, changed_text
from tests.fuzz.places import folder

ROOT = Path(__file__).resolve().parents[2]

SMALL = """name = "small"
about = "two events"
[files]
name = '(?P<node>[a-z0-9]+)\\.log'
[line]
head = '(?P<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?) (?P<level>\\w+) '
continuation = '\\s'
time = ["%Y-%m-%d %H:%M:%S", "iso"]
zone = "Europe/Berlin"
clock_back_ms = 5
[[event]]
name = "moved"
has = "moves"
pattern = 'moves from (?P<old>\\w+) to (?P<new>\\d+)'
fields.old = "string"
fields.new = { type = "int", about = "where to" }
[[event]]
name = "members"
whole = true
pattern = 'members(?P<who>.*)'
fields.who = { type = "strings", each = '\\w+' }
[[nothing]]
name = "chatter"
pattern = 'all is well'
"""
OBJECTS = """name = "objects"
format = "json"
[files]
path = '(?P<trace>\\w+)/(?P<node>\\w+)\\.log'
name = '(?P<node>\\w+)\\.log'
[line]
time = "when.at"
node = "host"
event = "what"
any_event = true
times = "epoch_ms"
[[event]]
name = "started"
where = { category = ["A", "B"] }
fields.count = { type = "ints", path = "detail.count" }
"""
LOG = """2026-01-01 10:00:00 INFO moves from a to 3
2026-01-01 10:00:01.5 INFO members a b
  c
2026-01-01 10:00:02 INFO all is well
{"when": {"at": 1700000000000}, "host": "a", "what": "started", "detail": {"count": [1]}, "category": "A"}
2026-03-29 02:30:00 WARN moves from b to 12345678901234567890
-- 01/02/26 03:04:05:678 qpidd: trace
"""


@cache
def texts() -> tuple[str, ...]:
    """The adapters to begin with."""
    return (SMALL, OBJECTS, *((SHIPPED / f"{name}.toml").read_text(encoding="utf-8") for name in shipped_names()))


@cache
def words() -> tuple[str, ...]:
    """Tokens of these."""
    return tuple(token for text in (SMALL, OBJECTS, OBJECTS, SMALL, *texts()) for token in TOKEN.findall(text))


def draw_adapter(random: Random) -> bytes:
    """An adapter after a few changes."""
    text = random.choice((SMALL, OBJECTS)) if random.random() < 0.9 else random.choice(texts())
    return changed_text(text, words(), random).encode("utf-8", errors="replace")


def read_adapter(content: bytes) -> None:
    """Loads an adapter, and if it is one reads a log with it."""
    try:
        adapter = from_toml(content.decode("utf-8", errors="replace"), "fuzz.toml")
    except TracesError:
        return
    if zlib.crc32(content) % 4 == 0:
        _read_log(adapter, LOG.encode())


def _read_log(adapter: object, log: bytes) -> None:
    findings = Findings()
    with folder() as place:
        (place / "a.log").write_bytes(log)
        try:
            for batch in open_logs(place / "a.log", adapter).located(findings):
                batch.validate(full=True)
        except TracesError:
            pass


@cache
def logs() -> tuple[tuple[str, str], ...]:
    """The name of an adapter and the beginning of a log that it reads."""
    found = [("small", LOG), ("objects", LOG)]
    for system in ("icestorm", "artemis"):
        for path in sorted((ROOT / "tests" / "data" / system).rglob("*.log"))[:4]:
            found.append((system, path.read_text(encoding="utf-8", errors="replace")[:3000]))
    return tuple(found)


@cache
def _whole(name: str) -> object:
    own = {"small": SMALL, "objects": OBJECTS}
    return from_toml(own[name], name) if name in own else load(name)


def draw_log(random: Random) -> bytes:
    """The name of an adapter on a line, and a log after a few changes."""
    name, text = random.choice(logs())
    content = text.encode("utf-8", errors="replace")
    if random.random() < 0.7:
        content = changed_text(text, words(), random, 8).encode("utf-8", errors="replace")
    else:
        content = changed_bytes(content, random)
    return json.dumps(name).encode() + b"\n" + content


def read_log(content: bytes) -> None:
    """Reads a log by the adapter that its first line names."""
    head, _, log = content.partition(b"\n")
    _read_log(_whole(json.loads(head)), log)


KINDS = (
    Kind("adapters", "adapters in TOML, damaged", draw_adapter, read_adapter, ".toml"),
    Kind("logs", "logs, damaged, read by adapters", draw_log, read_log, ".log"),
)
