"""What verdicts say of a trace that deviates, and which lines of a spec records cover, as DataFrames."""

from __future__ import annotations

import os
from typing import Any

from hacheck.api.comparison import events_of
from hacheck.api.errors import InputError
from hacheck.api.specification import Settings, Spec, load
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.spark.record_frames import require_columns
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ, TRACE_ID


def explain(verdicts: Any) -> Any:
    """One row for each line that the model would have allowed where a trace left it: `trace_id`, the record at which it
    did (`seq`, `node`, `event`, `file`, `line`), the `number` of the line, from 1, and `expected`, the line as text.

    `verdicts`: what `conform` gives, or a table of it. No job is started. Errors: `InputError` for another table.
    """
    from pyspark.sql import functions as f

    place = (TRACE_ID, SEQ, NODE, EVENT, FILE, LINE)
    require_columns(verdicts, (*place, "expected"))
    rows = verdicts.select(*place, f.posexplode("expected").alias("number", "expected"))
    return rows.withColumn("number", f.col("number") + 1)


def coverage(
    df: Any, spec: str | os.PathLike[str] | Spec, *, check: str | None = None, settings: Settings | None = None
) -> Any:
    """Which lines of the spec the records cover: a row for each event of the spec, also where no record has it, and for
    each that only records have: `event`, `in_spec`, how many `records` and `traces` have it.

    No job is started. Errors: `InputError` and `SpecError` as those of `conform`.
    """
    from pyspark.sql import functions as f

    require_columns(df, (TRACE_ID, EVENT))
    loaded = load(spec)
    system, _ = loaded.system(check, settings, logs=True)
    known = sorted(events_of(logged(system, not has_lines(system))))
    if not known:
        raise InputError(f"{loaded.path}: no step of it writes a line", "see `log` in docs/language.md")
    lines = df.sparkSession.createDataFrame([(name,) for name in known], f"{EVENT} string")
    seen = df.groupBy(EVENT).agg(f.count("*").alias("records"), f.count_distinct(TRACE_ID).alias("traces"))
    both = lines.withColumn("in_spec", f.lit(True)).join(seen, EVENT, "full_outer")
    none = {"in_spec": False, "records": 0, "traces": 0}
    return both.fillna(none).select(EVENT, "in_spec", "records", "traces")
