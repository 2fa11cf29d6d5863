"""`hacheck show`: replays a saved run and shows it again."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.declaring import Argument, Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

EPILOG = """
[bold]Examples[/]

  hacheck show found.json --property one_active   one run of verify --json

  hacheck show found.json --report found.html     every run in it on one page, to step through

  hacheck show run.json --itf > run.itf.json      for tools that read ITF
"""

REPORT = "Write one HTML page with these runs instead."
SPEC = "The spec of the run, if the file has several, or if it has moved."


@guarded
def show(
    run: Annotated[str, Argument("RUN.json", "What verify or simulate wrote with --json; - is stdin.", reads="file")],
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check, if there are several.")] = None,
    only: Annotated[
        str | None, option("--property", metavar="NAME", help="The property, if there are several runs.")
    ] = None,
    spec: Annotated[str | None, option("--spec", metavar="SPEC", help=SPEC, reads="spec")] = None,
    itf: Annotated[bool, flag("--itf", help="Print the run as ITF JSON.")] = False,
    report: Annotated[str | None, option("--report", metavar="FILE", help=REPORT, writes=Writes())] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Replay a saved run with the reference interpreter and show it step by step."""
    from hacheck.cli.checking.saved_runs import report_saved, show_saved

    if report is not None:
        return report_saved(run, check, only, spec, report, no_color=no_color)
    return show_saved(run, check, only, spec, itf=itf, no_color=no_color)
