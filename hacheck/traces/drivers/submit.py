"""The entry for `spark-submit`: checks traces with a checker that was written to a file, on the session it is given.

    spark-submit --py-files hacheck.zip submit.py TRACES --checker FILE --table URL

`--checker` is a file that `hacheck.traces.conformance.checker_file.write` has written: the system as text, and how
traces are compared with it; each executor compiles it for itself. Nothing in it is run. Exit codes: 0 all traces
conform, 1 some do not, 2 records were damaged or the job failed, 3 some verdicts are `unknown`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hacheck.atomic_files import replace_text
from hacheck.traces.conformance import checker_file
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.contract import Outcome, Progress
from hacheck.traces.drivers.spark_batch import check_on_spark
from hacheck.traces.drivers.spark_session import ship
from hacheck.traces.findings import Findings, TracesError

CONFORM, DEVIATE, FAILED, UNDECIDED = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the job. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="submit.py", description="Checks traces on Spark.")
    parser.add_argument("traces", help="a folder that all executors can read, or a URL of Parquet files")
    parser.add_argument("--checker", "--judge", type=Path, required=True, help="a file by checker_file.write")
    parser.add_argument("--table", help="where the table of verdicts is written")
    parser.add_argument("--json", type=Path, help="a file for the outcome, which is printed otherwise")
    parser.add_argument("--partitions", type=int, help="into how many parts records are exchanged")
    chosen = parser.parse_args(arguments)
    findings = Findings()
    try:
        checker = checker_file.read(chosen.checker)
        traces = chosen.traces if "://" in chosen.traces else open_traces(Path(chosen.traces), findings)
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
    except TracesError as error:
        print(f"error: {error.message}" + (f"\n  {error.hint}" if error.hint else ""), file=sys.stderr)
        return FAILED
    return exit_code(outcome, findings)


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


def exit_code(outcome: Outcome, findings: Findings) -> int:
    """What the outcome means to a shell."""
    if findings.total:
        return FAILED
    if outcome.counts.get("deviates"):
        return DEVIATE
    undecided = outcome.counts.get("unknown") or not outcome.complete or not outcome.traces
    return UNDECIDED if undecided else CONFORM


if __name__ == "__main__":
    sys.exit(main())
