"""Conformance on DataFrames of your own Spark session: records or raw log lines in, a table of verdicts out.

    from hacheck.spark import conform
    verdicts = conform(spark.table("events"), "icestorm")

Everything is planned lazily: no function here starts a job or collects data. The session may be classic or Spark
Connect, and is never changed, but that this package is sent to its executors (`ship=False`: they have it).
"""

from hacheck.spark.summaries import coverage, explain
from hacheck.spark.verdict_frames import conform, findings

__all__ = ["conform", "coverage", "explain", "findings"]
