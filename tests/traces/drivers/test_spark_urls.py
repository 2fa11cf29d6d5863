"""`hacheck conform --engine spark` reads and writes URLs of Spark's, and paths wherever its executors are."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from hacheck.traces.drivers import spark_session
from hacheck.traces.drivers.spark_session import same_answer_to_control_c
from tests.cli.command import Ended, hacheck
from tests.cli.test_conform import GOOD, SPEC, WRONG, written

MOUNTED = "viewfs://store"
"""A file system of Hadoop's that has a scheme of its own, and keeps its files in a folder here."""


@pytest.fixture
def settings(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Mapping[str, str]]]:
    """The session of the tests in place of one that a command starts; with which settings it would have been started.
    The current folder, in which no executor is, has traces as JSON lines and as Parquet."""
    monkeypatch.chdir(tmp_path)
    Path("spec.ha").write_text(SPEC, encoding="utf-8")
    Path("lines").mkdir()
    written(Path("lines"), good=GOOD, wrong=WRONG)
    Path("store/night").mkdir(parents=True)
    assert hacheck("traces", "convert", "lines", "--out", "store/night/part.parquet", "--quiet").code == 0
    given: list[Mapping[str, str]] = []

    def session(master: str | None, *, settings: Mapping[str, str]) -> Any:
        given.append(settings)
        return spark

    mounted = spark.sparkContext._jsc.hadoopConfiguration()
    mounted.set("fs.viewfs.mounttable.store.link./data", (tmp_path / "store").as_uri())
    mounted.set("fs.viewfs.impl.disable.cache", "true")
    with patch.object(spark_session, "session", session), patch.object(spark_session, "end", lambda made: None):
        yield given


def conform(*words: str) -> Ended:
    """Compares traces with the spec on Spark."""
    return hacheck("conform", "spec.ha", *words, "--engine", "spark", columns=200)


def test_spark_reads_traces_at_a_url_and_writes_verdicts_to_one(settings: list[Mapping[str, str]]) -> None:
    place, table = f"{MOUNTED}/data/night", f"{MOUNTED}/data/verdicts"
    ended = conform(place, "--order", "total", "--conf", "spark.x=y", "--out", table, "--json", "found.json")
    assert ended.code == 1, ended.err
    assert "2 traces, 6 records: 1 conform, 1 deviate" in ended.out
    assert settings == [{"spark.x": "y"}]
    rows = pq.read_table("store/verdicts").to_pylist()
    assert {row["trace_id"]: row["verdict"] for row in rows} == {"good": "conforms", "wrong": "deviates"}
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["traces"], len(found["verdicts"])) == (place, 2)


def test_spark_needs_no_order_at_a_url_and_takes_the_weaker_one(settings: list[Mapping[str, str]]) -> None:
    assert conform(f"{MOUNTED}/data/night", "--skew", "0").code == 1
    assert conform(f"{MOUNTED}/data/nowhere").code == 2


def test_spark_opens_files_of_relative_paths_though_executors_are_elsewhere(settings: list[Mapping[str, str]]) -> None:
    for place in ("lines", "store/night"):
        ended = conform(place, "--out", f"verdicts of {Path(place).name}")
        assert ended.code == 1, ended.err
        assert pq.read_table(f"verdicts of {Path(place).name}").num_rows == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("viewfs://store/data/night", "--report", "page.html"), "--report reads the traces again, on this machine"),
        (("viewfs://store/data/night", "--switches", "5"), "--switches reads the traces again, on this machine"),
        (("viewfs://store/data/night", "--adapter", "icestorm"), "Spark reads traces, not logs"),
        (("viewfs://store/data/night", "--order", "any"), "unknown order `any`"),
        (("lines", "--order", "total"), "--order is for a URL"),
        (("lines", "--out", "store"), "--out store: already exists"),
    ],
)
def test_spark_is_not_begun_for_what_it_cannot_do(
    settings: list[Mapping[str, str]], words: tuple[str, ...], message: str
) -> None:
    ended = conform(*words)
    assert (ended.code, message in ended.err) == (2, True), ended.err
    assert not settings


@pytest.mark.parametrize("words", [("--conf", "a=b"), ("--master", "yarn"), ("--order", "total")])
def test_options_of_spark_without_it_are_refused(words: tuple[str, ...]) -> None:
    ended = hacheck("conform", "spec.ha", "traces", *words)
    assert (ended.code, ended.err.splitlines()[0]) == (2, f"error: {words[0]} needs Spark")


def test_a_url_without_spark_names_what_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.ha").write_text(SPEC, encoding="utf-8")
    ended = hacheck("conform", "spec.ha", "s3a://logs/night", columns=200)
    assert ended.code == 2
    assert "s3a://logs/night: not on this machine" in ended.err
    assert "`hacheck conform --engine spark` reads Parquet at a URL" in ended.err
    Path("lines").mkdir()
    written(Path("lines"), good=GOOD)
    ended = hacheck("conform", "spec.ha", "lines", "--out", "s3a://logs/verdicts", columns=200)
    assert (ended.code, "add --engine spark" in ended.err) == (2, True)


def test_a_session_leaves_control_c_to_the_command_that_starts_it() -> None:
    before = signal.getsignal(signal.SIGINT)
    with same_answer_to_control_c():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as pyspark sets one of its own
    assert signal.getsignal(signal.SIGINT) is before
