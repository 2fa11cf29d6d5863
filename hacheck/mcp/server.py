"""Speaks the Model Context Protocol over standard input and output, by the official SDK."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from hacheck import __version__
from hacheck.mcp import tool_answers

INSTRUCTIONS = (
    "hacheck verifies specs (.ha) of highly available systems. Write or read a spec, call verify; a violated property "
    "has its shortest run. limit_met says that a verdict covers the explored part only. explain knows the error codes."
)


def make_server() -> MCPServer:
    """The server with its tools."""
    server: MCPServer = MCPServer("hacheck", instructions=INSTRUCTIONS, version=__version__)
    _add_verify(server)
    _add_others(server)
    return server


def _reporter(context: Context[Any, Any] | None) -> tool_answers.Progress:
    """Reports lines of progress to the client."""
    count = 0

    async def report(line: str) -> None:
        nonlocal count
        count += 1
        if context is not None:
            await context.report_progress(count, None, line)

    return report


def _add_verify(server: MCPServer) -> None:
    @server.tool()
    async def verify(
        spec: str,
        context: Context[Any, Any],
        check: str | None = None,
        property: str | None = None,
        settings: list[str] | None = None,
        seconds: float = 60,
        states: int = 5_000_000,
    ) -> dict[str, Any]:
        """Verify a spec: a path, a shipped name such as `vrrp` or `icestorm`, or the text of a spec.

        Each property comes out as holds, violated or unknown; a violated one has its shortest run. `settings`:
        NAME=VALUE. `seconds` and `states` are budgets for each check; `limit_met` says that one was used up.
        """
        return await tool_answers.verify(spec, check, property, settings or [], seconds, states, _reporter(context))


def _add_others(server: MCPServer) -> None:
    @server.tool()
    async def show(
        spec: str, context: Context[Any, Any], check: str, property: str, settings: list[str] | None = None
    ) -> dict[str, Any]:
        """Show the run of one property of one check of a spec, step by step."""
        return await tool_answers.verify(spec, check, property, settings or [], 60, 5_000_000, _reporter(context))

    @server.tool()
    async def explain(code: str) -> dict[str, Any]:
        """Explain an error code such as HA120, with wrong and right text."""
        return await tool_answers.explain(code)

    @server.tool()
    async def simulate(spec: str, seed: int = 1, steps: int = 20, settings: list[str] | None = None) -> dict[str, Any]:
        """Walk through a spec at random; the same seed gives the same run."""
        return await tool_answers.simulate(spec, seed, steps, settings or [])

    @server.tool()
    async def conform(
        spec: str,
        traces: str,
        context: Context[Any, Any],
        adapter: str | None = None,
        property: str = "all",
        seconds: float = 60,
    ) -> dict[str, Any]:
        """Compare logs or traces (a path) with a spec: whether they follow it, and which invariants they broke, when
        and by whom. `adapter`: what reads raw logs, by name or path."""
        return await tool_answers.conform(spec, traces, adapter, property, seconds, _reporter(context))


def serve() -> None:
    """Serves one assistant over standard input and output."""
    make_server().run("stdio")
