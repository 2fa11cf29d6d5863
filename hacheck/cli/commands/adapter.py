"""`hacheck adapter`: drafts an adapter for a log of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

EPILOG = """
[bold]Examples[/]

  hacheck adapter new lb1.log                       which kinds of messages there are, and an adapter for them

  hacheck adapter new lb1.log -o keepalived.toml    writes it; then: hacheck traces validate logs/ --adapter …

[bold]Exit codes[/]

  0 drafted   2 the log cannot be read, or no line begins with a time that is known
"""

ACTION = "What to do: new drafts an adapter from an example."
LOG = "A log, as text."
OUT = "Write the adapter (TOML)."
ACTIONS = ("new",)
KINDS_SHOWN = 15


@guarded
def adapter(
    action: Annotated[str, Argument("ACTION", ACTION)],
    log: Annotated[str | None, Argument("LOG", LOG, reads="file")] = None,
    out: Annotated[str | None, option("--out", "-o", metavar="FILE", help=OUT, writes=Writes())] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Draft an adapter for a log: how its lines begin, which kinds of messages there are, and what varies in them."""
    from rich.table import Table
    from rich.text import Text

    from hacheck.cli.console import output_console
    from hacheck.cli.json_output import open_target
    from hacheck.traces.adapters.drafts import drafted, for_json, json_keys

    if action not in ACTIONS:
        raise BadInput(f"unknown action {action!r}", f"there is: new, as in hacheck adapter new {log or action}")
    if log is None:
        raise BadInput("no log is given", "add an example of a log: hacheck adapter new lb1.log")
    path = Path(log)
    if path.is_dir():
        example = next((one for one in sorted(path.rglob("*")) if one.is_file()), path / "lb1.log")
        raise BadInput(f"{log} is a folder", f"give one of its logs: hacheck adapter new {example}")
    target = None if out is None else open_target(out)
    try:
        with path.open(encoding="utf-8", errors="backslashreplace") as lines:
            draft = drafted(lines, Path(out or log).stem, path.name)
    except OSError as error:
        raise BadInput(f"{log}: cannot be read: {error.strerror}") from None
    if draft is None:
        with path.open(encoding="utf-8", errors="backslashreplace") as lines:
            keys = json_keys(lines)
        hint = for_json(keys) if keys else "write [line] yourself: see docs/adapters.md"
        raise BadInput(f"{log}: most lines begin with no time stamp of a known form", hint)
    console = output_console(no_color=no_color)
    if target is None:
        console.print(draft.text, markup=False, highlight=False, soft_wrap=True, end="")
        return ExitCode.AS_EXPECTED
    target.save(draft.text)
    table = Table("lines", "kind of message", box=None, pad_edge=False)
    for kind in draft.kinds[:KINDS_SHOWN]:
        table.add_row(f"{kind.lines:,}", Text(kind.text))
    if len(draft.kinds) > KINDS_SHOWN:
        table.add_row("", f"and {len(draft.kinds) - KINDS_SHOWN} kinds more")
    console.print(table)
    without = draft.lines - draft.with_head
    other = draft.with_head - draft.in_events
    counts = f"{draft.in_events:,} understood as events, {other:,} of further kinds, {without:,} without a head"
    console.print(Text(f"{draft.lines:,} lines: {counts}"))
    hint = f"rename the events, then hacheck traces validate {log} --adapter {out}"
    console.print(Text(f"written: {out}; {hint}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED
