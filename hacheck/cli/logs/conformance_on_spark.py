"""The part of `hacheck conform` that is Spark's: traces in files that all machines see, or at a URL that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.api.comparison import Checker
from hacheck.cli.guard import BadInput
from hacheck.cli.options import all_known, parse_settings
from hacheck.traces.dataset import Dataset, Located, TraceFile
from hacheck.traces.drivers.contract import Outcome, Progress
from hacheck.traces.findings import Findings
from hacheck.traces.records import Order, TraceSchema

if TYPE_CHECKING:
    from hacheck.cli.logs.conformance import ConformRequest

ORDERS = ("total", "per_node")


class Elsewhere(Struct, frozen=True):
    """Parquet files at a URL that Spark reads and this machine does not: `s3a://…`, `hdfs://…`. `schema`: as far as it
    is known before they are read, which is the order of records."""

    url: str
    schema: TraceSchema
    files: tuple[TraceFile, ...] = ()


class SparkOptions(Struct, frozen=True):
    """`settings`: Spark's own; `order`: of records at a URL, where the user says it."""

    master: str | None = None
    settings: Mapping[str, str] = {}
    order: str | None = None


def spark_options(
    engine: str, traces: str, master: str | None, conf: Sequence[str] | None, order: str | None
) -> SparkOptions:
    """What a command line says of Spark. Errors: `BadInput` where it says it of another engine, or of no URL."""
    for name, given in {"--master": master, "--conf": conf, "--order": order}.items():
        if given and engine != "spark":
            raise BadInput(f"{name} needs Spark", "add --engine spark")
    if order is not None:
        all_known("order", (order,), ORDERS)
        if not is_elsewhere(traces):
            raise BadInput("--order is for a URL; files on this machine say it themselves", "leave it out")
    return SparkOptions(master, parse_settings(conf or (), "--conf"), order)


def is_elsewhere(text: str) -> bool:
    """Whether a text is a URL of something that is not on this machine."""
    scheme, colon, _ = text.partition("://")
    return bool(colon) and scheme.isalnum() and scheme.lower() != "file"


def elsewhere(request: ConformRequest) -> Elsewhere:
    """What a URL names. Errors: `BadInput` for options that read the traces on this machine."""
    if request.adapter is not None:
        raise BadInput("Spark reads traces, not logs; convert them first", "hacheck traces convert LOGS --adapter NAME")
    here = {"--report": request.report is not None, "--switches": request.switches > 0}
    for name, given in here.items():
        if given:
            raise BadInput(f"{name} reads the traces again, on this machine", f"copy them here, or leave {name} out")
    return Elsewhere(request.traces, TraceSchema(order=Order(request.spark.order or "per_node")))


def table_on_spark(text: str) -> str:
    """Where Spark writes a table: a URL, or a folder that is not there yet. Errors: `BadInput`."""
    if "://" in text:
        return text
    path = Path(text).absolute()
    if path.exists():
        raise BadInput(f"--out {text}: already exists", "Spark writes a new folder: give another name")
    return str(path)


def checked_on_spark(
    request: ConformRequest,
    dataset: Located | Elsewhere,
    checker: Checker,
    findings: Findings,
    table: str | None,
    report: Callable[[Progress], bool],
    *,
    collect: bool,
) -> Outcome:
    """The verdicts on all traces. Errors: `BadInput` for logs, which only this machine reads; `DriverError`."""
    from hacheck.traces.drivers.spark_batch import check_on_spark
    from hacheck.traces.drivers.spark_session import end, session

    if not isinstance(dataset, Dataset | Elsewhere):
        hint = f"hacheck traces convert {request.traces} --adapter {request.adapter} --out traces.parquet"
        raise BadInput("Spark reads traces, not logs; convert them first", hint)
    spark = session(request.spark.master, settings=request.spark.settings)
    try:
        traces = dataset.url if isinstance(dataset, Elsewhere) else dataset
        return check_on_spark(spark, traces, checker, findings, table=table, collect=collect, report=report)
    finally:
        end(spark)
