"""Whole command lines, from what the commands declare, on specs, traces, logs, adapters and runs of which some are
damaged.

Each runs in a folder of its own with a home of its own. Afterwards every file that was there must be as it was, but
for one that the command line names as an output and not as an input.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import re
import subprocess
import sys
from contextlib import chdir
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from hacheck.cli.command_line import Argument, Option, parameters_of
from hacheck.cli.commands import COMMANDS
from tests.cli.command import hacheck
from tests.fuzz import adapters, specs, traces
from tests.fuzz.kinds import Kind
from tests.fuzz.mutation import NUMBERS, changed_data
from tests.fuzz.places import folder

Files = dict[str, bytes]

LEFT_OUT = {"--all", "--foreground", "--master", "--debug", "--fingerprint", "--port", "--watch"}
"""Options that are not drawn: they take the whole machine, or minutes each, or do not end by themselves."""

BOUNDED: dict[str, tuple[str, ...]] = {
    "verify": ("--time", "1", "--states", "2k", "--threads", "1"),
    "audit": ("--time", "1"),
    "sweep": ("--vary", "crashes=0,1", "--out", "swept", "--time", "1", "--states", "500", "--jobs", "1"),
    "prove": ("--time", "1", "--threads", "1"),
    "why": ("--time", "1"),
    "timing": ("--time", "1", "--points", "3"),
    "diagram": ("--time", "1", "--states", "1k"),
    "doc": ("--states", "200"),
    "simulate-impl": ("--seeds", "2", "--seconds", "3", "--jobs", "1"),
    "check-impl": ("--time", "1", "--schedules", "3"),
    "monitor": ("--once",),
    "conform": ("--states", "200"),
    "simulate": ("--steps", "9"),
    "admin": ("--time", "1"),
}
"""What keeps a command short; an option that was drawn besides comes before it."""

WEIGHTS = {
    "verify": 10, "audit": 3, "sweep": 2, "prove": 2, "why": 2, "timing": 2, "conform": 8, "monitor": 5, "simulate": 8,
    "simulate-impl": 3,
    "check-impl": 2, "cluster": 2, "admin": 2, "show": 10, "diagram": 6, "list": 1, "inspect": 8, "init": 2,
    "traces": 14, "doc": 12, "fmt": 6, "explain": 2, "replay": 2, "adapter": 3, "explore": 0, "lsp": 0, "mcp": 0,
}  # fmt: skip
"""How often each command is drawn; never one that serves until it is stopped."""
SPECS = ("spec.ha", "damaged.ha", "link.ha")
PLACES = ("logs.jsonl", "damaged.jsonl", "night.parquet", "folder", "a.log")
OUTPUTS = ("new.json", "old.json", "out/new.md", "folder", "new.parquet", "new.jsonl", "-", ".", "new", "x.md")
JUNK = ("", " ", "-", ".", "..", "-1", "0", "é", "\u202e", "x" * 300, "nowhere/x", "a=b", "@no", "/dev/null", "[b]")
PROTOCOLS = ("icestorm", "icestorm-topics", "fiorano-shared", "qpid", "artemis-client", "nothing", "os:path")

VALUES: dict[str, tuple[str, ...]] = {
    "SPEC": SPECS,
    "[SPEC]": SPECS,
    "SPEC...": (*SPECS, "-"),
    "TRACES": PLACES,
    "PLACE": PLACES,
    "LOG": PLACES,
    "FOLDER": ("folder", "logs", "a.log", "nowhere"),
    "RUN.json": ("run.json", "damaged.json", "old.json", "spec.ha", "-"),
    "PROTOCOL": PROTOCOLS,
    "CODE": (*PROTOCOLS, "icestorm-clients", "qpid-transactions"),
    "[CODE]": ("HA103", "103", "HA999", "x"),
    "ENGINE": ("native", "python", "local", "spark", "bmc", "induction", "simulation"),
    "FORMAT": ("text", "mermaid", "dot", "svg"),
    "FORM": ("parquet", "jsonl"),
    "TIME": ("1", "0.5s", "1m", "1e9", "9" * 400),
    "T": ("1", "0.5s"),
    "N": NUMBERS,
    "MS": NUMBERS,
    "S": ("1", "3", *NUMBERS[5:]),
    "SECONDS": ("1", "0", "x"),
    "SIZE": ("1GiB", "500M", "1k", "9" * 400, "0.1"),
    "SHARE": ("0.1", "1%", "100%", "2", "1e-9"),
    "NAME=VALUE": ("on=off", "n=3", "crashes=1", "n=" + "9" * 30, "x", "=", "max_backups=2"),
    "NAME=VALUES": ("n=1,2", "n=0..2", "n", "crashes=1,,2", "n=0.." + "9" * 20),
    "NAME=LOW..HIGH": ("n=1..3", "n", "lease=3..1", "n=0.." + "9" * 20),
    "NAME=TIME": ("safe=1s", "x=1"),
    "NAME=NODE": ("a=A-1", "A=A"),
    "ZONE": ("UTC", "Europe/Berlin", "Nowhere"),
    "LIST": ("a,b", "started,moved", "@logs.jsonl", ","),
    "EVENTS": ("started,moved", "a", ","),
    "FIELDS": ("count", "moved.to", "."),
    "KINDS": ("value", "swap,lost", "x"),
    "PROFILE": ("none", "crashes", "chaos", "crash/coordinator", "x"),
}


@cache
def inputs() -> dict[str, tuple[str, ...]]:
    """By the name of an option, the names of files that it reads."""
    return {"--adapter": ("adapter.toml", "damaged.toml", "icestorm", "jsonl"), "--replay": ("run.json", "old.json")}


def _files(random: Random) -> Files:
    """What lies in the folder: whole and damaged."""
    text = random.choice(specs.seeds()[0])
    found: Files = {
        "spec.ha": text.encode(),
        "damaged.ha": (specs.by_tokens if random.random() < 0.5 else specs.by_trees)(random),
        "logs.jsonl": traces._lines([traces.SCHEMA.header(), *traces.records()]).encode(),
        "damaged.jsonl": traces.draw_lines(random),
        "night.parquet": traces._whole_parquet() if random.random() < 0.5 else traces.draw_parquet(random),
        "folder/logs.jsonl": traces.draw_lines(random),
        "folder/a.log": adapters.LOG.encode(),
        "a.log": adapters.draw_log(random).partition(b"\n")[2],
        "adapter.toml": adapters.SMALL.encode(),
        "damaged.toml": adapters.draw_adapter(random),
        "old.json": b'{"an": "old file"}\n',
        "run.json": json.dumps(_run(text)).encode(),
    }
    found["damaged.json"] = json.dumps(changed_data(json.loads(found["run.json"]), random)).encode()
    return found


@cache
def _run(text: str) -> Any:
    """What `simulate --json` says of a spec, or nothing where it is none."""
    with folder() as place, chdir(place):
        Path("spec.ha").write_text(text, encoding="utf-8")
        hacheck("simulate", "spec.ha", "--steps", "3", "--json", "run.json")
        found = Path("run.json").read_text(encoding="utf-8") if Path("run.json").exists() else ""
        return json.loads(found or "{}")


def draw(random: Random) -> bytes:
    """A command line and the files it finds, as JSON."""
    command = random.choices(COMMANDS, [WEIGHTS[one.name] for one in COMMANDS])[0]
    files = _files(random)
    words: list[str] = []
    for item in parameters_of(getattr(import_module(command.module), command.function)):
        if isinstance(item.declared, Argument):
            places = random.randint(0, 2) if item.many else 1
            words += [_value(command.name, item.declared.metavar, item.name, files, random) for _ in range(places)]
    for item in parameters_of(getattr(import_module(command.module), command.function)):
        if isinstance(item.declared, Option) and random.random() < 0.16:
            words += _option(command.name, item.declared, files, random)
    bounded = list(BOUNDED.get(command.name, ()))
    if command.name == "conform" and "--engine" in words:
        bounded += ["--engine", "local"]
    if command.name == "monitor":
        bounded += ["--engine", "local", "--results", random.choice(("out", "watch", "folder/in", "old.json"))]
    if command.name == "cluster" and "start" in words:
        words.remove("start")
    if command.name == "simulate" and "--traces" in words:
        bounded += ["--traces", "3", "--jobs", "1"]
    words = [command.name, *words, *bounded]
    content = {"words": words, "files": {name: base64.b64encode(data).decode() for name, data in files.items()}}
    return json.dumps(content).encode()


def _option(command: str, declared: Option, files: Files, random: Random) -> list[str]:
    name = declared.names[0]
    if name in LEFT_OUT:
        return []
    if not declared.metavar:
        return [name]
    if name == "--engine":
        return [name, random.choice(VALUES["ENGINE"])]
    if name in inputs():
        return [name, random.choice(inputs()[name])]
    return [name, _value(command, declared.metavar, name, files, random)]


def _value(command: str, metavar: str, name: str, files: Files, random: Random) -> str:
    if random.random() < 0.12:
        return random.choice(JUNK)
    if metavar == "ACTION":
        module = import_module(f"hacheck.cli.commands.{command}")
        return random.choice(module.ACTIONS)
    if metavar in ("FILE", "DIR", "PATH"):
        return random.choice((*OUTPUTS, *files))
    if metavar == "NAME" or metavar not in VALUES:
        return random.choice(re.findall(r"[a-z_]\w+", files["spec.ha"].decode()) or ["x"])
    return random.choice(VALUES[metavar])


OUTPUT_OPTIONS = (
    "--json", "--out", "-o", "--quarantine", "--itf", "--certificate", "--results", "--junit", "--sarif",
    "--report",
)  # fmt: skip


def changed_files(words: list[str], before: Files) -> list[str]:
    """The files that are not as they were and should be. The current folder is that of the command."""
    meant = {value for name, value in pairwise(words) if name in OUTPUT_OPTIONS}
    named = [word for at, word in enumerate(words[1:], 1) if words[at - 1] not in OUTPUT_OPTIONS]
    lost = []
    for name, content in before.items():
        path = Path(name)
        same = path.is_file() and path.read_bytes() == content
        free = name in meant and not any(_is_same(word, name) for word in named)
        if not same and not free and not (words[0] == "fmt" and any(_is_same(word, name) for word in named)):
            lost.append(name)
    return lost


def _is_same(word: str, name: str) -> bool:
    try:
        return os.path.realpath(word) == os.path.realpath(name)
    except (OSError, ValueError):
        return False


def read(content: bytes, *, process: bool = False) -> None:
    """Runs a command line: it must end with one of the documented exit codes, and lose no file."""
    case = json.loads(content)
    words = [str(word) for word in case["words"]]
    files = {name: base64.b64decode(data) for name, data in case["files"].items()}
    with folder() as place:
        work = place / "home" / "work"
        work.mkdir(parents=True)
        for name, data in files.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (work / "link.ha").symlink_to("spec.ha")
        with chdir(work):
            code, said = (_in_process if process else hacheck_here)(words, place / "home")
            lost = changed_files(words, files)
    check_ending(code, said)
    assert not lost, f"lost {lost} by {words[0]} {[word for word in words if word.startswith('-')]}"


def check_ending(code: int, said: str) -> None:
    """Errors: `AssertionError` unless a command ended in one of the documented ways."""
    assert code in (0, 1, 2, 3), f"exit {code}: {_signature(said)}"
    assert "Traceback" not in said, f"traceback: {_signature(said)}"


def hacheck_here(words: list[str], home: Path) -> tuple[int, str]:
    """Runs a command in this process: its exit code, and what it says on standard error."""
    words = words if words[0] == "version" else [*words, "--debug"]
    ended = hacheck(*words, HOME=str(home), HACHECK_CACHE_DIR=_cache())
    return ended.code, ended.err


@cache
def _cache() -> str:
    """A folder for compiled code, which all commands of this process share: most of their time would go into it."""
    place = mkdtemp(prefix="hacheck-fuzz-cache-")
    atexit.register(rmtree, place, ignore_errors=True)
    return place


def _in_process(words: list[str], home: Path) -> tuple[int, str]:
    environment = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}
    words = words if words[0] == "version" else [*words, "--debug"]
    ended = subprocess.run(
        [sys.executable, "-m", "hacheck", *words], capture_output=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, timeout=180, check=False, env=environment,
    )  # fmt: skip
    return ended.returncode, ended.stderr


def _signature(said: str) -> str:
    """The last place in hacheck of a traceback, and the kind of error."""
    frames = re.findall(r'File "[^"]*/hacheck/([^"]+)", line \d+, in (\S+)', said)
    error = re.search(r"internal error: (\w+)", said)
    place = ":".join(frames[-1]) if frames else said[-200:]
    return f"{error[1] if error else ''} {place}"


KINDS = (
    Kind("commands", "whole command lines, within this process", draw, read, ".json", 40.0),
    Kind("processes", "whole command lines, each a process", draw, partial(read, process=True), ".json", 60.0),
)
