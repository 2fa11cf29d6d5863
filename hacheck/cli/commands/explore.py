"""`hacheck explore`: steps through a protocol in the browser, with the interpreter behind the page."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck explore icestorm                                    from the initial state

  hacheck explore icestorm --run found.json                   from the runs that verify --json wrote

  hacheck explore icestorm --run found.json --at '#/run/icestorm.ha/default/served/4~1'

  hacheck explore icestorm --log logs/ --adapter icestorm     from where a log leaves the protocol

The page is served to this machine alone, under an address that cannot be guessed; Ctrl-C ends it.
"""

RUN = "Begin with the runs that verify, simulate or conform wrote with --json."
LOG = "Begin with a shortest run up to where each of these traces leaves the protocol."
ADAPTER = "How the lines of the log are read, as for conform."
PROPERTY = "The property to look at; with --run, only its run."
AT = "Open the page at this link of a report or of a page like this."
PORT = "The port to listen on; by default one that is free."


@guarded
def explore(
    spec: SpecArgument,
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    settings: SettingOptions = None,
    only: Annotated[str | None, option("--property", metavar="NAME", help=PROPERTY)] = None,
    run: Annotated[str | None, option("--run", metavar="FILE", help=RUN, reads="run")] = None,
    log: Annotated[str | None, option("--log", metavar="TRACES", help=LOG, reads="file")] = None,
    adapter: Annotated[str | None, option("--adapter", metavar="NAME", help=ADAPTER, reads="file")] = None,
    at: Annotated[str | None, option("--at", metavar="LINK", help=AT)] = None,
    port: Annotated[int, option("--port", metavar="N", help=PORT, least=0, most=65535)] = 0,
    no_browser: Annotated[bool, flag("--no-browser", help="Print the address only.")] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Step through a protocol in the browser: every step that is possible, from any state."""
    from hacheck.cli.exploring.explorer import ExploreRequest, explore_spec
    from hacheck.cli.options import parse_settings

    return explore_spec(
        ExploreRequest(
            spec=spec,
            check=check,
            settings=parse_settings(settings or ()),
            only=only,
            run=run,
            log=log,
            adapter=adapter,
            at=at,
            port=port,
            browser=not no_browser,
            no_color=no_color,
        )
    )
