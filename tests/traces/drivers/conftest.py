"""One Spark session for all tests of a run; what is only for Spark is skipped where pyspark is not installed.

Everything here has `spark` in its name: `pytest -k 'not spark'` leaves it out.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.traces.drivers import checkers

HEAP = "1g"


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on this machine, with two workers."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install 'hacheck[spark]'")
    from pyspark import cloudpickle

    from hacheck.traces.drivers.spark_session import local_master, session

    cloudpickle.register_pickle_by_value(checkers)  # executors do not have the tests
    settings = {"spark.driver.memory": HEAP, "spark.sql.shuffle.partitions": "4"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what pyspark itself does is not for these tests
        made = session(local_master(2), quick=True, settings=settings)
        yield made
        made.stop()
    os.environ.pop("PYSPARK_PYTHON", None)
