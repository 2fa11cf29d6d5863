"""`hacheck show`: replays a saved run and shows it again."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

EPILOG = """
[bold]Examples[/]

  hacheck show found.json --property one_active   one run of verify --json

  hacheck show found.json --report found.html     every run in it on one page, to step through

  hacheck show run.json --format svg -o run.svg   a drawing; also for documents: mermaid, plantuml

  hacheck show found.json --property p --blame     what the violation needs; the nearest good run

  hacheck show found.json --path 14~2.0            up to step 14, then on as the page's link says

  hacheck show run.json --format itf              for tools that read ITF
"""

REPORT = "Write one HTML page with these runs instead."
FORMATS = ("svg", "mermaid", "plantuml", "shiviz", "itf", "json")
FORM = "Write the run as svg, mermaid, plantuml (drawings), shiviz (a log for ShiViz), itf or json (the view)."
OUT = "Where --format writes, instead of standard output."
STEPS = "A list of all that each step changed, instead of a picture."
BLAME = (
    "Try the counterexample without each fault, assumption, step and way of a guard: which of them prevents it? "
    "And show the nearest run in which the property holds."
)
TIME = "With --blame: how long all trials take together, by default 2m."
PATH = (
    "Show the run up to a step, and on from there by other steps than its own: 14~2.0 takes the third possible step, "
    "then the first; links of the page are written so."
)
SPEC = "The spec of the run, if the file has several, or if it has moved."


@guarded
def show(
    run: Annotated[str, Argument("RUN.json", "What verify or simulate wrote with --json; - is stdin.", reads="run")],
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check, if there are several.")] = None,
    only: Annotated[
        str | None, option("--property", metavar="NAME", help="The property, if there are several runs.")
    ] = None,
    spec: Annotated[str | None, option("--spec", metavar="SPEC", help=SPEC, reads="spec")] = None,
    form: Annotated[str | None, option("--format", metavar="FORM", help=FORM)] = None,
    out: Annotated[str | None, option("--out", "-o", metavar="FILE", help=OUT, writes=Writes())] = None,
    itf: Annotated[bool, flag("--itf", help="The same as --format itf.")] = False,
    steps: Annotated[bool, flag("--steps", help=STEPS)] = False,
    blame: Annotated[bool, flag("--blame", help=BLAME)] = False,
    time: Annotated[str | None, option("--time", metavar="TIME", help=TIME)] = None,
    path: Annotated[str | None, option("--path", metavar="STEPS", help=PATH)] = None,
    report: Annotated[str | None, option("--report", metavar="FILE", help=REPORT, writes=Writes())] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Replay a saved run with the reference interpreter and show it step by step."""
    from hacheck.cli.checking.saved_runs import BlameOptions, ShowOptions, report_saved, show_saved
    from hacheck.cli.options import parse_seconds

    if itf and form not in (None, "itf"):
        raise BadInput(f"--itf and --format {form} are two formats", "leave one of them out")
    form = "itf" if itf else form
    if form is not None and form not in FORMATS:
        raise BadInput(f"--format {form}: there is no such format", f"there are {', '.join(FORMATS)}")
    if out is not None and form is None:
        raise BadInput("--out goes with --format", "or --report FILE, for a page")
    if time is not None and not blame:
        raise BadInput("--time goes with --blame", "showing a run takes no time that could be limited")
    if blame and form not in (None, "json"):
        raise BadInput(f"--blame and --format {form}: that format has no room for it", "use --format json or --report")
    if path is not None and (blame or report is not None):
        raise BadInput(f"--path goes with neither {'--blame' if blame else '--report'}", "the page has its own links")
    blaming = BlameOptions(None if time is None else parse_seconds(time)) if blame else None
    if report is not None:
        if form is not None:
            raise BadInput("--report and --format are two outputs", "leave one of them out")
        return report_saved(run, check, only, spec, report, blaming=blaming, no_color=no_color)
    shown = ShowOptions(form, out, steps, blaming, path)
    return show_saved(run, check, only, spec, shown, no_color=no_color)
