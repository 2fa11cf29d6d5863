"""Tasks of a sweep on executors: the same results as here; a process that dies is not the end of its task."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from hacheck.spark.task_workers import LOST, SparkWorkers
from hacheck.supervise.process_pool import Done, Event, Failed
from hacheck.traces.drivers import spark_session
from tests.cli.command import hacheck
from tests.cli.test_sweep import SPEC, VARIED
from tests.traces.drivers.checkers import die_always, die_first, refuse


def ended(workers: SparkWorkers, tasks: dict[int, Callable[..., Any]]) -> dict[int, Event]:
    """What becomes of some tasks."""
    found: dict[int, Event] = {}
    waiting = list(tasks)
    while waiting or workers.busy:
        while waiting and workers.busy < workers.size:
            key = waiting.pop(0)
            workers.begin(key, tasks[key])
        found |= dict(workers.wait(1.0))
    return found


def test_spark_finds_what_processes_here_find(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("store.ha").write_text(SPEC, encoding="utf-8")
    documents = []
    with (
        patch.object(spark_session, "session", lambda master, settings: spark),
        patch.object(spark_session, "end", lambda made: None),
    ):
        for engine in ("local", "spark"):
            words = (*VARIED, "--check", "default", "--out", engine, "--engine", engine, "--json", f"{engine}.json")
            shown = hacheck("sweep", "store.ha", *words)
            assert shown.code == 0, shown.err
            documents.append(json.loads(Path(f"{engine}.json").read_text(encoding="utf-8")))
    for document in documents:
        for task in document["tasks"]:
            assert task.pop("wall_seconds") >= 0
            assert task.pop("cpu_seconds") >= 0
    assert documents[0] == documents[1]
    assert len(documents[0]["tasks"]) == 8


def test_spark_tries_a_task_again_whose_process_died_and_names_what_was_wrong(spark: Any, tmp_path: Path) -> None:
    tasks = {1: partial(die_first, str(tmp_path / "died")), 2: refuse, 3: die_always}
    found = ended(SparkWorkers(spark, 2), tasks)
    assert found[1] == Done("second")
    assert isinstance(found[2], Failed)
    assert (found[2].kind, found[2].message) == ("ValueError", "no")
    assert isinstance(found[3], Failed)
    assert found[3].kind == LOST


def test_spark_has_as_many_tasks_at_once_as_its_executors_have_cores(spark: Any) -> None:
    assert SparkWorkers(spark).size == 2
    assert SparkWorkers(spark, 5).size == 5
