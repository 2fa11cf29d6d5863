"""The entry for `spark-submit`: checks traces on the session it is given.

    spark-submit submit.py TRACES --spec icestorm --check as_released --set replicas=5 --table URL

`--spec` is a file on the machine of the driver, or a shipped spec. `--checker` is a file that
`hacheck.traces.conformance.checker_file.write` has written: the system as text, and how traces are compared with it;
nothing in it is run. Each executor compiles for itself. Exit codes: 0 all traces conform, 1 some do not, or violate a
property that was checked, 2 records were damaged or the job failed, 3 some verdicts are `unknown`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hacheck.api.conformance import exit_code
from hacheck.api.errors import InputError
from hacheck.atomic_files import replace_text
from hacheck.spark.conformance_request import Sought, compared_of
from hacheck.traces.conformance import checker_file
from hacheck.traces.conformance.follower import CAPACITY
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.contract import Outcome, Progress
from hacheck.traces.drivers.spark_batch import check_on_spark
from hacheck.traces.drivers.spark_session import ship
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import Order

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the job. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="submit.py", description="Checks traces on Spark.")
    parser.add_argument("traces", help="a folder that all executors can read, or a URL of Parquet files")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--spec", help="what the traces are compared with")
    given.add_argument("--checker", "--judge", type=Path, help="a file by checker_file.write")
    parser.add_argument("--check", help="whose settings, with --spec")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, with --spec")
    parser.add_argument(
        "--property", action="append", default=[], metavar="NAME", help="checked on the way, with --spec"
    )
    parser.add_argument("--node", action="append", default=[], metavar="NAME=NODE", help="the spec's name of a node")
    parser.add_argument("--order", choices=[one.value for one in Order], default="per_node", help="of records at a URL")
    parser.add_argument("--skew", type=int, default=10, metavar="MS", help="between clocks, with --spec")
    parser.add_argument("--table", help="where the table of verdicts is written")
    parser.add_argument("--json", type=Path, help="a file for the outcome, which is printed otherwise")
    parser.add_argument("--partitions", type=int, help="into how many parts records are exchanged")
    chosen = parser.parse_args(arguments)
    findings = Findings()
    try:
        kept = None if chosen.checker is None else checker_file.read(chosen.checker)
        traces = chosen.traces if "://" in chosen.traces else open_traces(Path(chosen.traces), findings)
        order = Order(chosen.order) if isinstance(traces, str) else traces.schema.order
        checker = kept or checker_of(chosen, order)
        spark = submitted_session()
        outcome = check_on_spark(
            spark, traces, checker, findings, table=chosen.table, partitions=chosen.partitions, report=Lines()
        )
        text = json.dumps(outcome_json(outcome, findings), indent=1)
        if chosen.json is None:
            print(text)
        else:
            replace_text(chosen.json, text + "\n")
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return FAILED
    except (InputError, TracesError) as error:
        print(f"error: {error.message}" + (f"\n  {error.hint}" if error.hint else ""), file=sys.stderr)
        return FAILED
    return exit_code(outcome, findings)


def checker_of(chosen: argparse.Namespace, order: Order) -> Any:
    """What compares the traces with a spec. Errors: `InputError`."""
    settings = pairs("--set", chosen.set, "replicas=5")
    nodes = pairs("--node", chosen.node, "r1=Replica-1")
    compared = compared_of(chosen.spec, chosen.check, settings, nodes=nodes, invariants=chosen.property)
    return Sought(compared, chosen.skew, CAPACITY, 0).checker(order)


def pairs(option: str, given: Sequence[str], example: str) -> dict[str, str]:
    """Values by name. Errors: `InputError` for a word that is no pair."""
    for words in given:
        if "=" not in words:
            raise InputError(f"{option} {words}: expected NAME=VALUE", f"for example {option} {example}")
    return {name: value for name, _, value in (words.partition("=") for words in given)}


def submitted_session() -> object:
    """The session that spark-submit has set up, with this package on its executors."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.conf.set("spark.sql.caseSensitive", "true")
    ship(spark)
    return spark


class Lines:
    """A line for every tenth of the work."""

    def __init__(self) -> None:
        self._last = -1

    def __call__(self, progress: Progress) -> bool:
        tenth = 10 * progress.done // progress.total if progress.total else 0
        if tenth > self._last:
            self._last = tenth
            print(f"{progress.phase}: {progress.done} of {progress.total} tasks", file=sys.stderr, flush=True)
        return True


def outcome_json(outcome: Outcome, findings: Findings) -> dict[str, object]:
    """The outcome as JSON."""
    shown = [{"trace_id": one.trace_id, "verdict": one.kind, "reason": one.reason} for one in outcome.shown]
    return {
        "traces": outcome.traces,
        "records": outcome.records,
        "verdicts": dict(outcome.counts),
        "table": outcome.table,
        "shown": shown,
        "findings": findings.to_json(),
    }


if __name__ == "__main__":
    sys.exit(main())
