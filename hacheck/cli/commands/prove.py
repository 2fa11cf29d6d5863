"""`hacheck prove`: proves what a spec claims for every number of nodes."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, JsonOption, MemoryOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck prove examples/proofs/quorum_election.ha            every number of replicas

  hacheck prove mine.ha --check default --property one        one property, with the lemmas of the spec

  hacheck prove mine.ha --certificate proof                   then: for f in proof/*.smt2; do z3 $f; done

[bold]Exit codes[/]

  0 proved   2 bad input, or a spec that cannot be expressed in first-order logic   3 not proved   4 a bug in hacheck
"""

CHECK = "The check whose settings and properties count; by default the one called default, else the first."
FOLDER = "Write the proof into this folder; z3 alone can check it again."
GIVEN = "Use only the properties and lemmas of the spec: look for no further lemmas."

PROOF = Writes(within=("*.smt2", "index.json", "model.pyv", "README.txt"))


@guarded
def prove(
    spec: SpecArgument,
    check: Annotated[str | None, option("--check", metavar="NAME", help=CHECK)] = None,
    only: Annotated[
        list[str] | None,
        option("--property", metavar="NAME", help="Prove this property only, with the lemmas. Repeatable."),
    ] = None,
    settings: SettingOptions = None,
    given: Annotated[bool, flag("--given", help=GIVEN)] = False,
    time: Annotated[
        str | None, option("--time", metavar="TIME", help="Stop after this long: 90, 5m, 2h. By default 5m.")
    ] = None,
    memory: MemoryOption = None,
    threads: Annotated[
        str | None, option("--threads", metavar="N", help="Number of obligations that are proved at once.")
    ] = None,
    certificate: Annotated[str | None, option("--certificate", metavar="DIR", help=FOLDER, writes=PROOF)] = None,
    json: JsonOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Prove safety for every number of nodes, with a certificate."""
    from hacheck.cli.options import memory_limit, parse_count, parse_seconds, parse_settings
    from hacheck.cli.proving.proof import Request, prove_spec

    return prove_spec(
        Request(
            spec=spec,
            check=check,
            settings=parse_settings(settings or ()),
            properties=tuple(only or ()),
            given_only=given,
            seconds_max=300.0 if time is None else parse_seconds(time),
            memory_max=memory_limit(memory),
            threads=None if threads is None else parse_count("--threads", threads),
            certificate=certificate,
            json=json,
            no_color=no_color,
        )
    )
