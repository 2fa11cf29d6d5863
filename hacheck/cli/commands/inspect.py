"""`hacheck inspect`: the model that a spec means, as text."""

from __future__ import annotations

import sys
from typing import Annotated

from hacheck.cli.command_line import flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck inspect icestorm --ir                      the model of the default check

  hacheck inspect mine.ha --native --set crashes=2   the code that explores it

  hacheck inspect mine.ha --smt > mine.smt2          the query to Z3: z3 mine.smt2
"""


@guarded
def inspect(
    spec: SpecArgument,
    ir: Annotated[bool, flag("--ir", help="The typed model: variables, actions, properties.")] = False,
    lowered: Annotated[
        bool,
        flag("--lowered", help="The lowered form, from which all code is made: slots and blocks."),
    ] = False,
    python: Annotated[bool, flag("--python", help="The Python code the portable engine generates.")] = False,
    native: Annotated[
        bool, flag("--native", help="The LLVM IR the native engine generates, and which reductions it rests on.")
    ] = False,
    smt: Annotated[bool, flag("--smt", help="What the Z3 engines ask, as SMT-LIB 2.")] = False,
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    settings: SettingOptions = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Print what a spec means: its model, or the code made from it."""
    from hacheck.cli.options import parse_settings
    from hacheck.cli.selection import one_system
    from hacheck.cli.sources import load_specification

    if ir + lowered + python + native + smt > 1:
        raise BadInput("--ir, --lowered, --python, --native and --smt: one of them")
    specification = load_specification(spec, no_color=no_color)
    system = one_system(specification, check, parse_settings(settings or ()), no_color=no_color)
    if smt:
        from hacheck.checker.symbolic.smtlib_script import script_of

        sys.stdout.write(script_of(system))
    elif lowered:
        from hacheck.compile.lowering.lowered_text import lowered_text
        from hacheck.compile.lowering.system import lower
        from hacheck.model.interpreter import Interpreter

        sys.stdout.write(lowered_text(lower(system, Interpreter(system).initial_states())))
    elif python or native:
        from hacheck.cli.engines import generated_code, machine_code

        sys.stdout.write((machine_code if native else generated_code)(system))
    else:
        from hacheck.model.system_text import print_system

        sys.stdout.write(print_system(system))
    return ExitCode.AS_EXPECTED
