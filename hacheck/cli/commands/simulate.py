"""`hacheck simulate`: one random run of a spec, the same for the same seed; or many of them, as traces in files."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import JOBS_MAX, MS_MAX, SEED_MAX, DebugOption, NoColorOption, SettingOptions, SpecArgument

TRACES, DAMAGE = "Traces", "Traces that are not as they were"

EPILOG = """
[bold]Examples[/]

  hacheck simulate icestorm --seed 7               30 steps of a random run

  hacheck simulate mine.ha --steps 99 --json r.json  saved for hacheck show

  hacheck simulate icestorm --traces 10k --out runs/  runs as traces, with the truth in runs/_truth

  hacheck simulate mine.ha --traces 10k --out runs/ --hide timeout --skew 20 --mutate 0.01
"""

One = str | None
STEPS = "Largest number of steps; by default 30, of traces 200."
SEED = "The same seed gives the same run, and the same files."
JSON = "Write the run, or a summary of the traces, as JSON (- is stdout)."
NUMBER = "Write this many runs as traces: 1000, 10k, 1M."
OUT = "Folder for the traces; it must be empty."
FORM = "Format of the traces: parquet or jsonl."
JOBS = "Number of processes. The files do not depend on it."
EVERY = "Write a line for each step, even where the spec says what is logged."
HIDE = "These events leave no line: a,b,c."
HIDE_FIELDS = "Leave these fields out: field, or event.field of one event only."
SKEW = "Write a log for each node; the clocks of two nodes differ by up to this many milliseconds."
DROP = "Lose this share of the lines: 0.001, or 0.1%."
MUTATE = "Put one error into this share of the traces: 0.01, or 1%."
KINDS = "Kinds of errors: value, node, swap, lost, duplicate. By default all."
QUIET = "Show errors only."
FILES = Writes(within=("*",))
OF_TRACES = (
    *("--out", "--format", "--jobs", "--every-step", "--hide", "--hide-fields"),
    *("--skew", "--drop-lines", "--mutate", "--mutations"),
)
"""What is of no use without --traces."""


@guarded
def simulate(
    spec: SpecArgument,
    seed: Annotated[int, option("--seed", metavar="N", help=SEED, least=0, most=SEED_MAX)] = 0,
    steps: Annotated[int | None, option("--steps", metavar="N", help=STEPS, least=0, most=1_000_000)] = None,
    check: Annotated[One, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    settings: SettingOptions = None,
    json: Annotated[One, option("--json", metavar="FILE", help=JSON, writes=Writes())] = None,
    traces: Annotated[One, option("--traces", metavar="N", help=NUMBER, panel=TRACES)] = None,
    out: Annotated[One, option("--out", "-o", metavar="DIR", help=OUT, panel=TRACES, writes=FILES)] = None,
    form: Annotated[One, option("--format", metavar="FORM", help=FORM, panel=TRACES)] = None,
    jobs: Annotated[
        int | None, option("--jobs", "-j", metavar="N", help=JOBS, panel=TRACES, least=1, most=JOBS_MAX)
    ] = None,
    every_step: Annotated[bool, flag("--every-step", help=EVERY, panel=TRACES)] = False,
    quiet: Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=TRACES)] = False,
    hide: Annotated[One, option("--hide", metavar="EVENTS", help=HIDE, panel=DAMAGE)] = None,
    hide_fields: Annotated[One, option("--hide-fields", metavar="FIELDS", help=HIDE_FIELDS, panel=DAMAGE)] = None,
    skew: Annotated[int | None, option("--skew", metavar="MS", help=SKEW, panel=DAMAGE, least=0, most=MS_MAX)] = None,
    drop: Annotated[One, option("--drop-lines", metavar="SHARE", help=DROP, panel=DAMAGE)] = None,
    mutate: Annotated[One, option("--mutate", metavar="SHARE", help=MUTATE, panel=DAMAGE)] = None,
    kinds: Annotated[One, option("--mutations", metavar="KINDS", help=KINDS, panel=DAMAGE)] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Simulate a protocol: show a random run of the model step by step, or write many as traces."""
    from hacheck.cli.options import parse_count, parse_settings

    given = parse_settings(settings or ())
    if traces is None:
        of_traces = (out, form, jobs, every_step or None, hide, hide_fields, skew, drop, mutate, kinds)
        for name, value in zip(OF_TRACES, of_traces, strict=True):
            if value is not None:
                raise BadInput(f"{name} is for traces", "add --traces N --out DIR")
        from hacheck.cli.checking.saved_runs import simulate_spec

        return simulate_spec(spec, seed, 30 if steps is None else steps, check, given, json, no_color=no_color)
    from hacheck.cli.logs.trace_simulation import Output, Unlike, Walks, simulate_traces

    number = parse_count("--traces", traces)
    walks = Walks(spec, check, given, traces=number, steps=200 if steps is None else steps, seed=seed, every=every_step)
    unlike = Unlike(hide=hide, hide_fields=hide_fields, skew=skew, drop=drop, mutate=mutate, kinds=kinds)
    output = Output(out=out, form=form or "parquet", jobs=jobs, json=json, quiet=quiet, no_color=no_color)
    return simulate_traces(walks, unlike, output)
