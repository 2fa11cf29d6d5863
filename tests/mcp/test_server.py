"""The tools for assistants, called over standard input and output by a client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed: pip install 'hacheck[mcp]'")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PAIR = """system Pair "Two servers."
node Server[2] symmetric { active: bool = false }
action go(s: Server) when not s.active do s.active := true
invariant one "never two": at most one s: Server where s.active
check default expect one violated
"""

# A client hands on little of its environment; what is here says which hacheck is tested, and counts the lines that ran.
HANDED_ON = {name: value for name, value in os.environ.items() if name.startswith(("COVERAGE", "PYTHONPATH"))}

Ask = Callable[..., Awaitable[dict[str, Any]]]


def talk(what: Callable[[Ask], Awaitable[None]]) -> None:
    """Starts the server, and calls tools."""

    async def run() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "hacheck", "mcp"], env=HANDED_ON)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert tools == {"verify", "show", "explain", "simulate", "conform"}

            async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await session.call_tool(tool, arguments)
                (content,) = answer.content
                return dict(json.loads(content.text))

            await what(ask)

    asyncio.run(asyncio.wait_for(run(), 150))


def test_spec_is_verified_from_its_text_within_budgets(tmp_path: Path) -> None:
    async def what(ask: Ask) -> None:
        found = await ask("verify", spec=PAIR)
        assert (found["format"], found["ok"]) == ("hacheck.mcp/1", True)
        assert (found["exit_code"], found["limit_met"]) == (0, False)
        (one,) = found["checks"][0]["properties"]
        assert (one["verdict"], one["outcome"]) == ("violated", "expected")
        assert sorted(line.split(": ")[0][2:] for line in one["run"]) == ["Server 1 go", "Server 2 go"]
        limited = await ask("verify", spec="icestorm", check="default", states=1000)
        assert limited["limit_met"] is True
        assert "1,000 states" in limited["checks"][0]["limit_met"]
        wrong = await ask("verify", spec=PAIR.replace("s.active := true", "s.activ := true"))
        assert (wrong["ok"], wrong["exit_code"]) == (False, 2)
        assert "HA103" in wrong["message"]

    talk(what)


def test_codes_are_explained_runs_simulated_and_logs_compared(tmp_path: Path) -> None:
    lines = [{"hacheck.traces": 1, "order": "total", "fields": {}}]
    lines += [{"trace_id": "t", "node": "Server-1", "seq": 1, "time": 1, "event": "go", "fields": {}}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")

    async def what(ask: Ask) -> None:
        assert "HA120" in (await ask("explain", code="HA120"))["text"]
        assert (await ask("explain", code="HA999"))["ok"] is False
        assert (await ask("simulate", spec=PAIR, seed=3, steps=2))["run"] != []
        found = await ask("conform", spec=PAIR, traces=str(tmp_path / "t.jsonl"))
        assert found["counts"] == {"conforms": 1, "deviates": 0, "unknown": 0}
        assert found["verdicts"][0]["violated"] == []

    talk(what)


def test_language_on_one_page_has_every_word_of_the_language() -> None:
    import re

    from hacheck.model.language.word_reference import words_of_the_language

    page = (Path(__file__).parents[2] / "llms.txt").read_text(encoding="utf-8")
    missing = {word for word in words_of_the_language() if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", page)}
    assert missing == set()


def test_language_on_one_page_is_a_spec_that_means_something() -> None:
    import re

    from hacheck.model.language import load

    text = (Path(__file__).parents[2] / "llms.txt").read_text(encoding="utf-8")
    (block,) = re.findall(r"## A file\n\n((?:    .*\n|\n)+)", text)
    spec = re.sub(r"^    ", "", block, flags=re.MULTILINE)
    found = load(spec, "page.ha")
    assert [f"{one.span.line}: {one.message}" for one in found.diagnostics if one.severity == "error"] == []
