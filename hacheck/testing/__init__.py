"""Code checked against its model: the tests for people with a highly available system of their own.

See `docs/testing.md`. What stands here is loaded when it is used: the plug-in of pytest, which every run of pytest
loads, is in this package, too.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hacheck.testing.adapter import Adapter, Event
    from hacheck.testing.directed_runs import Counterexample
    from hacheck.testing.failing_runs import BadRun, do, replay
    from hacheck.testing.hypothesis_machine import SETTINGS, state_machine
    from hacheck.testing.line_encoding import UnfitEvent
    from hacheck.testing.process_adapter import ProcessAdapter, ProcessFailure
    from hacheck.testing.process_faults import CannotFault, Process
    from hacheck.testing.proxy import Proxy
    from hacheck.testing.session import Disagreement, Undecided
    from hacheck.testing.spec_tests import spec_test
    from hacheck.testing.tested_model import BadModel

__all__ = [
    "SETTINGS",
    "Adapter",
    "BadModel",
    "BadRun",
    "CannotFault",
    "Counterexample",
    "Disagreement",
    "Event",
    "Process",
    "ProcessAdapter",
    "ProcessFailure",
    "Proxy",
    "Undecided",
    "UnfitEvent",
    "do",
    "replay",
    "spec_test",
    "state_machine",
]

_MODULES = {
    "adapter": ("Adapter", "Event"),
    "directed_runs": ("Counterexample",),
    "failing_runs": ("BadRun", "do", "replay"),
    "hypothesis_machine": ("SETTINGS", "state_machine"),
    "line_encoding": ("UnfitEvent",),
    "process_adapter": ("ProcessAdapter", "ProcessFailure"),
    "process_faults": ("CannotFault", "Process"),
    "proxy": ("Proxy",),
    "session": ("Disagreement", "Undecided"),
    "spec_tests": ("spec_test",),
    "tested_model": ("BadModel",),
}


def __getattr__(name: str) -> object:
    """One of the names above, imported at its first use. Errors: `ModuleNotFoundError` where pyarrow is missing."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(_loaded(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _loaded(module: str) -> ModuleType:
    from hacheck.extras import missing_extra

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        library, command = missing
        message = f"hacheck.testing needs {library}, which is not installed: {command}"
        raise ModuleNotFoundError(message, name=library) from None
