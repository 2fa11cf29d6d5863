"""Keeps pyarrow from loading pandas, which takes longer than a small log's comparison and which nothing here uses."""

from __future__ import annotations

import sys

import pyarrow as pa


class _NoPandas:
    """Finds no pandas, and leaves other modules to those who find them."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_pandas_out() -> None:
    """From now on pyarrow in this process takes pandas for not installed: it looks for it once, at its first array.
    Only for processes that are hacheck's own, and run no Spark."""
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
