"""The Spark session: everything that must be set before one works, in one place.

The master may be local (`local[*]`), a cluster, or a Spark Connect server (`sc://host:port`). Only this module, those
named `spark_…` beside it and `submit` import pyspark, and only when they are used.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import zipfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hacheck
from hacheck.supervise.resources import usable_cores
from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.drivers.java import java_home

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT = "sc://"

HEAP = "4g"
"""The memory of the Java process of a local session, and of each executor."""

BATCH_ROWS = 65_536
"""Records in a batch that Python gets."""

FAILURES_MAX = 4
"""A task may fail so often, because a process was killed or a machine lost, before the job does."""

UNSPLIT_BYTES = 1 << 40
"""No file is larger; what is set to this keeps Spark from cutting any."""

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Starts in half the time and runs slower: for small jobs."""


def local_master(workers: int | None = None) -> str:
    """A session on this machine, in which a task that failed is tried again."""
    return f"local[{workers or usable_cores()},{FAILURES_MAX}]"


def session(
    master: str | None = None, *, quick: bool = False, settings: Mapping[str, str] | None = None, name: str = "hacheck"
) -> Any:
    """A Spark session that is ready for the drivers, with this package on every executor.

    `master`: as Spark calls it (`None`: this machine); `quick`: for small jobs; `settings`: Spark's own, which win.
    Errors: `DriverError` where pyspark or Java is not there, or the session does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        hint = "pip install 'hacheck[spark]', or 'hacheck[connect]' for a Spark Connect server"
        raise DriverError("pyspark is not installed", hint) from None
    master = master or local_master()
    builder = SparkSession.builder.appName(name)
    if master.startswith(CONNECT):
        builder = builder.remote(master)
        chosen = connect_settings()
    else:
        builder = builder.master(master)
        chosen = classic_settings(master, quick=quick)
    for key, value in (chosen | dict(settings or {})).items():
        builder = builder.config(key, value)
    with environment(master), same_answer_to_control_c():
        try:
            made = builder.getOrCreate()
        except Exception as error:  # whatever Java, py4j or gRPC raise
            reason = str(error).strip().splitlines()[0]
            raise DriverError(f"no Spark session on {master}: {reason}", "see Spark's own words above") from error
    if not master.startswith(CONNECT):
        made.sparkContext.setLogLevel("ERROR")
    ship(made)
    return made


def connect_settings() -> dict[str, str]:
    """What a client of a Spark Connect server may choose."""
    return {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    }


def classic_settings(master: str, *, quick: bool) -> dict[str, str]:
    """What a session needs that brings its own Java process."""
    found = connect_settings() | {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": HEAP,
        "spark.driver.maxResultSize": "0",
        "spark.task.maxFailures": str(FAILURES_MAX),
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
    }
    if quick:
        found["spark.driver.extraJavaOptions"] = found["spark.executor.extraJavaOptions"] = QUICK_JAVA
    if master.startswith("local"):
        found |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        found["spark.sql.shuffle.partitions"] = str(3 * usable_cores())
    return found


@contextmanager
def environment(master: str) -> Iterator[None]:
    """The variables under which Java and Python processes are started. PYSPARK_PYTHON stays, because every job looks
    at it: without it workers would run whatever `python3` is on the path."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    before = {key: os.environ.get(key) for key in ("JAVA_HOME", "SPARK_LOCAL_IP")}
    if not master.startswith(CONNECT):
        home = java_home(os.environ)
        if home is not None:
            os.environ["JAVA_HOME"] = str(home)
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


@contextmanager
def same_answer_to_control_c() -> Iterator[None]:
    """Leaves Ctrl-C to the handler that it has: pyspark sets one of its own, which ends in tracebacks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None:  # else it was not set by Python, and cannot be set again
            signal.signal(signal.SIGINT, before)


def is_connect(spark: Any) -> bool:
    """Whether a session is one of Spark Connect, which has no context of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def ship(spark: Any) -> None:
    """Sends this package to every executor, once for each session. What it depends on must be there already."""
    if spark.conf.get("spark.hacheck.shipped", None) is not None:
        return
    folder = tempfile.mkdtemp(prefix="hacheck-package-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors that come later fetch it again
    archive = packed(Path(folder))
    spark.addArtifacts(str(archive), pyfile=True)
    spark.conf.set("spark.hacheck.shipped", archive.name)
    spark.conf.set("spark.hacheck.folder", folder)


def end(spark: Any) -> None:
    """Ends a session, and removes what was put down for it. A process that ends at once runs no exit functions."""
    folder = spark.conf.get("spark.hacheck.folder", None)
    spark.stop()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def packed(folder: Path) -> Path:
    """This package as a zip file, with its data and without compiled files; its name identifies its content."""
    root = Path(hacheck.__file__).parent
    found = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    digest = hashlib.sha256()
    made = folder / "package.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in found:
            name = f"hacheck/{path.relative_to(root).as_posix()}"
            content = path.read_bytes()
            digest.update(name.encode() + b"\0" + content)
            archive.writestr(name, content)
    return made.rename(folder / f"hacheck-{digest.hexdigest()[:16]}.zip")
