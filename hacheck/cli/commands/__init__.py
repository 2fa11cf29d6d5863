"""The subcommands: a module for each says what it takes on the command line, and whom it asks to do it."""

from __future__ import annotations

from msgspec import Struct

ASK, RUN, LOOK, WRITE, DEVELOP = "Check", "Run", "Look", "Write", "For developers of hacheck"


class Command(Struct, frozen=True):
    """A subcommand: its name, its place in the help, and its function, which is called as its module is unless said
    otherwise."""

    name: str
    panel: str
    named: str = ""

    @property
    def module(self) -> str:
        """The module that declares it."""
        return f"hacheck.cli.commands.{self.name.replace('-', '_')}"

    @property
    def function(self) -> str:
        """The function in that module."""
        return self.named or self.name.replace("-", "_")


COMMANDS = (
    Command("verify", ASK),
    Command("prove", ASK),
    Command("why", ASK),
    Command("timing", ASK),
    Command("replay", ASK),
    Command("conform", ASK),
    Command("monitor", ASK),
    Command("simulate", ASK),
    Command("simulate-impl", ASK),
    Command("check-impl", ASK),
    Command("cluster", RUN),
    Command("admin", RUN),
    Command("show", LOOK),
    Command("explore", LOOK),
    Command("diagram", LOOK),
    Command("list", LOOK, "list_specs"),
    Command("traces", LOOK),
    Command("init", WRITE),
    Command("doc", WRITE),
    Command("fmt", WRITE),
    Command("explain", WRITE),
    Command("lsp", WRITE),
    Command("mcp", WRITE),
    Command("inspect", DEVELOP),
)

FORMER = {"sim": "simulate-impl", "version": "--version"}
"""What a first word that was the name of a command is called now. It still works, and says so."""
