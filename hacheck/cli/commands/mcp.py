"""`hacheck mcp`: tools for assistants."""

from __future__ import annotations

from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption

EPILOG = """
[bold]Examples[/]

  hacheck mcp                    assistants start this themselves, over standard input and output

  {"mcpServers": {"hacheck": {"command": "hacheck", "args": ["mcp"]}}}

Needs the extra mcp: pip install 'hacheck[mcp]'
"""


@guarded
def mcp(debug: DebugOption = False) -> ExitCode:
    """Serve an assistant: verify, show, explain, simulate, conform as tools with budgets (MCP)."""
    from hacheck.mcp.server import serve

    serve()
    return ExitCode.AS_EXPECTED
