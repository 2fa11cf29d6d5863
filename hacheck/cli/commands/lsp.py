"""`hacheck lsp`: the language server for editors."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import flag
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption

EPILOG = """
[bold]Examples[/]

  hacheck lsp                    editors start this themselves: hacheck explain editors has the settings

  editors/vscode                 the extension for Visual Studio Code

Needs the extra lsp: pip install 'hacheck[lsp]'
"""

STDIO = "Speak over standard input and output. This is the only way, so the option changes nothing."


@guarded
def lsp(stdio: Annotated[bool, flag("--stdio", help=STDIO)] = False, debug: DebugOption = False) -> ExitCode:
    """Serve an editor: errors while typing, hover, definitions, renaming, completion, verdicts (LSP)."""
    from hacheck.lsp.server import serve

    serve()
    return ExitCode.AS_EXPECTED
