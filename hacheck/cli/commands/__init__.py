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
    Command("audit", ASK),
    Command("sweep", ASK),
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
    Command("adapter", WRITE),
    Command("doc", WRITE),
    Command("fmt", WRITE),
    Command("explain", WRITE),
    Command("lsp", WRITE),
    Command("mcp", WRITE),
    Command("inspect", DEVELOP),
)

FORMER = {"sim": "simulate-impl", "version": "--version"}
"""What a first word that was the name of a command is called now. It still works, and says so."""

VERIFYING = "`hacheck verify SPEC` explores a spec"

ELSEWHERE = {
    **dict.fromkeys(("check", "model-check", "mc"), f"{VERIFYING}, `hacheck check-impl` runs code"),
    "test": f"{VERIFYING}, `hacheck init` writes a test of your own service, and `pytest` runs it",
    "run": f"{VERIFYING}, `hacheck simulate SPEC` takes one random run",
    "typecheck": "`hacheck fmt --check SPEC` reads a spec; so does every other command",
    "parse": "`hacheck fmt --check SPEC` reads a spec; so does every other command",
    "trace": "`hacheck show FILE` shows a run of `hacheck verify --json`, `hacheck conform` compares logs with a spec",
    "validate": "`hacheck conform SPEC LOGS` compares logs with a spec",
    "repl": "`hacheck explore SPEC` takes steps by hand, in the browser",
    "new": "`hacheck init` writes a spec, a test and a workflow to begin with",
    **dict.fromkeys(("graph", "draw"), "`hacheck diagram SPEC` draws the state diagram"),
    "watch": "`hacheck verify SPEC --watch` verifies again each time it is saved",
    "lint": "`hacheck fmt --check SPEC` reads a spec; so does every other command",
    **dict.fromkeys(
        ("help", "docs", "tutorial"), "`hacheck explain tutorial` prints the tutorial, `--help` lists the commands"
    ),
    "examples": "`hacheck list` names the protocols and examples that come with it",
}
"""What a command of another tool is called here."""

REPORT = ("--report", "FILE writes one page with pictures")

OPTIONS_ELSEWHERE: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(
        ("--param", "--parameter", "--const", "--constant", "--define"), (("--set", "NAME=VALUE changes a setting"),)
    ),
    **dict.fromkeys(("--trace", "--error-trace", "--counterexample"), (("--runs", "draws every counterexample"),)),
    **dict.fromkeys(("--invariant", "--inv", "--prop"), (("--property", "NAME decides this property only"),)),
    **dict.fromkeys(("--workers", "--cores", "--parallel"), (("--threads", "N explores with that many threads"),)),
    **dict.fromkeys(
        ("--max-steps", "--max-depth", "--length", "--bound"),
        (("--depth", "N goes that many steps deep"), ("--steps", "N takes that many steps")),
    ),
    "--depth": (("--steps", "N takes that many steps"),),
    **dict.fromkeys(("--timeout", "--max-time"), (("--time", "TIME stops after so long: 90, 5m"),)),
    **dict.fromkeys(("--max-states", "--limit"), (("--states", "N stops at that many states"),)),
    **dict.fromkeys(("--verbose", "--stats"), (("--details", "reports everything of each check"),)),
    **dict.fromkeys(("--html", "--output-html", "--page", "--web"), (REPORT,)),
    **dict.fromkeys(("--output", "--out"), (("--out", "is the name of a file or folder to write"), REPORT)),
    **dict.fromkeys(("--runs", "--count", "--walks"), (("--traces", "N --out DIR writes the records of N runs"),)),
    **dict.fromkeys(("--svg", "--dot", "--mermaid"), (("--format", "svg, dot or mermaid draws it so"),)),
    **dict.fromkeys(("--log", "--logs", "--parser"), (("--adapter", "FILE says how lines become events"),)),
}
"""What an option of another tool is called here, and what it does: the first that a command has."""
