"""What the tools answer: the documents of the commands, cut to what an assistant reads, with a version.

Each tool runs a command of hacheck in a process of its own, within a budget: what an assistant asks for cannot take the
machine, and a model that explodes ends with what was covered.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hacheck.checker.engine import DECIDED
from hacheck.supervise import own_commands

FORMAT = "hacheck.mcp/1"
SECONDS_MAX = 600.0
STATES_MAX = 50_000_000
STEPS_SHOWN = 60
GRACE_SECONDS = 20.0

Progress = Callable[[str], Awaitable[None]]
"""Reports what is being done, in a line."""


async def command(words: list[str], seconds: float, progress: Progress | None = None) -> tuple[int, str, str]:
    """Runs a command of hacheck: its exit code and what it printed on both streams. It is ended some time after the
    seconds that it was given."""
    process = await own_commands.start(words)
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = asyncio.create_task(process.stdout.read()), asyncio.create_task(_followed(process.stderr, progress))
    try:
        await asyncio.wait_for(process.wait(), seconds + GRACE_SECONDS)
    except (TimeoutError, asyncio.CancelledError) as stopped:
        process.kill()
        await process.wait()
        if isinstance(stopped, asyncio.CancelledError):
            raise
    return process.returncode or 0, (await out).decode(errors="replace"), await err


async def _followed(stream: asyncio.StreamReader, progress: Progress | None) -> str:
    """Everything on a stream; each line is reported as it comes."""
    lines = []
    while line := (await stream.readline()).decode(errors="replace"):
        lines.append(line)
        if progress is not None and line.strip():
            await progress(line.strip())
    return "".join(lines)


def answer(kind: str, **content: Any) -> dict[str, Any]:
    """An answer of this version."""
    return {"format": FORMAT, "kind": kind, **content}


def failed(kind: str, code: int, text: str) -> dict[str, Any]:
    """The answer where a command could not do its work: bad input (2), or an internal error (4)."""
    return answer(kind, ok=False, exit_code=code, message=text.strip())


async def verify(
    spec: str,
    check: str | None,
    property: str | None,
    settings: list[str],
    seconds: float,
    states: int,
    progress: Progress,
) -> dict[str, Any]:
    """The verdicts of a spec, given by path, shipped name or as text."""
    seconds, states = min(seconds, SECONDS_MAX), min(states, STATES_MAX)
    with tempfile.TemporaryDirectory(prefix="hacheck-mcp-") as folder:
        file = Path(folder) / "found.json"
        words = ["verify", placed(spec, folder), "--quiet", "--json", str(file)]
        words += ["--time", f"{seconds:g}", "--states", str(states)]
        words += [] if check is None else ["--check", check]
        words += [] if property is None else ["--property", property]
        words += [word for one in settings for word in ("--set", one)]
        code, _, err = await command(words, seconds, progress)
        if not file.exists():
            return failed("verify", code, err)
        found = json.loads(file.read_text(encoding="utf-8"))
    checks = [check_answer(one) for one in found["checks"]]
    met = [one["name"] for one in checks if one["limit_met"]]
    return answer("verify", ok=True, exit_code=code, checks=checks, limit_met=bool(met), not_run=found["not_run"])


def check_answer(check: dict[str, Any]) -> dict[str, Any]:
    """A check: how far it reaches, and each property with the steps of its run."""
    return {
        "name": check["name"],
        "as_expected": check["expected"],
        "states": check["states"],
        "complete": check["complete"],
        "limit_met": None if check["stopped"] == DECIDED else check["stopped"],
        "bounds_reached": [one["meaning"] for one in check["bounds"]],
        "properties": [property_answer(one) for one in check["properties"]],
    }


def property_answer(found: dict[str, Any]) -> dict[str, Any]:
    """A property: the verdict, what it covers, and its run as lines."""
    keys = ("name", "description", "place", "verdict", "scope", "expected_verdict", "outcome")
    return {**{key: found[key] for key in keys}, "run": run_lines(found["run"] or [])}


def run_lines(rows: list[dict[str, Any]]) -> list[str]:
    """A run as lines: the number of a step, where it happens, the action, and what it changed."""
    lines = []
    for number, row in enumerate(rows[1:], start=1):
        if "action" in row:
            node = f"{row['node']} " if row.get("node") else ""
            changes = f": {'; '.join(row['changes'])}" if row.get("changes") else ""
            lines.append(f"{number} {node}{row['action']}{changes}")
    rest = len(lines) - STEPS_SHOWN
    return [*lines[:STEPS_SHOWN], f"… {rest} more steps"] if rest > 0 else lines


async def explain(code: str) -> dict[str, Any]:
    """What an error code means, with wrong and right text."""
    ended, out, err = await command(["explain", code], 30)
    return failed("explain", ended, err) if ended else answer("explain", ok=True, text=out)


async def simulate(spec: str, seed: int, steps: int, settings: list[str]) -> dict[str, Any]:
    """A random run of a spec."""
    with tempfile.TemporaryDirectory(prefix="hacheck-mcp-") as folder:
        words = ["simulate", placed(spec, folder), "--seed", str(seed), "--steps", str(steps), "--json", "-"]
        words += [word for one in settings for word in ("--set", one)]
        code, out, err = await command(words, 60)
    if code:
        return failed("simulate", code, err)
    return answer("simulate", ok=True, seed=seed, run=run_lines(json.loads(out)["run"]))


async def conform(
    spec: str, traces: str, adapter: str | None, property: str, seconds: float, progress: Progress
) -> dict[str, Any]:
    """Whether logs follow a spec, and which properties they broke."""
    with tempfile.TemporaryDirectory(prefix="hacheck-mcp-") as folder:
        words = ["conform", placed(spec, folder), traces, "--property", property, "--json", "-"]
        words += [] if adapter is None else ["--adapter", adapter]
        code, out, err = await command(words, min(seconds, SECONDS_MAX), progress)
    try:
        found = json.loads(out)
    except json.JSONDecodeError:
        return failed("conform", code, err)
    keys = ("trace_id", "kind", "reason", "file", "line", "expected", "repair_text", "violated", "perhaps", "broken")
    verdicts = [{key: one[key] for key in keys} for one in found["verdicts"][:STEPS_SHOWN]]
    return answer("conform", ok=True, exit_code=code, counts=found["counts"], verdicts=verdicts)


def placed(spec: str, folder: str) -> str:
    """A spec as the command line takes it: a path or a shipped name, or a file with the text that was given."""
    if "\n" not in spec and not spec.startswith("system "):
        return spec
    path = Path(folder) / "spec.ha"
    path.write_text(spec, encoding="utf-8")
    return str(path)
